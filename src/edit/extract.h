/* Formats into which a tensor can be extracted. */
#ifndef GUFO_EDIT_EXTRACT_H
#define GUFO_EDIT_EXTRACT_H

#include <inttypes.h>

#include "base/buffer.h"
#include "edit/planner.h"

/* A type of numbers as other formats call it; NULL where they do not have it. */
typedef struct number_type {
    uint32_t id;
    const char *numpy, *safetensors;
} number_type;

/* NULL for types that are not plain numbers. */
const number_type *extract_number_type(uint32_t id);

/* How the bytes of a tensor come about. */
typedef enum part_method {
    PART_MOVED,   /* as they are */
    PART_SWAPPED, /* in the other byte order */
    PART_DECODED, /* as numbers of type `target` */
} part_method;

/* A tensor that is taken out. */
typedef struct part {
    gufo_tensor source;
    uint64_t index;                /* of the tensor in its model */
    const gufo_element_type *type; /* NULL: the type is unknown; it is only moved */
    part_method method;
    uint32_t target;      /* its type in the output */
    uint64_t place, size; /* there */
} part;

typedef struct extraction {
    gufo_job *job;
    const gufo_extract_options *options;
    part *parts; /* in the order of the output */
    uint64_t count;
    buffer header;
} extraction;

/* Append the bytes before the data.  The second one puts the parts into their order first. */
gufo_status extract_numpy_header(extraction *x, gufo_error *error);
gufo_status extract_safetensors_header(extraction *x, gufo_error *error);

#endif
