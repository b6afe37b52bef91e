/* Models in the store of Ollama on this machine: put there, and taken out.  Of libgufo_remote.
 *
 *     gufo_ollama_import(models, 1, &(gufo_ollama_import_options){.store = "/home/me/.ollama/models",
 *                                                                 .name = "tiny:q4"}, NULL, &error);
 *
 * Neither a server of Ollama nor a registry is asked: files are read and written.  A server that is running
 * sees the model at once. */
#ifndef GUFO_OLLAMA_H
#define GUFO_OLLAMA_H

#include "format.h"
#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_ollama_import_options gufo_ollama_import_options;
typedef struct gufo_ollama gufo_ollama;
typedef struct gufo_ollama_layer gufo_ollama_layer;
typedef struct gufo_ollama_open_options gufo_ollama_open_options;

/* Adds a model to the store: the blobs of its files, then a manifest under its name.  Exactly one of
 * `models` is a model; the others may be projectors (general.type mmproj, or architecture clip) and LoRA
 * adapters (general.type adapter) for it.  A model of one file becomes a blob as it is, by sharing its blocks
 * where the file system can; shards are merged (gufo_job_merge), as are models that are seen in the format of
 * others.  A blob of the same bytes that is there already is kept.
 * After an interruption there may be blobs too many, which Ollama removes when it starts, but no manifest
 * without its blobs.  Of `run`, threads, memory and progress count; it may be NULL.
 *   GUFO_E_ARGUMENT  the name is none; no model, or several; a parameter that is not known, or has another type;
 *                    a template that is of Jinja, an adapter for another architecture
 *   GUFO_E_EXISTS    the name is taken, without GUFO_OLLAMA_REPLACE
 *   GUFO_E_CHANGED   a file changed meanwhile, or another program has removed a blob
 *   GUFO_E_STOPPED, GUFO_E_IO, GUFO_E_MEMORY, and those of gufo_job_merge */
GUFO_MUST_USE GUFO_API gufo_status gufo_ollama_import(const gufo_model *const *models, size_t count,
                                                      const gufo_ollama_import_options *options,
                                                      const gufo_run *run, gufo_error *error);

/* Opens the model `name`, [[HOST/]NAMESPACE/]MODEL[:TAG], of the store whose folder is `store`: reads its
 * manifest.  Freed with gufo_ollama_free.  `options` may be NULL.  NULL on failure: GUFO_E_ARGUMENT for what
 * is not a name, GUFO_E_NOT_FOUND, GUFO_E_MALFORMED, GUFO_E_IO, GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_ollama *gufo_ollama_open(const char *store, const char *name,
                                                     const gufo_ollama_open_options *options,
                                                     gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_ollama_free(gufo_ollama *ollama);
/* Layer `index`; false past the last one. */
GUFO_API bool gufo_ollama_layer_at(const gufo_ollama *ollama, size_t index, gufo_ollama_layer *out);

/* ==== Import ================================================================================== */

typedef enum gufo_ollama_flags {
    GUFO_OLLAMA_REPLACE = 1, /* a manifest, or a file, that exists */
    GUFO_OLLAMA_LINK = 2,    /* gufo_ollama_save: another name of the blob itself */
} gufo_ollama_flags;

/* A layer that an import has made, or found. */
typedef void gufo_ollama_layer_fn(void *context, const gufo_ollama_layer *layer);

typedef struct gufo_ollama_import_options {
    const char *store; /* folder with manifests and blobs, made if it is missing; compulsory */
    const char *name;  /* [[HOST/]NAMESPACE/]MODEL[:TAG]; compulsory */
    uint32_t flags;    /* of gufo_ollama_flags */
    /* A template in the language of Go's text/template.  NULL: none, and Ollama renders messages with the
     * chat template that the file itself has (tokenizer.chat_template). */
    const char *template_text;
    const char *system;          /* the system message; NULL: none */
    const char *const *licenses; /* their texts */
    size_t license_count;
    /* Parameters of Ollama's Modelfile, "temperature=0.7"; several for stop.  They take the place of those
     * that the keys of the model give: general.sampling.*, and the texts of its end tokens as stop. */
    const char *const *params;
    size_t param_count;
    /* Called for every layer, in the order of the manifest, before that is written; may be NULL. */
    gufo_ollama_layer_fn *on_layer;
    void *on_layer_context;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_ollama_import_options;

/* ==== Looking, and export ===================================================================== */

typedef struct gufo_ollama_open_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_ollama_open_options;

typedef struct gufo_ollama_layer {
    const char *role; /* "model", "projector", "adapter", "template", "system", "params", "license",
                           "messages", "tensor" ...; "other" for a mediaType that is not known; static */
    bool is_gguf;     /* a model, a projector, an adapter or a draft model */
    gufo_str type;    /* its mediaType */
    gufo_str digest;  /* 64 hexadecimal digits of its SHA-256 */
    uint64_t size;    /* bytes */
    bool kept;        /* gufo_ollama_import: the blob was there already */
    uint64_t reserved[4];
} gufo_ollama_layer;

/* Appends the path of a layer's blob, which may be missing, and a terminator that does not count.
 * GUFO_E_RANGE past the last layer; GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_ollama_blob_path(const gufo_ollama *ollama, size_t index, gufo_text *out,
                                           gufo_error *error);

typedef struct gufo_ollama_save_options {
    uint32_t flags;       /* of gufo_ollama_flags */
    uint64_t reserved[4]; /* must be zero */
} gufo_ollama_save_options;

/* Writes the bytes of a layer to `path`, all of them or nothing, by sharing the blocks of its blob where the
 * file system can; compares their digest.  With GUFO_OLLAMA_LINK the blob gets a second name instead, and is
 * not read: who changes that file in place damages the model in the store.  `options` and `run`, whose
 * progress counts, may be NULL.
 *   GUFO_E_RANGE      past the last layer
 *   GUFO_E_EXISTS     the file exists, without GUFO_OLLAMA_REPLACE
 *   GUFO_E_MALFORMED  the blob has another size than the manifest says, or another digest
 *   GUFO_E_IO         with EXDEV for a link to another file system; others
 *   GUFO_E_STOPPED, GUFO_E_MEMORY */
GUFO_MUST_USE GUFO_API gufo_status gufo_ollama_save(const gufo_ollama *ollama, size_t index,
                                                    const char *path,
                                                    const gufo_ollama_save_options *options,
                                                    const gufo_run *run, gufo_error *error);

/* Appends what the manifest has beside files, as one object of JSON and a LF: "name", "template", "system",
 * "params", "messages", "licenses", "config"; of these, what is there.  Their digests are compared.
 * GUFO_E_MALFORMED for params, messages or a configuration that are not JSON; GUFO_E_LIMIT above 16 MiB; as above. */
GUFO_MUST_USE GUFO_API gufo_status gufo_ollama_settings(const gufo_ollama *ollama, gufo_text *out,
                                                        gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
