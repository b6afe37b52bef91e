/* Operations on names of tensors, and on whole tensors. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_NAMES_H
#define IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_NAMES_H

#include "import/architectures/operations/operation.h"

gufo_status names_keep(const operation_call *c, gufo_error *error);
gufo_status names_drop(const operation_call *c, gufo_error *error);
gufo_status names_skip(const operation_call *c, gufo_error *error);
gufo_status names_rename(const operation_call *c, gufo_error *error);
gufo_status names_strip(const operation_call *c, gufo_error *error);
gufo_status names_begin(const operation_call *c, gufo_error *error);
gufo_status names_end(const operation_call *c, gufo_error *error);
gufo_status names_renumber(const operation_call *c, gufo_error *error);
gufo_status names_first(const operation_call *c, gufo_error *error);
gufo_status names_refuse(const operation_call *c, gufo_error *error);

/* The number of the block in a name: its first part that has digits alone; UINT64_MAX: none. */
uint64_t names_block(const char *name);

#endif
