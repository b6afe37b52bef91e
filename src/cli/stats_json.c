/* gufo stats --json: one object per FILE. */
#include "cli/stats.h"

#include "cli/tensor_text.h"

static void write_u64(json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    json_write_u64(j, value);
}

/* Numbers of most types are floats, and few digits are enough for them. */
static void write_value(json_writer *j, const char *key, uint32_t type, double value)
{
    json_write_key(j, key);
    if (type == GUFO_TYPE_F64 || type == GUFO_TYPE_I64 || type == GUFO_TYPE_I32)
        json_write_f64(j, value);
    else
        json_write_f32(j, (float)value);
}

static void write_double(json_writer *j, const char *key, double value)
{
    json_write_key(j, key);
    json_write_f64(j, value);
}

static void write_place(json_writer *j, const char *key, const gufo_tensor *tensor, uint64_t index)
{
    gufo_stats_place place = gufo_stats_place_of(tensor, index);

    json_write_key(j, key);
    json_begin_object(j);
    write_u64(j, "matrix", place.matrix);
    write_u64(j, "row", place.row);
    write_u64(j, "column", place.column);
    json_end_object(j);
}

/* How often, and if at all the first place. */
static void write_find(json_writer *j, const char *key, const gufo_tensor *tensor,
                       const gufo_stats_find *find)
{
    json_write_key(j, key);
    json_begin_object(j);
    write_u64(j, "count", find->count);
    if (find->count > 0) {
        write_place(j, "first", tensor, find->first);
        json_write_offset(j, find->offset);
    }
    json_end_object(j);
}

static void write_histogram(json_writer *j, const gufo_tensor *tensor, const gufo_stats *s)
{
    json_write_key(j, "histogram");
    json_begin_object(j);
    if (s->outliers_below > 0)
        write_double(j, "low", s->low);
    else
        write_value(j, "low", tensor->type, s->low);
    if (s->outliers_above > 0)
        write_double(j, "high", s->high);
    else
        write_value(j, "high", tensor->type, s->high);
    json_write_key(j, "counts");
    json_begin_array(j);
    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        json_write_u64(j, s->bins[i]);
    json_end_array(j);
    json_end_object(j);
}

static void write_stats(json_writer *j, const gufo_tensor *tensor, const gufo_stats *s)
{
    write_u64(j, "looked_at", s->elements);
    write_u64(j, "finite", s->finite);
    write_find(j, "nan", tensor, &s->nan);
    write_find(j, "positive_infinity", tensor, &s->positive_infinite);
    write_find(j, "negative_infinity", tensor, &s->negative_infinite);
    write_find(j, "bad_scales", tensor, &s->bad_scales);
    if (s->finite == 0)
        return;
    write_u64(j, "zeros", s->zeros);
    write_value(j, "minimum", tensor->type, s->minimum);
    write_place(j, "minimum_at", tensor, s->minimum_at);
    write_value(j, "maximum", tensor->type, s->maximum);
    write_place(j, "maximum_at", tensor, s->maximum_at);
    write_double(j, "mean", s->mean);
    write_double(j, "standard_deviation", s->deviation);
    write_u64(j, "outliers_below", s->outliers_below);
    write_u64(j, "outliers_above", s->outliers_above);
    write_histogram(j, tensor, s);
}

void stats_json_begin(stats_report *r)
{
    json_writer *j = &r->j;
    size_t shards = gufo_model_shard_count(r->in->model);

    json_begin_object(j);
    json_write_key(j, "path");
    json_write_text(j, r->in->path);
    if (shards > 1) {
        json_write_key(j, "shards");
        json_begin_array(j);
        for (size_t i = 0; i < shards; i++)
            json_write_text(j, gufo_model_name(gufo_model_shard(r->in->model, i)));
        json_end_array(j);
    }
    json_write_key(j, "tensors");
    json_begin_array(j);
}

void stats_json_row(stats_report *r, const stats_row *row)
{
    json_writer *j = &r->j;
    const gufo_tensor *tensor = &row->tensor;

    json_begin_object(j);
    json_write_key(j, "name");
    json_write_str(j, tensor->name);
    json_write_key(j, "type");
    json_write_text(j, tensor_type_text(tensor->type).text);
    json_write_key(j, "dims");
    json_begin_array(j);
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        json_write_u64(j, tensor->dims[i]);
    json_end_array(j);
    write_u64(j, "elements", tensor->elements);
    if (gufo_model_shard_count(r->in->model) > 1)
        write_u64(j, "shard", row->tensor.shard + 1);
    if (row->decoded) {
        write_stats(j, tensor, &row->stats);
    } else {
        json_write_key(j, "error");
        json_write_text(j, row->failure.message);
    }
    json_end_object(j);
}

void stats_json_end(stats_report *r)
{
    const stats_totals *t = &r->totals;
    json_writer *j = &r->j;

    json_end_array(j);
    json_write_key(j, "totals");
    json_begin_object(j);
    write_u64(j, "tensors", t->tensors);
    write_u64(j, "undecoded", t->undecoded);
    write_u64(j, "looked_at", t->elements);
    write_u64(j, "finite", t->finite);
    write_u64(j, "bad_scales", t->bad_scales);
    write_u64(j, "zeros", t->zeros);
    write_u64(j, "outliers", t->outliers);
    json_end_object(j);
    json_end_object(j);
    json_writer_line(j);
}
