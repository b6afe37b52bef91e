/* Where other programs keep the models that they download.
 *
 *     Hugging Face  HUB/models--OWNER--NAME/snapshots/REVISION/model.gguf -> ../../blobs/...
 *     llama.cpp     CACHE/OWNER_NAME_model.gguf
 *     LM Studio     MODELS/OWNER/NAME/model.gguf
 *     Ollama        MODELS/manifests/HOST/OWNER/NAME/TAG, which names MODELS/blobs/sha256-...
 *
 * Each program looks at its environment variables first; so does gufo, in the same order. */
#include "cli/inspect/ls.h"

#include "cli/inspect/ls_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
     ls_add_folder,
     NULL,
     {{"HF_HUB_CACHE", "", false},
      {"HUGGINGFACE_HUB_CACHE", "", false},
      {"HF_HOME", "/hub", false},
      {"XDG_CACHE_HOME", "/huggingface/hub", false},
      {"HOME", "/.cache/huggingface/hub", false}}},
    {"llama.cpp",
     ls_add_folder,
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
     ls_add_folder,
     "/.lmstudio-home-pointer",
     {{"HOME", "/.lmstudio/models", true}, {"HOME", "/.cache/lm-studio/models", false}}},
};

/* ---- small files ---------------------------------------------------------------------------- */

#define MOST_BYTES (1u << 20)

/* The text of a file that is not larger than any manifest: to be freed.  NULL if it cannot be
 * read. */
static char *read_small(const char *path)
{
    struct stat status;
    int fd = ls_open_regular(path, &status);
    char *text =
        fd >= 0 && status.st_size <= MOST_BYTES ? malloc((size_t)status.st_size + 1) : NULL;
    size_t size = text != NULL ? (size_t)status.st_size : 0, done = 0;
    ssize_t got = 1;

    while (done < size && got > 0) {
        got = read(fd, text + done, size - done);
        done += got > 0 ? (size_t)got : 0;
    }
    if (text != NULL)
        text[done] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

static char *join(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(size);

    if (text != NULL)
        snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

/* ---- Ollama --------------------------------------------------------------------------------- */

/* Which layers of a manifest are GGUF files, and what follows the name. */
static const struct {
    const char *type, *suffix;
} layers[] = {
    {"application/vnd.ollama.image.model", ""},
    {"application/vnd.ollama.image.projector", " projector"},
    {"application/vnd.ollama.image.adapter", " adapter"},
};

typedef struct manifest {
    ls_files *files;
    const char *root;   /* MODELS */
    size_t before_name; /* bytes of a path before HOST */
} manifest;

/* HOST/OWNER/NAME/TAG as Ollama writes it: what is usual is left out. */
static char *tag_of(const char *path, const char *suffix)
{
    static const char *const usual[] = {"registry.ollama.ai/", "ollama.com/", "library/"};
    char *tag, *slash;

    path += *path == '/';
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strncmp(path, usual[i], strlen(usual[i])) == 0)
            path += strlen(usual[i]);
    tag = join(path, suffix, "");
    slash = tag != NULL ? strrchr(tag, '/') : NULL;
    if (slash != NULL)
        *slash = ':';
    return tag;
}

/* sha256:DIGITS, and nothing that could be a path. */
static bool is_digest(const char *text)
{
    static const char before[] = "sha256:";
    size_t len = sizeof before - 1;

    return strncmp(text, before, len) == 0 && strlen(text) == len + 64 &&
           strspn(text + len, "0123456789abcdef") == 64;
}

static void add_layer(const manifest *m, const char *path, const char *type, char *digest)
{
    char *blob;
    ls_file *file;
    size_t i = 0;

    while (i < sizeof layers / sizeof *layers && strcmp(layers[i].type, type) != 0)
        i++;
    if (i == sizeof layers / sizeof *layers || !is_digest(digest))
        return;
    digest[strlen("sha256")] = '-';
    blob = join(m->root, "/blobs/", digest);
    file = blob != NULL ? ls_add(m->files, blob) : NULL;
    free(blob);
    if (file == NULL)
        return;
    file->cache = "ollama";
    file->tag = tag_of(path + m->before_name, layers[i].suffix);
}

/* The string that begins after a quote, ended; *text moves past it.  NULL if it has no end. */
static char *take_string(char **text)
{
    char *begin = *text, *end = begin;

    while (*end != '"' && *end != '\0')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    if (*end == '\0')
        return NULL;
    *end = '\0';
    *text = end + 1;
    return begin;
}

/* Of all objects in the JSON those with a mediaType and a digest.  Neither needs an escape. */
static void read_manifest(const walk *w, const char *path)
{
    char *text = read_small(path), *at = text, *type = NULL, *digest = NULL, *string,
         **value = NULL;

    while (at != NULL && *at != '\0') {
        char c = *at++;

        if (c == '{') {
            type = digest = NULL;
        } else if (c == '}' && type != NULL && digest != NULL) {
            add_layer(w->context, path, type, digest);
            type = digest = NULL;
        } else if (c == ',') {
            value = NULL;
        } else if (c == '"' && (string = take_string(&at)) == NULL) {
            break;
        } else if (c == '"' && value != NULL) {
            *value = string;
            value = NULL;
        } else if (c == '"') {
            value = strcmp(string, "mediaType") == 0 ? &type
                    : strcmp(string, "digest") == 0  ? &digest
                                                     : NULL;
        }
    }
    free(text);
}

static bool any_name(const char *name)
{
    return name[0] != '.';
}

static void failed(const walk *w)
{
    ((const manifest *)w->context)->files->failed = true;
}

static void add_ollama(ls_files *files, const char *path, const char *name)
{
    static const char *const folders[] = {"/manifests", "/manifests-v2"};

    (void)name;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *folder = join(path, folders[i], "");
        manifest m = {files, path, folder != NULL ? strlen(folder) : 0};

        if (folder != NULL && access(folder, F_OK) == 0)
            walk_folder(&(walk){&m, true, any_name, read_manifest, failed}, folder);
        free(folder);
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Takes the path. */
static void add_place(ls_files *files, const cache *c, char *path)
{
    struct stat status;

    if (path != NULL && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        c->add(files, path, c->name);
    free(path);
}

/* The folder that a file in the home folder names. */
static void add_pointed(ls_files *files, const cache *c)
{
    const char *home = getenv("HOME");
    char *pointer = home != NULL && c->pointer != NULL ? join(home, c->pointer, "") : NULL;
    char *folder = pointer != NULL ? read_small(pointer) : NULL;

    if (folder != NULL)
        folder[strcspn(folder, "\r\n")] = '\0';
    if (folder != NULL && folder[0] == '/')
        add_place(files, c, join(folder, "/models", ""));
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
        add_place(files, c, join(folder, p->rest, ""));
        more = p->either;
    }
}

void ls_add_caches(ls_files *files)
{
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        add_cache(files, &caches[i]);
}
