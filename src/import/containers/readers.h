/* The readers of containers, which checkpoint.c has in a table. */
#ifndef IMPORT_CONTAINERS_READERS_H
#define IMPORT_CONTAINERS_READERS_H

#include "import/containers/checkpoint.h"

/* Files of PyTorch that are zip archives, since version 1.6.  Adds the tensors of a file of the checkpoint, in their order. */
gufo_status torch_zip_read(checkpoint *c, uint32_t file, gufo_error *error);
bool torch_zip_recognise(const uint8_t *bytes, size_t size);
/* Whether an archive, as far as its directory can be read, has what torch_zip_read needs. */
bool torch_zip_may_read(const source *s);

/* Before, pickles with data behind them. */
gufo_status torch_legacy_read(checkpoint *c, uint32_t file, gufo_error *error);
bool torch_legacy_recognise(const uint8_t *bytes, size_t size);

/* Adds the tensors of file number `file` of the checkpoint, which is open, sorted by their names. */
gufo_status safetensors_read(checkpoint *c, uint32_t file, gufo_error *error);

/* The container of a file that begins with these bytes, if it may be safetensors. */
bool safetensors_recognise(const uint8_t *bytes, size_t size);

#endif
