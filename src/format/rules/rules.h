/* The rules by number, and those about names as tables. */
#ifndef GUFO_FORMAT_RULES_H
#define GUFO_FORMAT_RULES_H

#include "gufo/findings.h"

typedef enum rule_number {
#define RULE(constant, id, name, severity, spec, level, opening, clause, summary) RULE_##constant,
#include "format/rules/rules.def"
#undef RULE
    RULE_COUNT
} rule_number;

/* Fills *error with a broken rule, at no offset, and returns the rule's status. */
__attribute__((format(printf, 3, 4))) gufo_status rule_failure(gufo_error *error, rule_number rule,
                                                               const char *format, ...);

/* The rules about keys and tensor names, as tables: the walk, the validator and documents all look
 * names up here. */

typedef struct name_rule {
    rule_number rule;
    /* Whether the name breaks the rule; then `message`, of the size of gufo_error's, says how. */
    bool (*broken)(gufo_str name, char *message, size_t size);
} name_rule;

/* Each ends with a row without function. */
extern const name_rule key_rules[];       /* what opening asks of a key */
extern const name_rule key_extra_rules[]; /* what new files have to keep too */
extern const name_rule name_rules[];      /* the same for tensor names */
extern const name_rule name_extra_rules[];

/* The first rule of a table that the name breaks, as a failure; GUFO_OK if it keeps all. */
gufo_status names_check(gufo_str name, const name_rule *rules, gufo_error *error);

#endif
