/* One model into several files.
 *
 * Tensors keep their order; a shard takes the next one as long as its file stays within the bound.
 * The size of a file is known without writing it:
 *
 *     header and keys | info | info | ... | padding | data | padding | data | padding
 *     fixed             grows with names     to the alignment of the model               */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "edit/copy.h"

/* A shard that is being filled. */
typedef struct fill {
    const gufo_split_options *options;
    uint64_t alignment;
    uint64_t base[2]; /* header and keys of the first shard, and of any other */
    uint64_t infos, data, tensors;
} fill;

/* ---- the identity --------------------------------------------------------------------------- */

/* The same for every shard of a split, and another for another model: a hash of header, metadata and
 * tensor infos, as they would stand in one file. */
static gufo_status make_id(gufo_copy *c, gufo_error *error)
{
    copy_output whole = {.piece_count = gufo_tensor_count(c->input)};
    gufo_copy merged = *c;
    gufo_writer *header;
    gufo_status status;
    const void *bytes;
    size_t size;

    merged.outputs = &whole;
    merged.output_count = 1;
    merged.adds_split_keys = false;
    status = copy_header(&merged, 0, &header, error);
    if (status != GUFO_OK)
        return status;
    bytes = gufo_writer_header(header, &size);
    c->split_id = hash_text((hash_key){0, 0}, (gufo_str){bytes, size});
    gufo_writer_free(header);
    return GUFO_OK;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Bytes of a shard without tensors, before padding. */
static gufo_status measure_base(const gufo_copy *c, size_t index, uint64_t *size, gufo_error *error)
{
    copy_output empty[2] = {{0}, {0}};
    gufo_copy alone = *c;
    gufo_writer *header;
    gufo_status status;
    gufo_layout layout;

    alone.outputs = empty;
    alone.output_count = 2;
    status = copy_header(&alone, index, &header, error);
    if (status != GUFO_OK)
        return status;
    (void)gufo_writer_layout(header, &layout, NULL);
    *size = layout.metadata_size;
    gufo_writer_free(header);
    return GUFO_OK;
}

static uint64_t info_size(const gufo_tensor *tensor)
{
    return 8 + tensor->name.len + 4 + 8 * (uint64_t)tensor->n_dims + 4 + 8;
}

/* Whether the shard may take a tensor.  All but the first shard begin with one that was not asked
 * about. */
static bool has_room(const fill *f, size_t shard, const gufo_tensor *tensor)
{
    const gufo_split_options *o = f->options;
    uint64_t size = f->base[shard > 0] + f->infos + info_size(tensor), data;

    if (o->max_tensors > 0 && f->tensors >= o->max_tensors)
        return false;
    if (o->max_size == 0)
        return true;
    return checked_align(tensor->size, f->alignment, &data) && checked_add(data, f->data, &data) &&
           checked_align(size, f->alignment, &size) && checked_add(size, data, &size) &&
           size <= o->max_size;
}

static void put(fill *f, const gufo_tensor *tensor)
{
    uint64_t data = 0;

    (void)checked_align(tensor->size, f->alignment, &data);
    f->infos += info_size(tensor);
    f->data += data;
    f->tensors++;
}

/* ---- planning ------------------------------------------------------------------------------- */

/* Ends the shard that was filled. */
static gufo_status end_shard(gufo_copy *c, fill *f, gufo_error *error)
{
    uint64_t tensors = f->tensors;

    f->infos = f->data = f->tensors = 0;
    if (c->output_count == GUFO_MAX_SHARDS)
        return fail_with(error, GUFO_E_LIMIT, GUFO_NO_OFFSET, "more than %d shards would be needed",
                         GUFO_MAX_SHARDS);
    return copy_add_output(c, tensors, error);
}

static gufo_status distribute(gufo_copy *c, fill *f, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < c->piece_count && status == GUFO_OK; i++) {
        const gufo_tensor *tensor = &c->pieces[i].source;

        if ((i == 0 && f->options->metadata_alone) || !has_room(f, c->output_count, tensor))
            status = end_shard(c, f, error);
        put(f, tensor);
    }
    return status == GUFO_OK ? end_shard(c, f, error) : status;
}

/* One shard alone would become a set that looks like a whole model. */
static gufo_status check_whole(const gufo_model *input, gufo_error *error)
{
    uint64_t count = 0;

    if (gufo_model_shard_count(input) == 1 &&
        gufo_get_u64(gufo_model_shard(input, 0), SPLIT_COUNT_KEY, &count, NULL) == GUFO_OK &&
        count > 1)
        return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET,
                         "this is one shard of %" PRIu64
                         "; a set is divided anew by the name of its "
                         "first one, NAME-00001-of-%05" PRIu64 ".gguf",
                         count, count);
    return GUFO_OK;
}

static gufo_status check_options(const gufo_split_options *options, const gufo_model *input,
                                 gufo_error *error)
{
    if (options->max_size == 0 && options->max_tensors == 0)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "a split needs a bound, of bytes or of tensors");
    if (gufo_tensor_count(input) > INT32_MAX)
        return fail_with(error, GUFO_E_LIMIT, GUFO_NO_OFFSET,
                         "split.tensors.count cannot hold so many tensors");
    return check_whole(input, error);
}

gufo_copy *gufo_copy_split(const gufo_model *input, const gufo_split_options *options,
                           gufo_error *error)
{
    fill f = {.options = options,
              .alignment = gufo_model_facts(gufo_model_shard(input, 0)).alignment};
    gufo_copy *c = NULL;
    gufo_status status;

    if (check_options(options, input, error) == GUFO_OK)
        c = copy_new(input, options->allocator, error);
    if (c == NULL)
        return NULL;
    c->naming = NAMED_PREFIX;
    c->adds_split_keys = true;
    status = copy_add_all_pieces(c, PIECE_MOVE, error);
    if (status == GUFO_OK)
        status = make_id(c, error);
    for (size_t i = 0; i < 2 && status == GUFO_OK; i++)
        status = measure_base(c, i, &f.base[i], error);
    if (status == GUFO_OK)
        status = distribute(c, &f, error);
    return copy_planned(c, status, error);
}
