/* What the names in an expression mean. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_SCOPE_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_SCOPE_H

#include "gufo/document.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/expression_term.h"
#include "import/containers/checkpoint.h"

typedef struct expression_scope {
    const model_config *config;
    json_t *fields;                /* those of `config`, or those that the keys see */
    const gufo_document *document; /* with the keys that were written so far; NULL: none */
    const checkpoint *checkpoint;  /* NULL: not wanted */
    uint32_t file_type;
    /* Gets the fields of the configuration that have a value and are asked for, by their names in the
     * file; NULL: not wanted. */
    json_t *read;
} expression_scope;

/* The element of a list that a formula is about. */
typedef struct expression_element {
    bool is_there;
    int64_t index;
    term value;
} expression_element;

/* The value of a name, or of a path ("rope.factor"). */
gufo_status scope_find(const expression_scope *scope, const expression_element *element,
                       gufo_str name, term *out, gufo_error *error);

#endif
