/* Outputs of a largest size: which tensors each one takes.
 *
 * Tensors keep their order; a shard takes the next one as long as its file stays within the limits
 * for every target.  The first shard has all keys. */
#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/document/document.h"
#include "quant/quantizer.h"

enum { SHARD_KEYS = 256 }; /* bytes that the keys of a shard take at most, and its header */

/* A shard that is being filled. */
typedef struct filling {
    uint64_t size, tensors;
} filling;

/* The bytes of a tensor in the file: its info, and its data as the largest target has it. */
static bool tensor_size(const gufo_quantizer *q, uint64_t index, uint64_t *out)
{
    const quant_tensor *t = &q->tensors[index];
    uint64_t alignment = gufo_document_alignment(q->documents[0]), largest = 0, data;

    for (size_t i = 0; i < q->target_count; i++)
        largest = larger(largest, quant_result_of(q, i, index)->size);
    return checked_align(largest, alignment, &data) &&
           checked_add(data, document_info_size(quant_name(q, t), quant_source(q, t).n_dims), out);
}

static bool has_room(const gufo_quantizer *q, const filling *f, uint64_t size)
{
    const gufo_quantize_options *o = &q->options;
    uint64_t sum;

    if (o->split_tensors > 0 && f->tensors >= o->split_tensors)
        return false;
    return o->split_size == 0 || (checked_add(f->size, size, &sum) && sum <= o->split_size);
}

static gufo_status put_tensors(gufo_quantizer *q, uint64_t base, gufo_error *error)
{
    filling f = {.size = base};

    q->output_count = 1;
    for (uint64_t i = 0; i < q->tensor_count; i++) {
        uint64_t size;

        if (!tensor_size(q, i, &size))
            return refuse(error, GUFO_E_RANGE, "tensor %s is too large",
                          QUOTED(quant_name(q, &q->tensors[i])));
        if (f.tensors > 0 && !has_room(q, &f, size)) {
            f = (filling){.size = SHARD_KEYS};
            q->output_count++;
        }
        f.size += size;
        f.tensors++;
        q->tensors[i].output = (uint32_t)(q->output_count - 1);
    }
    if (q->output_count > GUFO_MAX_SHARDS)
        return refuse(error, GUFO_E_ARGUMENT, "%s shards would be needed; %s are possible",
                      GROUPED(q->output_count), GROUPED(GUFO_MAX_SHARDS));
    return GUFO_OK;
}

/* The same number in all shards of a target, which differs between models: a hash of what one file
 * would begin with. */
static gufo_status make_ids(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    q->shard_ids = mem_array(&q->allocator, q->target_count, sizeof *q->shard_ids);
    if (q->shard_ids == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < q->target_count && status == GUFO_OK; i++) {
        const void *header;
        size_t size = 0;

        status = gufo_document_header(q->documents[i], &header, &size, error);
        if (status == GUFO_OK)
            q->shard_ids[i] = hash_text((hash_key){0, 0}, (gufo_str){header, size});
    }
    return status;
}

gufo_status shards_divide(gufo_quantizer *q, gufo_error *error)
{
    uint64_t base = gufo_document_metadata_size(q->documents[0]) + SHARD_KEYS;
    gufo_status status = make_ids(q, error);

    return status == GUFO_OK ? put_tensors(q, base, error) : status;
}
