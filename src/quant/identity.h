/* Whether two runs do the same work: the input as it was, and what was asked for. */
#ifndef GUFO_QUANT_IDENTITY_H
#define GUFO_QUANT_IDENTITY_H

#include "quant/journal.h"
#include "quant/quantizer.h"

/* Input: sizes, times of the last change, headers of all shards.  Options: the headers of the
 * output (which tell metadata, tensors and types), what else decides about bytes, and all numbers
 * of the importance matrix.  Not memory, threads and kernels, which change nothing.  q->failed_path
 * tells the shard that could not be read. */
gufo_status identity_input(gufo_quantizer *q, uint64_t *out, gufo_error *error);
gufo_status identity_options(const gufo_quantizer *q, uint64_t *out, gufo_error *error);

#endif
