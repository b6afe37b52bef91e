/* What the fuzz targets of checkpoints share. */
#ifndef FUZZ_CHECKPOINTS_H
#define FUZZ_CHECKPOINTS_H

#include <stddef.h>
#include <stdint.h>

/* Opens a file with these bytes as a checkpoint, and looks at everything that it has. */
void look_at_checkpoint(const uint8_t *data, size_t size);

#endif
