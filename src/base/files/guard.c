/* Inputs that must not be outputs; guard.h has the idea. */
#include "base/files/guard.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { FIRST_ROOM = 8 };

static gufo_status add(output_guard *g, const struct stat *info, gufo_error *error)
{
    if (!S_ISREG(info->st_mode))
        return GUFO_OK;
    if (g->count == g->room) {
        size_t room = g->room == 0 ? FIRST_ROOM : g->room * 2;
        guard_entry *more = room <= SIZE_MAX / sizeof *more
                                ? mem_resize(g->allocator, g->files, room * sizeof *more)
                                : NULL;

        if (more == NULL)
            return fail_memory(error);
        g->files = more;
        g->room = room;
    }
    g->files[g->count++] = (guard_entry){info->st_dev, info->st_ino};
    return GUFO_OK;
}

gufo_status guard_add_fd(output_guard *g, int fd, gufo_error *error)
{
    struct stat info;

    return fd >= 0 && fstat(fd, &info) == 0 ? add(g, &info, error) : GUFO_OK;
}

gufo_status guard_add_path(output_guard *g, const char *path, gufo_error *error)
{
    struct stat info;

    return path != NULL && stat(path, &info) == 0 ? add(g, &info, error) : GUFO_OK;
}

static int compare(const void *a, const void *b)
{
    const guard_entry *first = a, *second = b;

    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->inode > second->inode) - (first->inode < second->inode);
}

void guard_ready(output_guard *g)
{
    if (g->count > 1)
        qsort(g->files, g->count, sizeof *g->files, compare);
}

bool guard_holds(const output_guard *g, const struct stat *info)
{
    const guard_entry wanted = {info->st_dev, info->st_ino};

    return g != NULL && g->count > 0 &&
           bsearch(&wanted, g->files, g->count, sizeof wanted, compare) != NULL;
}

void guard_free(output_guard *g)
{
    if (g->allocator != NULL)
        mem_free(g->allocator, g->files);
    *g = (output_guard){.allocator = g->allocator};
}
