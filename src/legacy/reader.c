/* Bytes of a file in order, through a window: headers and vocabularies are many small numbers. */

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "legacy/file.h"

static gufo_status fail_end(const reader *r, uint64_t size, gufo_error *error)
{
    return fail_with(error, GUFO_E_TRUNCATED, r->at,
                     "the file ends inside %s: %s bytes are needed here, %s are left", r->inside,
                     GROUPED(size), GROUPED(reader_left(r)));
}

static gufo_status fill(reader *r, gufo_error *error)
{
    r->window_at = r->at;
    r->window_size = (size_t)smaller(sizeof r->window, reader_left(r));
    return source_read(r->source, r->at, r->window, r->window_size, error);
}

gufo_status reader_bytes(reader *r, void *out, size_t size, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (size > reader_left(r))
        return fail_end(r, size, error);
    if (size > sizeof r->window) {
        status = source_read(r->source, r->at, out, size, error);
    } else {
        if (!range_inside(r->at - r->window_at, size, r->window_size) || r->at < r->window_at)
            status = fill(r, error);
        if (status == GUFO_OK && size > 0)
            memcpy(out, r->window + (r->at - r->window_at), size);
    }
    if (status == GUFO_OK)
        r->at += size;
    return status;
}

gufo_status reader_u32(reader *r, uint32_t *out, gufo_error *error)
{
    uint8_t bytes[4];
    gufo_status status = reader_bytes(r, bytes, sizeof bytes, error);

    if (status == GUFO_OK)
        *out = load_u32(bytes, bytes_swapped(false));
    return status;
}

gufo_status reader_i32(reader *r, int32_t *out, gufo_error *error)
{
    uint32_t bits;
    gufo_status status = reader_u32(r, &bits, error);

    if (status == GUFO_OK)
        memcpy(out, &bits, sizeof bits);
    return status;
}

gufo_status reader_f32(reader *r, float *out, gufo_error *error)
{
    uint32_t bits;
    gufo_status status = reader_u32(r, &bits, error);

    if (status == GUFO_OK)
        memcpy(out, &bits, sizeof bits);
    return status;
}

gufo_status reader_skip(reader *r, uint64_t size, gufo_error *error)
{
    if (size > reader_left(r))
        return fail_end(r, size, error);
    r->at += size;
    return GUFO_OK;
}
