/* Files that may be models: arguments, and files in folders with such names. */
#define _GNU_SOURCE /* d_type */

#include "base/text.h"
#include "cli/core/values/array.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/inspect/ls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- folders -------------------------------------------------------------------------------- */

/* The walk opens folders by their names inside the one above, without following links: it cannot
 * leave the tree, and it ends.  It chooses files by their names, so that a folder of a million
 * others costs no more than reading their names. */

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

/* ---- the list ------------------------------------------------------------------------------- */

ls_file *ls_add(ls_files *files, const char *path)
{
    ls_file *file = array_add(&files->items, &files->count, sizeof *file);

    if (file != NULL)
        file->path = strdup(path);
    if (file != NULL && file->path != NULL)
        return file;
    if (file != NULL) {
        files->count--;
        report_memory(path);
    }
    files->failed = true;
    return NULL;
}

void ls_free(ls_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        ls_file *file = &files->items[i];

        free(file->path);
        free(file->tag);
        free(file->name);
        free(file->architecture);
        free(file->fault.file);
        free(file->fault.message);
    }
    free(files->items);
    *files = (ls_files){0};
}

/* ---- names ---------------------------------------------------------------------------------- */

bool ls_is_digest(const char *text, char mark)
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
    return is_model(name) || ls_is_digest(name, '-') || str_ends(gufo_str_of(name), ".bin");
}

/* ---- folders -------------------------------------------------------------------------------- */

static void found(const ls_walk *w, const char *path)
{
    ls_file *file = ls_add(w->files, path);

    if (file == NULL)
        return;
    file->cache = w->origin;
    file->guessed = !is_model(path);
}

static bool has_file(const char *folder, const char *name)
{
    char *path = path_format("%s/%s", folder, name);
    bool has = path != NULL && access(path, F_OK) == 0;

    free(path);
    return has;
}

/* Whether a folder is a model, not one that has files of such names among others. */
static bool is_model_folder(const char *path)
{
    return (has_file(path, "config.json") || has_file(path, "params.json") ||
            has_file(path, "adapter_config.json")) &&
           foreign_file_find(path, NULL);
}

/* A folder may be a model; files in it may be others. */
static void enters(const ls_walk *w, const char *path)
{
    ls_file *file = is_model_folder(path) ? ls_add(w->files, path) : NULL;

    if (file != NULL)
        file->folder = true;
}

/* Caches have folders of their own kind. */
void ls_add_folder(ls_files *files, const char *path, const char *cache)
{
    ls_walk_folder(&(ls_walk){.files = files,
                              .recursive = true,
                              .wanted = is_wanted,
                              .found = found,
                              .origin = cache},
                   path);
}

void ls_add_argument(ls_files *files, const char *path, bool recursive)
{
    struct stat status;
    ls_file *file;

    if (stat(path, &status) != 0) {
        (void)report_system(path, errno);
        files->failed = true;
    } else if (S_ISDIR(status.st_mode)) {
        ls_walk_folder(&(ls_walk){.files = files,
                                  .recursive = recursive,
                                  .wanted = is_wanted,
                                  .found = found,
                                  .enters = enters},
                       path);
    } else {
        file = ls_add(files, path);
        if (file != NULL)
            file->named = true;
    }
}
