/* Counting findings per rule. */
#include "schema/findings_limit.h"

#include <inttypes.h>

bool gufo_limit_allows(findings_limit *limit, schema_rule rule)
{
    return limit->found[rule]++ < FINDINGS_OF_A_RULE;
}

void gufo_limit_end(checker *c, const findings_limit *limit)
{
    for (size_t i = 0; i < SCHEMA_RULE_COUNT; i++)
        if (limit->found[i] > FINDINGS_OF_A_RULE)
            gufo_check_report(c, (schema_rule)i, gufo_place_missing(""),
                              "%" PRIu64 " more findings like the ones before are not listed",
                              limit->found[i] - FINDINGS_OF_A_RULE);
}
