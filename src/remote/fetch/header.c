/* The header of a download, before the rest of it has come.
 *
 * It is opened as a source that has its first bytes alone: opening reads no byte that it does not need, so if it
 * asks for one that has not come, everything before was good. */
#include "remote/fetch/header.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"

static bool has_end(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);

    return len >= end_len && str_same_folded(gufo_str_of(name + len - end_len), gufo_str_of(end));
}

typedef struct beginning {
    gufo_str bytes;
    bool ended; /* more was asked for */
} beginning;

bool header_is_wanted(const char *name)
{
    return has_end(name, ".gguf");
}

gufo_status header_check_page(gufo_str bytes, const char *name, gufo_error *error)
{
    const char *kind = gufo_recognise(bytes.data, bytes.len);

    if (kind == NULL || strstr(kind, "HTML") == NULL || has_end(name, ".html") ||
        has_end(name, ".htm"))
        return GUFO_OK;
    return refuse(error, GUFO_E_NOT_GGUF, "the server sends %s", kind);
}

static gufo_status read_beginning(void *context, uint64_t offset, void *buffer, size_t size,
                                  gufo_error *error)
{
    beginning *b = context;

    b->ended = !range_inside(offset, size, b->bytes.len);
    if (b->ended)
        return refuse(error, GUFO_E_IO, "these bytes have not come yet");
    memcpy(buffer, b->bytes.data + offset, size);
    return GUFO_OK;
}

static gufo_status open_and_close(const gufo_input *input, uint32_t flags,
                                  const gufo_allocator *allocator, gufo_error *error)
{
    gufo_open_options options = {.flags = flags | GUFO_OPEN_INCOMPLETE, .allocator = allocator};
    gufo_model *model = gufo_model_open_shards(input, 1, &options, error);

    gufo_model_free(model);
    return model != NULL ? GUFO_OK : error->code;
}

gufo_status header_check(gufo_str bytes, uint64_t size, bool *whole,
                         const gufo_allocator *allocator, gufo_error *error)
{
    beginning b = {bytes, false};
    gufo_source source = {
        .context = &b, .size = size != GUFO_NO_OFFSET ? size : INT64_MAX, .read = read_beginning};
    uint32_t flags = size != GUFO_NO_OFFSET ? 0 : GUFO_OPEN_METADATA_ONLY;
    gufo_input input = gufo_input_source(&source);
    gufo_status status = open_and_close(&input, flags | GUFO_OPEN_NO_READ_AHEAD, allocator, error);

    *whole = status == GUFO_OK && flags == 0;
    return b.ended ? GUFO_OK : status;
}

gufo_status header_check_file(int fd, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_input input = gufo_input_fd(fd);

    return open_and_close(&input, GUFO_OPEN_NO_MAP, allocator, error);
}
