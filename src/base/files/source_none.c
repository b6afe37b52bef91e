/* Sources of a build without a system (-DGUFO_SYSTEM=none): memory and the callers' readers, no descriptors. */
#include "base/files/source.h"

#include "base/error.h"

gufo_status source_open_fd(source *s, int fd, bool map, uint64_t buffer_limit,
                           const gufo_allocator *allocator, gufo_error *error)
{
    (void)fd, (void)map, (void)buffer_limit, (void)allocator;
    *s = (source){.fd = -1};
    return refuse(error, GUFO_E_ARGUMENT, "this build of libgufo has no files; give it a source");
}

void source_close_fd(source *s)
{
    (void)s;
}

gufo_status source_read_fd(int fd, uint64_t offset, void *buffer, size_t size, size_t *got,
                           gufo_error *error)
{
    (void)fd, (void)buffer, (void)size;
    *got = 0;
    return fail_with(error, GUFO_E_ARGUMENT, offset, "this build of libgufo has no files");
}

gufo_status source_unchanged_fd(const source *s, gufo_error *error)
{
    (void)s, (void)error;
    return GUFO_OK;
}

uint64_t source_hole(const source *s, uint64_t offset, uint64_t size)
{
    (void)s, (void)offset, (void)size;
    return 0;
}
