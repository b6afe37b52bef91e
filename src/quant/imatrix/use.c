/* Computing with an importance matrix: means for the encoders, and statistics for people. */
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "quant/imatrix/imatrix.h"

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
