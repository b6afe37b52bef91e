/* Decoding: the checks, and the way to the kernel. */
#include "codec/coding.h"
#include "codec/cpu.h"
#include "codec/interleaved.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"

#include <inttypes.h>

gufo_status coded_size(const gufo_element_type *type, uint64_t rows, uint64_t columns,
                       uint64_t *bytes, gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    uint64_t row_size, elements;
    gufo_status status = gufo_element_row_size(type, columns, &row_size, NULL);

    if (status == GUFO_E_ARGUMENT)
        return refuse(error, status, "a row of %s elements does not fill blocks of %u (%s)",
                      GROUPED(columns), (unsigned)type->block_elements, type->name);
    if (status == GUFO_OK && layout != NULL && rows % layout->rows != 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s needs a multiple of %u rows, not %" PRIu64,
                      type->name, (unsigned)layout->rows, rows);
    if (status == GUFO_OK && checked_mul(rows, row_size, bytes) &&
        checked_mul(rows, columns, &elements) && checked_mul(elements, sizeof(float), &elements) &&
        *bytes <= SIZE_MAX && elements <= SIZE_MAX)
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE, "%s rows of %s elements are too many", GROUPED(rows),
                  GROUPED(columns));
}

static gufo_status find_kernels(const gufo_element_type *type, gufo_cpu cpu, const coder **kernels,
                                gufo_error *error)
{
    if ((type->flags & GUFO_ELEMENT_DECODES) == 0)
        return refuse(error, GUFO_E_TYPE, "%s cannot be decoded", type->name);
    *kernels = cpu_kernels(cpu);
    return *kernels != NULL ? GUFO_OK : fail_cpu(cpu, error);
}

/* Where decoded numbers go. */
typedef struct decoded {
    float *values;    /* or NULL: */
    uint16_t *halves; /* binary16 or bfloat16 */
    encode_kernel *narrow;
} decoded;

/* Decodes whole blocks to element `at` on. */
static void decode_blocks(const coder *coding, const uint8_t *blocks, uint64_t elements,
                          const decoded *out, uint64_t at)
{
    enum { MOST = 4096 };
    float values[MOST];

    if (out->values != NULL) {
        coding->decode(blocks, elements, out->values + at);
        return;
    }
    coding->decode(blocks, elements, values);
    out->narrow(&(encode_row){.values = values, .columns = elements},
                (uint8_t *)(out->halves + at));
    if (HOST_IS_BIG_ENDIAN)
        copy_numbers(out->halves + at, out->halves + at, elements, sizeof(uint16_t), true);
}

/* The groups of all rows of R follow each other. */
static void decode_interleaved(const interleaved *layout, const coder *plain, const uint8_t *blocks,
                               uint64_t rows, uint64_t columns, const decoded *out)
{
    enum { MOST_ROWS = 8, ELEMENTS = 32, BYTES = 18 };
    uint8_t split[MOST_ROWS * BYTES];

    for (uint64_t row = 0; row < rows; row += layout->rows) {
        for (uint64_t column = 0; column < columns; column += ELEMENTS) {
            interleaved_split(layout, blocks, split, BYTES);
            for (uint32_t r = 0; r < layout->rows; r++)
                decode_blocks(plain, split + (size_t)r * BYTES, ELEMENTS, out,
                              (row + r) * columns + column);
            blocks += (size_t)layout->rows * BYTES;
        }
    }
}

/* Rows follow each other without a gap: they are one long row, taken in parts that stay in the
 * nearest cache. */
static void decode_plain(const gufo_element_type *type, const coder *coding, const uint8_t *blocks,
                         uint64_t elements, const decoded *out)
{
    enum { PART = 4096 }; /* whole blocks of every type */
    uint64_t part_bytes = PART / type->block_elements * type->block_bytes;

    for (uint64_t at = 0; at < elements; at += PART, blocks += part_bytes)
        decode_blocks(coding, blocks, elements - at < PART ? elements - at : PART, out, at);
}

static gufo_status decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                          uint64_t columns, decoded out, uint32_t narrow, gufo_cpu cpu,
                          gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    const coder *kernels;
    uint64_t bytes;
    gufo_status status = find_kernels(type, cpu, &kernels, error);

    if (status == GUFO_OK)
        status = coded_size(type, rows, columns, &bytes, error);
    if (status != GUFO_OK || rows == 0 || columns == 0)
        return status;
    out.narrow = kernels[narrow].encode;
    if (layout != NULL)
        decode_interleaved(layout, &kernels[layout->plain], blocks, rows, columns, &out);
    else
        decode_plain(type, &kernels[type->id], blocks, rows * columns, &out);
    return GUFO_OK;
}

gufo_status gufo_decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *values, gufo_cpu cpu, gufo_error *error)
{
    return decode(type, blocks, rows, columns, (decoded){.values = values}, GUFO_TYPE_F32, cpu,
                  error);
}

gufo_status gufo_decode_f16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                            uint64_t columns, uint16_t *values, gufo_cpu cpu, gufo_error *error)
{
    return decode(type, blocks, rows, columns, (decoded){.halves = values}, GUFO_TYPE_F16, cpu,
                  error);
}

gufo_status gufo_decode_bf16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                             uint64_t columns, uint16_t *values, gufo_cpu cpu, gufo_error *error)
{
    return decode(type, blocks, rows, columns, (decoded){.halves = values}, GUFO_TYPE_BF16, cpu,
                  error);
}
