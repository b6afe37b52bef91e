/* The tensors of a model in GGUF, made of those of a checkpoint by the operations of its
 * architecture (the table convert_ops). */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_TENSORS_H
#define IMPORT_ARCHITECTURES_OPERATIONS_TENSORS_H

#include "import/architectures/plan/plan.h"

/* What is planned, and of what. */
typedef struct tensors_request {
    gufo_import *import;     /* gets warnings */
    gufo_document *document; /* where tokens are looked up, and numbers go that become a key */
    const checkpoint *checkpoint;
    const model_config *config;
    uint64_t tokens; /* length of the vocabulary; 0: none was read */
    /* Of an adapter: both factors of each product are planned, and tensors of the checkpoint that are none.
     * Nothing is generated, and stacks may lack whole matrices: of experts whose gate has no pair.  NULL: it
     * is a model. */
    const products *products;
    const tensor_watcher *watcher; /* gets the tensors, and pieces are not made; NULL: they are */
} tensors_request;

/* Plans all tensors; nothing is left of the plan after a failure. */
gufo_status tensors_plan(tensor_plan *plan, const tensors_request *request, gufo_error *error);
/* All tensors under their own names (--generic); keys about what had to be changed go to the
 * document. */
gufo_status tensors_plan_generic(tensor_plan *plan, gufo_import *import,
                                 const checkpoint *checkpoint, const model_config *config,
                                 gufo_error *error);
/* ---- without data --------------------------------------------------------------------------- */

/* What tensors would become that have a name and a shape alone (checkpoint.made_up), for the way back from
 * GGUF (import/export). */

/* What a tensor becomes by its name. */
typedef struct tensor_fate {
    uint32_t count; /* of results; 0: it is dropped, or no rule is about it */
    char names[4][GUFO_MAX_NAME + 1];
    uint64_t entries; /* of the stack that it is put on; 0: none */
} tensor_fate;

typedef struct tensor_tracer tensor_tracer;

/* `checkpoint` may grow meanwhile; conditions see what it has.  NULL on failure. */
tensor_tracer *tensor_tracer_new(const tensors_request *request, gufo_error *error);
void tensor_tracer_free(tensor_tracer *tracer);
gufo_status tensor_trace(tensor_tracer *tracer, gufo_str name, tensor_fate *out, gufo_error *error);

#endif
