/* general.* of a model, from its card, its folder's name and its tensors. */
#ifndef IMPORT_GENERAL_GENERAL_H
#define IMPORT_GENERAL_GENERAL_H

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

#endif
