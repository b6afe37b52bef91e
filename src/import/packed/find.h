/* Which tensors of a checkpoint are parts of packed weights. */
#ifndef IMPORT_PACKED_FIND_H
#define IMPORT_PACKED_FIND_H

#include "import/packed/methods.h"

/* The packed weights of a checkpoint. */
typedef struct packed_set {
    const gufo_allocator *allocator;
    packed_how how;
    packed_weight *weights;
    uint64_t count;
    struct packed_cache *cache; /* of all weights */
    checkpoint_tensor *files;   /* the tensors as the files have them: what parts point to */
} packed_set;

/* Puts a tensor in place of the parts of each packed weight of a checkpoint: NAME.weight, of F32,
 * with the weight as its `packed`.  What only the running of a quantized model needs (scales of
 * activations) is taken out of the checkpoint.  Other tensors, and checkpoints that are not quantized,
 * stay as they are.  Linear time.
 *   GUFO_E_TYPE       a method that is not read
 *   GUFO_E_MALFORMED  parts that are missing, or do not fit each other
 * and what reading files gives.  Freed with packed_free, also after a failure, before the checkpoint is
 * closed, whose tensors it owns parts of. */
gufo_status packed_find(packed_set *set, checkpoint *c, const model_config *config,
                        gufo_error *error);
void packed_free(packed_set *set);

#endif
