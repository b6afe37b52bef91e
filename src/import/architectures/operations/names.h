/* Names of tensors: of a checkpoint, and in a GGUF file (the table hf_tensor_names). */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_NAMES_H
#define IMPORT_ARCHITECTURES_OPERATIONS_NAMES_H

#include "gufo/format.h"

/* The GGUF name of a tensor of a checkpoint, with its suffix (.weight, .bias); false: no rule has the
 * name.  Constant time. */
bool names_map(const char *architecture, gufo_str source, char out[GUFO_MAX_NAME + 1]);

/* Row `index` of the table: a name of the frameworks, and the tensor that it may mean.  False past the
 * end. */
bool names_row_at(size_t index, const char **source, const char **tensor);

#endif
