/* Making a context from whatever bytes can come from. */
#include "compat/context.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "gufo-compat/gufo_gguf.h"

/* Bytes of metadata that are read into memory at most. */
#define MAX_METADATA ((uint64_t)1 << 30)

static const gufo_open_options as_ggml = {.flags = COMPAT_OPEN_FLAGS, .max_unmapped = MAX_METADATA};
static const gufo_open_options as_specified = {.flags = COMPAT_OPEN_FLAGS,
                                               .max_unmapped = MAX_METADATA,
                                               .max_depth = GUFO_LARGEST_DEPTH,
                                               .max_texts = UINT64_MAX};
static const struct gguf_init_params only_metadata = {true, NULL};

void compat_report(const char *path, const gufo_error *error)
{
    char line[sizeof error->message + 512], where[48] = "";

    if (error->offset != GUFO_NO_OFFSET)
        (void)snprintf(where, sizeof where, "byte %" PRIu64 ": ", error->offset);
    (void)snprintf(line, sizeof line, "gguf: %.256s%s%s%s\n", path != NULL ? path : "",
                   path != NULL ? ": " : "", where, error->message);
    compat_log(line);
}

/* Reads what was opened, and closes it. */
static struct gguf_context *read_and_close(gufo_model *file, compat_rules rules, const char *path,
                                           uint64_t start, struct gguf_init_params params,
                                           uint64_t *end, gufo_error *error)
{
    struct gguf_context *ctx = NULL;

    if (file != NULL)
        ctx = compat_read(file, rules, start, params, end, error);
    if (ctx == NULL)
        compat_report(path, error);
    gufo_model_free(file);
    return ctx;
}

struct gguf_context *gguf_init_from_file(const char *fname, struct gguf_init_params params)
{
    gufo_error error;
    uint64_t end;

    return read_and_close(gufo_model_open(fname, &as_ggml, &error), COMPAT_AS_GGML, fname, 0,
                          params, &end, &error);
}

struct gguf_context *gguf_init_from_buffer(const void *data, size_t size,
                                           struct gguf_init_params params)
{
    gufo_error error;
    uint64_t end;

    if (data == NULL || size == 0)
        return NULL;
    return read_and_close(gufo_model_open_memory(data, size, &as_ggml, &error), COMPAT_AS_GGML,
                          NULL, 0, params, &end, &error);
}

/* ---- by the specification ------------------------------------------------------------------- */

/* Tensors may be anywhere, so their extents must be right before data is loaded. */
static gufo_open_options options_for(struct gguf_init_params params)
{
    gufo_open_options options = as_specified;

    if (params.ctx != NULL && !params.no_alloc)
        options.flags &= ~(uint32_t)GUFO_OPEN_METADATA_ONLY;
    return options;
}

struct gguf_context *gufo_gguf_open_file(const char *fname, struct gguf_init_params params)
{
    const gufo_open_options options = options_for(params);
    gufo_error error;
    uint64_t end;

    return read_and_close(gufo_model_open(fname, &options, &error), COMPAT_AS_SPECIFIED, fname, 0,
                          params, &end, &error);
}

struct gguf_context *gufo_gguf_open_buffer(const void *data, size_t size,
                                           struct gguf_init_params params)
{
    const gufo_open_options options = options_for(params);
    gufo_error error;
    uint64_t end;

    if (data == NULL || size == 0)
        return NULL;
    return read_and_close(gufo_model_open_memory(data, size, &options, &error), COMPAT_AS_SPECIFIED,
                          NULL, 0, params, &end, &error);
}

/* ---- a FILE --------------------------------------------------------------------------------- */

typedef struct file_source {
    FILE *file;
    uint64_t start;
} file_source;

static gufo_status read_file(void *context, uint64_t offset, void *buffer, size_t size,
                             gufo_error *error)
{
    const file_source *from = context;

    if (fseeko(from->file, (off_t)(from->start + offset), SEEK_SET) != 0)
        return fail_io(error, errno, "cannot seek");
    if (fread(buffer, 1, size, from->file) == size)
        return GUFO_OK;
    if (ferror(from->file))
        return fail_io(error, errno, "cannot read");
    return fail_with(error, GUFO_E_TRUNCATED, offset, "the file was truncated while it was read");
}

/* The range from the current position to the end; false if the file cannot seek. */
static bool measure(FILE *file, uint64_t *start, uint64_t *size)
{
    off_t from = ftello(file), to;

    if (from < 0 || fseeko(file, 0, SEEK_END) != 0)
        return false;
    to = ftello(file);
    if (to < 0 || fseeko(file, from, SEEK_SET) != 0)
        return false;
    *start = (uint64_t)from;
    *size = to > from ? (uint64_t)(to - from) : 0;
    return true;
}

struct gguf_context *gguf_init_from_file_ptr(FILE *file, struct gguf_init_params params)
{
    file_source from = {.file = file};
    gufo_source source = {.context = &from, .read = read_file};
    struct gguf_context *ctx;
    gufo_error error;
    uint64_t end;

    if (file == NULL || !measure(file, &from.start, &source.size))
        return NULL;
    ctx = read_and_close(gufo_model_open_source(&source, &as_ggml, &error), COMPAT_AS_GGML, NULL,
                         from.start, params, &end, &error);
    if (ctx != NULL)
        (void)fseeko(file, (off_t)end, SEEK_SET);
    return ctx;
}

/* ---- a callback ----------------------------------------------------------------------------- */

typedef struct callback_source {
    gguf_reader_callback_t callback;
    void *userdata;
    size_t max_chunk;
} callback_source;

static gufo_status read_callback(void *context, uint64_t offset, void *buffer, size_t size,
                                 gufo_error *error)
{
    const callback_source *from = context;

    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < from->max_chunk ? size - at : from->max_chunk;
        if (from->callback(from->userdata, (char *)buffer + at, offset + at, step) != step)
            return fail_with(error, GUFO_E_TRUNCATED, offset + at,
                             "the source ends before what the file announces");
    }
    return GUFO_OK;
}

struct gguf_context *gguf_init_from_callback(gguf_reader_callback_t callback, void *userdata,
                                             size_t max_chunk_read, uint64_t max_expected_size,
                                             struct gguf_init_params params)
{
    /* The source may be shorter than is expected, and may give nothing where less is left than is
     * asked for. */
    gufo_open_options options = {.flags = COMPAT_OPEN_FLAGS | GUFO_OPEN_NO_READ_AHEAD,
                                 .max_unmapped = MAX_METADATA};
    callback_source from = {callback, userdata, max_chunk_read > 0 ? max_chunk_read : SIZE_MAX};
    gufo_source source = {.context = &from, .size = max_expected_size, .read = read_callback};
    gufo_error error;
    uint64_t end;

    if (callback == NULL)
        return NULL;
    return read_and_close(gufo_model_open_source(&source, &options, &error), COMPAT_AS_GGML, NULL,
                          0, params, &end, &error);
}

/* ---- what is about to be written ------------------------------------------------------------ */

typedef struct padded_source {
    const char *data; /* with zeros behind it */
    size_t size;
} padded_source;

static gufo_status read_padded(void *context, uint64_t offset, void *buffer, size_t size,
                               gufo_error *error)
{
    const padded_source *from = context;
    size_t left = offset < from->size ? from->size - (size_t)offset : 0;
    size_t there = size < left ? size : left;

    (void)error;
    if (there > 0)
        memcpy(buffer, from->data + offset, there);
    memset((char *)buffer + there, 0, size - there);
    return GUFO_OK;
}

bool compat_check(const void *meta, size_t size, size_t padding, gufo_error *error)
{
    padded_source from = {meta, size};
    gufo_source source = {.context = &from, .size = (uint64_t)size + padding, .read = read_padded};
    struct gguf_context *ctx = NULL;
    gufo_error reason;
    uint64_t end;
    bool readable;
    gufo_model *file = gufo_model_open_source(&source, &as_ggml, &reason);

    if (file != NULL)
        ctx = compat_read(file, COMPAT_AS_GGML, 0, only_metadata, &end, &reason);
    readable = ctx != NULL;
    gufo_model_free(file);
    gguf_free(ctx);
    if (readable)
        return true;
    if (reason.code == GUFO_E_MEMORY)
        return fail_memory(error) == GUFO_OK;
    return fail_with(error, reason.code, reason.offset, "not written, as it could not be read: %s",
                     reason.message) == GUFO_OK;
}
