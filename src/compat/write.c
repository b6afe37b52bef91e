/* Writing a context: to bytes, to a FILE, to a path.
 *
 *     header | entries | tensor infos | padding | data | padding | data | padding
 *     '------------ meta ------------'
 *
 * All ways of writing encode the meta first and give it to the reader: what the reader refuses is
 * not written, and no file is touched.  Then they go through write_encoded, so that they give the
 * same bytes. */
#include "compat/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files/output.h"
#include "format/value/value.h"

/* ---- metadata ------------------------------------------------------------------------------- */

static bool encode_values(encoder *e, const entry *item)
{
    return item->type == GGUF_TYPE_STRING ? encode_strings(e, item->values, item->count)
                                          : encode_bytes(e, item->values, compat_entry_size(item));
}

static bool encode_entry(encoder *e, const entry *item)
{
    bool done = encode_string(e, item->named.name);

    if (item->is_array)
        done = done && encode_u32(e, GGUF_TYPE_ARRAY) && encode_u32(e, (uint32_t)item->type) &&
               encode_u64(e, item->count);
    else
        done = done && encode_u32(e, (uint32_t)item->type);
    return done && encode_values(e, item);
}

/* Without trailing dimensions of 1.  ggml_n_dims would take a 0 for one, and make an empty tensor
 * full of bytes that are not there. */
static uint32_t written_dims(const struct ggml_tensor *tensor)
{
    uint32_t n = GGML_MAX_DIMS;

    while (n > 1 && tensor->ne[n - 1] == 1)
        n--;
    return n;
}

static bool encode_tensor(encoder *e, const tensor_info *info, uint64_t offset)
{
    const struct ggml_tensor *tensor = &info->tensor;

    return encode_info(e, info->named.name, written_dims(tensor), (const uint64_t *)tensor->ne,
                       (uint32_t)tensor->type, offset);
}

/* Back to back, wherever they were in the file that was read. */
static bool encode_tensors(const struct gguf_context *ctx, encoder *e)
{
    uint64_t offset = 0;
    bool done = true;

    for (uint64_t i = 0; i < ctx->tensors.count && done; i++) {
        const tensor_info *info = compat_tensor(ctx, i);

        done = encode_tensor(e, info, offset);
        offset = compat_offset_behind(ctx, info, offset);
    }
    return done;
}

/* Version 1 has other lengths and is not written. */
static bool encode_all(const struct gguf_context *ctx, encoder *e)
{
    uint32_t version = ctx->version == 1 ? GGUF_VERSION : ctx->version;
    uint64_t slot = 0;
    const entry *item;
    bool done =
        !ctx->incomplete && encode_header(e, version, ctx->tensors.count, ctx->entries.count);

    while (done && (item = named_list_next(&ctx->entries, &slot)) != NULL)
        done = encode_entry(e, item);
    return done && encode_tensors(ctx, e);
}

static size_t padding_behind(size_t size, size_t alignment)
{
    return (alignment - size % alignment) % alignment;
}

/* Nothing is encoded that the reader would refuse anyway. */
static bool check_entries(const struct gguf_context *ctx, gufo_error *error)
{
    uint64_t slot = 0;
    const entry *item;

    while ((item = named_list_next(&ctx->entries, &slot)) != NULL)
        if (item->type == GGUF_TYPE_ARRAY)
            return refuse(
                       error, GUFO_E_TYPE,
                       "not written, as it could not be read: key %s holds arrays inside an array",
                       QUOTED(item->named.name)) == GUFO_OK;
    return true;
}

/* Everything before the data but the padding, which a file may have asked to be huge.  False if
 * memory runs out, or if the reader would refuse it. */
static bool encode_meta(const struct gguf_context *ctx, encoder *e, gufo_error *error)
{
    /* Contexts are written in the byte order of this machine. */
    *e = (encoder){.out.allocator = &default_allocator, .big = HOST_IS_BIG_ENDIAN};
    if (!check_entries(ctx, error))
        return false;
    if (!encode_all(ctx, e))
        return fail_memory(error) == GUFO_OK;
    return compat_check(e->out.data, e->out.len, padding_behind(e->out.len, ctx->alignment), error);
}

/* ---- data ----------------------------------------------------------------------------------- */

enum { CHUNK = 1 << 20 };

/* All tensors must have data that can be written. */
static void check_data(const struct gguf_context *ctx)
{
    for (uint64_t i = 0; i < ctx->tensors.count; i++) {
        const struct ggml_tensor *tensor = &compat_tensor(ctx, i)->tensor;

        if (compat_tensor(ctx, i)->no_layout)
            continue; /* it will be refused */
        if (!ggml_is_contiguous(tensor))
            GGML_ABORT("tensor \"%s\" is not contiguous", tensor->name);
        if (tensor->buffer == NULL && tensor->data == NULL && ggml_nbytes(tensor) > 0)
            GGML_ABORT("tensor \"%s\" has no data", tensor->name);
    }
}

/* Where bytes go, and why they could not be taken. */
typedef struct destination {
    compat_sink *sink;
    void *to;
    gufo_error *error;
} destination;

static bool put(const destination *target, const void *data, size_t size)
{
    return target->sink(target->to, data, size, target->error);
}

/* `chunk` is scratch space of CHUNK bytes. */
static bool write_zeros(size_t size, void *chunk, const destination *target)
{
    memset(chunk, 0, size < CHUNK ? size : CHUNK);
    for (size_t step; size > 0; size -= step) {
        step = size < CHUNK ? size : CHUNK;
        if (!put(target, chunk, step))
            return false;
    }
    return true;
}

static bool write_tensor(const struct ggml_tensor *tensor, size_t alignment, void *chunk,
                         const destination *target)
{
    size_t size = ggml_nbytes(tensor);

    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < CHUNK ? size - at : CHUNK;
        if (!put(target, compat_tensor_bytes(tensor, at, step, chunk), step))
            return false;
    }
    return write_zeros(padding_behind(size, alignment), chunk, target);
}

static bool write_tensors(const struct gguf_context *ctx, void *chunk, const destination *target)
{
    for (uint64_t i = 0; i < ctx->tensors.count; i++)
        if (!write_tensor(&compat_tensor(ctx, i)->tensor, ctx->alignment, chunk, target))
            return false;
    return true;
}

static bool write_encoded(const struct gguf_context *ctx, const buffer *meta, bool only_meta,
                          const destination *target)
{
    void *chunk = malloc(CHUNK);
    bool done;

    (void)fail_memory(target->error); /* unless it is something else */
    done = chunk != NULL && put(target, meta->data, meta->len) &&
           write_zeros(padding_behind(meta->len, ctx->alignment), chunk, target) &&
           (only_meta || write_tensors(ctx, chunk, target));
    free(chunk);
    return done;
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool to_stream(void *to, const void *data, size_t size, gufo_error *error)
{
    if (fwrite(data, 1, size, to) == size)
        return true;
    return fail_io(error, errno, "cannot write") == GUFO_OK;
}

/* What is not a regular file (a device, a pipe), or is in a folder where no file can be created, is
 * written as it is.  Any other failure leaves the old file. */
static bool must_be_in_place(const char *fname, const gufo_error *failure)
{
    struct stat info;

    if (stat(fname, &info) == 0 && !S_ISREG(info.st_mode))
        return true;
    return failure->code == GUFO_E_IO &&
           (failure->system == EACCES || failure->system == EPERM || failure->system == EROFS);
}

static bool write_in_place(const struct gguf_context *ctx, const buffer *meta, const char *fname,
                           bool only_meta, gufo_error *error)
{
    FILE *file = fopen(fname, "wb");
    bool done;

    if (file == NULL)
        return fail_io(error, errno, "cannot open for writing") == GUFO_OK;
    done = write_encoded(ctx, meta, only_meta, &(destination){to_stream, file, error});
    if (fclose(file) != 0 && done)
        return fail_io(error, errno, "cannot write") == GUFO_OK;
    return done;
}

typedef struct path_sink {
    output output;
    uint64_t written;
} path_sink;

static bool to_output(void *to, const void *data, size_t size, gufo_error *error)
{
    path_sink *sink = to;

    if (output_write(&sink->output, sink->written, data, size, error) != GUFO_OK)
        return false;
    sink->written += size;
    return true;
}

static bool write_path(const struct gguf_context *ctx, const buffer *meta, const char *fname,
                       bool only_meta, gufo_error *error)
{
    path_sink sink = {.written = 0};
    bool done;
    gufo_status status = output_open(&sink.output, fname, true, 0, NULL, &default_allocator, error);

    if (status != GUFO_OK)
        return must_be_in_place(fname, error) && write_in_place(ctx, meta, fname, only_meta, error);
    done = write_encoded(ctx, meta, only_meta, &(destination){to_output, &sink, error}) &&
           output_commit(&sink.output, error) == GUFO_OK;
    output_discard(&sink.output);
    return done;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* To a path, or to a sink. */
static bool write_all(const struct gguf_context *ctx, bool only_meta, const char *fname,
                      compat_sink *sink, void *to)
{
    gufo_error error;
    encoder e;
    bool done;

    if (!only_meta)
        check_data(ctx); /* before there is a file that aborting would leave behind */
    done =
        encode_meta(ctx, &e, &error) &&
        (fname != NULL ? write_path(ctx, &e.out, fname, only_meta, &error)
                       : write_encoded(ctx, &e.out, only_meta, &(destination){sink, to, &error}));
    buffer_free(&e.out);
    if (!done)
        compat_report(fname, &error);
    return done;
}

bool compat_write(const struct gguf_context *ctx, bool only_meta, compat_sink *sink, void *to)
{
    return write_all(ctx, only_meta, NULL, sink, to);
}

bool gguf_write_to_file(const struct gguf_context *ctx, const char *fname, bool only_meta)
{
    GGML_ASSERT(fname != NULL);
    return write_all(ctx, only_meta, fname, NULL, NULL);
}

bool gguf_write_to_file_ptr(const struct gguf_context *ctx, FILE *file, bool only_meta)
{
    GGML_ASSERT(file != NULL);
    return compat_write(ctx, only_meta, to_stream, file);
}

static bool to_count(void *to, const void *data, size_t size, gufo_error *error)
{
    (void)data, (void)error;
    *(size_t *)to += size;
    return true;
}

size_t gguf_get_meta_size(const struct gguf_context *ctx)
{
    size_t size = 0;

    return compat_write(ctx, true, to_count, &size) ? size : 0;
}

static bool to_memory(void *to, const void *data, size_t size, gufo_error *error)
{
    uint8_t **at = to;

    (void)error;
    memcpy(*at, data, size);
    *at += size;
    return true;
}

void gguf_get_meta_data(const struct gguf_context *ctx, void *data)
{
    uint8_t *at = data;

    (void)compat_write(ctx, true, to_memory, &at);
}
