/* What stands before the data of a GGUF output: metadata and tensor infos.
 *
 * A header is made when its output is laid out and again when it is written, and not kept in
 * between: a set may have tens of thousands. */
#include "base/error.h"
#include "edit/copy.h"
#include "format/model.h"

/* The shard whose metadata an output gets; NULL: only what every shard has. */
static const gufo_model *metadata_source(const gufo_copy *c, size_t index)
{
    if (index > 0 && !c->shard_to_shard)
        return NULL;
    return gufo_model_shard(c->input, index);
}

static gufo_status copy_metadata(const gufo_copy *c, gufo_writer *w, const gufo_model *file,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_entry entry;

    for (uint64_t i = 0; status == GUFO_OK && gufo_metadata_at(file, i, &entry); i++)
        if (c->shard_to_shard || c->keeps_key(entry.key))
            status = gufo_writer_copy_entry(w, file, i, error);
    return status;
}

/* Readers look for the alignment in every shard. */
static gufo_status copy_alignment(const gufo_copy *c, gufo_writer *w, gufo_error *error)
{
    const gufo_model *first = gufo_model_shard(c->input, 0);
    gufo_entry entry;

    if (!gufo_metadata_find(first, GUFO_ALIGNMENT_KEY, &entry))
        return GUFO_OK;
    return gufo_writer_add_value(w, entry.key, &entry.value, error);
}

static gufo_status add_split_keys(const gufo_copy *c, gufo_writer *w, size_t index,
                                  gufo_error *error)
{
    uint16_t count = (uint16_t)c->output_count;
    int32_t tensors = (int32_t)c->piece_count;
    gufo_status status = gufo_writer_add_u16(w, SPLIT_NO_KEY, (uint16_t)index, error);

    if (status == GUFO_OK)
        status = gufo_writer_add_u16(w, SPLIT_COUNT_KEY, count, error);
    if (status == GUFO_OK)
        status = gufo_writer_add_i32(w, SPLIT_TENSORS_KEY, tensors, error);
    if (status == GUFO_OK)
        status = gufo_writer_add_u64(w, SPLIT_ID_KEY, c->split_id, error);
    return status;
}

static gufo_status add_tensors(const gufo_copy *c, gufo_writer *w, const copy_output *out,
                               gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < out->piece_count && status == GUFO_OK; i++) {
        const gufo_tensor *t = &c->pieces[out->first_piece + i].source;

        status = gufo_writer_add_tensor(w, t->name, t->type, t->n_dims, t->dims, t->size, error);
    }
    return status;
}

/* A writer without content. */
static gufo_status new_writer(const gufo_copy *c, gufo_writer **w, gufo_error *error)
{
    gufo_writer_options options = {.version = c->encoding.version,
                                   .byte_order = (gufo_byte_order)c->encoding.byte_order,
                                   .flags = GUFO_WRITER_AS_READ,
                                   .allocator = &c->allocator};
    gufo_error reason = {0};

    *w = gufo_writer_new(&options, &reason);
    if (*w == NULL && error != NULL)
        *error = reason;
    return reason.code;
}

gufo_status copy_header(const gufo_copy *c, size_t index, gufo_writer **header, gufo_error *error)
{
    const gufo_model *from = metadata_source(c, index);
    gufo_writer *w;
    gufo_status status = new_writer(c, &w, error);

    if (status != GUFO_OK)
        return status;
    status = from != NULL ? copy_metadata(c, w, from, error) : copy_alignment(c, w, error);
    if (status == GUFO_OK && c->adds_split_keys)
        status = add_split_keys(c, w, index, error);
    if (status == GUFO_OK)
        status = add_tensors(c, w, &c->outputs[index], error);
    if (status == GUFO_OK)
        status = gufo_writer_layout(w, NULL, error);
    if (status != GUFO_OK)
        gufo_writer_free(w);
    *header = status == GUFO_OK ? w : NULL;
    return status;
}
