/* Makes files of safetensors, good or broken, without the library.
 *
 *     static const uint16_t ones[] = {0x3F80, 0x3F80};
 *     const safetensor tensors[] = {{"a.weight", "BF16", 2, {1, 2}, ones}};
 *     safetensors_write(path, tensors, 1);
 */
#ifndef TEST_SUPPORT_SAFETENSORS_MAKER_H
#define TEST_SUPPORT_SAFETENSORS_MAKER_H

#include "builder.h"

typedef struct safetensor {
    const char *name;  /* as JSON spells it */
    const char *dtype; /* "BF16" */
    uint32_t n_dims;
    uint64_t shape[8]; /* slowest first */
    const void *bytes; /* little-endian; NULL: zeros */
} safetensor;

/* The bytes of the elements. */
size_t safetensor_size(const safetensor *tensor);

/* Appends a file with these tensors, their data in the same order. */
void safetensors_build(builder *b, const safetensor *tensors, size_t count);
void safetensors_write(const char *path, const safetensor *tensors, size_t count);

/* A file with any header, and `size` bytes of data: zeros. */
void safetensors_build_raw(builder *b, const char *header, size_t size);
void safetensors_write_raw(const char *path, const char *header, size_t size);

#endif
