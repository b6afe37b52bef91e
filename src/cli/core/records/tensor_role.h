/* What a tensor's name says: its layer, and its role in every layer. */
#ifndef CLI_CORE_RECORDS_TENSOR_ROLE_H
#define CLI_CORE_RECORDS_TENSOR_ROLE_H

#include "gufo/base.h"

#define TENSOR_NO_LAYER UINT64_MAX

/* "ffn_down" and 3 of "blk.3.ffn_down.weight"; "output" and TENSOR_NO_LAYER of "output.weight".  A part of
 * the name.  `layer` may be NULL. */
gufo_str tensor_role(gufo_str name, uint64_t *layer);

#endif
