/* Models on this machine: files in folders, what other programs keep in their caches, and a few facts
 * about each, of which only headers are read.
 *
 *     gufo_find *find = gufo_find_new(NULL, &error);
 *     gufo_found model;
 *
 *     gufo_find_add(find, "models", GUFO_FIND_RECURSIVE, &error);
 *     gufo_find_read(find, NULL, &error);
 *     for (uint64_t i = 0; gufo_find_at(find, i, &model); i++)
 *         printf("%s\n", model.path);
 *     gufo_find_free(find);
 *
 * Folders are trusted as little as files: regular files alone are opened, links to folders below a
 * folder are not followed, and one broken file is one model with a fault. */
#ifndef GUFO_FIND_H
#define GUFO_FIND_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a path of another format is. */
typedef enum gufo_find_kind {
    GUFO_FIND_NOTHING = 0,    /* not a model */
    GUFO_FIND_OLD = 1,        /* a file of a format before GGUF */
    GUFO_FIND_CHECKPOINT = 2, /* a model of a training framework: a folder, or a file of one */
} gufo_find_kind;

typedef struct gufo_find_options {
    /* Gives the value of an environment variable, which places of caches depend on; NULL if it is not
     * set.  Returns what getenv does; the text is needed during the call alone. */
    const char *(*variable)(void *context, const char *name);
    /* Called for each folder that cannot be read; error->file is its path. */
    void (*fault)(void *context, const gufo_error *error);
    /* What a path of another format is: gufo_import_kind of import.h.  NULL: the list has models in GGUF
     * alone.  This and the next two are called from several threads at once. */
    gufo_find_kind (*kind)(void *context, const char *path);
    /* Opens such a model, which the list frees: gufo_import_outline, gufo_import_take_model. */
    gufo_model *(*open)(void *context, const char *path, gufo_error *error);
    /* The path of file `index` of a model that `open` has opened; NULL past the last.  Sizes and dates of
     * these files are those of the model; NULL in the place of the function: those of the path. */
    const char *(*part)(void *context, const gufo_model *model, uint32_t index);
    void *context;                   /* for all of these, each of which may be NULL */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[8];            /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_find_options;

/* A list of models.  One thread at a time may change it. */
typedef struct gufo_find gufo_find;

/* An empty list; `options` may be NULL, and are copied.  Freed with gufo_find_free.  NULL on failure:
 * GUFO_E_ARGUMENT, GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_find *gufo_find_new(const gufo_find_options *options,
                                                gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_find_free(gufo_find *find);

typedef enum gufo_find_flags {
    GUFO_FIND_RECURSIVE = 1, /* folders in a folder, too, but not those that links lead to */
} gufo_find_flags;

/* Adds a file, or the files of a folder whose names end in ".gguf" or, as those of models often did,
 * ".bin", or are "sha256-" and 64 digits; what of the latter is not a model is left out by
 * gufo_find_read.  A folder that is itself a model (`kind`) is one.  GUFO_E_IO if nothing has this path;
 * GUFO_E_ARGUMENT for unknown flags; GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_find_add(gufo_find *find, const char *path, uint32_t flags,
                                   gufo_error *error);
/* Adds the models in the caches of Hugging Face, llama.cpp, Ollama and LM Studio, in the places where these
 * programs look first: those that environment variables name, or else below the home folder.  A cache
 * that does not exist has no models.  GUFO_E_ARGUMENT without `variable`; GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_find_add_caches(gufo_find *find, gufo_error *error);

/* Takes a folder where a cache ("huggingface", "llama.cpp", "ollama", "lmstudio") has its models, if it exists. */
typedef void gufo_cache_folder_fn(void *context, const char *cache, const char *path);

/* Names these folders, whether they exist or not, in the order in which they are looked into.  Of the options,
 * `variable`, `context`, which `use` gets, and `allocator` count.  GUFO_E_ARGUMENT without `variable`;
 * GUFO_E_MEMORY.  Any thread. */
GUFO_API gufo_status gufo_cache_folders(const gufo_find_options *options, gufo_cache_folder_fn *use,
                                        gufo_error *error);

/* Makes models of what was added: shards become sets, several links to a file one model; reads their
 * headers, in parallel, and orders them by name, or else path.  Progress counts files.  To be called once,
 * after which nothing may be added: GUFO_E_ARGUMENT.  A file that cannot be read is a model with a fault.
 * `run` may be NULL.  GUFO_E_STOPPED, GUFO_E_MEMORY: the list is empty then. */
GUFO_API gufo_status gufo_find_read(gufo_find *find, const gufo_run *run, gufo_error *error);

/* A model.  Texts live as long as the list. */
typedef struct gufo_found {
    const char *path;  /* the file; the first one of a set; a folder */
    const char *name;  /* what its cache calls it ("llama3:8b"); NULL: none gives it a name */
    const char *cache; /* "huggingface", "llama.cpp", "ollama", "lmstudio"; NULL: it is in none */
    uint32_t shards;   /* files of a set; 1 for any other model */
    uint64_t size;     /* bytes of all files */
    int64_t date;      /* seconds since 1970: the last change of a file; 0: not known */
    /* What the header says; of a broken file, what can be read of it. */
    const char *title;        /* general.name, of which 4,096 bytes are kept; NULL: it has none */
    const char *architecture; /* general.architecture, likewise */
    const char *quantization; /* as in gufo_summary; NULL without tensors */
    uint64_t parameters;      /* 0: not known */
    uint64_t context;         /* tokens; 0: not known */
    const gufo_error *fault;  /* NULL: it is sound.  error->file is the file that is broken */
    uint64_t reserved[8];
} gufo_found;

/* Model `index` of a list that was read; false past the last.  Any thread. */
GUFO_API bool gufo_find_at(const gufo_find *find, uint64_t index, gufo_found *out);

#ifdef __cplusplus
}
#endif

#endif
