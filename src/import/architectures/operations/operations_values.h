/* Arithmetic on the numbers of tensors. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_VALUES_H
#define IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_VALUES_H

#include "import/architectures/operations/operation.h"

gufo_status values_add(const operation_call *c, gufo_error *error);
gufo_status values_neg_exp(const operation_call *c, gufo_error *error);
gufo_status values_halve(const operation_call *c, gufo_error *error);
gufo_status values_multiply(const operation_call *c, gufo_error *error);
gufo_status values_multiply_rows(const operation_call *c, gufo_error *error);
gufo_status values_ternary(const operation_call *c, gufo_error *error);

#endif
