/* Files that must not be outputs; guard.h has the idea. */
#include "base/files/guard.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

static gufo_status add(output_guard *g, guard_entry entry, gufo_error *error)
{
    guard_entry *list = mem_grow(g->allocator, g->files, g->count, &g->room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    g->files = list;
    g->files[g->count++] = entry;
    return GUFO_OK;
}

static gufo_status add_file(output_guard *g, const struct stat *info, guard_role role,
                            gufo_error *error)
{
    return S_ISREG(info->st_mode)
               ? add(g, (guard_entry){info->st_dev, info->st_ino, 0, role}, error)
               : GUFO_OK;
}

gufo_status guard_add_fd(output_guard *g, int fd, gufo_error *error)
{
    struct stat info;

    return fd >= 0 && fstat(fd, &info) == 0 ? add_file(g, &info, GUARD_INPUT, error) : GUFO_OK;
}

gufo_status guard_add_path(output_guard *g, const char *path, gufo_error *error)
{
    struct stat info;

    return path != NULL && stat(path, &info) == 0 ? add_file(g, &info, GUARD_INPUT, error)
                                                  : GUFO_OK;
}

gufo_status guard_add_place(output_guard *g, uint64_t place, const struct stat *info,
                            gufo_error *error)
{
    gufo_status status = add(g, (guard_entry){.place = place, .role = GUARD_OUTPUT}, error);

    return status == GUFO_OK && info != NULL ? add_file(g, info, GUARD_OUTPUT, error) : status;
}

static int compare(const void *a, const void *b)
{
    const guard_entry *first = a, *second = b;

    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    if (first->inode != second->inode)
        return first->inode < second->inode ? -1 : 1;
    return (first->place > second->place) - (first->place < second->place);
}

static bool before(const void *a, const void *b)
{
    return compare(a, b) < 0;
}

void guard_ready(output_guard *g)
{
    sort_items(g->files, g->count, sizeof *g->files, before);
}

static guard_role find(const output_guard *g, guard_entry wanted)
{
    const guard_entry *found = g != NULL && g->count > 0
                                   ? bsearch(&wanted, g->files, g->count, sizeof wanted, compare)
                                   : NULL;

    return found != NULL ? found->role : GUARD_NOTHING;
}

guard_role guard_find_file(const output_guard *g, const struct stat *info)
{
    return find(g, (guard_entry){.device = info->st_dev, .inode = info->st_ino});
}

guard_role guard_find_place(const output_guard *g, uint64_t place)
{
    return find(g, (guard_entry){.place = place});
}

void guard_free(output_guard *g)
{
    if (g->allocator != NULL)
        mem_free(g->allocator, g->files);
    *g = (output_guard){.allocator = g->allocator};
}
