/* What decoding, encoding and repacking check alike. */
#ifndef CODEC_CODING_H
#define CODEC_CODING_H

#include "gufo/codec.h"

/* The bytes of rows * columns elements.  GUFO_E_ARGUMENT if columns do not fill blocks, or rows do
 * not fill the groups of an interleaved type; GUFO_E_RANGE if the size overflows. */
gufo_status coded_size(const gufo_element_type *type, uint64_t rows, uint64_t columns,
                       uint64_t *bytes, gufo_error *error);

#endif
