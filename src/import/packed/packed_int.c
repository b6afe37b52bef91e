/* Whole numbers of compressed-tensors, format pack-quantized: rows of words.
 *
 *     .weight_packed      [outputs, inputs / per]    word [o, k]: inputs per k ... of output o, the
 *                                                    first lowest; a row fills its last word up
 *     .weight_scale       [outputs, groups]
 *     .weight_shape       [2]                        outputs, inputs
 *     .weight_zero_point  [outputs / per, groups]    word [k, g]: outputs per k ... of group g
 *     .weight_g_idx       [inputs]                   the group of each input
 *
 * Without zeros, the zero is the middle: 2^(bits - 1). */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/packed/cache.h"

enum {
    WEIGHT,
    SCALES,
    SHAPE,
    ZEROS,
    ORDER,
    LEAST_BITS = 2,
    MOST_BITS = 8,
    MOST_PER = 32 / LEAST_BITS, /* numbers of a word */
    TILE_WORDS = 4096           /* that are read at once */
};

/* ---- opening -------------------------------------------------------------------------------- */

static uint64_t per_word(const packed_weight *w)
{
    return 32 / w->settings.bits;
}

/* The two sizes of the weight. */
static gufo_status read_shape(packed_weight *w, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[SHAPE];
    const bool wide = t->number->bits == 64, swap = bytes_swapped(t->swapped);
    uint8_t bytes[2 * sizeof(uint64_t)];
    gufo_status status = packed_expect(w, SHAPE, PACKED_COUNTS, 1, (const uint64_t[]){2}, error);

    if (status == GUFO_OK)
        status = packed_read(w, SHAPE, 0, checkpoint_tensor_size(t), bytes, error);
    if (status != GUFO_OK)
        return status;
    w->slices = 1;
    w->rows = wide ? load_u64(bytes, swap) : load_u32(bytes, swap);
    w->columns = wide ? load_u64(bytes + 8, swap) : load_u32(bytes + 4, swap);
    return GUFO_OK;
}

static gufo_status expect_scales(const packed_weight *w, uint64_t groups, gufo_error *error)
{
    const uint32_t n = groups == 1 && w->parts[SCALES]->n_dims == 1 ? 1 : 2;
    const uint64_t scales[] = {w->rows, groups};
    const uint64_t zeros[] = {divide_up(w->rows, per_word(w)), groups};
    gufo_status status = packed_expect(w, SCALES, PACKED_FLOATS, n, scales, error);

    if (status == GUFO_OK && w->parts[ZEROS] != NULL)
        status = packed_expect(w, ZEROS, PACKED_WORDS, 2, zeros, error);
    if (status == GUFO_OK && w->parts[ZEROS] == NULL && !w->settings.symmetric)
        status = refuse(error, GUFO_E_MALFORMED, "it has no %s, but its numbers are not symmetric",
                        w->kind->parts[ZEROS]);
    if (status == GUFO_OK && w->parts[ORDER] != NULL)
        status = packed_expect(w, ORDER, PACKED_WORDS, 1, &w->columns, error);
    return status;
}

static gufo_status packed_int_open(packed_weight *w, gufo_error *error)
{
    const uint32_t bits = w->settings.bits;
    uint64_t groups = 0, words[2];
    gufo_status status;

    if (bits < LEAST_BITS || bits > MOST_BITS)
        return refuse(error, GUFO_E_TYPE, "%s weights of %" PRIu32 " bits are not converted",
                      w->kind->name, bits);
    status = read_shape(w, error);
    words[0] = w->rows;
    words[1] = divide_up(w->columns, per_word(w));
    if (status == GUFO_OK)
        status = packed_expect(w, WEIGHT, PACKED_WORDS, 2, words, error);
    if (status == GUFO_OK)
        status = integers_groups(w, &groups, error);
    return status == GUFO_OK ? expect_scales(w, groups, error) : status;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void unpack_row(const packed_weight *w, const uint32_t *words, uint8_t *codes)
{
    const uint64_t per = per_word(w), whole = w->columns / per, rest = w->columns % per;
    uint8_t last[MOST_PER];

    for (uint64_t i = 0; i < whole; i++)
        integers_unpack(words[i], w->settings.bits, codes + i * per);
    if (rest == 0)
        return;
    integers_unpack(words[whole], w->settings.bits, last);
    memcpy(codes + whole * per, last, (size_t)rest);
}

/* Boxes have whole rows: those of a row are read together. */
static gufo_status packed_int_codes(const packed_weight *w, const integer_box *box, uint8_t *codes,
                                    gufo_error *error)
{
    const uint64_t width = divide_up(w->columns, per_word(w));
    const uint64_t most = larger(TILE_WORDS / width, 1);
    uint32_t *words = mem_array(w->allocator, most * width, sizeof *words);
    gufo_status status = words == NULL ? fail_memory(error) : GUFO_OK;
    uint64_t some;

    for (uint64_t i = 0; i < box->count && status == GUFO_OK; i += some) {
        some = smaller(box->count - i, most);
        status = packed_words(w, WEIGHT, (box->first + i) * width, some * width, words, error);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            unpack_row(w, words + k * width, codes + (i + k) * w->columns);
    }
    mem_free(w->allocator, words);
    return status;
}

/* Zeros of rows [first, first + count), which are columns of words. */
static gufo_status read_zeros(const packed_weight *w, uint64_t first, uint64_t count,
                              uint64_t groups, uint16_t *zeros, gufo_error *error)
{
    const uint64_t per = per_word(w), from = first / per;
    const uint64_t size = (divide_up(first + count, per) - from) * groups;
    const uint32_t bits = w->settings.bits;
    uint32_t *words = mem_array(w->allocator, size, sizeof *words);
    gufo_status status = words == NULL ? fail_memory(error)
                                       : packed_words(w, ZEROS, from * groups, size, words, error);

    for (uint64_t i = 0; i < count * groups && status == GUFO_OK; i++) {
        uint64_t row = first + i / groups;
        uint32_t word = words[(row / per - from) * groups + i % groups];

        zeros[i] = (uint16_t)(word >> bits * (uint32_t)(row % per) & ((1u << bits) - 1u));
    }
    mem_free(w->allocator, words);
    return status;
}

static gufo_status packed_int_scales(const packed_weight *w, uint64_t first, uint64_t count,
                                     float *scales, uint16_t *zeros, gufo_error *error)
{
    const uint64_t groups = w->parts[SCALES]->shape[1]; /* 1 where it has one axis */
    gufo_status status = packed_floats(w, SCALES, first * groups, count * groups, scales, error);

    if (status == GUFO_OK && w->parts[ZEROS] != NULL)
        return read_zeros(w, first, count, groups, zeros, error);
    for (uint64_t i = 0; i < count * groups; i++)
        zeros[i] = (uint16_t)(1u << (w->settings.bits - 1u));
    return status;
}

static const integer_layout layout = {
    .codes = packed_int_codes,
    .scales = packed_int_scales,
    .scale_part = SCALES,
    .order_part = ORDER,
};

const packed_kind packed_int = {
    .name = "pack-quantized",
    .parts = {".weight_packed", ".weight_scale", ".weight_shape", ".weight_zero_point",
              ".weight_g_idx"},
    .required = 3,
    .open = packed_int_open,
    .find_type = integers_type,
    .floats = integers_floats,
    .blocks = integers_blocks,
    .integers = &layout,
};
