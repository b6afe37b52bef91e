/* gufo diff --json: one object.
 *
 *     {"a":PATH,"b":PATH,"metadata":[...],"tensors":[...],"same":false,...} */
#include "cli/core/records/tensor_text.h"
#include "cli/core/values/value.h"
#include "cli/diff/diff.h"

/* What gufo diff --json writes of a tensor, of two models and of several. */

const char *const diff_kind_names[GUFO_DIFFERENCE_COUNT] = {[GUFO_DIFFERENCE_NONE] = "same",
                                                            [GUFO_DIFFERENCE_ADDED] = "added",
                                                            [GUFO_DIFFERENCE_REMOVED] = "removed",
                                                            [GUFO_DIFFERENCE_CHANGED] = "changed"};

void diff_write_tensor(json_writer *j, const gufo_tensor *tensor)
{
    model_json_type(j, tensor);
    json_write_u64(j, "offset", tensor->offset);
    json_write_u64(j, "size", tensor->size);
}

void diff_write_values(json_writer *j, const gufo_tensor *tensor, const gufo_value_difference *v)
{
    json_begin_object(j, "values");
    json_write_u64(j, "compared", v->compared);
    json_write_u64(j, "unequal", v->unequal);
    json_write_u64(j, "nonfinite", v->nonfinite);
    json_write_f64(j, "max_abs", v->largest);
    model_json_place(j, "max_abs_at", tensor, v->largest_at);
    json_write_f64(j, "rmse", v->rmse);
    json_write_f64(j, "relative_rmse", v->relative);
    json_write_f64(j, "cosine", v->cosine);
    json_end_object(j);
}

void diff_write_counts(json_writer *j, const char *key, const uint64_t *counts)
{
    json_begin_object(j, key);
    for (size_t i = 0; i < GUFO_DIFFERENCE_COUNT; i++)
        json_write_u64(j, diff_kind_names[i], counts[i]);
    json_end_object(j);
}

#define ARRAY_LIMIT 8 /* elements of an array in the output */

static void begin(diff_report *r)
{
    json_writer *j = &r->j;

    json_begin_object(j, NULL);
    json_write_text(j, "a", r->paths[0]);
    json_write_text(j, "b", r->paths[1]);
    model_json_shards(j, "a_shards", r->models[0]);
    model_json_shards(j, "b_shards", r->models[1]);
    json_begin_array(j, "metadata");
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void write_entry(json_writer *j, const char *key, const gufo_entry *entry)
{
    if (entry->end != 0)
        value_write_entry(j, key, entry, ARRAY_LIMIT);
}

static void write_element(json_writer *j, const char *key, const gufo_array *array, uint64_t index)
{
    gufo_value value;

    if (index < array->count && gufo_array_at(array, index, &value, NULL) == GUFO_OK)
        value_write_json(j, key, &value, ARRAY_LIMIT);
    else
        json_write_null(j, key);
}

static void write_entry_difference(void *report, const gufo_entry_difference *d)
{
    diff_report *r = report;
    json_writer *j = &r->j;

    progress_end(&r->bar);
    json_begin_object(j, NULL);
    json_write_str(j, "key", d->kind == GUFO_DIFFERENCE_ADDED ? d->b.key : d->a.key);
    json_write_text(j, "difference", diff_kind_names[d->kind]);
    write_entry(j, "a", &d->a);
    write_entry(j, "b", &d->b);
    if (d->has_first) {
        json_write_u64(j, "first", d->first);
        write_element(j, "first_a", &d->a.value.as.array, d->first);
        write_element(j, "first_b", &d->b.value.as.array, d->first);
    }
    json_end_object(j);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void begin_tensors(diff_report *r)
{
    if (r->tensors_begun)
        return;
    json_end_array(&r->j);
    json_begin_array(&r->j, "tensors");
    r->tensors_begun = true;
}

static void write_tensor(json_writer *j, const char *key, const gufo_tensor *tensor)
{
    if (tensor->name.data == NULL)
        return;
    json_begin_object(j, key);
    diff_write_tensor(j, tensor);
    json_end_object(j);
}

static void write_tensor_difference(void *report, const gufo_tensor_difference *d)
{
    diff_report *r = report;
    json_writer *j = &r->j;

    progress_end(&r->bar);
    begin_tensors(r);
    json_begin_object(j, NULL);
    json_write_str(j, "name", d->kind == GUFO_DIFFERENCE_ADDED ? d->b.name : d->a.name);
    json_write_text(j, "difference", diff_kind_names[d->kind]);
    write_tensor(j, "a", &d->a);
    write_tensor(j, "b", &d->b);
    if (d->kind == GUFO_DIFFERENCE_CHANGED) {
        json_write_bool(j, "type_differs", d->type);
        json_write_bool(j, "shape_differs", d->shape);
        json_write_bool(j, "data_differs", d->data);
        if (d->data && !d->unordered)
            json_write_u64(j, "first_byte", d->first);
        if (d->has_values)
            diff_write_values(j, &d->a, &d->values);
    }
    json_end_object(j);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void end(diff_report *r, const gufo_comparison *c, const gufo_error *failure)
{
    json_writer *j = &r->j;

    begin_tensors(r);
    json_end_array(j);
    if (failure != NULL) {
        json_write_text(j, "error", failure->message);
    } else {
        diff_write_counts(j, "metadata_counts", c->entries);
        diff_write_counts(j, "tensor_counts", c->tensors);
        json_begin_array(j, "notes");
        for (size_t i = 0; i < DIFF_NOTES; i++)
            if ((c->notes & diff_notes[i].note) != 0)
                json_write_text(j, NULL, diff_notes[i].name);
        json_end_array(j);
        json_write_bool(j, "same", c->same);
    }
    json_end_document(j);
}

const diff_form diff_json = {begin, write_entry_difference, write_tensor_difference, end};
