/* A stand-in for libggml-base without its gguf.cpp: ggml_*.c of the standalone build have the rest,
 * with the symbols of ggml. */
#include "compat/context.h"

#include <stdarg.h>
#include <string.h>

#include "ggml-backend.h"
#include "ggml-impl.h"

void ggml_log_internal(enum ggml_log_level level, const char *format, ...)
{
    ggml_log_callback told;
    char line[2048];
    void *told_data;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ggml_log_get(&told, &told_data);
    told(level, line, told_data);
}

void ggml_backend_tensor_get(const struct ggml_tensor *tensor, void *data, size_t offset,
                             size_t size)
{
    memcpy(data, (const char *)tensor->data + offset, size);
}

/* ggml_context.c wants it from the room's tensors.c, which has gguf_ functions too. */
void compat_set_strides(struct ggml_tensor *tensor)
{
    tensor->nb[0] = ggml_type_size(tensor->type);
    tensor->nb[1] = tensor->nb[0] * (size_t)(tensor->ne[0] / ggml_blck_size(tensor->type));
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        tensor->nb[i] = tensor->nb[i - 1] * (size_t)tensor->ne[i - 1];
}
