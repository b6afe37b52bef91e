/* No rule floods: after so many findings of one rule the others are only counted. */
#ifndef GUFO_SCHEMA_FINDINGS_LIMIT_H
#define GUFO_SCHEMA_FINDINGS_LIMIT_H

#include "schema/check.h"

enum { FINDINGS_OF_A_RULE = 20 };

typedef struct findings_limit {
    uint64_t found[SCHEMA_RULE_COUNT];
} findings_limit;

/* Counts a finding; true if it should be reported. */
bool limit_allows(findings_limit *limit, schema_rule rule);

/* Tells for each rule how many more there are of it. */
void limit_end(checker *c, const findings_limit *limit);

#endif
