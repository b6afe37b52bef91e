/* Operations on shapes and parts of tensors. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_SHAPE_H
#define IMPORT_ARCHITECTURES_OPERATIONS_OPERATIONS_SHAPE_H

#include "import/architectures/operations/operation.h"

gufo_status shape_transpose(const operation_call *c, gufo_error *error);
gufo_status shape_swap(const operation_call *c, gufo_error *error);
gufo_status shape_reshape(const operation_call *c, gufo_error *error);
gufo_status shape_squeeze(const operation_call *c, gufo_error *error);
gufo_status shape_column(const operation_call *c, gufo_error *error);
gufo_status shape_flatten(const operation_call *c, gufo_error *error);
gufo_status shape_divide(const operation_call *c, gufo_error *error);
gufo_status shape_split(const operation_call *c, gufo_error *error);
gufo_status shape_alternate(const operation_call *c, gufo_error *error);
gufo_status shape_copy(const operation_call *c, gufo_error *error);
gufo_status shape_first_rows(const operation_call *c, gufo_error *error);
gufo_status shape_rows_from(const operation_call *c, gufo_error *error);
gufo_status shape_pad_rows(const operation_call *c, gufo_error *error);
gufo_status shape_repeat(const operation_call *c, gufo_error *error);

/* Replaces the only view of an item by parts of an axis: `count` of them, part i from entry
 * begins[i] * 1 on, `sizes[i]` entries, `step` apart. */
gufo_status shape_cut(item *it, uint32_t axis, uint32_t count, const uint64_t *begins,
                      const uint64_t *sizes, uint64_t step, gufo_error *error);

#endif
