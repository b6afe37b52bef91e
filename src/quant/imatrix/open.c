/* Opening an importance matrix: which of its formats a file has. */
#include "quant/imatrix/imatrix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"

/* Whether the source begins as a GGUF file does, in either byte order (the magic number is bytes).
 */
static gufo_status read_magic(const gufo_imatrix *m, bool *gguf, gufo_error *error)
{
    static const char magic[] = {'G', 'G', 'U', 'F'};
    char bytes[sizeof magic];
    gufo_status status;

    *gguf = false;
    if (m->source.size < sizeof bytes)
        return GUFO_OK;
    status = source_read(&m->source, 0, bytes, sizeof bytes, error);
    *gguf = memcmp(bytes, magic, sizeof bytes) == 0;
    return status;
}

static gufo_model *open_gguf(gufo_imatrix *m, gufo_error *error)
{
    gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP, .allocator = &m->allocator};

    gufo_error reason = {.code = GUFO_OK};
    gufo_model *model = m->source.fd >= 0 ? gufo_open_fd(m->source.fd, &options, &reason)
                                          : gufo_open_memory(m->source.base, (size_t)m->source.size,
                                                             &options, &reason);

    if (model == NULL && reason.code == GUFO_E_SHARDS)
        (void)refuse(error, GUFO_E_SHARDS,
                     "the file is one of several shards; an importance matrix is a single file");
    else if (model == NULL)
        (void)fail_as(error, &reason);
    return model;
}

/* Takes over `m`, whose source is open. */
static gufo_imatrix *open_source(gufo_imatrix *m, const gufo_imatrix_options *options,
                                 gufo_error *error)
{
    bool gguf;
    gufo_status status = read_magic(m, &gguf, error);

    m->format = gguf ? GUFO_IMATRIX_GGUF : GUFO_IMATRIX_LEGACY;
    m->chunk_size =
        options != NULL && options->chunk_size != 0 ? options->chunk_size : GUFO_IMATRIX_CHUNK_SIZE;
    if (status == GUFO_OK && gguf) {
        m->file = open_gguf(m, error);
        source_close(&m->source);
        status = m->file != NULL ? imatrix_read_gguf(m, error) : GUFO_E_MALFORMED;
    } else if (status == GUFO_OK) {
        status = imatrix_read_legacy(m, error);
    }
    if (status != GUFO_OK) {
        (void)imatrix_fail(m, 0, status, error);
        gufo_imatrix_close(m);
        return NULL;
    }
    return m;
}

/* An empty one for a file that errors call `name`, unless the options have another. */
static gufo_imatrix *begin(const char *name, const gufo_imatrix_options *options, gufo_error *error)
{
    if (options == NULL)
        return imatrix_new(NULL, name, error);
    if (reserved_check(options->reserved, "gufo_imatrix_options", error) != GUFO_OK)
        return NULL;
    return imatrix_new(options->allocator, options->name != NULL ? options->name : name, error);
}

static gufo_status open_descriptor(gufo_imatrix *m, const char *path, gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    gufo_status status;

    if (fd < 0)
        return fail_io(error, errno, "cannot open");
    status = source_open_fd(&m->source, fd, false, 0, &m->allocator, error);
    if (status == GUFO_OK && m->source.sequential)
        return refuse(error, GUFO_E_ARGUMENT,
                      "an importance matrix is read in pieces, which a pipe does not allow; give "
                      "a file");
    return status;
}

gufo_imatrix *gufo_imatrix_open(const char *path, const gufo_imatrix_options *options,
                                gufo_error *error)
{
    gufo_imatrix *m;
    gufo_status status;

    if (path == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "the path is missing");
        return NULL;
    }
    m = begin(path, options, error);
    if (m == NULL)
        return NULL;
    status = open_descriptor(m, path, error);
    if (status == GUFO_OK)
        return open_source(m, options, error);
    (void)imatrix_fail(m, 0, status, error);
    gufo_imatrix_close(m);
    return NULL;
}

gufo_imatrix *gufo_imatrix_open_memory(const void *data, size_t size,
                                       const gufo_imatrix_options *options, gufo_error *error)
{
    gufo_imatrix *m = begin(NULL, options, error);

    if (m == NULL)
        return NULL;
    source_open_memory(&m->source, data, size);
    return open_source(m, options, error);
}
