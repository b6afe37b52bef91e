/* Decoding to doubles; wide.h says for whom. */
#include "codec/wide.h"

#include <string.h>

#include "base/bytes.h"

static double double_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Numbers that a float cannot hold. */
static bool widen(uint32_t type, const uint8_t *from, uint64_t count, double *values)
{
    const bool swap = HOST_IS_BIG_ENDIAN;

    if (type != GUFO_TYPE_F64 && type != GUFO_TYPE_I64 && type != GUFO_TYPE_I32)
        return false;
    for (uint64_t i = 0; i < count; i++)
        values[i] = type == GUFO_TYPE_F64   ? double_from_bits(load_u64(from + i * 8, swap))
                    : type == GUFO_TYPE_I64 ? (double)(int64_t)load_u64(from + i * 8, swap)
                                            : (double)(int32_t)load_u32(from + i * 4, swap);
    return true;
}

gufo_status decode_wide(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *floats, double *values, gufo_cpu cpu,
                        gufo_error *error)
{
    gufo_status status;

    if (widen(type->id, blocks, rows * columns, values))
        return GUFO_OK;
    status = gufo_decode(type, blocks, rows, columns, floats, cpu, error);
    for (uint64_t i = 0; i < rows * columns && status == GUFO_OK; i++)
        values[i] = (double)floats[i];
    return status;
}
