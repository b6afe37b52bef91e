/* Filling a plan of tensors. */
#ifndef IMPORT_ARCHITECTURES_PLAN_PLAN_H
#define IMPORT_ARCHITECTURES_PLAN_PLAN_H

#include "format/file/records.h"
#include "import/architectures/plan/plan_blocks.h"
#include "import/architectures/plan/products.h"
#include "import/architectures/plan/views.h"
#include "import/architectures/plan/watch.h"

/* A plan while it grows. */
typedef struct growing_plan {
    tensor_plan *plan;
    const checkpoint *checkpoint;
    name_index by_name;            /* of the planned tensors; its owner is the plan */
    const products *products;      /* of an adapter; NULL: none */
    const tensor_watcher *watcher; /* takes the views in place of pieces; NULL: none */
} growing_plan;

gufo_status growing_plan_open(growing_plan *g, tensor_plan *plan, const checkpoint *c,
                              const gufo_allocator *allocator, gufo_error *error);
void growing_plan_close(growing_plan *g);

/* The type that a tensor is to have. */
typedef enum plan_type {
    PLAN_TYPE_BY_NAME, /* F32 with one dimension, and for what is not called a weight */
    PLAN_TYPE_GENERIC, /* F32 with one dimension: names mean little */
    PLAN_TYPE_F32,
    PLAN_TYPE_ANY, /* as asked for, with two dimensions or more */
} plan_type;

/* Adds a tensor with the numbers of a view; of products, both factors: NAME.lora_a [rank, columns] and
 * NAME.lora_b [rows, rank].  `from`: the tensor of the checkpoint that errors are about; NULL: none. */
gufo_status plan_add(growing_plan *g, gufo_str name, const view *v, const checkpoint_tensor *from,
                     plan_type type, gufo_error *error);

/* Ends a plan: puts tensors that come first at its beginning, and says what "auto" is where no tensor
 * did. */
gufo_status plan_finish(growing_plan *g, gufo_error *error);

/* The first tensor with two dimensions of 16-bit numbers says what the type "auto" is. */
void plan_note_first(tensor_plan *plan, const checkpoint_tensor *t);

/* The planned tensor with this name; NULL: none. */
const planned_tensor *plan_find(const growing_plan *g, gufo_str name);

#endif
