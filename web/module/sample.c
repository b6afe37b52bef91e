/* Statistics of a tensor, and of what two of them differ by, from a bounded part of their data.
 *
 *     tensor   |==|.............|==|.............|==|.............|==|      runs of whole rows
 *     memory   |==||==||==||==|                                             a model of one tensor
 *
 * Data is read once, in runs of 4 MiB at most, and then looked at as often as is needed. */
#include "module.h"

#include "gufo/compare.h"
#include "gufo/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows are taken by so many: more than blocks of any type hold parts of. */
enum { RUNS = 16, ROWS_TOGETHER = 8 };

/* ---- a model in memory ---------------------------------------------------------------------- */

static bool sample_tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    const sample *s = context;

    (void)index;
    *out = (gufo_tensor){.name = s->tensor.name, .type = s->tensor.type, .n_dims = 2};
    out->dims[0] = s->tensor.dims[0];
    out->dims[1] = s->rows;
    if (s->rows == s->all_rows) { /* places of elements are those in the tensor */
        out->n_dims = s->tensor.n_dims;
        memcpy(out->dims, s->tensor.dims, sizeof out->dims);
    }
    return true;
}

static gufo_status sample_read_rows(void *context, uint64_t tensor, uint64_t first, uint64_t rows,
                                    void *out, gufo_error *error)
{
    const sample *s = context;

    (void)tensor, (void)error;
    memcpy(out, s->bytes + first * s->row_bytes, (size_t)(rows * s->row_bytes));
    return GUFO_OK;
}

static gufo_status open_sample(sample *s, gufo_error *error)
{
    const gufo_provider provider = {.context = s,
                                    .tensor_count = 1,
                                    .tensor_at = sample_tensor_at,
                                    .read_rows = sample_read_rows};

    s->model = gufo_model_open_provider(&provider, NULL, error);
    if (s->model == NULL)
        return error->code;
    (void)gufo_model_tensor_at(s->model, 0, &s->shown);
    return GUFO_OK;
}

/* ---- taking rows ---------------------------------------------------------------------------- */

static gufo_status row_size(const gufo_tensor *tensor, uint64_t *size, gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    if (type == NULL)
        return viewer_refuse(error, GUFO_E_TYPE, "its element type is not known");
    return gufo_element_row_size(type, tensor->dims[0], size, error);
}

/* How many rows come to the limit, of this tensor and of the one beside it. */
static gufo_status count_rows(sample *s, const gufo_tensor *beside, uint64_t limit,
                              gufo_error *error)
{
    uint64_t other = 0, larger;
    gufo_status status = row_size(&s->tensor, &s->row_bytes, error);

    if (status == GUFO_OK && beside != NULL)
        status = row_size(beside, &other, error);
    if (status != GUFO_OK)
        return status;
    larger = s->row_bytes > other ? s->row_bytes : other;
    s->all_rows = s->tensor.elements / s->tensor.dims[0];
    s->rows = s->all_rows;
    if (!s->tensor.complete || (beside != NULL && !beside->complete))
        return viewer_refuse(error, GUFO_E_TRUNCATED, "bytes of the tensor are missing");
    if (larger > 0 && s->all_rows > limit / larger)
        s->rows = limit / larger / RUNS / ROWS_TOGETHER * ROWS_TOGETHER * RUNS;
    if (s->rows == 0)
        return viewer_refuse(error, GUFO_E_LIMIT,
                             "its rows are too long to look at some of them only");
    return GUFO_OK;
}

static gufo_status read_runs(sample *s, const gufo_model *model, gufo_error *error)
{
    uint64_t runs = s->rows % RUNS == 0 ? RUNS : 1, rows = s->rows / runs;
    gufo_status status = GUFO_OK;

    for (uint64_t run = 0; run < runs && status == GUFO_OK; run++) {
        uint64_t first = (s->all_rows - rows) * run / (runs > 1 ? runs - 1 : 1);

        if (s->rows == s->all_rows)
            first = run * rows;
        else
            first = first / ROWS_TOGETHER * ROWS_TOGETHER;
        status = gufo_tensor_read_rows(model, &s->tensor, first, rows,
                                       s->bytes + run * rows * s->row_bytes, error);
    }
    return status;
}

gufo_status sample_take(sample *s, const gufo_model *model, const gufo_tensor *tensor,
                        const gufo_tensor *beside, uint64_t limit, gufo_error *error)
{
    gufo_status status;

    *s = (sample){.tensor = *tensor};
    if (tensor->elements == 0)
        return viewer_refuse(error, GUFO_E_ARGUMENT, "the tensor has no elements");
    status = count_rows(s, beside, limit, error);
    if (status != GUFO_OK)
        return status;
    s->bytes = malloc((size_t)(s->rows * s->row_bytes) + 1);
    if (s->bytes == NULL)
        return viewer_refuse(error, GUFO_E_MEMORY, "no memory for the rows");
    status = read_runs(s, model, error);
    return status == GUFO_OK ? open_sample(s, error) : status;
}

void sample_free(sample *s)
{
    gufo_model_free(s->model);
    free(s->bytes);
    *s = (sample){0};
}

static void write_extent(json_writer *j, const sample *s)
{
    json_write_bool(j, "sampled", s->rows < s->all_rows);
    json_write_u64(j, "rows", s->rows);
    json_write_u64(j, "all_rows", s->all_rows);
    json_write_u64(j, "read_bytes", s->rows * s->row_bytes);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static void write_place(json_writer *j, const char *key, const sample *s, uint64_t index)
{
    gufo_stats_place place = gufo_stats_place_of(&s->tensor, index);

    if (s->rows < s->all_rows)
        return;
    json_begin_object(j, key);
    json_write_u64(j, "matrix", place.matrix);
    json_write_u64(j, "row", place.row);
    json_write_u64(j, "column", place.column);
    json_end_object(j);
}

static void write_statistics(json_writer *j, const sample *s, const gufo_stats *stats)
{
    json_begin_object(j, NULL);
    json_write_str(j, "name", s->tensor.name);
    write_extent(j, s);
    json_write_u64(j, "elements", stats->elements);
    json_write_u64(j, "finite", stats->finite);
    json_write_u64(j, "zeros", stats->zeros);
    json_write_f64(j, "minimum", stats->minimum);
    json_write_f64(j, "maximum", stats->maximum);
    write_place(j, "minimum_at", s, stats->minimum_at);
    write_place(j, "maximum_at", s, stats->maximum_at);
    json_write_f64(j, "mean", stats->mean);
    json_write_f64(j, "deviation", stats->deviation);
    json_write_u64(j, "nan", stats->nan.count);
    json_write_u64(j, "infinite", stats->positive_infinite.count + stats->negative_infinite.count);
    json_write_u64(j, "bad_scales", stats->bad_scales.count);
    json_write_f64(j, "low", stats->low);
    json_write_f64(j, "high", stats->high);
    json_write_u64(j, "outliers", stats->outliers_below + stats->outliers_above);
    json_begin_array(j, "bins");
    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        json_write_u64(j, NULL, stats->bins[i]);
    json_end_array(j);
    json_end_object(j);
}

gufo_status statistics_write(const gufo_model *model, uint64_t index, uint64_t limit,
                             json_writer *j, gufo_error *error)
{
    gufo_tensor tensor;
    gufo_status status;
    gufo_stats stats;
    sample s;

    if (!gufo_model_tensor_at(model, index, &tensor))
        return viewer_refuse(error, GUFO_E_RANGE, "no tensor has this index");
    status = sample_take(&s, model, &tensor, NULL, limit, error);
    if (status == GUFO_OK)
        status = gufo_tensor_scan(s.model, &s.shown, 0, NULL, &stats, error);
    if (status == GUFO_OK)
        write_statistics(j, &s, &stats);
    sample_free(&s);
    return status;
}

/* ---- two tensors ---------------------------------------------------------------------------- */

static void keep_values(void *context, const gufo_tensor_difference *difference)
{
    *(gufo_tensor_difference *)context = *difference;
}

static gufo_status compare_samples(const sample *a, const sample *b, gufo_tensor_difference *out,
                                   gufo_error *error)
{
    const gufo_compare_options options = {
        .flags = GUFO_COMPARE_VALUES, .tensor = keep_values, .context = out};

    *out = (gufo_tensor_difference){0};
    return gufo_compare(a->model, b->model, &options, NULL, NULL, error);
}

gufo_status sample_compare(const gufo_model *a, const gufo_model *b, const gufo_tensor *tensor,
                           uint64_t limit, gufo_tensor_difference *out, bool *sampled,
                           gufo_error *error)
{
    gufo_tensor first, second;
    sample s = {0}, t = {0};
    gufo_status status;

    if (!gufo_model_tensor_find_str(a, tensor->name, &first) ||
        !gufo_model_tensor_find_str(b, tensor->name, &second))
        return viewer_refuse(error, GUFO_E_NOT_FOUND, "the other model has no such tensor");
    if (memcmp(first.dims, second.dims, sizeof first.dims) != 0)
        return viewer_refuse(error, GUFO_E_ARGUMENT, "the shapes differ");
    status = sample_take(&s, a, &first, &second, limit, error);
    if (status == GUFO_OK)
        status = sample_take(&t, b, &second, &first, limit, error);
    if (status == GUFO_OK)
        status = compare_samples(&s, &t, out, error);
    *sampled = s.rows < s.all_rows;
    sample_free(&s);
    sample_free(&t);
    return status;
}
