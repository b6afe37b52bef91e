/* general.* of a model, from its card, its folder's name and its tensors. */
#ifndef IMPORT_GENERAL_GENERAL_H
#define IMPORT_GENERAL_GENERAL_H

#include "import/architectures/config.h"
#include "import/import.h"

typedef struct general_request {
    const model_config *config;
    json_t
        *metadata; /* a file of the caller's with GGUF keys, which come before all others; NULL */
    bool vocabulary_only;
} general_request;

/* Sets general.* (but architecture and file_type) in the import's document, whose tensors are there
 * already: they are counted. */
gufo_status general_write(gufo_import *import, const general_request *request, gufo_error *error);

/* NAME.* of every field of config.json, for an architecture without rules. */
gufo_status general_write_generic(gufo_import *import, const model_config *config, const char *name,
                                  gufo_error *error);

#endif
