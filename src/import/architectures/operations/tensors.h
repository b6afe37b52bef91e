/* The tensors of a model in GGUF, made of those of a checkpoint by the operations of its
 * architecture (the table convert_ops). */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_TENSORS_H
#define IMPORT_ARCHITECTURES_OPERATIONS_TENSORS_H

#include "import/architectures/plan/plan.h"

/* Plans all tensors.  `tokens`: length of the vocabulary; 0: none was read.  Warnings go to the
 * import. */
gufo_status tensors_plan(tensor_plan *plan, gufo_import *import, const checkpoint *checkpoint,
                         const model_config *config, uint64_t tokens, gufo_error *error);
/* Plans the tensors of an adapter: both factors of each product, and tensors of the checkpoint that are
 * none.  Nothing is generated, and stacks may lack whole matrices: of experts whose gate has no pair. */
gufo_status tensors_plan_adapter(tensor_plan *plan, gufo_import *import,
                                 const checkpoint *checkpoint, const products *products,
                                 const model_config *config, gufo_error *error);
/* All tensors under their own names (--generic); keys about what had to be changed go to the
 * document. */
gufo_status tensors_plan_generic(tensor_plan *plan, gufo_import *import,
                                 const checkpoint *checkpoint, const model_config *config,
                                 gufo_error *error);
/* ---- without data --------------------------------------------------------------------------- */

/* What tensors would become that have a name and a shape alone (checkpoint.made_up), for the way back from
 * GGUF (import/export). */

/* Plans all tensors and gives them to the watcher; pieces are not made.  `plan` owns what views refer
 * to, and is freed by the caller, also after a failure. */
gufo_status tensors_watch(tensor_plan *plan, gufo_import *import, const checkpoint *checkpoint,
                          const model_config *config, uint64_t tokens,
                          const tensor_watcher *watcher, gufo_error *error);

/* What a tensor becomes by its name. */
typedef struct tensor_fate {
    uint32_t count; /* of results; 0: it is dropped, or no rule is about it */
    char names[4][GUFO_MAX_NAME + 1];
    uint64_t entries; /* of the stack that it is put on; 0: none */
} tensor_fate;

typedef struct tensor_tracer tensor_tracer;

/* `checkpoint` may grow meanwhile; conditions see what it has.  NULL on failure. */
tensor_tracer *tensor_tracer_new(gufo_import *import, const checkpoint *checkpoint,
                                 const model_config *config, uint64_t tokens, gufo_error *error);
void tensor_tracer_free(tensor_tracer *tracer);
gufo_status tensor_trace(tensor_tracer *tracer, gufo_str name, tensor_fate *out, gufo_error *error);

#endif
