/* An importance matrix; imatrix.h has the idea. */
#include "quant/imatrix/imatrix.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/model/model.h"

/* ---- making --------------------------------------------------------------------------------- */

static gufo_str name_of_entry(const void *owner, uint64_t index)
{
    return imatrix_entry_at(owner, index)->name;
}

gufo_status imatrix_fail(const gufo_imatrix *m, uint32_t index, gufo_status status,
                         gufo_error *error)
{
    if (status != GUFO_OK && error != NULL) {
        error->role = GUFO_FILE_NONE; /* that of a model is not what this file is to the caller */
        fail_in(error, GUFO_FILE_IMPORTANCE, index, m->name);
    }
    return status;
}

gufo_imatrix *imatrix_new(const gufo_allocator *allocator, const char *name, gufo_error *error)
{
    gufo_imatrix *m = mem_object(allocator, sizeof *m, error);

    if (m == NULL)
        return NULL;
    m->entries.size = sizeof(imatrix_entry);
    m->datasets.size = sizeof(gufo_str);
    m->texts.size = sizeof(char *);
    m->source.fd = -1;
    if (name != NULL)
        m->name = mem_text(&m->allocator, gufo_str_of(name));
    if (name != NULL && m->name == NULL) {
        (void)fail_memory(error);
        gufo_imatrix_free(m);
        return NULL;
    }
    if (name_index_new(&m->names, 0, name_of_entry, m, &m->allocator, error) != GUFO_OK) {
        gufo_imatrix_free(m);
        return NULL;
    }
    return m;
}

void gufo_imatrix_free(gufo_imatrix *m)
{
    gufo_allocator allocator;

    if (m == NULL)
        return;
    allocator = m->allocator;
    gufo_model_free(m->file);
    source_close(&m->source);
    for (uint64_t i = 0; i < m->texts.count; i++)
        mem_free(&allocator, *(char **)records_at(&m->texts, i));
    records_free(&m->texts, &allocator);
    records_free(&m->entries, &allocator);
    records_free(&m->datasets, &allocator);
    name_index_free(&m->names, &allocator);
    mem_free(&allocator, m->inputs);
    mem_free(&allocator, m->name);
    mem_free(&allocator, m);
}

char *imatrix_text(gufo_imatrix *m, size_t size)
{
    char *text = mem_alloc(&m->allocator, size == 0 ? 1 : size);
    char **place = text != NULL ? records_add(&m->texts, &m->allocator) : NULL;

    if (place == NULL) {
        mem_free(&m->allocator, text);
        return NULL;
    }
    *place = text;
    return text;
}

gufo_status imatrix_add(gufo_imatrix *m, gufo_str name, uint64_t offset, imatrix_entry **entry,
                        gufo_error *error)
{
    uint64_t first;
    gufo_status status;

    if (m->entries.count >= GUFO_MAX_COUNT)
        return fail_with(error, GUFO_E_LIMIT, offset, "more than %s entries",
                         GROUPED((uint32_t)GUFO_MAX_COUNT));
    status = name_index_grow(&m->names, m->entries.count, &m->allocator, error);
    if (status != GUFO_OK)
        return status;
    *entry = records_add(&m->entries, &m->allocator);
    if (*entry == NULL)
        return fail_memory(error);
    (*entry)->name = name;
    if (!name_index_add(&m->names, m->entries.count - 1, &first))
        return fail_with(error, GUFO_E_MALFORMED, offset, "there are two entries for %s",
                         QUOTED(name));
    return GUFO_OK;
}

gufo_status imatrix_add_dataset(gufo_imatrix *m, gufo_str text, gufo_error *error)
{
    gufo_str *place;

    if (m->datasets.count >= GUFO_MAX_COUNT)
        return refuse(error, GUFO_E_LIMIT, "more than %s datasets",
                      GROUPED((uint32_t)GUFO_MAX_COUNT));
    place = records_add(&m->datasets, &m->allocator);
    if (place == NULL)
        return fail_memory(error);
    *place = text;
    return GUFO_OK;
}

/* ---- facts ---------------------------------------------------------------------------------- */

gufo_imatrix_format gufo_imatrix_format_of(const gufo_imatrix *m)
{
    return m->format;
}

uint64_t gufo_imatrix_chunk_count(const gufo_imatrix *m)
{
    return m->chunk_count;
}

uint32_t gufo_imatrix_chunk_size(const gufo_imatrix *m)
{
    return m->chunk_size;
}

bool gufo_imatrix_dataset_at(const gufo_imatrix *m, uint64_t index, gufo_str *out)
{
    if (index >= m->datasets.count)
        return false;
    if (out != NULL)
        *out = *(gufo_str *)records_at(&m->datasets, index);
    return true;
}

uint64_t gufo_imatrix_entry_count(const gufo_imatrix *m)
{
    return m->entries.count;
}

bool gufo_imatrix_entry_at(const gufo_imatrix *m, uint64_t index, gufo_imatrix_entry *out)
{
    const imatrix_entry *entry;

    if (index >= m->entries.count)
        return false;
    entry = imatrix_entry_at(m, index);
    if (out != NULL)
        *out = (gufo_imatrix_entry){
            .name = entry->name, .values = entry->values, .matrices = entry->matrices};
    return true;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* `count` floats of the file. */
static gufo_status read_floats(const gufo_imatrix *m, uint64_t offset, size_t count, double *out,
                               gufo_error *error)
{
    bool swap =
        bytes_swapped(m->file != NULL && gufo_model_facts(m->file).byte_order == GUFO_BIG_ENDIAN);
    uint8_t bytes[IMATRIX_CHUNK * sizeof(float)];
    size_t size = count * sizeof(float);
    gufo_status status = m->file != NULL ? gufo_model_read_raw(m->file, offset, bytes, size, error)
                                         : source_read(&m->source, offset, bytes, size, error);

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        uint32_t bits = load_u32(bytes + i * sizeof(float), swap);
        float value;

        memcpy(&value, &bits, sizeof value);
        out[i] = (double)value;
    }
    return imatrix_fail(m, 0, status, error);
}

static void add(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* A range of one entry in every input, added up. */
static gufo_status add_inputs(const gufo_imatrix *m, uint64_t index, uint64_t first, size_t count,
                              range_reader *read, double *out, gufo_error *error)
{
    gufo_str name = imatrix_entry_at(m, index)->name;
    double numbers[IMATRIX_CHUNK];
    bool any = false;

    for (size_t i = 0; i < m->input_count; i++) {
        uint64_t at;
        gufo_status status;

        if (!imatrix_find(m->inputs[i], name, &at))
            continue;
        status = read(m->inputs[i], at, first, count, any ? numbers : out, error);
        if (status != GUFO_OK) {
            if (error != NULL)
                error->file_index = (uint32_t)i;
            return status;
        }
        if (any)
            add(out, numbers, count);
        any = true;
    }
    return GUFO_OK;
}

gufo_status imatrix_sums(const gufo_imatrix *m, uint64_t index, uint64_t first, size_t count,
                         double *out, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(m, index);
    gufo_status status;

    if (m->inputs != NULL)
        return add_inputs(m, index, first, count, imatrix_sums, out, error);
    status = read_floats(m, entry->sums_at + first * sizeof(float), count, out, error);
    for (size_t i = 0; m->file == NULL && i < count && status == GUFO_OK; i++)
        out[i] *= m->chunk_size;
    return status;
}

/* One count applies to all matrices. */
static gufo_status spread_counts(const gufo_imatrix *m, uint64_t index, uint64_t first,
                                 size_t count, double *out, gufo_error *error)
{
    gufo_status status;

    if (imatrix_entry_at(m, index)->matrices != 1)
        return imatrix_counts(m, index, first, count, out, error);
    status = imatrix_counts(m, index, 0, 1, out, error);
    for (size_t i = 1; i < count && status == GUFO_OK; i++)
        out[i] = out[0];
    return status;
}

gufo_status imatrix_counts(const gufo_imatrix *m, uint64_t index, uint64_t first, size_t count,
                           double *out, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(m, index);

    if (m->inputs != NULL)
        return add_inputs(m, index, first, count, spread_counts, out, error);
    if (m->file != NULL)
        return read_floats(m, entry->counts_at + first * sizeof(float), count, out, error);
    out[0] = (double)entry->calls * m->chunk_size;
    return GUFO_OK;
}

/* In pieces that fit on the stack. */
static gufo_status imatrix_quotients(const gufo_imatrix *m, uint64_t index, uint64_t first,
                                     uint64_t count, range_reader *read, double divisor, float *out,
                                     gufo_error *error)
{
    double numbers[IMATRIX_CHUNK];
    gufo_status status = GUFO_OK;
    size_t n;

    for (; count > 0 && status == GUFO_OK; first += n, count -= n) {
        n = (size_t)smaller(count, IMATRIX_CHUNK);
        status = read(m, index, first, n, numbers, error);
        for (size_t i = 0; i < n && status == GUFO_OK; i++)
            *out++ = (float)(numbers[i] / divisor);
    }
    return status;
}

/* Numbers from `first` on, of `all` that the entry has. */
static gufo_status read_range(const gufo_imatrix *m, uint64_t index, uint64_t first, uint64_t count,
                              uint64_t all, range_reader *read, float *out, gufo_error *error)
{
    if (!range_inside(first, count, all))
        return refuse(error, GUFO_E_RANGE,
                      "entry %" PRIu64 " has no numbers %" PRIu64 " to %" PRIu64, index, first,
                      first + count);
    return imatrix_quotients(m, index, first, count, read, 1, out, error);
}

gufo_status gufo_imatrix_read_sums(const gufo_imatrix *m, uint64_t index, uint64_t first,
                                   uint64_t count, float *out, gufo_error *error)
{
    uint64_t all = index < m->entries.count ? imatrix_entry_at(m, index)->values : 0;

    return read_range(m, index, first, count, all, imatrix_sums, out, error);
}

gufo_status gufo_imatrix_read_counts(const gufo_imatrix *m, uint64_t index, uint64_t first,
                                     uint64_t count, float *out, gufo_error *error)
{
    uint64_t all = index < m->entries.count ? imatrix_entry_at(m, index)->matrices : 0;

    return read_range(m, index, first, count, all, imatrix_counts, out, error);
}

/* Computing with an importance matrix: means for the encoders, and statistics for people. */

/* ---- finding an entry ----------------------------------------------------------------------- */

gufo_status gufo_imatrix_match(const gufo_imatrix *m, gufo_str name, uint64_t columns,
                               uint64_t matrices, uint64_t *index, gufo_error *error)
{
    const imatrix_entry *entry;
    uint64_t values;

    if (!imatrix_find(m, name, index))
        return refuse(error, GUFO_E_NOT_FOUND, "the importance matrix has no entry for %s",
                      QUOTED(name));
    entry = imatrix_entry_at(m, *index);
    if (!checked_mul(columns, matrices, &values) || values != entry->values ||
        (entry->matrices != 1 && entry->matrices != matrices))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the entry for %s has %s values in %s matrices, but the tensor has %s "
                      "columns in %s matrices: this importance matrix was made from another model",
                      QUOTED(name), GROUPED(entry->values), GROUPED(entry->matrices),
                      GROUPED(columns), GROUPED(matrices));
    return GUFO_OK;
}

/* ---- importance ----------------------------------------------------------------------------- */

/* Tokens are whole; some programs compute them with fractions. */
static double whole(double count)
{
    return floor(count + 0.5);
}

static bool is_usable(double count)
{
    return isfinite(count) && count >= 0;
}

gufo_status imatrix_count(const gufo_imatrix *m, uint64_t index, uint64_t matrix, double *out,
                          gufo_error *error)
{
    gufo_status status = imatrix_counts(m, index, matrix, 1, out, error);

    if (status != GUFO_OK)
        return status;
    if (!is_usable(*out))
        return refuse(error, GUFO_E_MALFORMED,
                      "the entry for %s has a count of %g for matrix %" PRIu64,
                      QUOTED(imatrix_entry_at(m, index)->name), *out, matrix);
    *out = whole(*out);
    return GUFO_OK;
}

static gufo_status check_means(const gufo_imatrix *m, uint64_t index, uint64_t matrix,
                               const float *means, uint64_t columns, gufo_error *error)
{
    for (uint64_t i = 0; i < columns; i++)
        if (!isfinite(means[i]) || means[i] < 0)
            return refuse(error, GUFO_E_MALFORMED,
                          "the importance of column %" PRIu64 " of matrix %" PRIu64 " of %s is %g",
                          i, matrix, QUOTED(imatrix_entry_at(m, index)->name), (double)means[i]);
    return GUFO_OK;
}

gufo_status gufo_imatrix_importance(const gufo_imatrix *m, uint64_t index, uint64_t columns,
                                    uint64_t matrix, float *out, gufo_error *error)
{
    const imatrix_entry *entry;
    uint64_t first;
    double tokens;
    gufo_status status;

    if (index >= m->entries.count || columns == 0 || !checked_mul(matrix, columns, &first) ||
        !range_inside(first, columns, imatrix_entry_at(m, index)->values))
        return refuse(error, GUFO_E_RANGE,
                      "entry %" PRIu64 " has no matrix %" PRIu64 " of %s columns", index, matrix,
                      GROUPED(columns));
    entry = imatrix_entry_at(m, index);
    status = imatrix_count(m, index, entry->matrices == 1 ? 0 : matrix, &tokens, error);
    if (status != GUFO_OK)
        return status;
    if (tokens == 0) {
        for (uint64_t i = 0; i < columns; i++)
            out[i] = 1;
        return GUFO_OK;
    }
    status = imatrix_quotients(m, index, first, columns, imatrix_sums, tokens, out, error);
    return status == GUFO_OK ? check_means(m, index, matrix, out, columns, error) : status;
}

/* ---- statistics ----------------------------------------------------------------------------- */

typedef struct scan {
    gufo_imatrix_statistics *out;
    uint64_t counts; /* that are usable */
    uint64_t finite; /* values */
    double total;    /* of their means */
} scan;

static void scan_mean(scan *s, float mean, uint64_t at)
{
    gufo_imatrix_statistics *out = s->out;

    if (!isfinite(mean)) {
        out->nonfinite++;
        return;
    }
    out->negative += mean < 0;
    out->zeros += mean == 0;
    if (s->finite == 0 || mean < out->minimum)
        out->minimum = mean;
    if (s->finite == 0 || mean > out->maximum) {
        out->maximum = mean;
        out->top = at;
    }
    s->finite++;
    s->total += (double)mean;
}

/* Returns the tokens; 0 where there is nothing to be divided by them. */
static double scan_count(scan *s, double count)
{
    gufo_imatrix_statistics *out = s->out;
    double tokens = whole(count);

    if (!is_usable(count)) {
        out->bad_counts++;
        return 0;
    }
    out->unreached += tokens == 0;
    if (s->counts == 0 || (float)tokens < out->lowest_count)
        out->lowest_count = (float)tokens;
    if (s->counts == 0 || (float)tokens > out->highest_count)
        out->highest_count = (float)tokens;
    s->counts++;
    return tokens;
}

/* The values of matrices [first, first + count), whose tokens are given. */
static gufo_status scan_values(scan *s, const gufo_imatrix *m, uint64_t index, uint64_t first,
                               size_t count, const double *tokens, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(m, index);
    uint64_t columns = entry->values / entry->matrices, at = first * columns;
    uint64_t end = at + count * columns, column = 0;
    double sums[IMATRIX_CHUNK];
    gufo_status status = GUFO_OK;

    while (at < end && status == GUFO_OK) {
        size_t n = (size_t)smaller(end - at, IMATRIX_CHUNK);

        status = imatrix_sums(m, index, at, n, sums, error);
        for (size_t i = 0; i < n && status == GUFO_OK; i++) {
            if (*tokens > 0)
                scan_mean(s, (float)(sums[i] / *tokens), at + i);
            column = column + 1 < columns ? column + 1 : 0;
            tokens += column == 0;
        }
        at += n;
    }
    return status;
}

/* Reads numbers in pieces: a file may have millions of matrices of a few values each. */
gufo_status gufo_imatrix_scan(const gufo_imatrix *m, uint64_t index, gufo_imatrix_statistics *out,
                              gufo_error *error)
{
    scan s = {.out = out};
    double tokens[IMATRIX_CHUNK];
    uint64_t matrices;
    gufo_status status = GUFO_OK;
    size_t n;

    *out = (gufo_imatrix_statistics){0};
    if (index >= m->entries.count)
        return refuse(error, GUFO_E_RANGE, "the importance matrix has no entry %" PRIu64, index);
    matrices = imatrix_entry_at(m, index)->matrices;
    for (uint64_t first = 0; first < matrices && status == GUFO_OK; first += n) {
        n = (size_t)smaller(matrices - first, IMATRIX_CHUNK);
        status = imatrix_counts(m, index, first, n, tokens, error);
        for (size_t i = 0; i < n && status == GUFO_OK; i++)
            tokens[i] = scan_count(&s, tokens[i]);
        if (status == GUFO_OK)
            status = scan_values(&s, m, index, first, n, tokens, error);
    }
    out->mean = s.finite > 0 ? s.total / (double)s.finite : 0;
    return status;
}
