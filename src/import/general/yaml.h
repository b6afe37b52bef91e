/* A subset of YAML, as model cards are written in. */
#ifndef IMPORT_GENERAL_YAML_H
#define IMPORT_GENERAL_YAML_H

#include <jansson.h>

#include "gufo/base.h"

typedef struct yaml_fault {
    const char *reason; /* constant */
    size_t at;          /* in the text */
} yaml_fault;

/* Reads mappings, lists (also [a, b] and {a: b}), plain and quoted scalars, | and > blocks, comments.
 * Plain scalars are texts, whatever they look like, but null and ~.  Of a name that occurs twice in a
 * mapping the last value counts, as usual.  The text is UTF-8 with LF at the end of its lines, without
 * tabs and NULs.  NULL: *fault says why; its reason is NULL without memory.  Takes any text, in linear
 * time; at most 2^18 values, 64 deep. */
json_t *yaml_read(gufo_str text, yaml_fault *fault);

#endif
