/* Small files and streams, for programs: what output.h does for the files of a job. */
#include "gufo/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/files/output.h"
#include "base/files/trust.h"
#include "base/memory.h"

/* ---- files ---------------------------------------------------------------------------------- */

gufo_status save_options_check(const gufo_save_options *options, gufo_error *error)
{
    gufo_status status = flags_check(options->flags, GUFO_SAVE_REPLACE | GUFO_SAVE_PRIVATE,
                                     "gufo_save_options", error);

    return status == GUFO_OK ? reserved_check(options->reserved, "gufo_save_options", error)
                             : status;
}

static gufo_status find(output *out, const char *path, const gufo_save_options *options,
                        gufo_error *error)
{
    static const gufo_save_options none = {0};
    const gufo_save_options *o = options != NULL ? options : &none;
    gufo_status status = save_options_check(o, error);

    *out = (output){.fd = -1};
    if (status == GUFO_OK)
        status = output_find(out, path, (o->flags & GUFO_SAVE_REPLACE) != 0, o->guard,
                             mem_allocator(o->allocator), error);
    out->is_private = (o->flags & GUFO_SAVE_PRIVATE) != 0;
    return status;
}

gufo_status gufo_save_check(const char *path, const gufo_save_options *options, gufo_text *target,
                            gufo_error *error)
{
    output out;
    gufo_status status = find(&out, path, options, error);

    if (status == GUFO_OK && target != NULL && !text_add(target, out.target, strlen(out.target)))
        status = fail_memory(error);
    output_discard(&out);
    return status;
}

static gufo_status fill(const output *out, gufo_str bytes, gufo_error *error)
{
    if (out->is_private && fchmod(out->fd, S_IRUSR | S_IWUSR) != 0)
        return fail_io(error, errno, "cannot deny other users access to it");
    return output_write(out, 0, bytes.data, bytes.len, error);
}

gufo_status gufo_save(const char *path, gufo_str bytes, const gufo_save_options *options,
                      gufo_error *error)
{
    output out;
    gufo_status status = find(&out, path, options, error);

    if (status == GUFO_OK)
        status = output_create(&out, bytes.len, true, error);
    if (status == GUFO_OK)
        status = fill(&out, bytes, error);
    if (status == GUFO_OK)
        status = output_commit(&out, error);
    else
        output_discard(&out);
    return status;
}

/* ---- streams -------------------------------------------------------------------------------- */

static gufo_status check_stream(const char *path, int fd, gufo_error *error)
{
    struct stat opened;

    if (fstat(fd, &opened) != 0)
        return fail_io(error, errno, "cannot examine");
    if (S_ISREG(opened.st_mode))
        return refuse(error, GUFO_E_CHANGED, "became a file in the meantime");
    if (way_is_planted(path))
        return refuse(
            error, GUFO_E_ARGUMENT,
            "a folder of it is another user's symlink in a folder where everybody may create "
            "files");
    if (S_ISFIFO(opened.st_mode) && trust_is_planted(path, opened.st_uid))
        return refuse(error, GUFO_E_ARGUMENT,
                      "is a pipe of another user in a folder that everybody may write to");
    return GUFO_OK;
}

int gufo_stream_open(const char *path, gufo_error *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        (void)fail_io(error, errno, "cannot open");
    else if (check_stream(path, fd, error) != GUFO_OK) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

gufo_status gufo_stream_write(int fd, gufo_str bytes, gufo_error *error)
{
    return output_write_at(fd, GUFO_NO_OFFSET, bytes.data, bytes.len, error);
}
