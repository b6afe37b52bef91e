/* Files that may be models: arguments, and files in folders with such names. */
#include "cli/inspect/ls.h"

#include "base/text.h"
#include "cli/core/array.h"
#include "cli/core/foreign_file.h"
#include "cli/core/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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
