/* Where other programs keep the models that they download.
 *
 *     Hugging Face  HUB/models--OWNER--NAME/snapshots/REVISION/model.gguf -> ../../blobs/...
 *     llama.cpp     CACHE/OWNER_NAME_model.gguf
 *     LM Studio     MODELS/OWNER/NAME/model.gguf
 *     Ollama        MODELS/manifests/HOST/OWNER/NAME/TAG, which names MODELS/blobs/sha256-...
 *
 * Each program looks at its environment variables first; so does gufo, in the same order. */
#include "cli/inspect/ls.h"

#include "cli/core/files/path.h"
#include "schema/syntax/json.h"

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

/* ---- Ollama --------------------------------------------------------------------------------- */

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

    if (i < sizeof layers / sizeof *layers && digest != NULL && ls_is_digest(digest, ':'))
        blob = path_format("%s/blobs/sha256-%s", models, digest + strlen("sha256:"));
    if (blob != NULL)
        file = ls_add(m->walk->files, blob);
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
            ls_walk_folder(&(ls_walk){.files = files,
                                      .recursive = true,
                                      .wanted = any_name,
                                      .found = read_manifest,
                                      .origin = path},
                           folder);
        free(folder);
    }
}

/* ---- all caches ----------------------------------------------------------------------------- */

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
