/* What the checks of tensors share: names and types (tensors.c), shapes (shapes.c) and blocks
 * (blocks.c). */
#ifndef GUFO_SCHEMA_TENSORS_H
#define GUFO_SCHEMA_TENSORS_H

#include "schema/check/check.h"

/* How the name of a tensor is read: which block it is in, and which row of the registry it has. */

/* Blocks that are numbered together. */
typedef struct block_series {
    const char *prefix;    /* "blk." */
    const char *counts[3]; /* keys, without the architecture; the first that the model has counts */
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

/* That a block has a tensor; those outside of blocks are in block 0 of no series. */
typedef struct seen_tensor {
    uint64_t block;
    uint32_t series; /* index + 1, or 0 */
    uint32_t info;   /* index in the registry; UINT32_MAX for one that proves only the block */
} seen_tensor;

enum { MOST_TOLD = 16 };

typedef struct tensor_context {
    check_context *c;
    uint32_t *row_of; /* by index in the registry: index + 1 in c->tensors, 0 for none */
    seen_tensor *seen;
    uint64_t seen_count;
    uint64_t vocabulary;
    bool vocabulary_known;
    const gufo_arch_key *told[MOST_TOLD]; /* keys that are missing, and reported */
    size_t told_count;
} tensor_context;

/* A tensor of the file. */
typedef struct named_tensor {
    gufo_tensor tensor;
    parsed_name name;
} named_tensor;

/* Its place among the rows of the registry. */
static inline size_t info_index(const gufo_tensor_info *info)
{
    return (size_t)(info - gufo_tensor_info_at(0));
}

/* The architecture's row for a tensor; NULL if it is not one of its tensors. */
static inline const gufo_arch_tensor *arch_row(const tensor_context *t,
                                               const gufo_tensor_info *info)
{
    uint32_t row = t->row_of[info_index(info)];

    return row != 0 ? &t->c->tensors[row - 1] : NULL;
}

void schema_tensor_shape(tensor_context *t, const named_tensor *v);

/* All blocks, once every tensor is in `seen`. */
void schema_check_blocks(tensor_context *t);

/* Whether blocks are what keys say. */
void schema_check_block_kinds(tensor_context *t);

#endif
