/* Weights of -1, 0 and 1, four in a byte, as BitNet stores them.
 *
 *     weight        U8 [out / 4, in]    bits 2k and 2k + 1 of byte [r, i]: row r + k out / 4
 *     weight_scale  one number
 *
 *     W = (bits - 1) / weight_scale */
#include "import/packed/packed.h"

#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum { CODES, SCALE, IN_BYTE = 4, CODE_BITS = 2, CODE_MASK = 3 };

static gufo_status ternary_open(packed_weight *w, gufo_error *error)
{
    const checkpoint_tensor *codes = w->parts[CODES], *scale = w->parts[SCALE];
    gufo_status status = packed_expect(w, CODES, PACKED_BYTES, 2, codes->shape, error);

    if (status == GUFO_OK)
        status = packed_expect(w, SCALE, PACKED_FLOATS, scale->n_dims, scale->shape, error);
    if (status == GUFO_OK && scale->elements != 1)
        status = packed_fail(w, SCALE, 0, error, "it has %s scales instead of one",
                             GROUPED(scale->elements));
    if (status == GUFO_OK && codes->shape[0] > UINT64_MAX / IN_BYTE)
        status = packed_fail(w, CODES, 0, error, "it has more rows than can be counted");
    w->slices = 1;
    w->rows = codes->shape[0] * IN_BYTE;
    w->columns = codes->shape[1];
    return status;
}

static gufo_status read_scale(const packed_weight *w, float *out, gufo_error *error)
{
    gufo_status status = packed_floats(w, SCALE, 0, 1, out, error);

    if (status == GUFO_OK && (!isfinite(*out) || !isfinite(1 / *out)))
        return packed_fail(w, SCALE, 0, error, "its scale is %s",
                           *out == 0        ? "zero"
                           : isfinite(*out) ? "too small"
                                            : packed_fault_of_scale(*out));
    return status;
}

/* Row by row: those that share bytes are a quarter of the weight apart. */
static gufo_status ternary_floats(const packed_weight *w, uint64_t first, uint64_t count,
                                  float *out, gufo_error *error)
{
    uint8_t *bytes = mem_array(w->allocator, w->columns, 1);
    uint64_t quarter = w->rows / IN_BYTE;
    float scale, values[CODE_MASK + 1];
    gufo_status status = bytes != NULL ? read_scale(w, &scale, error) : fail_memory(error);

    for (unsigned i = 0; i <= CODE_MASK && status == GUFO_OK; i++)
        values[i] = ((float)i - 1) / scale;
    for (uint64_t row = first; row < first + count && status == GUFO_OK; row++) {
        unsigned shift = (unsigned)(row / quarter) * CODE_BITS;

        status = packed_read(w, CODES, row % quarter * w->columns, w->columns, bytes, error);
        for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i++)
            *out++ = values[bytes[i] >> shift & CODE_MASK];
    }
    mem_free(w->allocator, bytes);
    return status;
}

const packed_kind packed_ternary = {.name = "ternary",
                                    .parts = {".weight", ".weight_scale"},
                                    .required = 2,
                                    .open = ternary_open,
                                    .floats = ternary_floats};
