/* What a tensor is, in words. */
#ifndef CLI_CORE_RECORDS_TENSOR_TEXT_H
#define CLI_CORE_RECORDS_TENSOR_TEXT_H

#include "gufo/format.h"

typedef struct tensor_text {
    char text[96];
} tensor_text;

/* "Q4_K", or "type 57" for an unknown one. */
tensor_text tensor_type_text(uint32_t id);
/* "4096 x 32000" with the separator " x "; "scalar" without dimensions. */
tensor_text tensor_shape_text(const gufo_tensor *tensor, const char *separator);
/* Bits for each weight; 0 without weights. */
double tensor_bits(uint64_t bytes, uint64_t weights);

#endif
