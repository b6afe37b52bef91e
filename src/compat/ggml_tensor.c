/* Shape, name and data of tensors, as ggml's interface has them (standalone build). */
#include "compat/context.h"

#include <stdarg.h>
#include <string.h>

int64_t ggml_nelements(const struct ggml_tensor *tensor)
{
    return tensor->ne[0] * ggml_nrows(tensor);
}

int64_t ggml_nrows(const struct ggml_tensor *tensor)
{
    return tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
}

/* To the last byte of the last row, for any strides. */
size_t ggml_nbytes(const struct ggml_tensor *tensor)
{
    size_t block = (size_t)ggml_blck_size(tensor->type);
    size_t bytes;

    if (ggml_is_empty(tensor))
        return 0;
    bytes = block == 1 ? ggml_type_size(tensor->type) + (size_t)(tensor->ne[0] - 1) * tensor->nb[0]
                       : (size_t)tensor->ne[0] / block * tensor->nb[0];
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        bytes += (size_t)(tensor->ne[i] - 1) * tensor->nb[i];
    return bytes;
}

size_t ggml_nbytes_pad(const struct ggml_tensor *tensor)
{
    return GGML_PAD(ggml_nbytes(tensor), (size_t)GGML_MEM_ALIGN);
}

size_t ggml_element_size(const struct ggml_tensor *tensor)
{
    return ggml_type_size(tensor->type);
}

int ggml_n_dims(const struct ggml_tensor *tensor)
{
    int n = GGML_MAX_DIMS;

    while (n > 1 && tensor->ne[n - 1] <= 1)
        n--;
    return n;
}

/* Dimensions of 1 are never stepped along, so their stride does not matter. */
bool ggml_is_contiguous(const struct ggml_tensor *tensor)
{
    int64_t block = ggml_blck_size(tensor->type);
    size_t stride = ggml_type_size(tensor->type);

    if (tensor->ne[0] != block && tensor->nb[0] != stride)
        return false;
    stride *= (size_t)(tensor->ne[0] / block);
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        if (tensor->ne[i] != 1 && tensor->nb[i] != stride)
            return false;
        stride *= (size_t)tensor->ne[i];
    }
    return true;
}

bool ggml_is_empty(const struct ggml_tensor *tensor)
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (tensor->ne[i] <= 0)
            return true;
    return false;
}

static bool is_one_from(const struct ggml_tensor *tensor, int dimension)
{
    for (int i = dimension; i < GGML_MAX_DIMS; i++)
        if (tensor->ne[i] != 1)
            return false;
    return true;
}

bool ggml_is_scalar(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 0);
}

bool ggml_is_vector(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 1);
}

bool ggml_is_matrix(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 2);
}

bool ggml_are_same_shape(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    return memcmp(t0->ne, t1->ne, sizeof t0->ne) == 0;
}

/* ---- names and data ------------------------------------------------------------------------- */

const char *ggml_get_name(const struct ggml_tensor *tensor)
{
    return tensor->name;
}

struct ggml_tensor *ggml_set_name(struct ggml_tensor *tensor, const char *name)
{
    size_t len = strnlen(name, sizeof tensor->name - 1);

    memmove(tensor->name, name, len); /* it may be this one's own */
    tensor->name[len] = '\0';
    return tensor;
}

struct ggml_tensor *ggml_format_name(struct ggml_tensor *tensor, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(tensor->name, sizeof tensor->name, fmt, args);
    va_end(args);
    return tensor;
}

void *ggml_get_data(const struct ggml_tensor *tensor)
{
    return tensor->data;
}

float *ggml_get_data_f32(const struct ggml_tensor *tensor)
{
    GGML_ASSERT(tensor->type == GGML_TYPE_F32);
    return tensor->data;
}

const void *compat_tensor_bytes(const struct ggml_tensor *tensor, size_t offset, size_t size,
                                void *scratch)
{
    (void)size;
    (void)scratch;
    return (const char *)tensor->data + offset;
}
