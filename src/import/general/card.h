/* The model card: README.md, whose front matter says what a model is. */
#ifndef IMPORT_GENERAL_CARD_H
#define IMPORT_GENERAL_CARD_H

#include "gufo/base.h"
#include "import/architectures/configuration/config.h"
#include "import/import.h"

#include <jansson.h>

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
