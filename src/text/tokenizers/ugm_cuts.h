/* Where a text can be cut without a change of its ids: before a space that follows another byte. */
#ifndef TEXT_UGM_CUTS_H
#define TEXT_UGM_CUTS_H

#include "text/tokenizers/best_path.h"
#include "text/tokenizers/ugm_normalizer.h"

enum {
    TYPE_NORMAL = 1,
    TYPE_USER_DEFINED = 4,
    TYPE_UNUSED = 5,
    UGM_EXACT = 1 << 20, /* characters up to which sums of scores are exact, where texts are cut */
};

/* Whether tokens of a type are found in texts. */
bool ugm_is_matched(unsigned type);

typedef struct ugm_cuts {
    bool any;
    bool parts; /* only the begin of a character may be copied: a cut behind one is not certain */
} ugm_cuts;

ugm_cuts ugm_cuts_find(const gufo_vocab *vocab, const path_rules *rules,
                       const ugm_normalizer *normalizer);

/* Whether a text, which begins before `at`, can be cut there. */
static inline bool ugm_is_cut(ugm_cuts cuts, const char *at)
{
    return cuts.any && at[0] == ' ' && at[-1] != ' ' && (!cuts.parts || (uint8_t)at[-1] < 0x80);
}

#endif
