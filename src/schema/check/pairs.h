/* Tensors that come in pairs, distinguished by the ends of their names: adapters and importance
 * matrices have them. */
#ifndef GUFO_SCHEMA_PAIRS_H
#define GUFO_SCHEMA_PAIRS_H

#include "schema/check/frame.h"

typedef struct pair_rules {
    const char *suffixes[2];
    rule_number pair; /* broken if one tensor of a pair is missing */
    /* Looks at each tensor; `paired`: its name has one of the suffixes. */
    void (*look_at)(check_context *c, const gufo_tensor *tensor, bool paired);
    /* Compares the two of a pair; `base` is their name without the suffix. */
    void (*compare)(check_context *c, const gufo_tensor *first, const gufo_tensor *second,
                    gufo_str base);
} pair_rules;

/* Whether a name ends so, and begins with something else. */
bool name_ends(gufo_str name, const char *suffix);

/* Looks at all tensors.  The other one of a pair may be in another shard than the file. */
void schema_check_pairs(check_context *c, const pair_rules *rules);

#endif
