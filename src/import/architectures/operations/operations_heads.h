/* Operations that put the rows of heads in another order. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_HEADS_H
#define IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_HEADS_H

#include "import/architectures/operations/operation.h"

gufo_status heads_permute(const operation_call *c, gufo_error *error);
gufo_status heads_unpermute(const operation_call *c, gufo_error *error);
gufo_status heads_regroup3(const operation_call *c, gufo_error *error);
gufo_status heads_regroup_kv(const operation_call *c, gufo_error *error);
gufo_status heads_split_kv(const operation_call *c, gufo_error *error);
gufo_status heads_qkvz(const operation_call *c, gufo_error *error);
gufo_status heads_tile(const operation_call *c, gufo_error *error);
gufo_status heads_tile_columns(const operation_call *c, gufo_error *error);

#endif
