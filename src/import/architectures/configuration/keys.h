/* The keys of an architecture, from its configuration: rows of the table convert_keys. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_KEYS_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_KEYS_H

#include "gufo/document.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/expression.h"
#include "import/import.h"

typedef enum keys_phase { KEYS_TENSORS, KEYS_PARAMETERS, KEYS_VOCABULARY } keys_phase;

typedef struct keys_request {
    const model_config *config;
    uint32_t file_type; /* general.file_type */
    /* Reads the vocabulary: `readers` are the names of those to try in order ("spm, hf, bpe"). */
    gufo_status (*read_vocabulary)(void *context, const char *readers, gufo_error *error);
    void *context;
    /* Keys that a file of the folder decides about (an object; NULL: none), and their values: rows of
     * these keys are not evaluated. */
    const json_t *decided;
    const gufo_document *values;
    /* Where keys whose rows fail are noted, so that the others go on; NULL: a failure is one. */
    json_t *failed;
    /* Gets by key the fields that its value was made of, in an object; NULL: not wanted. */
    json_t *origins;
} keys_request;

/* Sets the keys of one phase in the document of the import, in the order of the rows. */
gufo_status keys_write(gufo_import *import, const keys_request *request, keys_phase phase,
                       gufo_error *error);

/* The GGUF type of a type of the table ("u32", "arr[bool]"): of an array GUFO_VALUE_ARRAY, whose elements
 * are *elements.  False: the table has no such type. */
bool key_type_of(const char *type, gufo_value_type *out, gufo_value_type *elements);

#endif
