/* Manifests of Ollama: the layers of which a model consists, each a blob with its digest.
 *
 *     {"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json",
 *      "config":{"mediaType":"application/vnd.docker.container.image.v1+json",
 *                "digest":"sha256:...","size":485},
 *      "layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:...",
 *                 "size":4683073184}, ...]}
 *
 * The same from a registry (GET /v2/NAMESPACE/MODEL/manifests/TAG) and in a store on disk. */
#ifndef REMOTE_OLLAMA_MANIFEST_H
#define REMOTE_OLLAMA_MANIFEST_H

#include "gufo/base.h"

/* What a request for a manifest accepts, and a manifest says it is. */
#define OLLAMA_MANIFEST_TYPE "application/vnd.docker.distribution.manifest.v2+json"
#define OLLAMA_CONFIG_TYPE "application/vnd.docker.container.image.v1+json"

enum {
    OLLAMA_HEX = 64,                 /* digits of a digest */
    OLLAMA_MANIFEST_MOST = 16 << 20, /* bytes of a manifest */
    OLLAMA_MOST_LAYERS = 1 << 16,
};

typedef enum ollama_layer_kind {
    OLLAMA_MODEL, /* GGUF files: these three */
    OLLAMA_PROJECTOR,
    OLLAMA_ADAPTER,
    OLLAMA_TEMPLATE, /* texts: a template of Go's text/template, */
    OLLAMA_PROMPT,   /* its old name, */
    OLLAMA_SYSTEM,
    OLLAMA_LICENSE,
    OLLAMA_PARAMS,   /* JSON: an object of options, */
    OLLAMA_MESSAGES, /* a list of messages, */
    OLLAMA_JSON,     /* any other file of a model of tensors */
    OLLAMA_TENSOR,   /* one of a model in the format of safetensors */
    OLLAMA_DRAFT,
    OLLAMA_EMBED,
    OLLAMA_OTHER
} ollama_layer_kind;

typedef struct ollama_layer {
    ollama_layer_kind kind;
    gufo_str type;            /* its mediaType */
    char hex[OLLAMA_HEX + 1]; /* its digest without "sha256:", in lower case; terminated */
    uint64_t size;
    gufo_str name; /* of a file or tensor; empty: none */
} ollama_layer;

/* Views are of `text`. */
typedef struct ollama_manifest {
    ollama_layer config; /* size 0 and no digits: none */
    ollama_layer *layers;
    size_t count;
    char *text;
    const gufo_allocator *allocator;
} ollama_manifest;

/* Reads a manifest, which may be any bytes; freed with ollama_manifest_free, also after a failure.  The
 * allocator outlives it.  GUFO_E_MALFORMED and GUFO_E_TRUNCATED with the byte of the text,
 * GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status ollama_manifest_read(gufo_str text, const gufo_allocator *allocator,
                                 ollama_manifest *out, gufo_error *error);
void ollama_manifest_free(ollama_manifest *manifest);

/* The first layer of a kind; NULL if there is none. */
const ollama_layer *ollama_manifest_find(const ollama_manifest *manifest, ollama_layer_kind kind);

/* Appends the JSON of a manifest as Ollama writes it, with its LF. */
gufo_status ollama_manifest_write(const ollama_layer *config, const ollama_layer *layers,
                                  size_t count, gufo_text *out, gufo_error *error);

/* "application/vnd.ollama.image.model"; NULL for OLLAMA_OTHER.  "model". */
const char *ollama_layer_type(ollama_layer_kind kind);
const char *ollama_layer_word(ollama_layer_kind kind);

/* Reads "sha256:HEX" or "sha256-HEX"; false if the text is anything else. */
bool ollama_digest_read(gufo_str text, char hex[OLLAMA_HEX + 1]);

/* Appends a JSON string; what is not UTF-8 becomes U+FFFD.  False without memory. */
bool ollama_json_string(gufo_str text, gufo_text *out);

#endif
