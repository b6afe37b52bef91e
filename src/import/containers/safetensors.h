/* A file of safetensors. */
#ifndef IMPORT_CONTAINERS_SAFETENSORS_H
#define IMPORT_CONTAINERS_SAFETENSORS_H

#include "import/containers/checkpoint.h"

/* Adds the tensors of file number `file` of the checkpoint, which is open, sorted by their names. */
gufo_status safetensors_read(checkpoint *c, uint32_t file, gufo_error *error);

/* The container of a file that begins with these bytes, if it may be safetensors. */
bool safetensors_recognise(const uint8_t *bytes, size_t size);

#endif
