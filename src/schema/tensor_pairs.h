/* Tensors that come in pairs, distinguished by the ends of their names. */
#ifndef GUFO_SCHEMA_TENSOR_PAIRS_H
#define GUFO_SCHEMA_TENSOR_PAIRS_H

#include "schema/findings_limit.h"

typedef struct pair_rules {
    const char *suffixes[2];
    schema_rule pair; /* that the other one is missing */
} pair_rules;

bool name_ends(gufo_str name, const char *suffix);

/* Whether the name has one of the suffixes: which, and what it is the pair of. */
bool pair_side(const pair_rules *rules, gufo_str name, size_t *side, gufo_str *base);

/* The other one of the pair; reports it as missing, unless it may be in another shard. */
bool pair_other(checker *c, findings_limit *limit, const pair_rules *rules,
                const gufo_tensor *tensor, size_t shard, gufo_tensor *other);

#endif
