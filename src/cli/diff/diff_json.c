/* gufo diff --json: one object.
 *
 *     {"a":PATH,"b":PATH,"metadata":[...],"tensors":[...],"same":false,...} */
#include "cli/core/records/model_json.h"
#include "cli/core/values/value.h"
#include "cli/diff/diff.h"

/* What gufo diff --json writes of a tensor, of two models and of several. */

const char *const diff_kind_names[GUFO_DIFFERENCE_COUNT] = {[GUFO_DIFFERENCE_NONE] = "same",
                                                            [GUFO_DIFFERENCE_ADDED] = "added",
                                                            [GUFO_DIFFERENCE_REMOVED] = "removed",
                                                            [GUFO_DIFFERENCE_CHANGED] = "changed"};

static const record_field tensor_fields[] = {
    {"type", "Type", RECORD_TYPE, RECORD_AT(gufo_tensor, type), .width = -4, .column = "type"},
    {"dims", NULL, RECORD_SHAPE, .bytes = sizeof(gufo_tensor)},
    {"offset", NULL, RECORD_OFFSET, RECORD_AT(gufo_tensor, offset)},
    {"size", "Bytes", RECORD_COUNT, RECORD_AT(gufo_tensor, size), .width = 5, .column = "bytes"},
};
const record_type diff_tensor_type = RECORD_OF(gufo_tensor, tensor_fields, 0);

static const record_field values_fields[] = {
    {"compared", NULL, RECORD_COUNT, RECORD_AT(diff_values, v.compared)},
    {"unequal", NULL, RECORD_COUNT, RECORD_AT(diff_values, v.unequal)},
    {"nonfinite", NULL, RECORD_COUNT, RECORD_AT(diff_values, v.nonfinite)},
    {"max_abs", NULL, RECORD_REAL, RECORD_AT(diff_values, v.largest)},
    {"max_abs_at", NULL, RECORD_RECORD, RECORD_AT(diff_values, largest_at),
     .of = &model_json_place},
    {"rmse", NULL, RECORD_REAL, RECORD_AT(diff_values, v.rmse)},
    {"relative_rmse", NULL, RECORD_REAL, RECORD_AT(diff_values, v.relative)},
    {"cosine", NULL, RECORD_REAL, RECORD_AT(diff_values, v.cosine)},
};
const record_type diff_values_type = RECORD_OF(diff_values, values_fields, 0);

diff_values diff_values_of(const gufo_tensor_difference *d)
{
    return d->has_values
               ? (diff_values){d->values, gufo_stats_place_of(&d->a, d->values.largest_at)}
               : (diff_values){0};
}

#define COUNT_AT(kind) \
    RECORD_COUNT, .at = GUFO_DIFFERENCE_##kind * sizeof(uint64_t), .bytes = sizeof(uint64_t)

static const record_field count_fields[] = {
    {"same", "Same", COUNT_AT(NONE), .width = 4, .drop = 4},
    {"added", "Added", COUNT_AT(ADDED), .width = 5, .drop = 2},
    {"removed", "Removed", COUNT_AT(REMOVED), .width = 7, .drop = 2},
    {"changed", "Changed", COUNT_AT(CHANGED), .width = 7, .drop = 1},
};
const record_type diff_counts_type = RECORD_OF(uint64_t[GUFO_DIFFERENCE_COUNT], count_fields, 0);

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

typedef struct tensor_row {
    gufo_str name;
    gufo_tensor_difference d;
    bool has_a, has_b, is_changed, has_first;
    diff_values values;
} tensor_row;

#define IF_CHANGED RECORD_GIVEN(tensor_row, is_changed)

static const record_field row_fields[] = {
    {"name", NULL, RECORD_STR, RECORD_AT(tensor_row, name)},
    {"difference", NULL, RECORD_CHOICE, RECORD_AT(tensor_row, d.kind), .words = diff_kind_names},
    {"a", NULL, RECORD_RECORD, RECORD_AT(tensor_row, d.a), RECORD_GIVEN(tensor_row, has_a),
     .of = &diff_tensor_type},
    {"b", NULL, RECORD_RECORD, RECORD_AT(tensor_row, d.b), RECORD_GIVEN(tensor_row, has_b),
     .of = &diff_tensor_type},
    {"type_differs", NULL, RECORD_FLAG, RECORD_AT(tensor_row, d.type), IF_CHANGED},
    {"shape_differs", NULL, RECORD_FLAG, RECORD_AT(tensor_row, d.shape), IF_CHANGED},
    {"data_differs", NULL, RECORD_FLAG, RECORD_AT(tensor_row, d.data), IF_CHANGED},
    {"first_byte", NULL, RECORD_PLAIN, RECORD_AT(tensor_row, d.first),
     RECORD_GIVEN(tensor_row, has_first)},
    {"values", NULL, RECORD_RECORD, RECORD_AT(tensor_row, values),
     RECORD_GIVEN(tensor_row, d.has_values), .of = &diff_values_type},
};
static const record_type row_type = RECORD_OF(tensor_row, row_fields, 0);

static void write_tensor_difference(void *report, const gufo_tensor_difference *d)
{
    diff_report *r = report;
    bool is_changed = d->kind == GUFO_DIFFERENCE_CHANGED;
    const tensor_row row = {.name = d->kind == GUFO_DIFFERENCE_ADDED ? d->b.name : d->a.name,
                            .d = *d,
                            .has_a = d->a.name.data != NULL,
                            .has_b = d->b.name.data != NULL,
                            .is_changed = is_changed,
                            .has_first = is_changed && d->data && !d->unordered,
                            .values = diff_values_of(d)};

    progress_end(&r->bar);
    begin_tensors(r);
    record_write(&r->j, NULL, &row_type, &row);
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
        record_write(j, "metadata_counts", &diff_counts_type, c->entries);
        record_write(j, "tensor_counts", &diff_counts_type, c->tensors);
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
