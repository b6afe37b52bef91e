/* The rows of packed weights, for the engine and for the operations on tensors. */
#ifndef IMPORT_PACKED_UNPACKED_H
#define IMPORT_PACKED_UNPACKED_H

#include "import/packed/packed.h"
#include "produce/produce.h"

/* Says about which weight a failure is, and where it is. */
gufo_status unpacked_fail(const packed_weight *w, gufo_status status, gufo_error *error);

/* Rows [first, first + count) of all slices as F32, little-endian; as blocks of w->type.  Any
 * thread. */
gufo_status unpacked_rows(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                          gufo_error *error);
gufo_status unpacked_blocks(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                            gufo_error *error);
/* Numbers [first, first + count) of all rows. */
gufo_status unpacked_numbers(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                             gufo_error *error);

/* What reading keeps for all threads together, in bytes; NULL: nothing. */
uint64_t unpacked_memory(const packed_weight *w);

/* rows.read: the weight is the context, and the first row begins at byte `offset` of its numbers. */
gufo_status unpacked_read(const struct rows *r, uint64_t first, uint64_t count, void *out,
                          gufo_error *error);

#endif
