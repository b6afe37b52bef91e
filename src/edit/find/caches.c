/* Where other programs keep the models that they download.
 *
 *     Hugging Face  HUB/models--OWNER--NAME/snapshots/REVISION/model.gguf -> ../../blobs/...
 *     llama.cpp     CACHE/OWNER_NAME_model.gguf
 *     LM Studio     MODELS/OWNER/NAME/model.gguf
 *     Ollama        MODELS/manifests/HOST/OWNER/NAME/TAG, which names MODELS/blobs/sha256-...
 *
 * Each program looks at its environment variables first; so does gufo, in the same order. */
#include "edit/find/find.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "schema/syntax/json.h"

/* A place is $variable and the rest; NULL: the rest alone. */
typedef struct place {
    const char *variable, *rest;
    bool either; /* and the next one, even if the variable is set */
} place;

enum { MOST_PLACES = 5 };

typedef struct cache {
    const char *name;
    gufo_status (*add)(gufo_find *find, const char *path, const char *name, gufo_error *error);
    const char *pointer;       /* a file in the home folder that names the folder of the program */
    place places[MOST_PLACES]; /* the first one whose variable is set */
} cache;

static gufo_status add_ollama(gufo_find *find, const char *path, const char *name,
                              gufo_error *error);

static const cache caches[] = {
    {"huggingface",
     find_add_cache,
     NULL,
     {{"HF_HUB_CACHE", "", false},
      {"HUGGINGFACE_HUB_CACHE", "", false},
      {"HF_HOME", "/hub", false},
      {"XDG_CACHE_HOME", "/huggingface/hub", false},
      {"HOME", "/.cache/huggingface/hub", false}}},
    {"llama.cpp",
     find_add_cache,
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
     find_add_cache,
     "/.lmstudio-home-pointer",
     {{"HOME", "/.lmstudio/models", true}, {"HOME", "/.cache/lm-studio/models", false}}},
};

/* ---- small files ---------------------------------------------------------------------------- */

enum { MOST_BYTES = 1 << 20 };

/* The text of a file; empty if it cannot be read, or is larger than any manifest.  NULL without
 * memory. */
static char *read_small(const gufo_find *find, const char *path)
{
    struct stat status;
    int fd = find_open_regular(path, &status);
    size_t size = fd >= 0 && status.st_size <= MOST_BYTES ? (size_t)status.st_size : 0, got = 0;
    char *text = mem_zero(&find->allocator, size + 1);

    if (text != NULL && size > 0 && source_read_fd(fd, 0, text, size, &got, NULL) != GUFO_OK)
        text[0] = '\0';
    if (fd >= 0)
        (void)close(fd);
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
static char *tag_of(const gufo_find *find, const char *path, const char *suffix)
{
    static const char *const usual[] = {"registry.ollama.ai/", "ollama.com/", "library/"};
    char *tag, *slash;

    path += *path == '/';
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strncmp(path, usual[i], strlen(usual[i])) == 0)
            path += strlen(usual[i]);
    tag = FIND_TEXT(find, path, suffix);
    slash = tag != NULL ? strrchr(tag, '/') : NULL;
    if (slash != NULL)
        *slash = ':';
    return tag;
}

/* The state of reading a manifest. */
typedef struct manifest {
    const find_walk *walk; /* its origin: MODELS */
    const char *tag;       /* the path from HOST on */
    unsigned depth;        /* of the object */
    gufo_str type, digest;
    gufo_status status;
    gufo_error *error;
} manifest;

/* The digest is part of a path: it is nothing but one. */
static void add_layer(manifest *m)
{
    gufo_find *find = m->walk->find;
    char digest[sizeof "sha256:" + 64];
    found_file *file = NULL;
    char *blob;
    size_t i = 0;

    while (i < sizeof layers / sizeof *layers &&
           !gufo_str_equal(m->type, gufo_str_of(layers[i].type)))
        i++;
    if (i == sizeof layers / sizeof *layers || m->digest.len >= sizeof digest)
        return;
    memcpy(digest, m->digest.data, m->digest.len);
    digest[m->digest.len] = '\0';
    if (!find_is_digest(digest, ':'))
        return;
    blob = FIND_TEXT(find, m->walk->origin, "/blobs/sha256-", digest + strlen("sha256:"));
    m->status = blob != NULL ? find_add_file(find, blob, &file, m->error) : fail_memory(m->error);
    mem_free(&find->allocator, blob);
    if (m->status != GUFO_OK)
        return;
    file->cache = "ollama";
    file->tag = tag_of(find, m->tag, layers[i].suffix);
    if (file->tag == NULL)
        m->status = fail_memory(m->error);
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

    if (m->status != GUFO_OK || first != '"' ||
        (!is_type && !gufo_str_equal(name, gufo_str_of("digest"))))
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

static gufo_status read_manifest(const find_walk *w, const char *path, gufo_error *error)
{
    manifest m = {.walk = w, .tag = path + strlen(w->origin), .error = error};
    char *text = read_small(w->find, path);

    if (text == NULL)
        return fail_memory(error);
    m.tag = strchr(m.tag + 1, '/') + 1; /* after /manifests/ */
    (void)json_check(gufo_str_of(text), on_member, &m);
    mem_free(&w->find->allocator, text);
    return m.status;
}

static bool is_shown(const char *name)
{
    return name[0] != '.';
}

static gufo_status add_ollama(gufo_find *find, const char *path, const char *name,
                              gufo_error *error)
{
    static const char *const folders[] = {"/manifests", "/manifests-v2"};
    gufo_status status = GUFO_OK;

    (void)name;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && status == GUFO_OK; i++) {
        char *folder = FIND_TEXT(find, path, folders[i]);

        if (folder == NULL)
            return fail_memory(error);
        if (access(folder, F_OK) == 0)
            status = find_walk_folder(&(find_walk){.find = find,
                                                   .recursive = true,
                                                   .wanted = is_shown,
                                                   .found = read_manifest,
                                                   .origin = path},
                                      folder, error);
        mem_free(&find->allocator, folder);
    }
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Takes the path of a folder that may exist. */
typedef struct folder_user {
    gufo_status (*use)(const struct folder_user *user, const cache *c, const char *path,
                       gufo_error *error);
    gufo_find *find;
    gufo_cache_folder_fn *shown;
} folder_user;

static gufo_status use_place(const folder_user *u, const cache *c, const char *folder,
                             const char *rest, gufo_error *error)
{
    char *path = FIND_TEXT(u->find, folder, rest);
    gufo_status status = path != NULL ? u->use(u, c, path, error) : fail_memory(error);

    mem_free(&u->find->allocator, path);
    return status;
}

static const char *variable(const gufo_find *find, const char *name)
{
    return find->options.variable(find->options.context, name);
}

/* The folder that a file in the home folder names. */
static gufo_status use_pointed(const folder_user *u, const cache *c, gufo_error *error)
{
    const gufo_find *find = u->find;
    const char *home = c->pointer != NULL ? variable(find, "HOME") : NULL;
    char *pointer = home != NULL ? FIND_TEXT(find, home, c->pointer) : NULL;
    char *folder = pointer != NULL ? read_small(find, pointer) : NULL;
    gufo_status status = home == NULL || folder != NULL ? GUFO_OK : fail_memory(error);

    if (folder != NULL)
        folder[strcspn(folder, "\r\n")] = '\0';
    if (folder != NULL && folder[0] == '/')
        status = use_place(u, c, folder, "/models", error);
    mem_free(&find->allocator, folder);
    mem_free(&find->allocator, pointer);
    return status;
}

static gufo_status use_places(const folder_user *u, const cache *c, gufo_error *error)
{
    gufo_status status = use_pointed(u, c, error);
    bool more = true;

    for (const place *p = c->places;
         status == GUFO_OK && more && p < c->places + MOST_PLACES && p->rest != NULL; p++) {
        const char *folder = p->variable != NULL ? variable(u->find, p->variable) : "";

        if (folder == NULL || (p->variable != NULL && *folder == '\0'))
            continue;
        status = use_place(u, c, folder, p->rest, error);
        more = p->either;
    }
    return status;
}

static gufo_status use_all(const folder_user *u, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (u->find->options.variable == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_find_options.variable is missing");
    for (size_t i = 0; i < sizeof caches / sizeof *caches && status == GUFO_OK; i++)
        status = use_places(u, &caches[i], error);
    return status;
}

static gufo_status add_folder(const folder_user *u, const cache *c, const char *path,
                              gufo_error *error)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? c->add(u->find, path, c->name, error)
                                                           : GUFO_OK;
}

gufo_status gufo_find_add_caches(gufo_find *find, gufo_error *error)
{
    if (find->is_read)
        return refuse(error, GUFO_E_ARGUMENT, "the models of the list have been read");
    return use_all(&(folder_user){.use = add_folder, .find = find}, error);
}

static gufo_status show_folder(const folder_user *u, const cache *c, const char *path,
                               gufo_error *error)
{
    (void)error;
    u->shown(u->find->options.context, c->name, path);
    return GUFO_OK;
}

gufo_status gufo_cache_folders(const gufo_find_options *options, gufo_cache_folder_fn *use,
                               gufo_error *error)
{
    gufo_error reason;
    gufo_find *find = gufo_find_new(options, &reason);
    gufo_status status;

    if (find == NULL)
        return fail_as(error, &reason);
    status = use_all(&(folder_user){.use = show_folder, .find = find, .shown = use}, error);
    gufo_find_free(find);
    return status;
}
