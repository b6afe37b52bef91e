/* What the drop-in needs of ggml's private header. */
#ifndef STANDIN_GGML_IMPL_H
#define STANDIN_GGML_IMPL_H

#include "ggml.h"
#include "gguf.h"

#ifdef __cplusplus
extern "C" {
#endif

GGML_ATTRIBUTE_FORMAT(2, 3)
GGML_API void ggml_log_internal(enum ggml_log_level level, const char *format, ...);

#ifdef __cplusplus
}

#include <vector>

GGML_API size_t gguf_type_size(enum gguf_type type);
GGML_API void gguf_write_to_buf(const struct gguf_context *ctx, std::vector<int8_t> &buf,
                                bool only_meta);
#endif

#endif
