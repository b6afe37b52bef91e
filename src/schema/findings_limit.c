/* Counting findings per rule. */
#include "schema/findings_limit.h"

#include <inttypes.h>

bool limit_allows(findings_limit *limit, schema_rule rule)
{
    return limit->found[rule]++ < FINDINGS_OF_A_RULE;
}

void limit_end(checker *c, const findings_limit *limit)
{
    for (size_t i = 0; i < SCHEMA_RULE_COUNT; i++)
        if (limit->found[i] > FINDINGS_OF_A_RULE)
            schema_report(c, (schema_rule)i, schema_place_missing(""),
                          "%" PRIu64 " more findings like the ones before are not listed",
                          limit->found[i] - FINDINGS_OF_A_RULE);
}
