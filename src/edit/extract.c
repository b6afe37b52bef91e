/* Tensors out of a model, in formats that are not GGUF.
 *
 *     raw           data
 *     npy           magic, version, length | dictionary of Python, padded to 64 | data
 *     safetensors   length of the JSON (8)  | JSON, padded to 8                 | data | data ...
 *
 * npy: NumPy Enhancement Proposal 1, version 1.0.  safetensors: format description of its
 * repository.  Both count dimensions from the outermost, GGUF from the row. */
#include "edit/extract.h"

#include "base/checked.h"
#include "base/error.h"
#include "edit/copy.h"

/* The types of numbers that other formats have. */
static const number_type number_types[] = {
    {GUFO_TYPE_F32, "<f4", "F32"}, {GUFO_TYPE_F16, "<f2", "F16"}, {GUFO_TYPE_BF16, NULL, "BF16"},
    {GUFO_TYPE_F64, "<f8", "F64"}, {GUFO_TYPE_I8, "|i1", "I8"},   {GUFO_TYPE_I16, "<i2", "I16"},
    {GUFO_TYPE_I32, "<i4", "I32"}, {GUFO_TYPE_I64, "<i8", "I64"},
};

const number_type *extract_number_type(uint32_t id)
{
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++)
        if (number_types[i].id == id)
            return &number_types[i];
    return NULL;
}

/* ---- what becomes of a tensor --------------------------------------------------------------- */

static bool is_big(const gufo_copy *c, const piece *p)
{
    return gufo_model_facts(gufo_model_shard(c->input, p->shard)).byte_order == GUFO_BIG_ENDIAN;
}

/* The type that the numbers get; that of the tensor where its blocks are kept. */
static uint32_t target_of(const gufo_extract_options *options, const piece *p)
{
    if (options->type != GUFO_EXTRACT_AS_STORED)
        return options->type;
    if (options->format == GUFO_EXTRACT_RAW || extract_number_type(p->source.type) != NULL)
        return p->source.type;
    return GUFO_TYPE_F32;
}

static gufo_status check_decodable(const piece *p, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    if (type_decodes(p->type))
        return GUFO_OK;
    return fail_with(error, GUFO_E_TYPE, p->source.info_offset,
                     "tensor %s has element type %" PRIu32 ", which cannot be decoded",
                     quote_name(quoted, p->source.name), p->source.type);
}

static gufo_status plan_decoding(piece *p, gufo_error *error)
{
    gufo_status status = check_decodable(p, error);

    if (status != GUFO_OK)
        return status;
    p->method = PIECE_DECODE;
    if (!checked_mul(p->source.elements, gufo_element_type_by_id(p->target)->block_bytes, &p->size))
        return fail_with(error, GUFO_E_RANGE, p->source.info_offset,
                         "the decoded tensor would be larger than any file can be");
    return GUFO_OK;
}

/* Chooses how a piece is made. */
static gufo_status plan_piece(const gufo_copy *c, const gufo_extract_options *options, piece *p,
                              gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    p->target = target_of(options, p);
    if (options->format == GUFO_EXTRACT_NUMPY && p->target == GUFO_TYPE_BF16)
        return fail_with(error, GUFO_E_TYPE, p->source.info_offset,
                         "tensor %s would be bfloat16, a type that NumPy does not have",
                         quote_name(quoted, p->source.name));
    if (p->target != p->source.type)
        return plan_decoding(p, error);
    /* Asking for numbers asks for those of this machine's kind of file, even if they are stored. */
    if (is_big(c, p) &&
        (options->format != GUFO_EXTRACT_RAW || options->type != GUFO_EXTRACT_AS_STORED))
        p->method = p->type->block_bytes == 1 ? PIECE_MOVE : PIECE_SWAP;
    return GUFO_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Places the pieces one after the other, in their order. */
static gufo_status place_all(gufo_copy *c, gufo_error *error)
{
    uint64_t end = c->header_size;

    for (uint64_t i = 0; i < c->piece_count; i++) {
        c->pieces[i].place = end;
        if (!checked_add(end, c->pieces[i].size, &end) || end > INT64_MAX)
            return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                             "the file would be larger than any file can be");
    }
    c->outputs[0].size = end;
    return GUFO_OK;
}

static gufo_status no_header(gufo_copy *c, buffer *out, gufo_error *error)
{
    (void)c, (void)out, (void)error;
    return GUFO_OK;
}

/* Makes the header, which tells where pieces will be, and places them behind it. */
static gufo_status plan_file(gufo_copy *c, gufo_extract_format format, gufo_error *error)
{
    static gufo_status (*const headers[])(gufo_copy *, buffer *, gufo_error *) = {
        [GUFO_EXTRACT_RAW] = no_header,
        [GUFO_EXTRACT_NUMPY] = extract_numpy_header,
        [GUFO_EXTRACT_SAFETENSORS] = extract_safetensors_header,
    };
    buffer out = {.allocator = &c->allocator};
    gufo_status status = headers[format](c, &out, error);

    c->header = out.data;
    c->header_size = out.len;
    return status == GUFO_OK ? place_all(c, error) : status;
}

static gufo_status plan_pieces(gufo_copy *c, const uint64_t *tensors, size_t count,
                               const gufo_extract_options *options, gufo_error *error)
{
    gufo_status status = copy_reserve_pieces(c, count, error);

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        if (tensors[i] >= gufo_tensor_count(c->input))
            return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET, "no tensor %" PRIu64, tensors[i]);
        status = plan_piece(c, options, copy_add_piece(c, tensors[i], PIECE_MOVE), error);
    }
    return status == GUFO_OK ? copy_add_output(c, count, error) : status;
}

gufo_copy *gufo_copy_extract(const gufo_model *input, const uint64_t *tensors, size_t count,
                             const gufo_extract_options *options, gufo_error *error)
{
    gufo_copy *c = NULL;
    gufo_status status;

    if (count != 1 && options->format != GUFO_EXTRACT_SAFETENSORS)
        (void)fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                        "%zu tensors cannot be in one file of this format; safetensors holds "
                        "several",
                        count);
    else
        c = copy_new(input, options->allocator, error);
    if (c == NULL)
        return NULL;
    c->foreign = true;
    status = plan_pieces(c, tensors, count, options, error);
    if (status == GUFO_OK)
        status = plan_file(c, options->format, error);
    return copy_planned(c, status, error);
}
