/* The keys of a model as an object that expressions can be about. */
#ifndef IMPORT_ARCHITECTURES_INVERSE_MODEL_KEYS_H
#define IMPORT_ARCHITECTURES_INVERSE_MODEL_KEYS_H

#include <jansson.h>

#include "gufo/format.h"

/* An object with an object for each part of a key, as it is called today: "llama.rope.scaling.type" is what the path
 * rope.scaling.type finds, "tokenizer.ggml.model" keeps its whole name.  Reals are those with the
 * fewest digits that a float32 holds.  Beside the keys:
 *
 *     tensors     tensors.blk.0.attn_q.weight is the list of dims, the row first
 *     in_blocks   in_blocks.attn_q.weight says of each block whether it has that tensor
 *     tokens      the length of the vocabulary
 *     fallback    fallback.rope.scaling.type is what readers take where that key is missing
 *
 * What JSON or the language cannot say (texts that are not UTF-8, arrays of arrays, arrays of more than
 * 65536 elements) is missing.  NULL without memory. */
json_t *model_keys(const gufo_model *model, gufo_str architecture);

/* The text of a key; empty: it has none. */
gufo_str model_text(const gufo_model *model, const char *key);

/* A value of a key; NULL: one that is missing there, or no memory. */
json_t *model_key_value(const gufo_value *value);

/* Sets the value at a path ("rope_scaling.factor"), which is taken over, and makes objects along it.
 * Where a part of the path has a value that is not an object, or the path has more than 32 parts, nothing
 * is set.  False without memory. */
bool set_at_path(json_t *root, gufo_str path, json_t *value);

#endif
