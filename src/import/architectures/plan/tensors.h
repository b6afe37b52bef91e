/* The tensors of a model in GGUF, made of those of a checkpoint by the operations of its
 * architecture (the table convert_ops). */
#ifndef IMPORT_ARCHITECTURES_PLAN_TENSORS_H
#define IMPORT_ARCHITECTURES_PLAN_TENSORS_H

#include "import/architectures/configuration/config.h"
#include "import/containers/checkpoint.h"
#include "import/import.h"
#include "produce/produce.h"

typedef struct planned_tensor {
    const char *name;              /* the plan's */
    const checkpoint_tensor *from; /* the first one that it is made of; NULL: it is generated */
    const uint64_t *dims;          /* GUFO_MAX_DIMS, of the plan; the contiguous one first */
    /* The type whose numbers it has: that of the checkpoint, or F32. */
    const gufo_element_type *type;
    const struct packed_weight *packed; /* the first one that it is made of; NULL: none is */
    /* Sources (whose input is the number of the file in the checkpoint), segments, operations and
     * shape.  What becomes of the rows (`made`) is for others to say. */
    piece *piece; /* NULL: the numbers are those of `from` in their order, as planned_piece says */
    uint8_t n_dims;
    bool keeps_type;  /* whatever type is asked for */
    bool comes_first; /* in the file: floats of 4 bits, with their factors */
    bool is_lent;     /* `piece` is that of a job, in place of the plan's own */
} planned_tensor;

/* The name of the first tensor that it is made of. */
static inline gufo_str planned_source(const planned_tensor *t)
{
    return t->from != NULL ? t->from->name : gufo_str_of("(generated)");
}

struct products;

typedef struct tensor_plan {
    const gufo_allocator *allocator;
    const checkpoint *checkpoint; /* that tensors are made of */
    planned_tensor *tensors;
    uint64_t count, room;
    const gufo_element_type *first_type; /* F16 or BF16: what TYPE "auto" is */
    bool is_assumed;                     /* it is F16 because no tensor says it */
    /* What the tensors refer to: names, and for their pieces numbers that are made and side tables. */
    void **blocks;
    uint64_t block_count, block_room;
    char *names; /* where the next one goes */
    size_t names_room;
    shape_table shapes;
    uint64_t segments; /* of all pieces */
} tensor_plan;

/* The piece of a tensor; what is not kept is made in *room. */
const piece *planned_piece(const tensor_plan *plan, const planned_tensor *t, plain_piece *room);

/* Plans all tensors.  `tokens`: length of the vocabulary; 0: none was read.  Warnings go to the
 * import. */
gufo_status tensors_plan(tensor_plan *plan, gufo_import *import, const checkpoint *checkpoint,
                         const model_config *config, uint64_t tokens, gufo_error *error);
/* Plans the tensors of an adapter: both factors of each product, and tensors of the checkpoint that are
 * none.  Nothing is generated, and stacks may lack whole matrices: of experts whose gate has no pair. */
gufo_status tensors_plan_adapter(tensor_plan *plan, gufo_import *import,
                                 const checkpoint *checkpoint, const struct products *products,
                                 const model_config *config, gufo_error *error);
/* All tensors under their own names (--generic); keys about what had to be changed go to the
 * document. */
gufo_status tensors_plan_generic(tensor_plan *plan, gufo_import *import,
                                 const checkpoint *checkpoint, const model_config *config,
                                 gufo_error *error);
void tensor_plan_free(tensor_plan *plan);

#endif
