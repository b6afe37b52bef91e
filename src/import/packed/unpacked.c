/* The rows of packed weights.
 *
 * A weight is read as if its numbers were F32 in a file: rows that are wanted in part are unpacked
 * whole. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"
#include "import/containers/checkpoint.h"
#include "import/packed/cache.h"
#include "import/packed/packed.h"
#include "produce/produce.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Parts of packed weights: what they are, and their elements.
 *
 * A kind checks a part once, with packed_expect, before it reads any of it. */

enum {
    READ_BYTES = 16384, /* that are converted at once */
    SHAPE_TEXT = 192    /* eight sizes of 20 digits */
};

/* ---- checking ------------------------------------------------------------------------------- */

/* The types that a part may have, and how failures call them. */
static const struct {
    const char *names[6];
    const char *text;
} wanted[] = {
    [PACKED_FLOATS] = {{"F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"}, "F32, F16, BF16 or F8"},
    [PACKED_SCALES] = {{"F32", "F16", "BF16", "F8_E8M0"}, "F32, F16, BF16 or F8_E8M0"},
    [PACKED_WORDS] = {{"I32", "U32"}, "I32"},
    [PACKED_COUNTS] = {{"I64", "I32", "U64", "U32"}, "I64 or I32"},
    [PACKED_BYTES] = {{"U8"}, "U8"},
    [PACKED_E4M3] = {{"F8_E4M3", "U8"}, "F8_E4M3"},
    [PACKED_EIGHTS] = {{"F8_E4M3", "F8_E5M2", "I8"}, "F8 or I8"},
    [PACKED_E8M0] = {{"F8_E8M0", "U8"}, "U8 or F8_E8M0"},
};

static bool holds(const number_type *number, packed_numbers numbers)
{
    const char *const *name = wanted[numbers].names;

    while (*name != NULL && strcmp(*name, number->name) != 0)
        name++;
    return *name != NULL;
}

static const char *shape_text(char out[SHAPE_TEXT], uint32_t n_dims, const uint64_t *shape)
{
    int at = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < n_dims && i < CHECKPOINT_MAX_DIMS; i++)
        at += snprintf(out + at, (size_t)(SHAPE_TEXT - at), "%s%" PRIu64, i == 0 ? "" : ", ",
                       shape[i]);
    return out;
}

static gufo_status in_file(const packed_weight *w, uint32_t part, gufo_status status,
                           gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[part];

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, t->file, w->checkpoint->files[t->file].path);
    return status;
}

static gufo_status expect_numbers(const packed_weight *w, uint32_t part, packed_numbers numbers,
                                  gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[part];

    if (!holds(t->number, numbers))
        return fail_with(error, GUFO_E_TYPE, t->offset,
                         "%s has type %s, but %s weights have %s there", w->kind->parts[part],
                         t->number->name, w->kind->name, wanted[numbers].text);
    if (t->strides != NULL)
        return fail_with(error, GUFO_E_TYPE, t->offset,
                         "the elements of %s do not follow each other in the file",
                         w->kind->parts[part]);
    return GUFO_OK;
}

gufo_status packed_expect(const packed_weight *w, uint32_t part, packed_numbers numbers,
                          uint32_t n_dims, const uint64_t *shape, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[part];
    bool same = t->n_dims == n_dims;
    char is[SHAPE_TEXT], should_be[SHAPE_TEXT];
    gufo_status status = expect_numbers(w, part, numbers, error);

    for (uint32_t i = 0; i < n_dims && same; i++)
        same = t->shape[i] == shape[i];
    if (status == GUFO_OK && !same)
        status = fail_with(error, GUFO_E_MALFORMED, t->offset,
                           "%s has shape [%s], but [%s] belongs to the other parts",
                           w->kind->parts[part], shape_text(is, t->n_dims, t->shape),
                           shape_text(should_be, n_dims, shape));
    return in_file(w, part, status, error);
}

gufo_status packed_fail(const packed_weight *w, uint32_t part, uint64_t element, gufo_error *error,
                        const char *format, ...)
{
    const checkpoint_tensor *t = w->parts[part];
    char text[GUFO_MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fail_with(error, GUFO_E_MALFORMED, t->offset + element * (t->number->bits / 8), "%s",
                    text);
    return in_file(w, part, GUFO_E_MALFORMED, error);
}

const char *packed_fault_of_scale(float scale)
{
    return isnan(scale) ? "NaN" : isinf(scale) ? "infinite" : "too large for F32 numbers";
}

/* ---- reading -------------------------------------------------------------------------------- */

gufo_status packed_read(const packed_weight *w, uint32_t part, uint64_t from, uint64_t size,
                        void *out, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[part];

    if (!range_inside(from, size, checkpoint_tensor_size(t)) || size > SIZE_MAX)
        return refuse(error, GUFO_E_RANGE, "bytes past the end of %s", w->kind->parts[part]);
    return in_file(w, part,
                   source_read(&w->checkpoint->files[t->file].source, t->offset + from, out,
                               (size_t)size, error),
                   error);
}

gufo_status packed_floats(const packed_weight *w, uint32_t part, uint64_t first, uint64_t count,
                          float *out, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[part];
    uint64_t width = t->number->bits / 8, some;
    _Alignas(uint64_t) uint8_t bytes[READ_BYTES];
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i += some) {
        some = smaller(count - i, READ_BYTES / width);
        status = packed_read(w, part, (first + i) * width, some * width, bytes, error);
        if (status == GUFO_OK)
            status = unpack_floats(t->number, t->swapped, bytes, some, out + i, error);
    }
    return status;
}

gufo_status packed_words(const packed_weight *w, uint32_t part, uint64_t first, uint64_t count,
                         uint32_t *out, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[part];
    bool swap = bytes_swapped(t->swapped);
    gufo_status status = packed_read(w, part, first * 4, count * 4, out, error);

    for (uint64_t i = 0; swap && i < count && status == GUFO_OK; i++)
        out[i] = __builtin_bswap32(out[i]);
    return status;
}

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
