/* What other formats look like from outside. */
#include "base/error.h"
#include "gufo/import.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the first bytes of a regular file: those of a pipe would be missing afterwards. */
static size_t read_begin(const char *path, unsigned char *bytes, size_t size)
{
    struct stat info;
    int fd = stat(path, &info) == 0 && S_ISREG(info.st_mode)
                 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                 : -1;
    ssize_t got = -1;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        got = pread(fd, bytes, size, 0);
    if (fd >= 0)
        (void)close(fd);
    return got > 0 ? (size_t)got : 0;
}

gufo_find_kind gufo_import_kind(const char *path, const char **name)
{
    unsigned char begin[32] = {0};
    size_t size = read_begin(path, begin, sizeof begin);
    const char *old = memcmp(begin, "GGUF", 4) != 0 ? gufo_legacy_recognise(begin, size) : NULL;
    const char *checkpoint = old == NULL ? gufo_checkpoint_recognise(path) : NULL;

    if (name != NULL)
        *name = old != NULL ? old : checkpoint;
    if (old != NULL)
        return GUFO_FIND_OLD;
    return checkpoint != NULL ? GUFO_FIND_CHECKPOINT : GUFO_FIND_NOTHING;
}

gufo_import *gufo_import_outline(const char *path, uint32_t flags, gufo_error *error)
{
    gufo_checkpoint_options options = {.flags = flags | GUFO_CHECKPOINT_NO_CHECK |
                                                GUFO_CHECKPOINT_NO_VOCABULARY};
    gufo_error reason;
    gufo_import *import;

    if (gufo_import_kind(path, NULL) == GUFO_FIND_OLD)
        return gufo_import_legacy(path, NULL, error);
    import = gufo_import_checkpoint(path, &options, &reason);
    if (import == NULL && (reason.code == GUFO_E_TYPE || reason.code == GUFO_E_NOT_FOUND)) {
        options.flags |= GUFO_CHECKPOINT_GENERIC;
        options.arch = "unknown";
        import = gufo_import_checkpoint(path, &options, &reason);
    }
    if (import == NULL)
        (void)fail_as(error, &reason);
    return import;
}
