/* gguf-metadata.json: what the files of a framework cannot say about a model, kept beside them by gufo
 * export.
 *
 *     {"version": 1,
 *      "keys": {"general.author": null, "llama.x": {"type": "uint32", "value": 7}},
 *      "order": ["general.architecture", "general.name"],
 *      "type": "F32",
 *      "tensors": ["token_embd.weight", "output_norm.weight"]}
 *
 * A key that it has is as it says, whatever other files say: null is a key that the model does not have.
 * A key under another name that can be renamed for every reader counts as that of today.
 * `order` (the keys of the model), `type` (that of most of its tensors, where their files do not say it)
 * and `tensors` (the order of these) may be missing; what else there is belongs to later versions. */
#ifndef IMPORT_CONVERSION_STORED_H
#define IMPORT_CONVERSION_STORED_H

#include "import/architectures/plan/tensors.h"
#include "import/import.h"

#define STORED_NAME "gguf-metadata.json"

enum { STORED_VERSION = 1 };

typedef struct stored_metadata {
    json_t *root;           /* the file; NULL: none */
    gufo_document *entries; /* the keys that have a value */
} stored_metadata;

/* Reads the file, if the folder has one.  GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT and failures of
 * gufo_document_set name it; GUFO_E_IO, GUFO_E_MEMORY.  Nothing is left to close after a failure. */
gufo_status stored_open(stored_metadata *stored, const model_config *config,
                        const gufo_allocator *allocator, gufo_error *error);
void stored_close(stored_metadata *stored);

/* The keys that it decides about, an object; NULL: none. */
const json_t *stored_keys(const stored_metadata *stored);
/* Whether it decides about a key; *has_value: and gives it a value. */
bool stored_decides(const stored_metadata *stored, const char *key, bool *has_value);

/* Sets, and removes, the keys of the import's document that begin with `prefix` and that `given` (what
 * the caller says itself, as JSON; may be NULL) does not have.  `but`: not those that begin so; NULL:
 * all. */
gufo_status stored_set(gufo_import *import, const stored_metadata *stored, const char *prefix,
                       const char *but, const json_t *given, gufo_error *error);

/* A new document with the entries of another one in the order of the file, those that it does not name
 * behind them; NULL, with GUFO_OK, where the file has no order. */
gufo_status stored_sort(const stored_metadata *stored, const gufo_document *from,
                        const gufo_allocator *allocator, gufo_document **out, gufo_error *error);

/* Puts the tensors of a plan in the order of the file, those that it does not name behind them. */
gufo_status stored_sort_tensors(const stored_metadata *stored, tensor_plan *plan,
                                gufo_error *error);

/* The element type of most of the model; NULL: it says nothing. */
const gufo_element_type *stored_type(const stored_metadata *stored);

#endif
