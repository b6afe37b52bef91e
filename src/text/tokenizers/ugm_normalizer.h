/* The normalizer of UGM: the text of a fragment becomes the text that tokens are looked for in. */
#ifndef TEXT_UGM_NORMALIZER_H
#define TEXT_UGM_NORMALIZER_H

#include "text/tokenizers/charsmap.h"
#include "base/buffer.h"
#include "text/characters/origins.h"
#include "text/vocabulary/trie.h"

typedef struct ugm_normalizer {
    charsmap map;
    trie *user_defined; /* tokens that are not normalized */
    char written[256];  /* what a byte becomes, unless more than ASCII follows; 00: that depends */
    bool whole_tokens;  /* only whole user-defined tokens, as SentencePiece does; else parts too */
    bool extra_spaces;  /* spaces are kept as they are */
    bool space_prefix;
} ugm_normalizer;

/* Where a fragment has got to; {0} at its begin. */
typedef struct ugm_state {
    bool in_word;
    bool prefixed; /* a word has begun */
} ugm_state;

/* Finds out which bytes stay as they are; map and user-defined tokens are there. */
void ugm_normalizer_prepare(ugm_normalizer *n);

/* Appends a stretch of a fragment, normalized, with ' ' for the U+2581 of a space.  False without
 * memory. */
bool ugm_normalize(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out);
/* The same with the origins of what is appended; the text begins at `begin` of the part.  Characters that
 * replace others come from these, one by one, further ones for the last; a space that is put before a
 * character has its origin. */
bool ugm_normalize_traced(const ugm_normalizer *n, gufo_str text, size_t begin, ugm_state *state,
                          gufo_text *out, origin_list *origins);

#endif
