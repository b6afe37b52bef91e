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

#include "cli/core/values/number.h"
#include "cli/core/values/json.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/records/table.h"

#include <inttypes.h>
#include <stdio.h>

#define UNREACHED_SHOWN 16 /* numbers of experts in one line */
#define DATASET_COLUMNS 58
#define FACT_COLUMNS 14 /* before what FACT says */

const char *const imatrix_formats[] = {
    [GUFO_IMATRIX_GGUF] = "gguf", [GUFO_IMATRIX_LEGACY] = "dat", NULL};

/* Of all entries. */
typedef struct totals {
    uint64_t matrices, unreached; /* of the stacks of experts */
    uint64_t unusable;            /* entries that encoding refuses */
    table table;
} totals;

/* The name, and "4096 x 128", the matrices only where there are several. */
static void add_first_cells(table_row *row, const gufo_imatrix_entry *entry)
{
    row_str(row, entry->name);
    if (entry->matrices > 1)
        row_text(row, "%" PRIu64 " x %" PRIu64, entry->values / entry->matrices, entry->matrices);
    else
        row_text(row, "%" PRIu64, entry->values);
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
    static const table_column columns[] = {{"name", -4, 0}, {"shape", -5, 5}, {"chunks", -14, 2},
                                           {"min", 8, 3},   {"mean", 8, 0},   {"max", 8, 1},
                                           {"top", 6, 4}};
    gufo_imatrix_entry entry;
    gufo_imatrix_statistics s;
    gufo_status status = GUFO_OK;

    *t = (totals){.table = table_of(columns, 7)};
    for (uint64_t i = 0; status == GUFO_OK && gufo_imatrix_entry_at(imatrix, i, &entry); i++) {
        table_row row = {0};

        status = gufo_imatrix_scan(imatrix, i, &s, error);
        t->matrices += entry.matrices > 1 ? entry.matrices : 0;
        t->unreached += entry.matrices > 1 ? s.unreached : 0;
        t->unusable += is_unusable(&s);
        add_first_cells(&row, &entry);
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

static void add_chunks(table_row *row, const gufo_imatrix *imatrix,
                       const gufo_imatrix_statistics *s)
{
    double size = gufo_imatrix_chunk_size(imatrix);
    double lowest = (double)s->lowest_count / size, highest = (double)s->highest_count / size;

    if (s->lowest_count == s->highest_count)
        row_text(row, "%.4g", highest);
    else
        row_text(row, "%.3g to %.4g", lowest, highest);
}

static gufo_status put_entry(const gufo_imatrix *imatrix, uint64_t index, const totals *t,
                             gufo_error *error)
{
    gufo_imatrix_entry entry;
    gufo_imatrix_statistics s;
    table_row row = {0};
    gufo_status status = gufo_imatrix_scan(imatrix, index, &s, error);

    if (status != GUFO_OK || !gufo_imatrix_entry_at(imatrix, index, &entry))
        return status;
    add_first_cells(&row, &entry);
    add_chunks(&row, imatrix, &s);
    row_text(&row, "%.3g", (double)s.minimum);
    row_text(&row, "%.3g", s.mean);
    row_text(&row, "%.3g", (double)s.maximum);
    row_text(&row, "%" PRIu64, s.top);
    table_put(&t->table, &row);
    return put_troubles(imatrix, index, &entry, &s, error);
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

static gufo_status write_entry(json_writer *j, const gufo_imatrix *imatrix, uint64_t index,
                               gufo_error *error)
{
    gufo_imatrix_entry entry;
    gufo_imatrix_statistics s;
    gufo_status status = gufo_imatrix_scan(imatrix, index, &s, error);
    uint64_t matrix;
    imatrix_unreached u;

    if (status != GUFO_OK || !gufo_imatrix_entry_at(imatrix, index, &entry))
        return status;
    json_begin_object(j, NULL);
    json_write_str(j, "name", entry.name);
    json_write_u64(j, "columns", entry.values / entry.matrices);
    json_write_u64(j, "matrices", entry.matrices);
    json_write_f32(j, "lowest_count", s.lowest_count);
    json_write_f32(j, "highest_count", s.highest_count);
    u = imatrix_unreached_start(imatrix, index, &entry);
    json_begin_array(j, "unreached");
    while (imatrix_unreached_next(&u, &matrix, error))
        json_write_u64(j, NULL, matrix);
    json_end_array(j);
    json_write_u64(j, "bad_counts", s.bad_counts);
    json_write_u64(j, "nonfinite", s.nonfinite);
    json_write_u64(j, "negative", s.negative);
    json_write_u64(j, "zeros", s.zeros);
    json_write_f32(j, "minimum", s.minimum);
    json_write_f32(j, "maximum", s.maximum);
    json_write_f64(j, "mean", s.mean);
    json_write_u64(j, "top", s.top);
    json_end_object(j);
    return u.status;
}

static void write_datasets(json_writer *j, const gufo_imatrix *imatrix)
{
    gufo_str dataset;

    json_begin_array(j, "datasets");
    for (uint64_t i = 0; gufo_imatrix_dataset_at(imatrix, i, &dataset); i++)
        json_write_str(j, NULL, dataset);
    json_end_array(j);
}

static gufo_status show_json(const char *path, const gufo_imatrix *imatrix, gufo_error *error)
{
    json_writer j = json_begin_document(path);
    gufo_status status = GUFO_OK;

    json_write_text(&j, "format", imatrix_formats[gufo_imatrix_format_of(imatrix)]);
    json_write_u64(&j, "chunk_count", gufo_imatrix_chunk_count(imatrix));
    json_write_u64(&j, "chunk_size", gufo_imatrix_chunk_size(imatrix));
    write_datasets(&j, imatrix);
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
