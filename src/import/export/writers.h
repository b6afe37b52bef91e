/* Files of tensors: what is written around the numbers. */
#ifndef IMPORT_EXPORT_WRITERS_H
#define IMPORT_EXPORT_WRITERS_H

#include "import/export/export.h"
#include "import/export/tensors.h"
#include "produce/produce.h"

enum { EXPORT_NAME_SIZE = 64 };

/* Files of safetensors that have at most `shard_size` bytes of tensors, and at least one tensor: sets
 * `file` and `offset` of all tensors, and adds a target for each file, with a piece for each tensor.  With
 * several files model.safetensors.index.json is a target, too.  The headers belong to the caller:
 * `blocks`, of the plan's allocator. */
typedef struct written_files {
    void **blocks; /* headers, names */
    uint64_t block_count, block_room;
} written_files;

void written_free(written_files *w, const gufo_allocator *a);
/* Adds a target with these bytes in front of `data` bytes of pieces; `name` is copied. */
gufo_status written_target(written_files *w, gufo_job *job, const char *name, const void *header,
                           size_t header_size, uint64_t data, uint64_t tensors, uint32_t *number,
                           gufo_error *error);

gufo_status safetensors_write_all(written_files *w, gufo_job *job, export_plan *plan,
                                  uint64_t shard_size, gufo_error *error);
/* One file, model.npz. */
gufo_status npz_write_all(written_files *w, gufo_job *job, export_plan *plan, gufo_error *error);

#endif
