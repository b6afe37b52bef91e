/* AWQ, as its version GEMM packs: rows of words, whose numbers are those of eight outputs.
 *
 *     .qweight  [inputs, outputs / 8]    word [i, k]: outputs 8 k ... of input i
 *     .qzeros   [groups, outputs / 8]    likewise
 *     .scales   [groups, outputs]
 *
 *     word      from the lowest bits on: outputs 0 2 4 6 1 3 5 7
 *
 * Source: the public code of AutoAWQ. */
#include "import/quantized/columns.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    PER = 8, /* numbers of a word */
    BITS = 4,
    TILE_WORDS = 4096
};

/* Where the number of an output is in its word. */
static const uint8_t places[PER] = {0, 4, 1, 5, 2, 6, 3, 7};

static gufo_status awq_open(packed_weight *w, gufo_error *error)
{
    const checkpoint_tensor *words = w->parts[COLUMNS_WEIGHT];
    gufo_status status = packed_expect(w, COLUMNS_WEIGHT, PACKED_WORDS, 2, words->shape, error);

    if (status != GUFO_OK)
        return status;
    if (w->settings.bits != BITS)
        return refuse(error, GUFO_E_TYPE, "%s weights of %" PRIu32 " bits are not converted",
                      w->kind->name, w->settings.bits);
    w->slices = 1;
    w->rows = words->shape[1] * PER; /* each is some bits of the file */
    w->columns = words->shape[0];
    return columns_open(w, error);
}

/* Words of inputs [first, first + count), `width` of each, to the codes of one output. */
static void unpack_output(const uint32_t *words, uint64_t count, uint64_t width, uint32_t shift,
                          uint8_t *codes)
{
    for (uint64_t i = 0; i < count; i++)
        codes[i] = (uint8_t)(words[i * width] >> shift & 15u);
}

static void unpack_tile(const packed_weight *w, uint64_t first, uint64_t count, uint64_t inputs,
                        const uint32_t *words, uint8_t *codes)
{
    uint64_t width = divide_up(first + count, PER) - first / PER;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t output = first + i;

        unpack_output(words + (output / PER - first / PER), inputs, width,
                      BITS * places[output % PER], codes + i * w->columns);
    }
}

static gufo_status awq_codes(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *codes,
                             gufo_error *error)
{
    const uint64_t from = first / PER, width = divide_up(first + count, PER) - from;
    uint64_t most = larger(TILE_WORDS / width, 1), some;
    uint32_t *words = mem_array(w->allocator, larger(TILE_WORDS, width), sizeof *words);
    gufo_status status = words == NULL ? fail_memory(error) : GUFO_OK;

    for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i += some) {
        some = smaller(w->columns - i, most);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            status = packed_words(w, COLUMNS_WEIGHT, (i + k) * (w->rows / PER) + from, width,
                                  words + k * width, error);
        if (status == GUFO_OK)
            unpack_tile(w, first, count, some, words, codes + i);
    }
    mem_free(w->allocator, words);
    return status;
}

static gufo_status awq_scales(const packed_weight *w, uint64_t first, uint64_t count, float *scales,
                              uint16_t *zeros, gufo_error *error)
{
    static const columns_zeros z = {.places = places};

    return columns_scales(w, &z, first, count, scales, zeros, error);
}

static const integer_layout layout = {
    .codes = awq_codes,
    .scales = awq_scales,
    .scale_part = COLUMNS_SCALES,
    .groups_first = true,
    .order_part = NO_PART,
};

const packed_kind packed_awq = {
    .name = "AWQ",
    .parts = {".qweight", ".qzeros", ".scales"},
    .required = 3,
    .open = awq_open,
    .find_type = integers_type,
    .floats = integers_floats,
    .blocks = integers_blocks,
    .integers = &layout,
};
