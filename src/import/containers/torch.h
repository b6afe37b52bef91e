/* Files of PyTorch. */
#ifndef IMPORT_CONTAINERS_TORCH_H
#define IMPORT_CONTAINERS_TORCH_H

#include "import/containers/checkpoint.h"

/* Zip archives, since version 1.6.  Adds the tensors of a file of the checkpoint, in their order. */
gufo_status torch_zip_read(checkpoint *c, uint32_t file, gufo_error *error);
bool torch_zip_recognise(const uint8_t *bytes, size_t size);
/* Whether an archive, as far as its directory can be read, has what torch_zip_read needs. */
bool torch_zip_may_read(const source *s);

/* Pickles with data behind them, before. */
gufo_status torch_legacy_read(checkpoint *c, uint32_t file, gufo_error *error);
bool torch_legacy_recognise(const uint8_t *bytes, size_t size);

#endif
