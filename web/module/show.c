/* Keys with their values, and names of tensors: what the page offers to choose from.  Metadata is that of `gufo show --json`. */
#include "module.h"

#include "cli/inspect/metadata.h"

static bool next_entry(const void *context, const gufo_model *model, uint64_t *next,
                       gufo_entry *out)
{
    (void)context;
    return gufo_model_entry_at(model, (*next)++, out);
}

static void write_tensors(json_writer *j, const gufo_model *model)
{
    gufo_tensor tensor;

    json_begin_array(j, "tensors");
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        json_begin_object(j, NULL);
        json_write_str(j, "name", tensor.name);
        json_write_text(j, "type", type != NULL ? type->name : NULL);
        json_end_object(j);
    }
    json_end_array(j);
}

void show_write(const viewer_model *m, uint64_t array_limit, json_writer *j)
{
    json_begin_object(j, NULL);
    metadata_write(j, m->model, next_entry, NULL, array_limit);
    write_tensors(j, m->model);
    json_end_object(j);
}

void error_write(json_writer *j, const gufo_error *error)
{
    json_begin_object(j, "error");
    json_write_text(j, "code", gufo_status_name(error->code));
    json_write_text(j, "file", error->file);
    json_write_offset(j, error->offset);
    json_write_text(j, "message", error->message);
    json_end_object(j);
}
