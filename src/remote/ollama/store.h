/* Ollama's store on disk: manifests, and the blobs that these name by their digests.
 *
 *     MODELS/manifests/HOST/NAMESPACE/MODEL/TAG     JSON (manifest.h)
 *     MODELS/blobs/sha256-HEX                       a layer
 *
 * A blob that is made has a temporary name in blobs/ until its digest is known.  A blob that is
 * there already stays if its bytes have that digest.  A manifest comes last, when all that it names is on disk, so that an
 * interruption leaves no manifest without its blobs; blobs without a manifest are what Ollama removes when it
 * starts, an hour after their time of change. */
#ifndef REMOTE_OLLAMA_STORE_H
#define REMOTE_OLLAMA_STORE_H

#include "base/files/source.h"
#include "base/files/source_folder.h"
#include "remote/ollama/manifest.h"
#include "remote/ollama/name.h"

typedef struct ollama_store {
    const char *root;
    const gufo_allocator *allocator;
} ollama_store;

/* MODELS and a name in it, such as a blob's or a manifest's; NULL without memory.  Freed with the
 * allocator. */
char *ollama_store_path(const ollama_store *store, const char *folder, gufo_str name);
/* "MODELS/blobs/sha256-HEX". */
char *ollama_blob_path(const ollama_store *store, const char *hex);

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads the manifest of a name; freed with ollama_manifest_free, also after a failure.  GUFO_E_NOT_FOUND;
 * as ollama_manifest_read.  Errors name the file. */
gufo_status ollama_store_manifest(const ollama_store *store, const ollama_name *name,
                                  ollama_manifest *out, gufo_error *error);
/* Opens the blob of a layer, whose size is right, as a source that the caller closes, also after a
 * failure. */
gufo_status ollama_store_open(const ollama_store *store, const ollama_layer *layer, source *out,
                              gufo_error *error);
/* Appends the bytes of a layer of text, of `most` at most, whose digest is right. */
gufo_status ollama_store_text(const ollama_store *store, const ollama_layer *layer, uint64_t most,
                              gufo_text *out, gufo_error *error);

/* ---- writing -------------------------------------------------------------------------------- */

/* Makes the folders of the store and of a manifest. */
gufo_status ollama_store_prepare(const ollama_store *store, const ollama_name *name,
                                 gufo_error *error);
/* GUFO_E_EXISTS if there is a manifest of that name. */
gufo_status ollama_store_check(const ollama_store *store, const ollama_name *name,
                               gufo_error *error);
/* A path in blobs/ that nothing has, for a file that becomes a blob.  NULL on failure. */
char *ollama_store_new(const ollama_store *store, gufo_error *error);
/* Makes the file `path` the blob of the layer, whose digest and size are known; *kept: there was one,
 * and the file is removed. */
gufo_status ollama_store_take(const ollama_store *store, const char *path,
                              const ollama_layer *layer, bool *kept, gufo_error *error);
/* Makes a blob of bytes, and the layer. */
gufo_status ollama_store_put(const ollama_store *store, ollama_layer_kind kind, gufo_str bytes,
                             ollama_layer *layer, bool *kept, gufo_error *error);
/* Writes the manifest, once all that it names is on disk; checks that it still is. */
gufo_status ollama_store_publish(const ollama_store *store, const ollama_name *name,
                                 const ollama_layer *config, const ollama_layer *layers,
                                 size_t count, bool replace, gufo_error *error);

#endif
