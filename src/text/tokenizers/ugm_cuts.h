/* Where a text can be cut without a change of its ids: before a space, and between other bytes that
 * follow each other in no token and in no key of the normalizer. */
#ifndef TEXT_UGM_CUTS_H
#define TEXT_UGM_CUTS_H

#include "text/tokenizers/best_path.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/ugm_normalizer.h"

enum {
    TYPE_NORMAL = 1,
    TYPE_USER_DEFINED = 4,
    TYPE_UNUSED = 5,
};

/* Whether tokens of a type are found in texts. */
bool ugm_is_matched(unsigned type);

typedef struct ugm_cuts {
    bool any;
    byte_pairs places; /* between these bytes, a text as it is given can be cut */
} ugm_cuts;

void ugm_cuts_find(ugm_cuts *cuts, const gufo_vocab *vocab, const path_rules *rules,
                   const ugm_normalizer *normalizer);

/* Whether a text, which begins before `at`, can be cut there. */
static inline bool ugm_is_cut(const ugm_cuts *cuts, const char *at)
{
    return byte_pairs_has(&cuts->places, at[-1], at[0]);
}

#endif
