/* gufo imatrix show: a heading, the facts, and a table with one line per tensor.
 *
 *     imatrix.gguf
 *       Format      gguf
 *       Chunks      125 of 512 tokens
 *       Datasets    calibration.txt
 *       Experts     1,021 of 1,024 reached
 *
 *     Entries (2)
 *       name                        shape       chunks     min      mean  max   top
 *       blk.0.attn_q.weight         4096        125        0.001    0.2   31    17
 *       blk.0.ffn_down_exps.weight  1024 x 128  0 to 41    ...
 *         never reached: 3 of 128 (5, 17, 88)
 *
 * Shape is columns and matrices; min, mean and max are of the means, top is the place of max.  All
 * values are read: unusable values are listed below their tensor. */
#include "cli/quantize/imatrix.h"

#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"

#include <inttypes.h>
#include <stdio.h>

#define UNREACHED_SHOWN 16 /* numbers of experts in one line */
#define DATASET_COLUMNS 58
#define FACT_COLUMNS 14 /* before what FACT says */
#define FITTED_CELLS 2  /* names and shapes; the others have a usual width */

const char *const imatrix_formats[] = {
    [GUFO_IMATRIX_GGUF] = "gguf", [GUFO_IMATRIX_LEGACY] = "dat", NULL};

/* Of all entries. */
typedef struct totals {
    uint64_t matrices, unreached; /* of the stacks of experts */
    uint64_t unusable;            /* entries that encoding refuses */
    table table;
} totals;

/* What an entry holds. */
typedef struct entry_row {
    gufo_imatrix_entry entry;
    gufo_imatrix_statistics s;
    uint64_t columns;
    char shape[48], chunks[40];
    record_list unreached; /* for JSON */
} entry_row;

#define OF_ENTRY(kind, member) kind, RECORD_AT(entry_row, member)

static const record_field entry_fields[] = {
    {"name", "name", OF_ENTRY(RECORD_STR, entry.name), .width = -4},
    {"columns", NULL, OF_ENTRY(RECORD_COUNT, columns)},
    {"matrices", NULL, OF_ENTRY(RECORD_COUNT, entry.matrices)},
    {NULL, "shape", OF_ENTRY(RECORD_CHARS, shape), .width = -5, .drop = 5},
    {NULL, "chunks", OF_ENTRY(RECORD_CHARS, chunks), .width = -14, .drop = 2},
    {"lowest_count", NULL, OF_ENTRY(RECORD_SINGLE, s.lowest_count)},
    {"highest_count", NULL, OF_ENTRY(RECORD_SINGLE, s.highest_count)},
    {"unreached", NULL, OF_ENTRY(RECORD_LIST, unreached), .of = &record_numbers},
    {"bad_counts", NULL, OF_ENTRY(RECORD_COUNT, s.bad_counts)},
    {"nonfinite", NULL, OF_ENTRY(RECORD_COUNT, s.nonfinite)},
    {"negative", NULL, OF_ENTRY(RECORD_COUNT, s.negative)},
    {"zeros", NULL, OF_ENTRY(RECORD_COUNT, s.zeros)},
    {"minimum", "min", OF_ENTRY(RECORD_SINGLE, s.minimum), .width = 8, .drop = 3},
    {NULL, "mean", OF_ENTRY(RECORD_REAL, s.mean), .width = 8},
    {"maximum", "max", OF_ENTRY(RECORD_SINGLE, s.maximum), .width = 8, .drop = 1},
    {"mean", NULL, OF_ENTRY(RECORD_REAL, s.mean)},
    {"top", "top", OF_ENTRY(RECORD_PLAIN, s.top), .width = 6, .drop = 4},
};
static const record_type entry_type = RECORD_OF(entry_row, entry_fields, 0);

/* The shape is "4096 x 128", or, of one matrix, its columns. */
static gufo_status read_entry(const gufo_imatrix *imatrix, uint64_t index, entry_row *row,
                              gufo_error *error)
{
    gufo_imatrix_entry *entry = &row->entry;
    double size = gufo_imatrix_chunk_size(imatrix), lowest, highest;
    gufo_status status;

    *row = (entry_row){.columns = 0};
    status = gufo_imatrix_scan(imatrix, index, &row->s, error);
    if (status != GUFO_OK || !gufo_imatrix_entry_at(imatrix, index, entry))
        return status;
    row->columns = entry->values / entry->matrices;
    snprintf(row->shape, sizeof row->shape,
             entry->matrices > 1 ? "%" PRIu64 " x %" PRIu64 : "%" PRIu64, row->columns,
             entry->matrices);
    lowest = (double)row->s.lowest_count / size;
    highest = (double)row->s.highest_count / size;
    if (row->s.lowest_count == row->s.highest_count)
        snprintf(row->chunks, sizeof row->chunks, "%.4g", highest);
    else
        snprintf(row->chunks, sizeof row->chunks, "%.3g to %.4g", lowest, highest);
    return GUFO_OK;
}

static bool is_unusable(const gufo_imatrix_statistics *s)
{
    return s->nonfinite + s->negative + s->bad_counts > 0;
}

static bool make_name(const void *context, uint64_t index, table_row *row)
{
    gufo_imatrix_entry entry;

    if (!gufo_imatrix_entry_at(context, index, &entry))
        return false;
    row_str(row, entry.name);
    return true;
}

static gufo_status add_up(const gufo_imatrix *imatrix, totals *t, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *t = (totals){.table = record_table(&entry_type, 2)};
    for (uint64_t i = 0; status == GUFO_OK && i < gufo_imatrix_entry_count(imatrix); i++) {
        entry_row entry;
        table_row row = {0};

        status = read_entry(imatrix, i, &entry, error);
        if (status != GUFO_OK)
            break;
        t->matrices += entry.entry.matrices > 1 ? entry.entry.matrices : 0;
        t->unreached += entry.entry.matrices > 1 ? entry.s.unreached : 0;
        t->unusable += is_unusable(&entry.s);
        record_cells(&entry_type, &entry, &row);
        row.count = FITTED_CELLS;
        table_fit(&t->table, &row);
    }
    table_fit_names(&t->table, make_name, imatrix);
    return status;
}

imatrix_unreached imatrix_unreached_start(const gufo_imatrix *imatrix, uint64_t index,
                                          const gufo_imatrix_entry *entry)
{
    return (imatrix_unreached){.imatrix = imatrix, .index = index, .end = entry->matrices};
}

bool imatrix_unreached_next(imatrix_unreached *u, uint64_t *matrix, gufo_error *error)
{
    enum { PIECE = sizeof u->counts / sizeof *u->counts };

    while (u->next < u->end) {
        if (u->next == u->read) {
            u->read = u->end - u->next < PIECE ? u->end : u->next + PIECE;
            u->status = gufo_imatrix_read_counts(u->imatrix, u->index, u->next, u->read - u->next,
                                                 u->counts, error);
            if (u->status != GUFO_OK)
                return false;
        }
        *matrix = u->next++;
        if (u->counts[*matrix % PIECE] >= 0 && u->counts[*matrix % PIECE] < 0.5f)
            return true;
    }
    return false;
}

/* ---- text ----------------------------------------------------------------------------------- */

#define FACT "  %-12s"

static void put_facts(const gufo_imatrix *imatrix, const totals *t)
{
    size_t room =
        stdout_columns() > FACT_COLUMNS ? stdout_columns() - FACT_COLUMNS : DATASET_COLUMNS;
    gufo_str dataset;

    printf(FACT "%s\n", "Format", imatrix_formats[gufo_imatrix_format_of(imatrix)]);
    if (gufo_imatrix_chunk_count(imatrix) > 0)
        printf(FACT "%s of %s tokens\n", "Chunks",
               human_grouped(gufo_imatrix_chunk_count(imatrix)).text,
               human_grouped(gufo_imatrix_chunk_size(imatrix)).text);
    for (uint64_t i = 0; !stdout_broken() && gufo_imatrix_dataset_at(imatrix, i, &dataset); i++) {
        printf(FACT, i == 0 ? "Datasets" : "");
        text_put_cut(stdout, dataset, TEXT_PLAIN, room < DATASET_COLUMNS ? room : DATASET_COLUMNS);
        putchar('\n');
    }
    if (t->matrices > 0)
        printf(FACT "%s of %s reached\n", "Experts", human_grouped(t->matrices - t->unreached).text,
               human_grouped(t->matrices).text);
    if (t->unusable > 0)
        printf(FACT "%s of %s entries\n", "Unusable", human_grouped(t->unusable).text,
               human_grouped(gufo_imatrix_entry_count(imatrix)).text);
}

static void put_trouble(const char *what, uint64_t count)
{
    if (count > 0)
        line_put("    %s: %s", what, human_grouped(count).text);
}

static gufo_status put_troubles(const gufo_imatrix *imatrix, uint64_t index,
                                const gufo_imatrix_entry *entry, const gufo_imatrix_statistics *s,
                                gufo_error *error)
{
    imatrix_unreached u = imatrix_unreached_start(imatrix, index, entry);
    uint64_t shown = 0, matrix;

    put_trouble("values that are NaN or infinite", s->nonfinite);
    put_trouble("values that are negative", s->negative);
    put_trouble("counts that are NaN, infinite or negative", s->bad_counts);
    if (s->unreached == 0)
        return GUFO_OK;
    printf("    never reached: %s of %s (", human_grouped(s->unreached).text,
           human_grouped(entry->matrices).text);
    for (; shown < UNREACHED_SHOWN && imatrix_unreached_next(&u, &matrix, error); shown++)
        printf("%s%" PRIu64, shown > 0 ? ", " : "", matrix);
    if (shown < s->unreached)
        fputs(", ...", stdout);
    puts(")");
    return u.status;
}

static gufo_status put_entry(const gufo_imatrix *imatrix, uint64_t index, const totals *t,
                             gufo_error *error)
{
    entry_row entry;
    table_row row = {0};
    gufo_status status = read_entry(imatrix, index, &entry, error);

    if (status != GUFO_OK)
        return status;
    record_cells(&entry_type, &entry, &row);
    table_put(&t->table, &row);
    return put_troubles(imatrix, index, &entry.entry, &entry.s, error);
}

static gufo_status show_text(const char *path, const gufo_imatrix *imatrix, gufo_error *error)
{
    uint64_t count = gufo_imatrix_entry_count(imatrix);
    totals t;
    gufo_status status = add_up(imatrix, &t, error);

    if (status != GUFO_OK)
        return status;
    text_print("%s\n", path);
    put_facts(imatrix, &t);
    putchar('\n');
    table_title(false, "Entries", count, count);
    table_heads(&t.table);
    for (uint64_t i = 0; i < count && status == GUFO_OK && !stdout_broken(); i++)
        status = put_entry(imatrix, i, &t, error);
    return status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

typedef struct unreached_walk {
    imatrix_unreached u;
    gufo_error *error;
} unreached_walk;

static bool make_unreached(const void *context, uint64_t index, void *record)
{
    unreached_walk *walk = *(unreached_walk *const *)context;

    (void)index;
    return imatrix_unreached_next(&walk->u, record, walk->error);
}

static gufo_status write_entry(json_writer *j, const gufo_imatrix *imatrix, uint64_t index,
                               gufo_error *error)
{
    entry_row row;
    gufo_status status = read_entry(imatrix, index, &row, error);
    unreached_walk walk = {.error = error}, *context = &walk;

    if (status != GUFO_OK)
        return status;
    walk.u = imatrix_unreached_start(imatrix, index, &row.entry);
    row.unreached = (record_list){.make = make_unreached, .context = &context};
    record_write(j, NULL, &entry_type, &row);
    return walk.u.status;
}

static const record_field dataset_fields[] = {{NULL, NULL, RECORD_STR, .bytes = sizeof(gufo_str)}};
static const record_type dataset_type = RECORD_BARE(gufo_str, dataset_fields);

static bool make_dataset(const void *context, uint64_t index, void *record)
{
    return gufo_imatrix_dataset_at(context, index, record);
}

static gufo_status show_json(const char *path, const gufo_imatrix *imatrix, gufo_error *error)
{
    json_writer j = json_begin_document(path);
    gufo_status status = GUFO_OK;

    json_write_text(&j, "format", imatrix_formats[gufo_imatrix_format_of(imatrix)]);
    json_write_u64(&j, "chunk_count", gufo_imatrix_chunk_count(imatrix));
    json_write_u64(&j, "chunk_size", gufo_imatrix_chunk_size(imatrix));
    record_write_list(&j, "datasets", &dataset_type,
                      &(record_list){.make = make_dataset, .context = imatrix});
    json_begin_array(&j, "entries");
    for (uint64_t i = 0; i < gufo_imatrix_entry_count(imatrix) && status == GUFO_OK; i++)
        status = write_entry(&j, imatrix, i, error);
    json_end_array(&j);
    json_end_document(&j);
    return status;
}

int imatrix_show(const char *path, const gufo_imatrix *imatrix, const imatrix_options *options)
{
    gufo_error error;
    gufo_status status = options->base.shared->json ? show_json(path, imatrix, &error)
                                                    : show_text(path, imatrix, &error);

    return status == GUFO_OK ? CODE_OK : report_error(path, &error);
}
