/* The merges of a byte-level vocabulary, found again from its tokens. */
#ifndef LEGACY_MERGES_H
#define LEGACY_MERGES_H

#include "gufo/base.h"

/* The ids of the tokens whose texts are joined to a token. */
typedef struct legacy_merge {
    uint32_t left, right;
} legacy_merge;

#define MERGE_NONE UINT32_MAX

/* For each of `count` tokens (empty bytes: no token of merges) the two that make it, MERGE_NONE for
 * one that no merge makes.  *complete is false if the vocabulary is built to make that take long,
 * and was given up.  GUFO_E_MEMORY. */
gufo_status legacy_merges_find(const gufo_str *bytes, uint64_t count,
                               const gufo_allocator *allocator, legacy_merge *merges,
                               bool *complete, gufo_error *error);

#endif
