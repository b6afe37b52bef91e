/* Models that are made: entries, tensors and rows come from a provider.
 *
 * The fields that the provider leaves open (sizes, and the missing places in a file) are filled in
 * for each request of an entry or a tensor. */
#include "format/model/model.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "format/value/value.h"

void made_close(made_model *m, const gufo_allocator *allocator)
{
    if (m == NULL)
        return;
    name_index_free(&m->keys, allocator);
    name_index_free(&m->names, allocator);
    if (m->provider.close != NULL)
        m->provider.close(m->provider.context);
    mem_free(allocator, m);
}

const gufo_provider *model_provider(const gufo_model *model)
{
    return model->made != NULL ? &model->made->provider : NULL;
}

gufo_status model_hand_over(gufo_model *model, const char *name, void (*close)(void *context),
                            gufo_error *error)
{
    if (name != NULL && model->name == NULL)
        model->name = mem_text(&model->allocator, gufo_str_of(name));
    if (name != NULL && model->name == NULL)
        return fail_memory(error);
    model->made->provider.close = close;
    return GUFO_OK;
}

void model_set_maker(gufo_model *model, const struct gufo_job *maker)
{
    model->made->maker = maker;
}

const struct gufo_job *model_maker(const gufo_model *model)
{
    return model->made != NULL ? model->made->maker : NULL;
}

/* ---- entries and tensors -------------------------------------------------------------------- */

static bool has_text(gufo_str text)
{
    return text.data != NULL || text.len == 0;
}

bool made_ask_entry(const made_model *m, uint64_t index, gufo_entry *out)
{
    *out = (gufo_entry){0};
    if (!m->provider.entry_at(m->provider.context, index, out) || !has_text(out->key))
        return false;
    out->offset = out->value_offset = out->end = GUFO_NO_OFFSET;
    return true;
}

/* Opening has checked every value; whoever looks again must get one that may be walked. */
bool made_entry_at(const made_model *m, uint64_t index, gufo_entry *out)
{
    return index < m->provider.entry_count && made_ask_entry(m, index, out) &&
           value_check(&out->value, NULL) == GUFO_OK;
}

bool made_entry_find(const made_model *m, gufo_str key, gufo_entry *out)
{
    uint64_t index;

    return name_index_find(&m->keys, key, &index) && made_entry_at(m, index, out);
}

bool made_ask_tensor(const made_model *m, uint64_t index, gufo_tensor *out)
{
    *out = (gufo_tensor){0};
    return m->provider.tensor_at(m->provider.context, index, out) && has_text(out->name);
}

bool made_tensor_at(const made_model *m, uint64_t index, gufo_tensor *out)
{
    if (index >= m->provider.tensor_count || !made_ask_tensor(m, index, out) ||
        out->n_dims > GUFO_MAX_DIMS ||
        !tensor_measure(out->type, out->n_dims, out->dims, &out->elements, &out->size))
        return false;
    for (uint32_t i = out->n_dims; i < GUFO_MAX_DIMS; i++)
        out->dims[i] = 1;
    out->offset = out->info_offset = GUFO_NO_OFFSET;
    out->available = out->size;
    out->shard = 0;
    out->size_known = out->complete = true;
    return true;
}

gufo_facts made_facts(const made_model *m)
{
    return (gufo_facts){.version = 3,
                        .byte_order = GUFO_LITTLE_ENDIAN,
                        .alignment = m->alignment,
                        .is_made = true,
                        .claimed_metadata = m->provider.entry_count,
                        .claimed_tensors = m->provider.tensor_count};
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The bytes of a row; a tensor that has bytes has rows. */
static uint64_t row_bytes(const gufo_tensor *tensor)
{
    return tensor->size / (tensor->elements / tensor->dims[0]);
}

static bool same_shape(const gufo_tensor *a, const gufo_tensor *b)
{
    return a->type == b->type && a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

/* The caller's room is that of the tensor as it was: a provider that changes its mind must not fill
 * it. */
static gufo_status read_rows(const gufo_model *model, const gufo_tensor *tensor, uint64_t first,
                             uint64_t rows, void *out, gufo_error *error)
{
    const gufo_provider *provider = &model->made->provider;
    gufo_error reason = {.offset = GUFO_NO_OFFSET};
    gufo_tensor now;
    uint64_t index;
    gufo_status status;

    if (!name_index_find(&model->made->names, tensor->name, &index))
        return refuse(error, GUFO_E_ARGUMENT, "tensor %s is not of this model",
                      QUOTED(tensor->name));
    if (!made_tensor_at(model->made, index, &now) || !same_shape(tensor, &now))
        return refuse(error, GUFO_E_CHANGED,
                      "the model gives tensor %s another type or shape than before",
                      QUOTED(tensor->name));
    status = provider->read_rows(provider->context, index, first, rows, out, &reason);
    if (status == GUFO_OK)
        return GUFO_OK;
    if (reason.message[0] == '\0')
        (void)refuse(&reason, status, "tensor %s cannot be made", QUOTED(tensor->name));
    return fail_from_callback(error, status, &reason);
}

/* A part of one row, which is made whole for it. */
static gufo_status read_part(const gufo_model *model, const gufo_tensor *tensor, uint64_t row,
                             uint64_t from, void *out, size_t size, gufo_error *error)
{
    uint64_t bytes = row_bytes(tensor);
    uint8_t *whole = bytes <= SIZE_MAX ? mem_alloc(&model->allocator, (size_t)bytes) : NULL;
    gufo_status status;

    if (whole == NULL)
        return fail_memory(error);
    status = read_rows(model, tensor, row, 1, whole, error);
    if (status == GUFO_OK)
        memcpy(out, whole + from, size);
    mem_free(&model->allocator, whole);
    return status;
}

gufo_status made_read_bytes(const gufo_model *model, const gufo_tensor *tensor, uint64_t offset,
                            void *out, size_t size, gufo_error *error)
{
    uint64_t bytes = row_bytes(tensor);
    gufo_status status = GUFO_OK;

    for (uint64_t done = 0; done < size && status == GUFO_OK;) {
        uint64_t row = (offset + done) / bytes, from = (offset + done) % bytes;
        uint64_t rest = size - done, step = rest / bytes * bytes;
        uint8_t *to = (uint8_t *)out + done;

        if (from == 0 && step > 0) {
            status = read_rows(model, tensor, row, step / bytes, to, error);
        } else {
            step = bytes - from < rest ? bytes - from : rest;
            status = read_part(model, tensor, row, from, to, (size_t)step, error);
        }
        done += step;
    }
    return status;
}
