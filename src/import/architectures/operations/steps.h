/* The steps of a rule, with what they are about filled in. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_STEPS_H
#define IMPORT_ARCHITECTURES_OPERATIONS_STEPS_H

#include "import/architectures/operations/tensor_rules.h"

/* Writes a text of the table with its placeholders replaced: {b} {e} {suffix} {tokens}, and numbers of
 * other expressions. */
gufo_status steps_expand(const planner *p, const item *it, gufo_str text, char *out, size_t size,
                         gufo_error *error);

/* Whether the condition of a rule holds for a tensor. */
gufo_status steps_hold(const planner *p, tensor_rule *rule, const item *it, bool *out,
                       gufo_error *error);

/* The number that an argument is. */
gufo_status steps_number(const planner *p, const item *it, gufo_str text, uint64_t *out,
                         gufo_error *error);

/* Takes steps from `first` on, up to one that stacks: its number, or that of all steps, in *next. */
gufo_status steps_take(planner *p, item *it, const tensor_rule *rule, uint32_t first,
                       uint32_t *next, gufo_error *error);

/* ".weight", ".bias", or nothing: the end of a name. */
gufo_str steps_suffix(const char *name);

#endif
