/* GPTQ: columns of words, whose numbers follow each other along the inputs.
 *
 *     .qweight  [inputs / per, outputs]    word [k, o]: inputs per k ... of output o, the first lowest
 *     .qzeros   [groups, outputs / per]    word [g, k]: outputs per k ... of group g; one less than
 *                                          the zero, except in the second version of the format
 *     .scales   [groups, outputs]
 *     .g_idx    [inputs]                   the group of each input
 *
 * A row of the weight is a column here.  Many rows are read at once, in tiles: a run of words for each row
 * of words. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/packed/cache.h"

#include <inttypes.h>

static gufo_status gptq_open(packed_weight *w, gufo_error *error)
{
    const checkpoint_tensor *words = w->parts[COLUMNS_WEIGHT];
    const uint32_t bits = w->settings.bits;
    gufo_status status = packed_expect(w, COLUMNS_WEIGHT, PACKED_WORDS, 2, words->shape, error);

    if (status != GUFO_OK)
        return status;
    if (bits != 2 && bits != 4 && bits != 8)
        return refuse(error, GUFO_E_TYPE, "%s weights of %" PRIu32 " bits are not converted",
                      w->kind->name, bits);
    w->slices = 1;
    w->rows = words->shape[1];
    w->columns = words->shape[0] * (32 / bits); /* each is some bits of the file */
    return columns_open(w, error);
}

/* ---- codes ---------------------------------------------------------------------------------- */

/* `height` rows of words, `width` each, to columns of codes. */
static void unpack_tile(const packed_weight *w, const uint32_t *words, uint64_t height,
                        uint64_t width, uint64_t count, uint8_t *codes)
{
    const uint32_t bits = w->settings.bits, per = 32 / bits;

    for (uint64_t row = 0; row < count; row++, codes += w->columns)
        for (uint64_t i = 0; i < height; i++)
            integers_unpack(words[i * width + row], bits, codes + i * per);
}

static gufo_status gptq_codes(const packed_weight *w, const integer_box *box, uint8_t *codes,
                              gufo_error *error)
{
    const uint64_t per = 32 / w->settings.bits, width = box->count + COLUMNS_PAD;
    const uint64_t begin = box->column / per, end = (box->column + box->columns) / per;
    const uint64_t most = smaller(larger(COLUMNS_TILE / width, 1), end - begin);
    uint32_t *words = mem_array(w->allocator, most * width, sizeof *words);
    gufo_status status = words == NULL ? fail_memory(error) : GUFO_OK;
    uint64_t some;

    for (uint64_t i = begin; i < end && status == GUFO_OK; i += some) {
        some = smaller(end - i, most);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            status = packed_words(w, COLUMNS_WEIGHT, (i + k) * w->rows + box->first, box->count,
                                  words + k * width, error);
        if (status == GUFO_OK)
            unpack_tile(w, words, some, width, box->count, codes + i * per);
    }
    mem_free(w->allocator, words);
    return status;
}

/* ---- the kind ------------------------------------------------------------------------------- */

static gufo_status gptq_scales(const packed_weight *w, uint64_t first, uint64_t count,
                               float *scales, uint16_t *zeros, gufo_error *error)
{
    const columns_zeros z = {.add = w->settings.zero_plus_one};

    return columns_scales(w, &z, first, count, scales, zeros, error);
}

static const integer_layout layout = {
    .codes = gptq_codes,
    .scales = gptq_scales,
    .scale_part = COLUMNS_SCALES,
    .groups_first = true,
    .order_part = COLUMNS_ORDER,
};

const packed_kind packed_gptq = {
    .name = "GPTQ",
    .parts = {".qweight", ".qzeros", ".scales", ".g_idx"},
    .required = 3,
    .open = gptq_open,
    .find_type = integers_type,
    .floats = integers_floats,
    .blocks = integers_blocks,
    .integers = &layout,
};
