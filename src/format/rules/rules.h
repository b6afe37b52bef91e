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

#endif
