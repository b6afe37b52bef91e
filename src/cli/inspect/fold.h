/* Tensors whose names differ in a number alone, as one line:
 *
 *     blk.0.attn_q.weight  Q4_K  4096 x 4096
 *     blk.1.attn_q.weight  Q4_K  4096 x 4096      blk.0-1,3.attn_q.weight  Q4_K  4096 x 4096
 *     blk.3.attn_q.weight  Q4_K  4096 x 4096  */
#ifndef CLI_INSPECT_FOLD_H
#define CLI_INSPECT_FOLD_H

#include "cli/core/records/record.h"

#include "gufo/format.h"

/* A tensor. */
typedef struct fold_item {
    uint64_t group; /* a hash of all but the number in its name */
    uint32_t number, index;
} fold_item;

/* Tensors of one type and shape. */
typedef struct fold_group {
    uint32_t begin, count; /* items */
    uint32_t first;        /* the least index */
    uint64_t size;         /* bytes of all; UINT64_MAX if that overflows */
} fold_group;

typedef struct fold {
    const gufo_model *model;
    fold_item *items;   /* group after group, by number */
    fold_group *groups; /* in the order of their first tensors */
    size_t item_count, group_count;
    char *name; /* of the latest row */
} fold;

/* Folds all tensors that match (NULL: all); the caller frees the result with fold_free.  False
 * after a report. */
bool fold_tensors(fold *f, const gufo_model *model, const char *glob);
void fold_free(fold *f);

typedef struct fold_row {
    gufo_tensor
        tensor; /* any of the group, with the size of all; the name, "blk.0-2,5.attn_q.weight", may
                         * hold any bytes, and lives until the next row */
    uint32_t count;
    char counted[40]; /* "32 tensors"; empty: one */
} fold_row;

/* For people, and for Markdown. */
extern const record_type fold_text, fold_markdown;

/* A record_maker; context is a fold **.  False past the last, and without memory. */
record_maker fold_make;

#endif
