/* The rules about keys and tensor names, as tables: the walk, the validator and documents all look
 * names up here. */
#ifndef GUFO_FORMAT_NAMES_H
#define GUFO_FORMAT_NAMES_H

#include "format/rules/rules.h"

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
