/* Planning without data: what tensors would become that have a name and a shape alone
 * (checkpoint.made_up), for the way back from GGUF (import/export). */
#ifndef IMPORT_ARCHITECTURES_PLAN_WATCH_H
#define IMPORT_ARCHITECTURES_PLAN_WATCH_H

#include "import/architectures/plan/tensors.h"
#include "import/architectures/plan/views.h"

/* Gets every tensor that is planned, with the name that it has in GGUF.  Numbers that are generated come
 * from a source in memory. */
typedef struct tensor_watcher {
    void *context;
    gufo_status (*seen)(void *context, gufo_str name, const view *v, gufo_error *error);
} tensor_watcher;

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
