/* The walk opens folders by their names inside the one above, without following links: it cannot
 * leave the tree, and it ends.  It chooses files by their names, so that a folder of a million
 * others costs no more than reading their names. */
#define _GNU_SOURCE /* d_type */

#include "cli/inspect/ls.h"

#include "cli/core/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_LEVELS 64 /* each keeps a descriptor open */

static void fail(const ls_walk *w, const char *path, int error_number)
{
    (void)report_system(path, error_number);
    w->files->failed = true;
}

/* A file in "." has no folder in its path. */
static char *join(const char *folder, const char *name)
{
    size_t len = strlen(folder);

    if (strcmp(folder, ".") == 0)
        return path_with(name, "");
    return path_format("%s%s%s", folder, len > 0 && folder[len - 1] == '/' ? "" : "/", name);
}

static void walk_opened(const ls_walk *w, int fd, const char *path, unsigned level);

static void enter(const ls_walk *w, int above, const char *path, const char *name, unsigned level)
{
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 && errno != ENOTDIR && errno != ELOOP)
        fail(w, path, errno);
    if (fd >= 0 && level + 1 == MOST_LEVELS) {
        report_message(path, "folders are nested too deep; this one is left out");
        w->files->failed = true;
        close(fd);
    } else if (fd >= 0) {
        walk_opened(w, fd, path, level + 1);
    }
}

/* Links are followed to files alone. */
static bool is_file(int folder, const char *name)
{
    struct stat status;

    return fstatat(folder, name, &status, 0) != 0 || S_ISREG(status.st_mode);
}

static void visit(const ls_walk *w, int folder, const char *path, const struct dirent *entry,
                  unsigned level)
{
    const char *name = entry->d_name;
    bool wanted = entry->d_type != DT_DIR && w->wanted(name);
    bool inner = w->recursive && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
    char *whole;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (!wanted && !inner))
        return;
    whole = join(path, name);
    if (whole == NULL) {
        w->files->failed = true;
        return;
    }
    if (inner)
        enter(w, folder, whole, name, level);
    if (wanted && is_file(folder, name))
        w->found(w, whole);
    free(whole);
}

/* Takes the descriptor. */
static void walk_opened(const ls_walk *w, int fd, const char *path, unsigned level)
{
    DIR *folder = fdopendir(fd);
    const struct dirent *entry;

    if (folder == NULL) {
        fail(w, path, errno);
        close(fd);
        return;
    }
    if (w->enters != NULL)
        w->enters(w, path);
    while (errno = 0, (entry = readdir(folder)) != NULL)
        visit(w, fd, path, entry, level);
    if (errno != 0)
        fail(w, path, errno);
    closedir(folder);
}

void ls_walk_folder(const ls_walk *w, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        fail(w, path, errno);
    else
        walk_opened(w, fd, path, 0);
}
