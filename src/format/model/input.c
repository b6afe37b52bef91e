/* One file from any kind of source, as callers describe it. */
#include "gufo/format.h"

gufo_input gufo_input_path(const char *path)
{
    return (gufo_input){.kind = GUFO_INPUT_PATH, .path = path};
}

gufo_input gufo_input_fd(int fd)
{
    return (gufo_input){.kind = GUFO_INPUT_FD, .fd = fd};
}

gufo_input gufo_input_memory(const void *data, size_t size)
{
    return (gufo_input){.kind = GUFO_INPUT_MEMORY, .data = data, .size = size};
}

gufo_input gufo_input_source(const gufo_source *user)
{
    return (gufo_input){.kind = GUFO_INPUT_SOURCE, .source = user};
}
