/* What the readers of containers share: adding tensors to a checkpoint. */
#ifndef IMPORT_CONTAINERS_TENSORS_H
#define IMPORT_CONTAINERS_TENSORS_H

#include "import/containers/checkpoint.h"

enum { CHECKPOINT_MAX_TENSORS = 1 << 26 };

/* Memory for names and strides, zeroed, which lives as long as the checkpoint; NULL without any. */
void *checkpoint_memory(checkpoint *c, uint64_t size);

/* Adds a tensor that tensor_shape has been called for, behind those that are there.  Its shape is kept. */
gufo_status checkpoint_add(checkpoint *c, const checkpoint_tensor *tensor, gufo_error *error);

/* Frees the tensors with their names; the files are for others to close. */
void checkpoint_free_tensors(checkpoint *c);

/* Makes all tensors known by their names, which differ. */
gufo_status checkpoint_index_names(checkpoint *c, gufo_error *error);

/* Completes a tensor whose number and n_dims are set, and whose elements follow each other.  `shape` gets
 * 1 beyond n_dims and is the tensor's until checkpoint_keep_shape; `at` is where it is in the file, for
 * errors. */
gufo_status tensor_shape(checkpoint_tensor *tensor, uint64_t shape[CHECKPOINT_MAX_DIMS],
                         uint64_t at, gufo_error *error);
/* Keeps the shape of a tensor, which none has yet or which is somewhere else, as long as the checkpoint. */
gufo_status checkpoint_keep_shape(checkpoint *c, checkpoint_tensor *tensor, gufo_error *error);
/* Gives a tensor strides of its own: a copy, which lives as long as the checkpoint. */
gufo_status checkpoint_set_strides(checkpoint *c, checkpoint_tensor *tensor,
                                   const uint64_t *strides, gufo_error *error);

/* Fails about a tensor of the checkpoint: its file and the offset of its data. */
__attribute__((format(printf, 5, 6))) gufo_status checkpoint_refuse(const checkpoint *c,
                                                                    const checkpoint_tensor *t,
                                                                    gufo_status code,
                                                                    gufo_error *error,
                                                                    const char *format, ...);
/* Says about which tensor a failure is: puts its name in front of the sentence. */
gufo_status checkpoint_fail(const checkpoint *c, const checkpoint_tensor *t, gufo_status status,
                            gufo_error *error);

#endif
