/* The rules of gufo convert, the other way round: config.json from the keys of a GGUF model.
 *
 *     config.c       the class, and all fields
 *     model_keys.c   the keys as an object that expressions are about
 *     fields.c       a field for each key that one gives
 *     known_ropes.c  factors of rotary positions, which only tensors know */
#ifndef IMPORT_ARCHITECTURES_INVERSE_INVERSE_H
#define IMPORT_ARCHITECTURES_INVERSE_INVERSE_H

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

/* ---- fields.c -------------------------------------------------------------------------------- */

/* The two sides that expressions of the tables see while fields are made. */
typedef struct export_fields {
    const model_config *keys; /* its fields are the keys (model_keys.h) */
    const model_config *made; /* its fields are those that are made so far */
} export_fields;

/* Sets the fields that the rows of the table convert_keys give, read backwards: the keys of the
 * architecture, and rows "export".  GUFO_E_MEMORY, GUFO_E_LIMIT. */
gufo_status fields_from_keys(const export_fields *f, gufo_error *error);

/* ---- known_ropes.c --------------------------------------------------------------------------- */

/* Sets those fields whose conversion makes rope_freqs, rope_factors_long and rope_factors_short of the
 * model again.  What has no such fields is a warning. */
gufo_status known_ropes(const gufo_model *model, const char *architecture, const json_t *keys,
                        json_t *fields, const inverse_warner *warner, gufo_error *error);

#endif
