/* YAML, as model cards are written in: libyaml's events as JSON values. */
#ifndef IMPORT_GENERAL_YAML_H
#define IMPORT_GENERAL_YAML_H

#include <jansson.h>

#include "gufo/base.h"

typedef struct yaml_fault {
    const char *reason; /* constant; NULL: memory ran out */
    uint64_t line;      /* of the text, from 0 */
} yaml_fault;

/* Reads one document.  Plain scalars are texts, whatever they look like, but null and ~.  Of a name that occurs
 * twice in a mapping the last value counts, as usual.  Tags, anchors and aliases are refused, and so are names
 * that are not texts: no card needs them.  NULL: *fault says why.  Takes any text; at most 2^18 values, 64 deep. */
json_t *yaml_read(gufo_str text, yaml_fault *fault);

#endif
