/* What the readers of containers share: adding tensors to a checkpoint. */
#ifndef IMPORT_CONTAINERS_TENSORS_H
#define IMPORT_CONTAINERS_TENSORS_H

#include "import/containers/checkpoint.h"

enum { CHECKPOINT_MAX_TENSORS = 1 << 26 };

/* Memory for names, which lives as long as the checkpoint; NULL without any. */
char *checkpoint_text(checkpoint *c, uint64_t size);

/* Adds a tensor that tensor_shape has been called for, behind those that are there. */
gufo_status checkpoint_add(checkpoint *c, const checkpoint_tensor *tensor, gufo_error *error);

/* Makes all tensors known by their names, which differ. */
gufo_status checkpoint_index_names(checkpoint *c, gufo_error *error);

/* Completes a tensor whose number, n_dims and shape are set: elements and size, and strides as
 * rows follow each other.  `at` is where the shape is in the file, for errors. */
gufo_status tensor_shape(checkpoint_tensor *tensor, uint64_t at, gufo_error *error);

#endif
