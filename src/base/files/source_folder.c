/* Folders on disk and in memory; source_folder.h has the idea.  Opening a device, or a pipe, may have effects:
 * only files are opened. */
#include "base/files/source_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/beneath.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- names ---------------------------------------------------------------------------------- */

bool is_plain_name(gufo_str name)
{
    return name.len > 0 && name.len <= NAME_MAX && memchr(name.data, '/', name.len) == NULL &&
           memchr(name.data, '\0', name.len) == NULL && !gufo_str_equal(name, gufo_str_of(".")) &&
           !gufo_str_equal(name, gufo_str_of(".."));
}

char *source_folder_join(const source_folder *folder, const char *name,
                         const gufo_allocator *allocator)
{
    size_t len = folder->path.len, rest = strlen(name);
    char *path = mem_alloc(allocator, len + 1 + rest + 1), *end = path;

    if (path == NULL)
        return NULL;
    if (len > 0) {
        memcpy(end, folder->path.data, len);
        end += len;
        *end++ = '/';
    }
    memcpy(end, name, rest + 1);
    return path;
}

void source_folder_fail_in(const source_folder *folder, const char *name, gufo_error *error)
{
    char *path = name != NULL ? source_folder_join(folder, name, &default_allocator)
                              : mem_text(&default_allocator, folder->path);

    fail_in(error, GUFO_FILE_INPUT, 0, path != NULL ? path : name);
    mem_free(&default_allocator, path);
}

/* ---- on disk -------------------------------------------------------------------------------- */

/* What errno says about a name that was not opened. */
static gufo_status fail_opening(const source_folder *folder, const char *name,
                                const gufo_allocator *allocator, source *out, int failure,
                                gufo_error *error)
{
    if (failure == ENOMEM)
        return fail_memory(error);
    if (failure == EXDEV && folder->beyond != NULL)
        return folder->beyond(folder, name, allocator, out, error);
    if (failure == EXDEV)
        return refuse(error, GUFO_E_MALFORMED, "a symlink leads out of the folder");
    return failure == ENODEV ? refuse(error, GUFO_E_IO, "is not a regular file")
                             : fail_io(error, failure, "cannot open");
}

/* The folder itself as a descriptor; -1 with errno. */
static int open_root(const source_folder *folder)
{
    char path[PATH_MAX];

    if (folder->path.len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, folder->path.data, folder->path.len);
    path[folder->path.len] = '\0';
    return beneath_root(path);
}

/* With errno. */
static int open_inside(const source_folder *folder, const char *name)
{
    int root = open_root(folder), fd, failure;

    if (root < 0)
        return -1;
    fd = beneath_open(root, name);
    failure = errno;
    (void)close(root);
    errno = failure;
    return fd;
}

/* Wherever it leads.  A folder is opened, too: reading says what it is. */
static int open_anywhere(const source_folder *folder, const char *name)
{
    char *path = source_folder_join(folder, name, &default_allocator);
    struct stat info;
    int fd = -1, failure = ENOMEM;

    if (path != NULL && stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        failure = ENODEV;
    else if (path != NULL) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        failure = errno;
    }
    mem_free(&default_allocator, path);
    errno = failure;
    return fd;
}

static gufo_status open_on_disk(const source_folder *folder, const char *name,
                                const gufo_allocator *allocator, source *out, gufo_error *error)
{
    int fd = folder->follow ? open_anywhere(folder, name) : open_inside(folder, name);

    return fd >= 0 ? source_open_fd(out, fd, false, 0, allocator, error)
                   : fail_opening(folder, name, allocator, out, errno, error);
}

static bool has_on_disk(const source_folder *folder, const char *name)
{
    char *path = source_folder_join(folder, name, &default_allocator);
    struct stat info;
    bool has = path == NULL || lstat(path, &info) == 0 || errno != ENOENT;

    mem_free(&default_allocator, path);
    return has;
}

/* Takes over the descriptor. */
static gufo_status list_fd(int fd, source_folder_visit *visit, void *context, gufo_error *error)
{
    DIR *listing = fdopendir(fd);
    gufo_status status = GUFO_OK;
    const struct dirent *entry;
    int failure = errno;

    if (listing == NULL) {
        (void)close(fd);
        return fail_io(error, failure, "cannot list the folder");
    }
    while (status == GUFO_OK && (errno = 0, (entry = readdir(listing)) != NULL))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = visit(context, gufo_str_of(entry->d_name), error);
    if (status == GUFO_OK && errno != 0)
        status = fail_io(error, errno, "cannot list the folder");
    (void)closedir(listing);
    return status;
}

static gufo_status list_on_disk(const source_folder *folder, const char *name,
                                source_folder_visit *visit, void *context, gufo_error *error)
{
    int root = open_root(folder), fd = -1, failure = errno;

    if (root >= 0) {
        fd = folder->follow ? openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                            : beneath_open_folder(root, name);
        failure = errno;
        (void)close(root);
    }
    if (fd >= 0)
        return list_fd(fd, visit, context, error);
    return failure == ENOENT && !has_on_disk(folder, name)
               ? GUFO_OK
               : fail_opening(folder, name, NULL, NULL, failure, error);
}

static const source_folder_kind on_disk = {open_on_disk, list_on_disk, has_on_disk};
const source_folder source_folder_anywhere = {.kind = &on_disk, .follow = true};

source_folder source_folder_disk(gufo_str path)
{
    return (source_folder){.kind = &on_disk, .path = path};
}

/* ---- in memory ------------------------------------------------------------------------------ */

static gufo_str path_in_memory(const source_folder *folder, size_t index)
{
    const memory_files *files = folder->state;

    return index < files->count ? gufo_str_of(files->list[index].name) : (gufo_str){NULL, 0};
}

static const memory_file *find_in_memory(const source_folder *folder, const char *name)
{
    const memory_files *files = folder->state;

    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->list[i].name, name) == 0)
            return &files->list[i];
    return NULL;
}

static gufo_status open_in_memory(const source_folder *folder, const char *name,
                                  const gufo_allocator *allocator, source *out, gufo_error *error)
{
    const memory_file *file = find_in_memory(folder, name);

    (void)allocator;
    if (file == NULL)
        return fail_io(error, ENOENT, "cannot open");
    source_open_memory(out, file->bytes.data, file->bytes.len);
    return GUFO_OK;
}

/* The path of file `index`; without data past the last. */
typedef gufo_str path_at_fn(const source_folder *folder, size_t index);

/* Of all paths, those of the files in the folder `name` itself. */
static gufo_status list_paths(const source_folder *folder, path_at_fn *path_at, const char *name,
                              source_folder_visit *visit, void *context, gufo_error *error)
{
    const bool all = strcmp(name, ".") == 0;
    gufo_status status = GUFO_OK;
    gufo_str rest;

    for (size_t i = 0; status == GUFO_OK && (rest = path_at(folder, i)).data != NULL; i++) {
        if (!all && (!str_begins(rest, name) || rest.data[strlen(name)] != '/'))
            continue;
        rest = all ? rest : str_from(rest, strlen(name) + 1);
        if (memchr(rest.data, '/', rest.len) == NULL)
            status = visit(context, rest, error);
    }
    return status;
}

static gufo_status list_in_memory(const source_folder *folder, const char *name,
                                  source_folder_visit *visit, void *context, gufo_error *error)
{
    return list_paths(folder, path_in_memory, name, visit, context, error);
}

static bool has_in_memory(const source_folder *folder, const char *name)
{
    return find_in_memory(folder, name) != NULL;
}

source_folder source_folder_memory(const memory_files *files)
{
    static const source_folder_kind in_memory = {open_in_memory, list_in_memory, has_in_memory};

    return (source_folder){.kind = &in_memory, .state = files};
}

/* ---- of a caller ----------------------------------------------------------------------------- */

static gufo_str path_of_user(const source_folder *folder, size_t index)
{
    const gufo_folder *user = folder->state;

    return gufo_str_of(user->name_at(user->context, index));
}

static bool has_of_user(const source_folder *folder, const char *name)
{
    gufo_str path;

    for (size_t i = 0; (path = path_of_user(folder, i)).data != NULL; i++)
        if (gufo_str_equal(path, gufo_str_of(name)))
            return true;
    return false;
}

static gufo_status open_of_user(const source_folder *folder, const char *name,
                                const gufo_allocator *allocator, source *out, gufo_error *error)
{
    const gufo_folder *user = folder->state;
    gufo_error reason = {.code = GUFO_OK, .offset = GUFO_NO_OFFSET};
    gufo_source file = {.context = NULL};
    gufo_status status;

    if (!has_of_user(folder, name))
        return fail_io(error, ENOENT, "cannot open");
    status = user->open(user->context, name, &file, &reason);
    if (status != GUFO_OK)
        return fail_from_callback(error, status, &reason);
    source_open_user(out, &file, UINT64_MAX, allocator);
    return GUFO_OK;
}

static gufo_status list_of_user(const source_folder *folder, const char *name,
                                source_folder_visit *visit, void *context, gufo_error *error)
{
    return list_paths(folder, path_of_user, name, visit, context, error);
}

source_folder source_folder_user(const gufo_folder *user, gufo_str path)
{
    static const source_folder_kind of_user = {open_of_user, list_of_user, has_of_user};

    while (path.len > 0 && path.data[path.len - 1] == '/')
        path.len--;
    return (source_folder){.kind = &of_user, .path = path, .state = user};
}

/* ---- any ------------------------------------------------------------------------------------ */

gufo_status source_folder_open(const source_folder *folder, const char *name,
                               const gufo_allocator *allocator, source *out, gufo_error *error)
{
    source_open_memory(out, "", 0);
    return folder->kind->open(folder, name, allocator, out, error);
}

static gufo_status read_all(const source *s, uint64_t limit, buffer *out, gufo_error *error)
{
    void *room;

    if (s->size > limit)
        return refuse(error, GUFO_E_LIMIT, "%s bytes, but at most %s are read", GROUPED(s->size),
                      GROUPED(limit));
    room = buffer_extend(out, s->size);
    if (room == NULL)
        return fail_memory(error);
    return s->size > 0 ? source_read(s, 0, room, (size_t)s->size, error) : GUFO_OK;
}

gufo_status source_folder_read(const source_folder *folder, const char *name, uint64_t limit,
                               buffer *out, bool *found, gufo_error *error)
{
    gufo_status status;
    source s;

    *found = source_folder_has(folder, name);
    if (!*found)
        return GUFO_OK;
    status = source_folder_open(folder, name, out->allocator, &s, error);
    if (status == GUFO_OK)
        status = read_all(&s, limit, out, error);
    source_close(&s);
    if (status != GUFO_OK)
        source_folder_fail_in(folder, name, error);
    return status;
}

gufo_status source_folder_list(const source_folder *folder, const char *name,
                               source_folder_visit *visit, void *context, gufo_error *error)
{
    return folder->kind->list(folder, name, visit, context, error);
}

bool source_folder_has(const source_folder *folder, const char *name)
{
    return folder->kind->has(folder, name);
}
