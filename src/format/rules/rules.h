/* The rules by number. */
#ifndef GUFO_FORMAT_RULES_H
#define GUFO_FORMAT_RULES_H

#include "gufo/format.h"

typedef enum rule_number {
#define RULE(constant, id, name, severity, spec, level, opening, clause, summary) RULE_##constant,
#include "format/rules/rules.def"
#undef RULE
    RULE_COUNT
} rule_number;

/* Fills *error with a broken rule, at no offset, and returns the rule's status. */
__attribute__((format(printf, 3, 4))) gufo_status rule_failure(gufo_error *error, rule_number rule,
                                                               const char *format, ...);

/* Of one rule so many findings are listed in a check, */
enum { FINDINGS_OF_A_RULE = 20, RULE_REST_SIZE = 96 };
/* and of others it is said how many there are.  False if `found` are not more. */
bool rule_rest(uint64_t found, char message[RULE_REST_SIZE]);

#endif
