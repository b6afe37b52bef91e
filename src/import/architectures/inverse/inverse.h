/* The rules of gufo convert, the other way round: config.json from the keys of a GGUF model.
 *
 *     config.c       the class, and all fields
 *     model_keys.c   the keys as an object that expressions are about
 *     known_ropes.c  factors of rotary positions, which only tensors know */
#ifndef IMPORT_ARCHITECTURES_INVERSE_INVERSE_H
#define IMPORT_ARCHITECTURES_INVERSE_INVERSE_H

#include <jansson.h>

#include "gufo/format.h"
#include "import/architectures/configuration/config.h"

/* Takes sentences about what is lost or approximate. */
typedef struct inverse_warner {
    gufo_status (*warn)(void *context, const char *sentence, gufo_error *error);
    void *context;
} inverse_warner;

/* ---- config.c -------------------------------------------------------------------------------- */

/* The fields of config.json: class, model_type, a field for each key that one gives.  *out is the
 * caller's.  `warner`: NULL: nobody wants to know.
 *   GUFO_E_TYPE       an architecture without classes or rules
 *   GUFO_E_NOT_FOUND  a key that a field cannot do without */
gufo_status inverse_config(const gufo_model *model, const inverse_warner *warner, json_t **out,
                           gufo_error *error);

/* A row of the table export_classes: a class that models of an architecture are exported as. */
typedef struct export_class {
    const char *architecture;
    const char *name;       /* "LlamaForCausalLM" */
    const char *model_type; /* "llama" */
    const char *condition;  /* about keys; the first of several rows whose condition holds counts */
} export_class;

/* All rows. */
const export_class *export_class_at(size_t index);
/* The rows of an architecture. */
const export_class *export_classes(const char *architecture, size_t *count);

/* ---- known_ropes.c --------------------------------------------------------------------------- */

/* Sets those fields whose conversion makes rope_freqs, rope_factors_long and rope_factors_short of the
 * model again.  What has no such fields is a warning. */
gufo_status known_ropes(const gufo_model *model, const char *architecture, const json_t *keys,
                        json_t *fields, const inverse_warner *warner, gufo_error *error);

/* ==== model_keys.c: the keys of a model as an object that expressions can be about =============== */

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
