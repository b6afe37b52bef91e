/* general.* of a model, from its card, its folder's name and its tensors. */
#ifndef IMPORT_GENERAL_GENERAL_H
#define IMPORT_GENERAL_GENERAL_H

#include <jansson.h>

#include "gufo/base.h"
#include "import/architectures/configuration/config.h"
#include "import/import.h"

typedef struct general_request {
    const model_config *config;
    /* What the caller says: an object of GGUF keys, which come before all other sources; null is a key
     * that the model does not have.  NULL: nothing. */
    json_t *metadata;
    const json_t
        *decided; /* keys that are decided elsewhere: no source of theirs counts; NULL: none */
    const char *metadata_name; /* the file that it is from, for errors; NULL: none */
    bool vocabulary_only;
    bool tower;       /* it is what sees images or hears */
    bool adapter;     /* and: */
    uint64_t weights; /* the numbers of the weights that it is for */
    gufo_str base;    /* the id of its base, for where the card names none; may be "" */
} general_request;

/* Sets general.* (but architecture, file_type and quantization_version) in the import's document, whose
 * tensors are there already: they are counted.  GUFO_E_TYPE for metadata of another type than its
 * key. */
gufo_status general_write(gufo_import *import, const general_request *request, gufo_error *error);

/* The keys that general_write sets, as metadata call them; NULL past the end. */
const char *general_key_at(size_t index);

/* NAME.* of every field of config.json, for an architecture without rules. */
gufo_status general_write_generic(gufo_import *import, const model_config *config, const char *name,
                                  gufo_error *error);

/* ==== card.c: the model card, README.md, whose front matter says what a model is ================= */

/* The front matter of README.md in the folder as an object, the caller's (json_decref); NULL, with GUFO_OK,
 * if there is none.  One that cannot be read is none, too, with a warning. */
gufo_status card_read(gufo_import *import, const model_config *config, json_t **card,
                      gufo_error *error);

/* ---- YAML, as cards are written in ------------------------------------------------------------ */

typedef struct yaml_fault {
    const char *reason; /* constant; NULL: memory ran out */
    uint64_t line;      /* of the text, from 0 */
} yaml_fault;

/* Reads one document.  Plain scalars are texts, whatever they look like, but null and ~.  Of a name that occurs
 * twice in a mapping the last value counts, as usual.  Tags, anchors and aliases are refused, and so are names
 * that are not texts: no card needs them.  NULL: *fault says why.  Takes any text; at most 2^18 values, 64 deep. */
json_t *yaml_read(gufo_str text, yaml_fault *fault);

#endif
