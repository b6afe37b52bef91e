/* The model card: README.md, whose front matter says what a model is. */
#ifndef IMPORT_GENERAL_CARD_H
#define IMPORT_GENERAL_CARD_H

#include <jansson.h>

#include "import/architectures/configuration/config.h"
#include "import/import.h"

/* The front matter of README.md in the folder as an object, the caller's (json_decref); NULL, with GUFO_OK,
 * if there is none.  One that cannot be read is none, too, with a warning. */
gufo_status card_read(gufo_import *import, const model_config *config, json_t **card,
                      gufo_error *error);

#endif
