/* Tensors of a model: by number, by name, and the bytes of their data. */
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "format/model/model.h"

uint64_t gufo_model_tensor_count(const gufo_model *model)
{
    if (model->made != NULL)
        return model->made->provider.tensor_count;
    return model_is_set(model) ? model->tensors : model->file->tensors.count;
}

static bool set_tensor_at(const gufo_model *model, uint64_t index, gufo_tensor *out)
{
    size_t owner;

    if (index >= model->tensors)
        return false;
    owner = model_owner(model, index);
    if (!file_tensor_at(model_part(model, owner)->file, index - model_part(model, owner)->first,
                        out))
        return false;
    out->shard = (uint32_t)owner;
    return true;
}

bool gufo_model_tensor_at(const gufo_model *model, uint64_t index, gufo_tensor *out)
{
    gufo_tensor unwanted;

    if (out == NULL)
        out = &unwanted;
    if (model_is_set(model))
        return set_tensor_at(model, index, out);
    if (model->made != NULL)
        return made_tensor_at(model->made, index, out);
    return file_tensor_at(model->file, index, out);
}

bool gufo_model_tensor_index(const gufo_model *model, gufo_str name, uint64_t *index)
{
    const name_index *names = model_is_set(model)   ? &model->names
                              : model->made != NULL ? &model->made->names
                                                    : &model->file->names;

    return name_index_find(names, name, index);
}

gufo_status model_tensor_at(const gufo_model *model, uint64_t index, gufo_tensor *out,
                            gufo_error *error)
{
    if (gufo_model_tensor_at(model, index, out))
        return GUFO_OK;
    return model_fail(
        model,
        refuse(error, GUFO_E_CHANGED, "the model does not give tensor %" PRIu64 " any more", index),
        error);
}

bool gufo_model_tensor_find_str(const gufo_model *model, gufo_str name, gufo_tensor *out)
{
    uint64_t index;

    return gufo_model_tensor_index(model, name, &index) && gufo_model_tensor_at(model, index, out);
}

bool gufo_model_tensor_find(const gufo_model *model, const char *name, gufo_tensor *out)
{
    return gufo_model_tensor_find_str(model, gufo_str_of(name), out);
}

/* ---- data ----------------------------------------------------------------------------------- */

const void *gufo_tensor_raw(const gufo_model *model, const gufo_tensor *tensor)
{
    const gufo_model *holder = model_holding(model, tensor);
    const source *s;

    if (holder == NULL || holder->file == NULL)
        return NULL;
    s = &holder->file->source;
    if (s->buffer != NULL || tensor->available < tensor->size ||
        !range_inside(tensor->offset, tensor->size, s->have))
        return NULL;
    return s->base + tensor->offset;
}

/* Whether bytes [offset, offset + size) of the data exist, and are present. */
static gufo_status check_range(const gufo_tensor *tensor, uint64_t offset, uint64_t size,
                               gufo_error *error)
{
    if (!range_inside(offset, size, tensor->size))
        return refuse(error, GUFO_E_RANGE,
                      "tensor %s has %s bytes; %s bytes from %" PRIu64 " were asked for",
                      QUOTED(tensor->name), GROUPED(tensor->size), GROUPED(size), offset);
    if (!range_inside(offset, size, tensor->available))
        return fail_with(error, GUFO_E_TRUNCATED, tensor->offset + tensor->available,
                         "only %s of %s bytes of tensor %s are present", GROUPED(tensor->available),
                         GROUPED(tensor->size), QUOTED(tensor->name));
    return GUFO_OK;
}

gufo_status gufo_tensor_read_raw(const gufo_model *model, const gufo_tensor *tensor,
                                 uint64_t offset, void *buffer, size_t size, gufo_error *error)
{
    const gufo_model *holder = model_holding(model, tensor);
    gufo_status status;

    if (holder == NULL)
        return refuse(error, GUFO_E_RANGE,
                      "the model has no shard %" PRIu32 ", where the tensor should be",
                      tensor->shard);
    status = check_range(tensor, offset, size, error);
    /* An empty tensor may be after the last byte of the file. */
    if (status == GUFO_OK && size > 0)
        status = holder->made != NULL
                     ? made_read_bytes(holder, tensor, offset, buffer, size, error)
                     : file_read(holder->file, tensor->offset + offset, buffer, size, error);
    return model_fail(holder, status, error);
}
