/* How the name of a tensor is read: which block it is in, and which row of the registry it has. */
#ifndef GUFO_SCHEMA_TENSOR_NAME_H
#define GUFO_SCHEMA_TENSOR_NAME_H

#include "schema/check/frame.h"

/* Blocks that are numbered together. */
typedef struct block_series {
    const char *prefix;    /* "blk." */
    const char *counts[3]; /* keys, without the architecture, of which the first one counts */
    bool may_be_absent;    /* files that hold but the vocabulary and the filters are in use */
} block_series;

#define BLOCK_SERIES 5
extern const block_series schema_block_series[BLOCK_SERIES];

typedef struct parsed_name {
    const block_series *series; /* NULL: in no block */
    uint64_t block;             /* UINT64_MAX for any number that does not fit */
    bool odd_number;            /* written with leading zeros */
    bool known;
    gufo_tensor_match match;      /* if known; its suffix points into the name */
    char text[GUFO_MAX_NAME + 1]; /* the name with its number as it should be */
} parsed_name;

void tensor_name_parse(gufo_str name, parsed_name *out);

/* ".weight", ".bias", the scales, or none. */
bool tensor_suffix_known(const parsed_name *name);
/* What is not ".bias" or a scale: the tensor that is required. */
bool tensor_is_weight(const parsed_name *name);

/* The row with this pattern; NULL if none exists. */
const gufo_tensor_info *tensor_info_named(gufo_str pattern);

/* The series of a pattern, "blk.{bid}.attn_q"; NULL if it has none of them. */
const block_series *pattern_series(const char *pattern);

#endif
