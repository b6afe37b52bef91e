/* AWQ, as its version GEMM packs: rows of words, whose numbers are those of eight outputs.
 *
 *     .qweight  [inputs, outputs / 8]    word [i, k]: outputs 8 k ... of input i
 *     .qzeros   [groups, outputs / 8]    likewise
 *     .scales   [groups, outputs]
 *
 *     word      from the lowest bits on: outputs 0 2 4 6 1 3 5 7
 *
 * Source: the public code of AutoAWQ. */
#include "import/packed/cache.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    PER = 8, /* numbers of a word */
    BITS = 4,
    STRIP = 512 /* inputs whose codes are stored at once */
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

/* Swaps blocks of bytes between two rows of a square of bytes. */
static inline void swap_blocks(uint64_t *a, uint64_t *b, unsigned bits, uint64_t mask)
{
    uint64_t first = *a, second = *b;

    *a = (first & mask) | (second & mask) << bits;
    *b = (first >> bits & mask) | (second & ~mask);
}

/* Eight rows of eight bytes, the lowest first, become columns. */
static void transpose(uint64_t x[PER])
{
    for (unsigned i = 0; i < 4; i++)
        swap_blocks(&x[i], &x[i + 4], 32, UINT64_C(0x00000000ffffffff));
    for (unsigned i = 0; i < PER; i += i % 2 == 1 ? 3 : 1)
        swap_blocks(&x[i], &x[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
    for (unsigned i = 0; i < PER; i += 2)
        swap_blocks(&x[i], &x[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
}

/* The words of some inputs, at every `width`th place, to the codes of outputs `output` and seven more, as
 * far as the box has them.  Rows are collected before they are stored: they may be far apart. */
static void unpack_strip(const packed_weight *w, const integer_box *box, const uint32_t *words,
                         uint64_t width, uint64_t inputs, uint64_t output, uint8_t *codes)
{
    uint8_t strip[PER][STRIP + PER];

    for (uint64_t n = 0; n < inputs; n += PER) {
        const uint64_t some = smaller(inputs - n, PER);
        uint64_t x[PER] = {0};

        for (uint64_t i = 0; i < some; i++)
            x[i] = nibbles_spread(words[(n + i) * width]);
        transpose(x);
        for (unsigned i = 0; i < PER; i++)
            store_u64(strip[i] + n, x[i], HOST_IS_BIG_ENDIAN);
    }
    for (uint64_t i = 0; i < PER; i++)
        if (output + i >= box->first && output + i - box->first < box->count)
            memcpy(codes + (output + i - box->first) * w->columns, strip[places[i]],
                   (size_t)inputs);
}

static gufo_status awq_codes(const packed_weight *w, const integer_box *box, uint8_t *codes,
                             gufo_error *error)
{
    const uint64_t from = box->first / PER, size = divide_up(box->first + box->count, PER) - from;
    const uint64_t width = size + COLUMNS_PAD,
                   most = smaller(larger(COLUMNS_TILE / width, 1), STRIP);
    const uint64_t end = box->column + box->columns;
    uint32_t *words = mem_array(w->allocator, most * width, sizeof *words);
    gufo_status status = words == NULL ? fail_memory(error) : GUFO_OK;
    uint64_t some;

    for (uint64_t i = box->column; i < end && status == GUFO_OK; i += some) {
        some = smaller(end - i, most);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            status = packed_words(w, COLUMNS_WEIGHT, (i + k) * (w->rows / PER) + from, size,
                                  words + k * width, error);
        for (uint64_t k = 0; k < size && status == GUFO_OK; k++)
            unpack_strip(w, box, words + k, width, some, (from + k) * PER, codes + i);
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
