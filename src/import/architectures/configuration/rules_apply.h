/* Walking the rows of a group: inclusions, conditions, and rows that refuse. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_RULES_APPLY_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_RULES_APPLY_H

#include "import/architectures/configuration/expression.h"
#include "import/architectures/configuration/rules.h"

/* What is done with a row whose condition holds; it takes no rows "@GROUP" and "@refuse". */
typedef gufo_status rule_action(void *context, const rule *row, gufo_error *error);

/* Does the rows of one phase of a group, in order. */
gufo_status rules_apply(const expression_scope *scope, const char *group, const char *phase,
                        rule_action *action, void *context, gufo_error *error);

#endif
