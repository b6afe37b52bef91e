/* Opening what the system has: a path, a descriptor.  open_none.c takes the place of this file where there is none. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.h"
#include "format/file/file.h"

/* The opening of a pipe would wait for a writer; the wait for its bytes can be stopped. */
static int open_path(const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
    struct stat info;
    bool is_pipe = stat(path, &info) == 0 && S_ISFIFO(info.st_mode);

    return open(path, is_pipe ? flags | O_NONBLOCK : flags);
}

gufo_status file_open_system(gguf_file *file, const gufo_input *input, bool map, uint64_t limit,
                             gufo_error *error)
{
    bool has_path = input->kind == GUFO_INPUT_PATH;
    int fd = has_path ? open_path(input->path) : fcntl(input->fd, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return fail_io(error, errno, has_path ? "cannot open" : "cannot read");
    return source_open_fd(&file->source, fd, map, limit, &file->allocator, error);
}
