/* The other byte order: metadata by the writer, tensors block by block. */
#include <inttypes.h>

#include "base/error.h"
#include "codec/interleaved.h"
#include "edit/copy.h"

/* Whether the numbers inside a tensor can be found. */
static gufo_status check_tensor(const piece *p, gufo_error *error)
{
    const gufo_element_type *type = p->type;
    const interleaved *layout = type != NULL ? interleaved_find(type->id) : NULL;
    char quoted[GUFO_QUOTE_SIZE];

    if (type == NULL || type->block_elements == 0)
        return fail_with(error, GUFO_E_TYPE, p->source.info_offset,
                         "tensor %s has element type %" PRIu32
                         "%s%s%s, whose layout is not known: its byte order cannot be turned",
                         quote_name(quoted, p->source.name), p->source.type,
                         type != NULL ? " (" : "", type != NULL ? type->name : "",
                         type != NULL ? ")" : "");
    if (layout != NULL && p->source.size / type->block_bytes % layout->rows != 0)
        return fail_with(error, GUFO_E_TYPE, p->source.info_offset,
                         "tensor %s has blocks of %s, which come in groups of %" PRIu32
                         ", but not whole groups",
                         quote_name(quoted, p->source.name), type->name, layout->rows);
    return GUFO_OK;
}

/* Numbers of one byte have no order. */
static piece_method method_of(const gufo_element_type *type)
{
    return type->block_bytes == 1 ? PIECE_MOVE : PIECE_SWAP;
}

static gufo_status plan_tensors(gufo_copy *c, gufo_error *error)
{
    gufo_status status = copy_add_all_pieces(c, PIECE_SWAP, error);

    for (uint64_t i = 0; i < c->piece_count && status == GUFO_OK; i++) {
        status = check_tensor(&c->pieces[i], error);
        if (status == GUFO_OK)
            c->pieces[i].method = method_of(c->pieces[i].type);
    }
    return status;
}

gufo_copy *gufo_copy_endian(const gufo_model *input, gufo_byte_order order,
                            const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status;
    gufo_copy *c = NULL;

    if (gufo_model_facts(gufo_model_shard(input, 0)).byte_order == order)
        (void)fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "the model is %s-endian already",
                        order == GUFO_BIG_ENDIAN ? "big" : "little");
    else
        c = copy_new(input, allocator, error);
    if (c == NULL)
        return NULL;
    c->encoding = (gufo_encoding){.version = 3, .byte_order = (uint8_t)order};
    c->shard_to_shard = true;
    c->naming = gufo_model_shard_count(input) > 1 ? NAMED_SET : NAMED_FILE;
    status = plan_tensors(c, error);
    for (size_t i = 0; i < gufo_model_shard_count(input) && status == GUFO_OK; i++)
        status = copy_add_output(c, gufo_tensor_count(gufo_model_shard(input, i)), error);
    return copy_planned(c, status, error);
}
