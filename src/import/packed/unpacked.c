/* The rows of packed weights.
 *
 * A weight is read as if its numbers were F32 in a file: rows that are wanted in part are unpacked
 * whole. */
#include "import/packed/unpacked.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"
#include "import/packed/cache.h"

gufo_status unpacked_fail(const packed_weight *w, gufo_status status, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[0];
    gufo_error reason;

    if (status != GUFO_E_ARGUMENT && status != GUFO_E_LIMIT && status != GUFO_E_TYPE &&
        status != GUFO_E_MALFORMED && status != GUFO_E_RANGE)
        return status;
    if (status == GUFO_E_ARGUMENT)
        status = GUFO_E_MALFORMED;
    if (error == NULL)
        return status;
    reason = *error;
    (void)fail_with(error, status, reason.offset == GUFO_NO_OFFSET ? t->offset : reason.offset,
                    "weight %s (%s): %s", QUOTED(w->module), w->kind->name, reason.message);
    if (reason.role != GUFO_FILE_NONE)
        fail_in(error, reason.role, reason.file_index, reason.file);
    fail_in(error, GUFO_FILE_INPUT, t->file, w->checkpoint->files[t->file].path);
    return status;
}

/* Floats of this machine become F32 of a file. */
static void store_floats(float *numbers, uint64_t count)
{
    for (uint64_t i = 0; bytes_swapped(false) && i < count; i++)
        store_u32((uint8_t *)&numbers[i], float_to_bits(numbers[i]), true);
}

gufo_status unpacked_rows(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                          gufo_error *error)
{
    gufo_status status = w->kind->floats(w, first, count, out, error);

    if (status == GUFO_OK)
        store_floats(out, count * w->columns);
    return unpacked_fail(w, status, error);
}

gufo_status unpacked_blocks(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                            gufo_error *error)
{
    return unpacked_fail(w, w->kind->blocks(w, first, count, out, error), error);
}

/* Numbers inside one row. */
static gufo_status read_inside(const packed_weight *w, uint64_t row, uint64_t begin, uint64_t count,
                               uint8_t *out, gufo_error *error)
{
    float *whole = mem_array(w->allocator, w->columns, sizeof *whole);
    gufo_status status =
        whole != NULL ? unpacked_rows(w, row, 1, whole, error) : fail_memory(error);

    if (status == GUFO_OK)
        memcpy(out, whole + begin, (size_t)count * sizeof *whole);
    mem_free(w->allocator, whole);
    return status;
}

gufo_status unpacked_numbers(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                             gufo_error *error)
{
    uint8_t *to = out;
    gufo_status status = GUFO_OK;

    while (count > 0 && status == GUFO_OK) {
        uint64_t row = first / w->columns, begin = first % w->columns;
        uint64_t some = smaller(count, w->columns - begin);

        if (begin == 0 && count >= w->columns) {
            some = count / w->columns * w->columns;
            status = unpacked_rows(w, row, some / w->columns, to, error);
        } else {
            status = read_inside(w, row, begin, some, to, error);
        }
        to += some * sizeof(float);
        first += some;
        count -= some;
    }
    return status;
}

uint64_t unpacked_memory(const packed_weight *w)
{
    return w != NULL && packed_shares(w) ? PACKED_CACHE_BYTES : 0;
}

gufo_status unpacked_read(const struct rows *r, uint64_t first, uint64_t count, void *out,
                          gufo_error *error)
{
    return unpacked_numbers(r->context, r->offset / sizeof(float) + first * r->columns,
                            count * r->columns, out, error);
}
