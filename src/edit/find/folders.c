/* A list of files that may be models, and folders in which they are. */
#define _GNU_SOURCE /* d_type */

#include "edit/find/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- the list ------------------------------------------------------------------------------- */

gufo_find *gufo_find_new(const gufo_find_options *options, gufo_error *error)
{
    static const gufo_find_options standard = {0};
    const uint64_t *reserved = options != NULL ? options->reserved : standard.reserved;
    const gufo_allocator *allocator = mem_allocator(options != NULL ? options->allocator : NULL);
    gufo_find *find;

    if (reserved_check(reserved, "gufo_find_options", error) != GUFO_OK ||
        reserved_check(reserved + 4, "gufo_find_options", error) != GUFO_OK)
        return NULL;
    find = mem_object(allocator, sizeof *find, error);
    if (find == NULL)
        return NULL;
    find->allocator = *allocator;
    find->options = options != NULL ? *options : standard;
    return find;
}

void find_clear(gufo_find *find)
{
    const gufo_allocator *allocator = &find->allocator;

    for (uint64_t i = 0; i < find->count; i++) {
        const found_file *file = &find->files[i];

        mem_free(allocator, file->path);
        mem_free(allocator, file->tag);
        mem_free(allocator, file->title);
        mem_free(allocator, file->architecture);
        mem_free(allocator, file->fault);
    }
    mem_free(allocator, find->files);
    find->files = NULL;
    find->count = find->room = 0;
}

void gufo_find_free(gufo_find *find)
{
    gufo_allocator allocator;

    if (find == NULL)
        return;
    allocator = find->allocator;
    find_clear(find);
    mem_free(&allocator, find);
}

gufo_status find_add_file(gufo_find *find, const char *path, found_file **out, gufo_error *error)
{
    found_file *files =
        mem_grow(&find->allocator, find->files, find->count, &find->room, sizeof *find->files);

    if (files == NULL)
        return fail_memory(error);
    find->files = files;
    *out = &files[find->count];
    **out = (found_file){.path = mem_text(&find->allocator, gufo_str_of(path))};
    if ((*out)->path == NULL)
        return fail_memory(error);
    find->count++;
    return GUFO_OK;
}

char *find_text(const gufo_find *find, const char *const texts[], size_t count)
{
    size_t len = 0, at = 0;
    char *whole;

    for (size_t i = 0; i < count; i++)
        len += strlen(texts[i]);
    whole = mem_zero(&find->allocator, len + 1);
    for (size_t i = 0; whole != NULL && i < count; at += strlen(texts[i]), i++)
        memcpy(whole + at, texts[i], strlen(texts[i]));
    return whole;
}

/* ---- a walk --------------------------------------------------------------------------------- */

/* The walk opens folders by their names inside the one above, without following links: it cannot
 * leave the tree, and it ends.  It chooses files by their names, so that a folder of a million
 * others costs no more than reading their names. */

enum { MOST_LEVELS = 64 }; /* each keeps a descriptor open */

/* What cannot be read is left out. */
static void leave_out(const find_walk *w, const char *path, int system, const char *why)
{
    const gufo_find_options *options = &w->find->options;
    gufo_error error;

    if (options->fault == NULL)
        return;
    if (why != NULL)
        (void)refuse(&error, GUFO_E_LIMIT, "%s", why);
    else
        (void)fail_io(&error, system, "cannot read the folder");
    fail_in(&error, GUFO_FILE_INPUT, 0, path);
    options->fault(options->context, &error);
}

static gufo_status walk_opened(const find_walk *w, int fd, const char *path, unsigned level,
                               gufo_error *error);

static gufo_status enter(const find_walk *w, int above, const char *path, const char *name,
                         unsigned level, gufo_error *error)
{
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 && errno != ENOTDIR && errno != ELOOP)
        leave_out(w, path, errno, NULL);
    if (fd >= 0 && level + 1 == MOST_LEVELS) {
        leave_out(w, path, 0, "folders are nested too deep; this one is left out");
        (void)close(fd);
        return GUFO_OK;
    }
    return fd >= 0 ? walk_opened(w, fd, path, level + 1, error) : GUFO_OK;
}

/* Links are followed to files alone. */
static bool is_file(int folder, const char *name)
{
    struct stat status;

    return fstatat(folder, name, &status, 0) != 0 || S_ISREG(status.st_mode);
}

static gufo_status visit(const find_walk *w, int folder, const char *path,
                         const struct dirent *entry, unsigned level, gufo_error *error)
{
    const char *name = entry->d_name;
    bool wanted = entry->d_type != DT_DIR && w->wanted(name);
    bool inner = w->recursive && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
    bool is_here = strcmp(path, ".") == 0; /* a file in "." has no folder in its path */
    gufo_status status = GUFO_OK;
    char *whole;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (!wanted && !inner))
        return GUFO_OK;
    whole = FIND_TEXT(w->find, is_here ? "" : path,
                      is_here || str_ends(gufo_str_of(path), "/") ? "" : "/", name);
    if (whole == NULL)
        return fail_memory(error);
    if (inner)
        status = enter(w, folder, whole, name, level, error);
    if (wanted && status == GUFO_OK && is_file(folder, name))
        status = w->found(w, whole, error);
    mem_free(&w->find->allocator, whole);
    return status;
}

/* Takes the descriptor. */
static gufo_status walk_opened(const find_walk *w, int fd, const char *path, unsigned level,
                               gufo_error *error)
{
    DIR *folder = fdopendir(fd);
    gufo_status status = GUFO_OK;
    const struct dirent *entry;
    int failed = 0;

    if (folder == NULL) {
        leave_out(w, path, errno, NULL);
        (void)close(fd);
        return GUFO_OK;
    }
    if (w->enters != NULL)
        status = w->enters(w, path, error);
    while (status == GUFO_OK && (errno = 0, (entry = readdir(folder)) != NULL))
        status = visit(w, fd, path, entry, level, error);
    if (status == GUFO_OK)
        failed = errno;
    (void)closedir(folder);
    if (failed != 0)
        leave_out(w, path, failed, NULL);
    return status;
}

gufo_status find_walk_folder(const find_walk *w, const char *path, gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        leave_out(w, path, errno, NULL);
        return GUFO_OK;
    }
    return walk_opened(w, fd, path, 0, error);
}

/* ---- names ---------------------------------------------------------------------------------- */

bool find_is_digest(const char *text, char mark)
{
    static const char before[] = "sha256", digits[] = "0123456789abcdefABCDEF";
    size_t len = sizeof before - 1;

    return strncmp(text, before, len) == 0 && text[len] == mark && strlen(text) == len + 65 &&
           strspn(text + len + 1, digits) == 64;
}

static bool is_model(const char *name)
{
    size_t len = strlen(name);

    return len >= strlen(".gguf") && strcasecmp(name + len - strlen(".gguf"), ".gguf") == 0;
}

/* Ollama names its files by their digests; before GGUF, models were NAME.bin. */
static bool is_wanted(const char *name)
{
    return is_model(name) || find_is_digest(name, '-') || str_ends(gufo_str_of(name), ".bin");
}

/* ---- models in a folder --------------------------------------------------------------------- */

static gufo_status found(const find_walk *w, const char *path, gufo_error *error)
{
    found_file *file;
    gufo_status status = find_add_file(w->find, path, &file, error);

    if (status == GUFO_OK) {
        file->cache = w->origin;
        file->guessed = !is_model(path);
    }
    return status;
}

/* Whether a folder has one of the files that say what a model is. */
static bool has_settings(const find_walk *w, const char *folder, bool *memory)
{
    static const char *const names[] = {"config.json", "params.json", "adapter_config.json"};
    bool has = false;

    for (size_t i = 0; i < sizeof names / sizeof *names && !has && *memory; i++) {
        char *path = FIND_TEXT(w->find, folder, "/", names[i]);

        *memory = path != NULL;
        has = path != NULL && access(path, F_OK) == 0;
        mem_free(&w->find->allocator, path);
    }
    return has;
}

/* A folder may be a model, not one that has files of such names among others; files in it may be
 * others. */
static gufo_status enters(const find_walk *w, const char *path, gufo_error *error)
{
    const gufo_find_options *options = &w->find->options;
    bool memory = true;
    found_file *file;
    gufo_status status;

    if (options->kind == NULL || !has_settings(w, path, &memory) ||
        options->kind(options->context, path) == GUFO_FIND_NOTHING)
        return memory ? GUFO_OK : fail_memory(error);
    status = find_add_file(w->find, path, &file, error);
    if (status == GUFO_OK)
        file->folder = true;
    return status;
}

gufo_status find_add_cache(gufo_find *find, const char *path, const char *cache, gufo_error *error)
{
    return find_walk_folder(
        &(find_walk){
            .find = find, .recursive = true, .wanted = is_wanted, .found = found, .origin = cache},
        path, error);
}

gufo_status gufo_find_add(gufo_find *find, const char *path, uint32_t flags, gufo_error *error)
{
    gufo_status status = flags_check(flags, GUFO_FIND_RECURSIVE, "gufo_find_add", error);
    struct stat info;
    found_file *file;

    if (status == GUFO_OK && path == NULL)
        status = refuse(error, GUFO_E_ARGUMENT, "the path is missing");
    if (status == GUFO_OK && find->is_read)
        status = refuse(error, GUFO_E_ARGUMENT, "the models of the list have been read");
    if (status != GUFO_OK)
        return status;
    if (stat(path, &info) != 0) {
        status = fail_io(error, errno, "cannot open");
        fail_in(error, GUFO_FILE_INPUT, 0, path);
        return status;
    }
    if (S_ISDIR(info.st_mode))
        return find_walk_folder(&(find_walk){.find = find,
                                             .recursive = (flags & GUFO_FIND_RECURSIVE) != 0,
                                             .wanted = is_wanted,
                                             .found = found,
                                             .enters = enters},
                                path, error);
    status = find_add_file(find, path, &file, error);
    if (status == GUFO_OK)
        file->named = true;
    return status;
}
