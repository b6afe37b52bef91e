/* Operations that look at the numbers of tensors, or at the vocabulary. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_DATA_H
#define IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_DATA_H

#include "import/architectures/operations/operation.h"

gufo_status data_zero(const operation_call *c, gufo_error *error);
gufo_status data_diagonal(const operation_call *c, gufo_error *error);
gufo_status data_drop_if_equal(const operation_call *c, gufo_error *error);
gufo_status data_token_rows(const operation_call *c, gufo_error *error);
gufo_status data_key(const operation_call *c, gufo_error *error);

#endif
