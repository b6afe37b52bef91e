/* Files that may be models: arguments, files in folders with such names, and the caches of other
 * programs. */
#define _GNU_SOURCE /* d_type */

#include "cli/core/values/str.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/core/values/array.h"
#include "cli/inspect/ls.h"
#include "schema/syntax/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static void walk_folder(const ls_walk *w, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        fail(w, path, errno);
    else
        walk_opened(w, fd, path, 0);
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Adds a file; NULL after a report.  `path` is copied. */
static ls_file *add_file(ls_files *files, const char *path)
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

/* Whether the text is "sha256", the mark and 64 digits: nothing that could be a path. */
static bool is_digest(const char *text, char mark)
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
    return is_model(name) || is_digest(name, '-') || ends_with(gufo_str_of(name), ".bin");
}

/* ---- folders -------------------------------------------------------------------------------- */

static void found(const ls_walk *w, const char *path)
{
    ls_file *file = add_file(w->files, path);

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
    ls_file *file = is_model_folder(path) ? add_file(w->files, path) : NULL;

    if (file != NULL)
        file->folder = true;
}

/* Adds the models of a folder and of those in it; caches have folders of their own kind. */
static void add_folder(ls_files *files, const char *path, const char *cache)
{
    walk_folder(&(ls_walk){.files = files,
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
        walk_folder(&(ls_walk){.files = files,
                               .recursive = recursive,
                               .wanted = is_wanted,
                               .found = found,
                               .enters = enters},
                    path);
    } else {
        file = add_file(files, path);
        if (file != NULL)
            file->named = true;
    }
}

/* ---- caches of other programs ---------------------------------------------------------------- */

/* Where they keep the models that they download.
 *
 *     Hugging Face  HUB/models--OWNER--NAME/snapshots/REVISION/model.gguf -> ../../blobs/...
 *     llama.cpp     CACHE/OWNER_NAME_model.gguf
 *     LM Studio     MODELS/OWNER/NAME/model.gguf
 *     Ollama        MODELS/manifests/HOST/OWNER/NAME/TAG, which names MODELS/blobs/sha256-...
 *
 * Each program looks at its environment variables first; so does gufo, in the same order. */

/* A place is $variable and the rest; NULL: the rest alone. */
typedef struct place {
    const char *variable, *rest;
    bool either; /* and the next one, even if the variable is set */
} place;

#define MOST_PLACES 5

typedef struct cache {
    const char *name;
    void (*add)(ls_files *files, const char *path, const char *name);
    const char *pointer;       /* a file in the home folder that names the folder of the program */
    place places[MOST_PLACES]; /* the first one whose variable is set */
} cache;

static void add_ollama(ls_files *files, const char *path, const char *name);

static const cache caches[] = {
    {"huggingface",
     add_folder,
     NULL,
     {{"HF_HUB_CACHE", "", false},
      {"HUGGINGFACE_HUB_CACHE", "", false},
      {"HF_HOME", "/hub", false},
      {"XDG_CACHE_HOME", "/huggingface/hub", false},
      {"HOME", "/.cache/huggingface/hub", false}}},
    {"llama.cpp",
     add_folder,
     NULL,
     {{"LLAMA_CACHE", "", false},
      {"XDG_CACHE_HOME", "/llama.cpp", false},
      {"HOME", "/.cache/llama.cpp", true},
      {"HOME", "/Library/Caches/llama.cpp", false}}},
    {"ollama",
     add_ollama,
     NULL,
     {{"OLLAMA_MODELS", "", false},
      {"HOME", "/.ollama/models", true},
      {NULL, "/usr/share/ollama/.ollama/models", false}}},
    {"lmstudio",
     add_folder,
     "/.lmstudio-home-pointer",
     {{"HOME", "/.lmstudio/models", true}, {"HOME", "/.cache/lm-studio/models", false}}},
};

/* ---- caches: small files ---------------------------------------------------------------------------- */

#define MOST_BYTES (1u << 20)

/* The text of a file, which the caller frees; empty if it cannot be read, or is larger than any
 * manifest.  NULL without memory. */
static char *read_small(const char *path)
{
    struct stat status;
    int fd = ls_open_regular(path, &status);
    FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
    size_t size = in != NULL && status.st_size <= MOST_BYTES ? (size_t)status.st_size : 0;
    char *text = calloc(1, size + 1);

    if (text != NULL && size > 0)
        (void)!fread(text, 1, size, in);
    if (in != NULL)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return text;
}

/* ---- caches: Ollama --------------------------------------------------------------------------------- */

/* The types of layers that are GGUF files, and the suffixes of their names. */
static const struct {
    const char *type, *suffix;
} layers[] = {
    {"application/vnd.ollama.image.model", ""},
    {"application/vnd.ollama.image.projector", " projector"},
    {"application/vnd.ollama.image.adapter", " adapter"},
};

/* HOST/OWNER/NAME/TAG as Ollama writes it, without the usual parts. */
static char *tag_of(const char *path, const char *suffix)
{
    static const char *const usual[] = {"registry.ollama.ai/", "ollama.com/", "library/"};
    char *tag, *slash;

    path += *path == '/';
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strncmp(path, usual[i], strlen(usual[i])) == 0)
            path += strlen(usual[i]);
    tag = path_with(path, suffix);
    slash = tag != NULL ? strrchr(tag, '/') : NULL;
    if (slash != NULL)
        *slash = ':';
    return tag;
}

/* The state of reading a manifest. */
typedef struct manifest {
    const ls_walk *walk; /* its origin: MODELS */
    const char *tag;     /* the path from HOST on */
    unsigned depth;      /* of the object */
    gufo_str type, digest;
} manifest;

static void add_layer(const manifest *m)
{
    const char *models = m->walk->origin;
    size_t i = 0;

    while (i < sizeof layers / sizeof *layers &&
           !gufo_str_equal(m->type, gufo_str_of(layers[i].type)))
        i++;
    char *digest = strndup(m->digest.data, m->digest.len), *blob = NULL;
    ls_file *file = NULL;

    if (i < sizeof layers / sizeof *layers && digest != NULL && is_digest(digest, ':'))
        blob = path_format("%s/blobs/sha256-%s", models, digest + strlen("sha256:"));
    if (blob != NULL)
        file = add_file(m->walk->files, blob);
    if (file != NULL) {
        file->cache = "ollama";
        file->tag = tag_of(m->tag, layers[i].suffix);
    }
    free(digest);
    free(blob);
}

/* The string of a member: types and digests have no escapes. */
static gufo_str value_of(gufo_str name)
{
    const char *begin = strchr(name.data + name.len + 1, '"') + 1;

    return (gufo_str){begin, strcspn(begin, "\"")};
}

/* Finds the objects with a mediaType and a digest. */
static void on_member(void *context, unsigned depth, gufo_str name, char first)
{
    manifest *m = context;
    bool is_type = gufo_str_equal(name, gufo_str_of("mediaType"));

    if (first != '"' || (!is_type && !gufo_str_equal(name, gufo_str_of("digest"))))
        return;
    if (m->depth != depth)
        m->type = m->digest = (gufo_str){NULL, 0};
    m->depth = depth;
    *(is_type ? &m->type : &m->digest) = value_of(name);
    if (m->type.data == NULL || m->digest.data == NULL)
        return;
    add_layer(m);
    m->type = m->digest = (gufo_str){NULL, 0};
}

static void read_manifest(const ls_walk *w, const char *path)
{
    manifest m = {.walk = w, .tag = path + strlen(w->origin)};
    char *text = read_small(path);

    m.tag = strchr(m.tag + 1, '/') + 1; /* after /manifests/ */
    if (text != NULL)
        (void)json_check(gufo_str_of(text), on_member, &m);
    free(text);
}

static bool any_name(const char *name)
{
    return name[0] != '.';
}

static void add_ollama(ls_files *files, const char *path, const char *name)
{
    static const char *const folders[] = {"/manifests", "/manifests-v2"};

    (void)name;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *folder = path_with(path, folders[i]);

        if (folder != NULL && access(folder, F_OK) == 0)
            walk_folder(&(ls_walk){.files = files,
                                   .recursive = true,
                                   .wanted = any_name,
                                   .found = read_manifest,
                                   .origin = path},
                        folder);
        free(folder);
    }
}

/* ---- caches: all of them ----------------------------------------------------------------------------- */

/* Takes the path. */
static void add_place(ls_files *files, const cache *c, char *path)
{
    if (path != NULL && path_is_folder(path))
        c->add(files, path, c->name);
    free(path);
}

/* The folder that a file in the home folder names. */
static void add_pointed(ls_files *files, const cache *c)
{
    const char *home = getenv("HOME");
    char *pointer = home != NULL && c->pointer != NULL ? path_with(home, c->pointer) : NULL;
    char *folder = pointer != NULL ? read_small(pointer) : NULL;

    if (folder != NULL)
        folder[strcspn(folder, "\r\n")] = '\0';
    if (folder != NULL && folder[0] == '/')
        add_place(files, c, path_with(folder, "/models"));
    free(folder);
    free(pointer);
}

static void add_cache(ls_files *files, const cache *c)
{
    bool more = true;

    add_pointed(files, c);
    for (const place *p = c->places; more && p < c->places + MOST_PLACES && p->rest != NULL; p++) {
        const char *folder = p->variable != NULL ? getenv(p->variable) : "";

        if (folder == NULL || (p->variable != NULL && *folder == '\0'))
            continue;
        add_place(files, c, path_with(folder, p->rest));
        more = p->either;
    }
}

void ls_add_caches(ls_files *files)
{
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        add_cache(files, &caches[i]);
}
