/* Files that may be models: arguments, and what has such a name in a folder. */
#include "cli/inspect/ls.h"

#include "cli/core/array.h"
#include "cli/core/report.h"
#include "cli/inspect/ls_walk.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* sha256-, and 64 digits: how Ollama names what it keeps. */
static bool is_blob(const char *name)
{
    static const char before[] = "sha256-";
    size_t len = sizeof before - 1;

    if (strncmp(name, before, len) != 0 || strlen(name) != len + 64)
        return false;
    for (name += len; isxdigit((unsigned char)*name); name++)
        ;
    return *name == '\0';
}

static bool is_model(const char *name)
{
    static const char end[] = ".gguf";
    size_t len = strlen(name);

    return len >= sizeof end - 1 && strcasecmp(name + len - (sizeof end - 1), end) == 0;
}

static bool is_wanted(const char *name)
{
    return is_model(name) || is_blob(name);
}

/* ---- folders -------------------------------------------------------------------------------- */

typedef struct place {
    ls_files *files;
    const char *cache;
} place;

static void found(const walk *w, const char *path)
{
    const place *p = w->context;
    ls_file *file = ls_add(p->files, path);

    if (file == NULL)
        return;
    file->cache = p->cache;
    file->guessed = !is_model(path);
}

static void failed(const walk *w)
{
    ((const place *)w->context)->files->failed = true;
}

static void add_folder(ls_files *files, const char *path, bool recursive, const char *cache)
{
    place p = {files, cache};

    walk_folder(&(walk){&p, recursive, is_wanted, found, failed}, path);
}

void ls_add_folder(ls_files *files, const char *path, const char *cache)
{
    add_folder(files, path, true, cache);
}

void ls_add_argument(ls_files *files, const char *path, bool recursive)
{
    struct stat status;
    ls_file *file;

    if (stat(path, &status) != 0) {
        (void)report_system(path, errno);
        files->failed = true;
    } else if (S_ISDIR(status.st_mode)) {
        add_folder(files, path, recursive, NULL);
    } else {
        file = ls_add(files, path);
        if (file != NULL)
            file->named = true;
    }
}
