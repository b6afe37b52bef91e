/* MXFP4: floats of four bits, 32 with a power of two as their scale, as gpt-oss has them.
 *
 *     _blocks  [experts, rows, groups, 16]    byte j: element 2j low, 2j + 1 high
 *     _scales  [experts, rows, groups]        E8M0: 2^(byte - 127)
 *
 *     MXFP4    scale, 16 bytes                byte j: element j low, 16 + j high
 *
 * Codes and scales mean the same in both.  Source: OCP Microscaling Formats (MX) 1.0. */
#include "import/packed/packed.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/coding.h"
#include "import/packed/cache.h"

enum {
    CODES,
    SCALES,
    GROUP = 32,
    GROUP_BYTES = 16, /* of its codes */
    BLOCK_BYTES = 1 + GROUP_BYTES,
    CHUNK_BYTES = 1 << 16, /* of blocks that are read at once */
    SCALE_NAN = 255
};

static gufo_status mxfp4_open(packed_weight *w, gufo_error *error)
{
    const checkpoint_tensor *codes = w->parts[CODES], *scales = w->parts[SCALES];
    uint32_t n = scales->n_dims == 3 ? 3 : 2;
    uint64_t groups = scales->shape[n - 1], shape[4] = {scales->shape[0], scales->shape[1]};
    gufo_status status = packed_expect(w, SCALES, PACKED_E8M0, n, scales->shape, error);

    if (status != GUFO_OK)
        return status;
    if (scales->elements == 0 || groups > UINT64_MAX / GROUP)
        return packed_fail(w, SCALES, 0, error, "it has no numbers");
    shape[n - 1] = groups;
    shape[n] = GROUP_BYTES;
    if (codes->n_dims == n) /* some write the bytes of a row without dividing them */
        shape[n - 1] = groups * GROUP_BYTES;
    status = packed_expect(w, CODES, PACKED_BYTES, codes->n_dims == n ? n : n + 1, shape, error);
    w->stacked = n == 3;
    w->slices = n == 3 ? shape[0] : 1;
    w->rows = shape[n - 2];
    w->columns = groups * GROUP;
    return status;
}

static gufo_status mxfp4_type(const packed_weight *w, const gufo_element_type **type,
                              gufo_error *error)
{
    (void)w, (void)error;
    *type = gufo_element_type_by_id(GUFO_TYPE_MXFP4);
    return GUFO_OK;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void make_block(const uint8_t *codes, uint8_t scale, uint8_t *out)
{
    out[0] = scale;
    for (unsigned half = 0; half < 2; half++) {
        uint64_t low = nibbles_spread(load_u32(codes + 4 * half, HOST_IS_BIG_ENDIAN));
        uint64_t high = nibbles_spread(load_u32(codes + 8 + 4 * half, HOST_IS_BIG_ENDIAN));

        store_u64(out + 1 + 8 * half, low | high << 4, HOST_IS_BIG_ENDIAN);
    }
}

/* Blocks [first, first + count), counted through; `room` has BLOCK_BYTES for each. */
static gufo_status make_blocks(const packed_weight *w, uint64_t first, uint64_t count,
                               uint8_t *room, uint8_t *out, gufo_error *error)
{
    uint8_t *scales = room + count * GROUP_BYTES;
    gufo_status status =
        packed_read(w, CODES, first * GROUP_BYTES, count * GROUP_BYTES, room, error);

    if (status == GUFO_OK)
        status = packed_read(w, SCALES, first, count, scales, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        if (scales[i] == SCALE_NAN)
            return packed_fail(w, SCALES, first + i, error, "a scale is NaN");
        make_block(room + i * GROUP_BYTES, scales[i], out + i * BLOCK_BYTES);
    }
    return status;
}

static gufo_status mxfp4_blocks(const packed_weight *w, uint64_t first, uint64_t count,
                                uint8_t *out, gufo_error *error)
{
    uint64_t each = w->columns / GROUP, begin = first * each, end = (first + count) * each, some;
    uint8_t *room = mem_alloc(w->allocator, CHUNK_BYTES);
    gufo_status status = room == NULL ? fail_memory(error) : GUFO_OK;

    for (uint64_t i = begin; i < end && status == GUFO_OK; i += some) {
        some = smaller(end - i, CHUNK_BYTES / BLOCK_BYTES);
        status = make_blocks(w, i, some, room, out + (i - begin) * BLOCK_BYTES, error);
    }
    mem_free(w->allocator, room);
    return status;
}

static gufo_status mxfp4_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                                gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(GUFO_TYPE_MXFP4);
    uint64_t each = w->columns / GROUP, begin = first * each, end = (first + count) * each, some;
    uint8_t *room = mem_alloc(w->allocator, (size_t)2 * CHUNK_BYTES);
    uint8_t *blocks = room == NULL ? NULL : room + CHUNK_BYTES;
    gufo_status status = room == NULL ? fail_memory(error) : GUFO_OK;

    for (uint64_t i = begin; i < end && status == GUFO_OK; i += some) {
        some = smaller(end - i, CHUNK_BYTES / BLOCK_BYTES);
        status = make_blocks(w, i, some, room, blocks, error);
        if (status == GUFO_OK)
            status = coding_decode(type, blocks, 1, some * GROUP, out + (i - begin) * GROUP,
                                   GUFO_CPU_BEST, error);
    }
    mem_free(w->allocator, room);
    return status;
}

const packed_kind packed_mxfp4 = {
    .name = "MXFP4",
    .parts = {"_blocks", "_scales"},
    .required = 2,
    .open = mxfp4_open,
    .find_type = mxfp4_type,
    .floats = mxfp4_floats,
    .blocks = mxfp4_blocks,
    .transposed_stacks = true,
};
