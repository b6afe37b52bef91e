/* Pieces cut into units of work.
 *
 * A unit is as large as is good for the disk and small enough that many threads may have one each.
 * Where units begin depends on the tensor alone. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/move.h"
#include "codec/interleaved.h"
#include "edit/copy.h"
#include "format/model.h"

enum {
    MOVE_BYTES = 4 * 1024 * 1024,
    SWAP_BYTES = 1024 * 1024,
    DECODE_ELEMENTS = 64 * 1024,
    LARGEST_GROUP = 8, /* blocks, or rows, that the interleaved types pack together */
    MOST_GROUP_ELEMENTS = 4 * 1024 * 1024,
};

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool type_decodes(const gufo_element_type *type)
{
    return type != NULL && (type->flags & GUFO_ELEMENT_DECODES) != 0;
}

/* ---- cutting -------------------------------------------------------------------------------- */

/* Bytes of whole groups of blocks, at most `bytes` if one fits. */
static uint64_t whole_groups(uint64_t bytes, uint64_t group)
{
    return bytes < group ? group : bytes - bytes % group;
}

static gufo_status cut_decoding(piece *p, gufo_error *error)
{
    const gufo_element_type *type = p->type;
    uint64_t blocks = DECODE_ELEMENTS / type->block_elements, group = type->block_bytes;
    char quoted[GUFO_QUOTE_SIZE];

    if (interleaved_find(type->id) != NULL) {
        if (p->source.dims[0] > MOST_GROUP_ELEMENTS / LARGEST_GROUP)
            return fail_with(error, GUFO_E_LIMIT, p->source.info_offset,
                             "rows of tensor %s are too long to be decoded in groups",
                             quote_name(quoted, p->source.name));
        group = p->source.dims[0] / type->block_elements * type->block_bytes * LARGEST_GROUP;
        p->group_bytes = group;
    }
    p->unit_from = whole_groups(blocks * type->block_bytes, group);
    p->unit_size = p->unit_from / type->block_bytes * type->block_elements *
                   gufo_element_type_by_id(p->target)->block_bytes;
    return GUFO_OK;
}

gufo_status piece_cut(piece *p, uint64_t first_unit, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    p->first_unit = first_unit;
    p->units = 0;
    if (p->source.size == 0)
        return GUFO_OK;
    if (p->method == PIECE_DECODE)
        status = cut_decoding(p, error);
    else if (p->method == PIECE_SWAP)
        p->unit_from = p->unit_size =
            whole_groups(SWAP_BYTES, (uint64_t)p->type->block_bytes * LARGEST_GROUP);
    else
        p->unit_from = p->unit_size = MOVE_BYTES;
    if (status == GUFO_OK)
        p->units = divide_up(p->source.size, p->unit_from);
    return status;
}

unit_buffers copy_buffers(const gufo_copy *c)
{
    unit_buffers most = {0, 0};

    for (uint64_t i = 0; i < c->piece_count; i++) {
        const piece *p = &c->pieces[i];
        uint64_t read = smaller(p->unit_from, p->source.size);
        uint64_t made = p->method == PIECE_DECODE ? smaller(p->unit_size, p->size) : 0;

        most.source = read > most.source ? read : most.source;
        most.made = made > most.made ? made : most.made;
    }
    return most;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* The piece of a unit: the last one that begins at or before it and is not empty. */
static const piece *piece_of_unit(const gufo_copy *c, const copy_output *out, uint64_t number)
{
    uint64_t low = out->first_piece, high = low + out->piece_count;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (c->pieces[middle].first_unit <= number)
            low = middle;
        else
            high = middle;
    }
    return &c->pieces[low];
}

copy_unit copy_unit_at(const gufo_copy *c, const copy_output *out, uint64_t number)
{
    const piece *p = piece_of_unit(c, out, number);
    uint64_t index = number - p->first_unit;
    copy_unit unit = {.piece = p, .from = index * p->unit_from};
    uint64_t to = index * p->unit_size;

    unit.from_size = smaller(p->unit_from, p->source.size - unit.from);
    unit.place = p->place + to;
    unit.size = smaller(p->unit_size, p->size - to);
    return unit;
}

/* ---- making --------------------------------------------------------------------------------- */

/* Blocks of the input into those that codecs take, or back. */
static gufo_status swap(const copy_unit *unit, uint8_t *blocks, gufo_error *error)
{
    const gufo_element_type *type = unit->piece->type;

    return gufo_swap_blocks(type, blocks, unit->from_size / type->block_bytes, error);
}

typedef gufo_status decode_numbers(const gufo_element_type *type, const void *blocks, uint64_t rows,
                                   uint64_t columns, void *numbers, gufo_cpu cpu,
                                   gufo_error *error);

static gufo_status decode_f32(const gufo_element_type *type, const void *blocks, uint64_t rows,
                              uint64_t columns, void *numbers, gufo_cpu cpu, gufo_error *error)
{
    return gufo_decode(type, blocks, rows, columns, numbers, cpu, error);
}

static gufo_status decode_f16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                              uint64_t columns, void *numbers, gufo_cpu cpu, gufo_error *error)
{
    return gufo_decode_f16(type, blocks, rows, columns, numbers, cpu, error);
}

static gufo_status decode_bf16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                               uint64_t columns, void *numbers, gufo_cpu cpu, gufo_error *error)
{
    return gufo_decode_bf16(type, blocks, rows, columns, numbers, cpu, error);
}

static gufo_status decode(const gufo_copy *c, const copy_unit *unit, copy_worker *worker,
                          gufo_cpu cpu, gufo_error *error)
{
    const piece *p = unit->piece;
    uint64_t width = gufo_element_type_by_id(p->target)->block_bytes, count = unit->size / width;
    uint64_t columns = p->group_bytes > 0 ? p->source.dims[0] : count;
    decode_numbers *numbers = p->target == GUFO_TYPE_F32   ? decode_f32
                              : p->target == GUFO_TYPE_F16 ? decode_f16
                                                           : decode_bf16;
    gufo_status status = GUFO_OK;

    if (gufo_model_facts(gufo_model_shard(c->input, p->shard)).byte_order == GUFO_BIG_ENDIAN)
        status = swap(unit, worker->source, error);
    if (status == GUFO_OK)
        status =
            numbers(p->type, worker->source, count / columns, columns, worker->made, cpu, error);
    if (status == GUFO_OK)
        copy_numbers(worker->made, worker->made, count, (size_t)width, bytes_swapped(false));
    return status;
}

gufo_status unit_make(const gufo_copy *c, const copy_unit *unit, copy_worker *worker, gufo_cpu cpu,
                      const uint8_t **bytes, gufo_error *error)
{
    const piece *p = unit->piece;
    gufo_status status =
        gufo_tensor_read_raw(gufo_model_shard(c->input, p->shard), &p->source, unit->from,
                             worker->source, (size_t)unit->from_size, error);

    worker->failed_shard = p->shard;
    *bytes = p->method == PIECE_DECODE ? worker->made : worker->source;
    if (status == GUFO_OK && p->method == PIECE_SWAP)
        status = swap(unit, worker->source, error);
    if (status == GUFO_OK && p->method == PIECE_DECODE)
        status = decode(c, unit, worker, cpu, error);
    return status;
}

gufo_status unit_write(const gufo_copy *c, const copy_unit *unit, copy_worker *worker, gufo_cpu cpu,
                       int fd, gufo_error *error)
{
    const piece *p = unit->piece;
    const uint8_t *bytes;
    gufo_status status;

    if (p->method == PIECE_MOVE) {
        const gufo_model *file = gufo_model_shard(c->input, p->shard);
        bool read_failed;

        status =
            move_bytes(&model_file(file)->source, p->source.offset + unit->from, unit->size, fd,
                       unit->place, worker->source, worker->source_size, &read_failed, error);
        worker->failed_shard = read_failed ? p->shard : SIZE_MAX;
        return status;
    }
    status = unit_make(c, unit, worker, cpu, &bytes, error);
    if (status != GUFO_OK)
        return status;
    worker->failed_shard = SIZE_MAX;
    return output_write_at(fd, unit->place, bytes, (size_t)unit->size, error);
}
