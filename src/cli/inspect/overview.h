/* A model in a few facts: `gufo show` begins with them, and `gufo ls` shows some of each model. */
#ifndef CLI_INSPECT_OVERVIEW_H
#define CLI_INSPECT_OVERVIEW_H

#include "gufo/format.h"

#define OVERVIEW_TYPES 64 /* element types that are counted; the last one: all that are unknown */

typedef struct overview {
    const gufo_model *model;
    gufo_facts facts;
    uint64_t parameters;  /* elements; UINT64_MAX if that overflows */
    uint64_t tensor_size; /* bytes of tensor data without padding */
    uint64_t tensors;
    uint64_t complete; /* tensors with all their bytes */
    bool sizes_known;  /* false if a tensor's type has no known layout */
    struct {
        uint64_t tensors, elements;
    } types[OVERVIEW_TYPES]; /* by id */
} overview;

overview overview_of(const gufo_model *model);

/* The name of the file type; NULL if the file has no known one. */
const char *overview_file_type(const overview *o);
/* The file type, or else the element type of most elements; NULL without tensors. */
const char *overview_quantization(const overview *o);
/* "Q4_K" for an index of `types`. */
const char *overview_type_name(size_t index);
/* The index of the type with most tensors after `*place` in the order of their number and name;
 * false after the last.  *place begins as OVERVIEW_TYPES. */
bool overview_next_type(const overview *o, size_t *place);

/* A token with a special meaning. */
typedef struct overview_token {
    gufo_str role; /* "bos": a part of its key */
    uint64_t id;
    bool has_text;
    gufo_str text;
} overview_token;

#define OVERVIEW_TOKENS 32

/* Those of the file, in the order of the registry; their number. */
size_t overview_tokens(const gufo_model *model, overview_token out[OVERVIEW_TOKENS]);

/* The name of the next chat template but the default one, in the order of the file; false past the
 * last.  *position begins as 0. */
bool overview_next_template(const gufo_model *model, uint64_t *position, gufo_str *name);

#define OVERVIEW_PARENTS 64 /* base models: gufo ignores more */

/* Base model `index`: each part is empty if the file does not say it. */
typedef struct overview_parent {
    gufo_str name, organization, url;
} overview_parent;

/* False past the last. */
bool overview_parent_at(const gufo_model *model, uint64_t index, overview_parent *out);

#endif
