/* Fields of config.json, from the keys of a model. */
#ifndef IMPORT_EXPORT_FIELDS_H
#define IMPORT_EXPORT_FIELDS_H

#include "import/architectures/config.h"

/* The two sides that expressions of the tables see while fields are made. */
typedef struct export_fields {
    const model_config *keys; /* its fields are the keys (model_keys.h) */
    const model_config *made; /* its fields are those that are made so far */
} export_fields;

/* Sets the fields that the rows of the table convert_keys give, read backwards: the keys of the
 * architecture, and rows "export".  GUFO_E_MEMORY, GUFO_E_LIMIT. */
gufo_status fields_from_keys(const export_fields *f, gufo_error *error);

#endif
