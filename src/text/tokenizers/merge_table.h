/* The merges of a vocabulary: which pairs of symbols become one, and in which order.
 *
 * A symbol is a text that merging works with.  One that is a token has its id as number; the others,
 * single characters and results of merges without a token, have numbers from the vocabulary's size
 * on. */
#ifndef TEXT_MERGE_TABLE_H
#define TEXT_MERGE_TABLE_H

#include "base/buffer.h"
#include "gufo/vocab.h"
#include "text/tokenizers/merging.h"

/* A symbol that is not a token. */
typedef struct extra_symbol {
    uint32_t end;       /* of its text, in `bytes` */
    uint32_t wanted_by; /* a merge, while nothing makes it; NO_RANK */
} extra_symbol;

typedef struct merge_table {
    merge_pairs pairs;

    /* Symbols that are not tokens. */
    buffer bytes;
    extra_symbol *extras;
    uint64_t extra_count, extra_room;
    uint32_t *slots; /* extra + 1; 0: empty */
    uint32_t slot_mask;
} merge_table;

/* Reads the merges of a model; *found: it has such a list. */
gufo_status merge_table_open(merge_table *t, const gufo_vocab *v, const gufo_model *model,
                             bool *found, gufo_error *error);
void merge_table_close(merge_table *t, const gufo_vocab *v);

/* The symbol with this text; NO_SYMBOL. */
uint32_t merge_table_find(const merge_table *t, const gufo_vocab *v, gufo_str text);
/* The same; a new text becomes a symbol.  NO_SYMBOL without memory. */
uint32_t merge_table_add(merge_table *t, const gufo_vocab *v, gufo_str text);
gufo_str merge_table_text(const merge_table *t, const gufo_vocab *v, uint32_t symbol);

#endif
