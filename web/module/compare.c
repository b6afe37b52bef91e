/* What differs between two models, without a look at their data: keys, and types and shapes of tensors. */
#include "module.h"

#include "gufo/compare.h"

#include <string.h>

enum { SHOWN_ELEMENTS = 8 }; /* of an array */

static const char *const kinds[] = {[GUFO_DIFFERENCE_ADDED] = "added",
                                    [GUFO_DIFFERENCE_REMOVED] = "removed",
                                    [GUFO_DIFFERENCE_CHANGED] = "changed"};

static void write_side(json_writer *j, const char *side, const gufo_entry *entry)
{
    if (entry->key.data == NULL)
        return;
    json_begin_object(j, side);
    json_write_value(j, NULL, &entry->value, GUFO_VALUE_JSON_MEMBERS, SHOWN_ELEMENTS);
    json_end_object(j);
}

static void write_entry(void *context, const gufo_entry_difference *d)
{
    json_writer *j = context;

    json_begin_object(j, NULL);
    json_write_str(j, "key", d->kind == GUFO_DIFFERENCE_ADDED ? d->b.key : d->a.key);
    json_write_text(j, "kind", kinds[d->kind]);
    write_side(j, "a", &d->a);
    write_side(j, "b", &d->b);
    json_end_object(j);
}

static gufo_status write_entries(json_writer *j, const gufo_model *a, const gufo_model *b,
                                 gufo_error *error)
{
    const gufo_compare_options options = {
        .flags = GUFO_COMPARE_METADATA, .entry = write_entry, .context = j};
    gufo_status status;

    json_begin_array(j, "entries");
    status = gufo_compare(a, b, &options, NULL, NULL, error);
    json_end_array(j);
    return status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void write_tensor(json_writer *j, const char *side, const gufo_tensor *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    json_begin_object(j, side);
    json_write_text(j, "type", type != NULL ? type->name : NULL);
    json_begin_array(j, "dims");
    for (uint32_t d = 0; d < tensor->n_dims; d++)
        json_write_u64(j, NULL, tensor->dims[d]);
    json_end_array(j);
    json_write_u64(j, "size", tensor->size);
    json_end_object(j);
}

/* A tensor that one of them lacks. */
static void write_alone(json_writer *j, const char *side, gufo_difference kind,
                        const gufo_tensor *tensor)
{
    json_begin_object(j, NULL);
    json_write_str(j, "name", tensor->name);
    json_write_text(j, "kind", kinds[kind]);
    write_tensor(j, side, tensor);
    json_end_object(j);
}

/* Tensors that both have are listed whether they differ or not: their numbers can be compared. */
static void write_pair(json_writer *j, uint64_t index, const gufo_tensor *a, const gufo_tensor *b)
{
    json_begin_object(j, NULL);
    json_write_str(j, "name", a->name);
    json_write_u64(j, "index", index);
    write_tensor(j, "a", a);
    write_tensor(j, "b", b);
    json_end_object(j);
}

static void write_tensors(json_writer *j, const gufo_model *a, const gufo_model *b)
{
    gufo_tensor first, second;

    json_begin_array(j, "tensors");
    for (uint64_t i = 0; gufo_model_tensor_at(a, i, &first); i++)
        if (gufo_model_tensor_find_str(b, first.name, &second))
            write_pair(j, i, &first, &second);
        else
            write_alone(j, "a", GUFO_DIFFERENCE_REMOVED, &first);
    for (uint64_t i = 0; gufo_model_tensor_at(b, i, &second); i++)
        if (!gufo_model_tensor_find_str(a, second.name, NULL))
            write_alone(j, "b", GUFO_DIFFERENCE_ADDED, &second);
    json_end_array(j);
}

gufo_status compare_write(const gufo_model *a, const gufo_model *b, json_writer *j,
                          gufo_error *error)
{
    gufo_status status;

    json_begin_object(j, NULL);
    status = write_entries(j, a, b, error);
    write_tensors(j, a, b);
    json_end_object(j);
    return status;
}
