/* gufo stats --json: one object per FILE. */
#include "cli/inspect/stats.h"

#include "cli/core/model_json.h"

/* Numbers of most types are floats, and few digits are enough for them. */
static void write_value(json_writer *j, const char *key, uint32_t type, double value)
{
    if (type == GUFO_TYPE_F64 || type == GUFO_TYPE_I64 || type == GUFO_TYPE_I32)
        json_write_f64(j, key, value);
    else
        json_write_f32(j, key, (float)value);
}

/* Writes how often it occurs, and its first place if it does. */
static void write_find(json_writer *j, const char *key, const gufo_tensor *tensor,
                       const gufo_stats_find *find)
{
    json_begin_object(j, key);
    json_write_u64(j, "count", find->count);
    if (find->count > 0) {
        model_json_place(j, "first", tensor, find->first);
        json_write_offset(j, find->offset);
    }
    json_end_object(j);
}

static void write_histogram(json_writer *j, const gufo_tensor *tensor, const gufo_stats *s)
{
    json_begin_object(j, "histogram");
    /* Beside outliers the ends are not values of the tensor. */
    write_value(j, "low", s->outliers_below > 0 ? GUFO_TYPE_F64 : tensor->type, s->low);
    write_value(j, "high", s->outliers_above > 0 ? GUFO_TYPE_F64 : tensor->type, s->high);
    json_begin_array(j, "counts");
    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        json_write_u64(j, NULL, s->bins[i]);
    json_end_array(j);
    json_end_object(j);
}

static void write_stats(json_writer *j, const gufo_tensor *tensor, const gufo_stats *s)
{
    json_write_u64(j, "looked_at", s->elements);
    json_write_u64(j, "finite", s->finite);
    write_find(j, "nan", tensor, &s->nan);
    write_find(j, "positive_infinity", tensor, &s->positive_infinite);
    write_find(j, "negative_infinity", tensor, &s->negative_infinite);
    write_find(j, "bad_scales", tensor, &s->bad_scales);
    if (s->finite == 0)
        return;
    json_write_u64(j, "zeros", s->zeros);
    write_value(j, "minimum", tensor->type, s->minimum);
    model_json_place(j, "minimum_at", tensor, s->minimum_at);
    write_value(j, "maximum", tensor->type, s->maximum);
    model_json_place(j, "maximum_at", tensor, s->maximum_at);
    json_write_f64(j, "mean", s->mean);
    json_write_f64(j, "standard_deviation", s->deviation);
    json_write_u64(j, "outliers_below", s->outliers_below);
    json_write_u64(j, "outliers_above", s->outliers_above);
    write_histogram(j, tensor, s);
}

void stats_json_begin(stats_report *r)
{
    r->j = json_begin_document(r->in->path);
    model_json_shards(&r->j, "shards", r->in->model);
    json_begin_array(&r->j, "tensors");
}

void stats_json_row(stats_report *r, const stats_row *row)
{
    json_writer *j = &r->j;
    const gufo_tensor *tensor = &row->tensor;

    json_begin_object(j, NULL);
    json_write_str(j, "name", tensor->name);
    model_json_type(j, tensor);
    json_write_u64(j, "elements", tensor->elements);
    if (gufo_model_shard_count(r->in->model) > 1)
        json_write_u64(j, "shard", row->tensor.shard + 1);
    if (row->decoded)
        write_stats(j, tensor, &row->stats);
    else
        json_write_text(j, "error", row->failure.message);
    json_end_object(j);
}

void stats_json_end(stats_report *r)
{
    const stats_totals *t = &r->totals;
    json_writer *j = &r->j;

    json_end_array(j);
    json_begin_object(j, "totals");
    json_write_u64(j, "tensors", t->tensors);
    json_write_u64(j, "undecoded", t->undecoded);
    json_write_u64(j, "looked_at", t->elements);
    json_write_u64(j, "finite", t->finite);
    json_write_u64(j, "bad_scales", t->bad_scales);
    json_write_u64(j, "zeros", t->zeros);
    json_write_u64(j, "outliers", t->outliers);
    json_end_object(j);
    json_end_document(j);
}
