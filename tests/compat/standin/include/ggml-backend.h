/* What the drop-in needs of ggml-backend.h. */
#ifndef STANDIN_GGML_BACKEND_H
#define STANDIN_GGML_BACKEND_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

GGML_API void ggml_backend_tensor_get(const struct ggml_tensor *tensor, void *data, size_t offset,
                                      size_t size);

#ifdef __cplusplus
}
#endif

#endif
