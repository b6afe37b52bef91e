/* Memory that a plan of tensors owns: numbers that were made, contexts of rows. */
#ifndef IMPORT_ARCHITECTURES_PLAN_PLAN_BLOCKS_H
#define IMPORT_ARCHITECTURES_PLAN_PLAN_BLOCKS_H

#include "import/architectures/plan/tensors.h"
#include "import/architectures/plan/views.h"

/* Keeps a block of memory, which the plan frees; without memory it is freed at once. */
gufo_status plan_keep(tensor_plan *plan, void *block, gufo_error *error);

/* Keeps numbers that are made, as a source of F32; the plan frees it. */
gufo_status plan_numbers(tensor_plan *plan, const float *values, uint64_t count, const source **out,
                         gufo_error *error);
/* The same, as a view of one axis, which is freed with view_free. */
gufo_status plan_view(tensor_plan *plan, const float *values, uint64_t count, view *out,
                      gufo_error *error);

/* A terminated copy of the name of a tensor; NULL without memory. */
const char *plan_name(tensor_plan *plan, gufo_str name, gufo_error *error);

#endif
