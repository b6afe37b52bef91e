/* How the name of a tensor is read: which block it is in, and which row of the registry it has. */
#ifndef GUFO_SCHEMA_TENSOR_NAME_H
#define GUFO_SCHEMA_TENSOR_NAME_H

#include "schema/check/frame.h"

/* Blocks that are numbered together. */
typedef struct block_series {
    const char *prefix;    /* "blk." */
    const char *counts[3]; /* keys, without the architecture, of which the first one counts */
} block_series;

#define BLOCK_SERIES 3
extern const block_series schema_block_series[BLOCK_SERIES];

typedef struct tensor_name {
    const block_series *series; /* NULL: in no block */
    uint64_t block;             /* UINT64_MAX for any number that does not fit */
    bool odd_number;            /* written with leading zeros */
    bool known;
    gufo_tensor_match match;      /* if known; its suffix points into the name */
    char text[GUFO_MAX_NAME + 1]; /* the name with its number as it should be */
} tensor_name;

void tensor_name_read(gufo_str name, tensor_name *out);

/* ".weight", ".bias", the scales, or none. */
bool tensor_suffix_known(const tensor_name *name);
/* What is not ".bias" or a scale: the tensor that is required. */
bool tensor_is_weight(const tensor_name *name);

/* The row with this template; NULL if there is none. */
const gufo_tensor_info *tensor_info_named(gufo_str template);

/* The series of a template, "blk.{bid}.attn_q"; NULL if it has none of them. */
const block_series *template_series(const char *template);

#endif
