/* The tensors of a context: their infos, in file order.  Data stays with its owner. */
#include "compat/context.h"

#include <string.h>

static const tensor_info *tensor_at(const struct gguf_context *ctx, int64_t id)
{
    if (id < 0 || (uint64_t)id >= ctx->tensors.count)
        GGML_ABORT("tensor id %lld does not exist; there are %llu tensors", (long long)id,
                   (unsigned long long)ctx->tensors.count);
    return compat_tensor(ctx, (uint64_t)id);
}

/* ---- looking -------------------------------------------------------------------------------- */

int64_t gguf_get_n_tensors(const struct gguf_context *ctx)
{
    return (int64_t)ctx->tensors.count;
}

int64_t gguf_find_tensor(const struct gguf_context *ctx, const char *name)
{
    uint64_t found;

    return named_list_find(&ctx->tensors, gufo_str_of(name), &found) ? (int64_t)found : -1;
}

size_t gguf_get_tensor_offset(const struct gguf_context *ctx, int64_t tensor_id)
{
    return (size_t)tensor_at(ctx, tensor_id)->offset;
}

const char *gguf_get_tensor_name(const struct gguf_context *ctx, int64_t tensor_id)
{
    return tensor_at(ctx, tensor_id)->named.name.data;
}

const int64_t *gguf_get_tensor_ne(const struct gguf_context *ctx, int64_t tensor_id)
{
    return tensor_at(ctx, tensor_id)->tensor.ne;
}

enum ggml_type gguf_get_tensor_type(const struct gguf_context *ctx, int64_t tensor_id)
{
    return tensor_at(ctx, tensor_id)->tensor.type;
}

size_t gguf_get_tensor_size(const struct gguf_context *ctx, int64_t tensor_id)
{
    return (size_t)compat_tensor_size(tensor_at(ctx, tensor_id));
}

/* ---- changing ------------------------------------------------------------------------------- */

bool compat_tensors_add(struct gguf_context *ctx, gufo_str name, const tensor_info *info)
{
    uint64_t count = ctx->tensors.count;
    bool cut = name.len >= sizeof info->tensor.name;
    tensor_info *added;

    if (count >= GUFO_MAX_COUNT || named_list_add(&ctx->tensors, name, cut, info, NULL) != GUFO_OK)
        return false;
    added = compat_tensor(ctx, count);
    if (!cut)
        added->named.name.data = added->tensor.name;
    return true;
}

uint64_t compat_tensor_size(const tensor_info *info)
{
    return info->no_layout ? info->size : ggml_nbytes(&info->tensor);
}

uint64_t compat_offset_behind(const struct gguf_context *ctx, const tensor_info *info,
                              uint64_t offset)
{
    uint64_t size = compat_tensor_size(info);

    /* A file may have asked for an alignment that is not a power of two. */
    return offset + size + (ctx->alignment - size % ctx->alignment) % ctx->alignment;
}

/* What the reader needs to know about a tensor before it can be asked for its size. */
static void check_tensor(const struct ggml_tensor *tensor)
{
    if (memchr(tensor->name, '\0', sizeof tensor->name) == NULL)
        GGML_ABORT("the name of a tensor has no terminator");
    if ((unsigned)tensor->type >= GGML_TYPE_COUNT || ggml_blck_size(tensor->type) == 0)
        GGML_ABORT("tensor \"%s\" has type %d, which does not exist", tensor->name,
                   (int)tensor->type);
}

static void lay_out(struct gguf_context *ctx)
{
    uint64_t offset = 0;

    for (uint64_t i = 0; i < ctx->tensors.count; i++) {
        tensor_info *info = compat_tensor(ctx, i);

        info->offset = offset;
        offset = compat_offset_behind(ctx, info, offset);
    }
    ctx->scattered = false;
}

void compat_lay_out(struct gguf_context *ctx)
{
    int64_t id = gguf_find_key(ctx, GGUF_KEY_GENERAL_ALIGNMENT);
    uint32_t alignment = GGUF_DEFAULT_ALIGNMENT;

    if (id >= 0) /* of this type: other entries are neither read nor set */
        memcpy(&alignment, compat_entry_at(ctx, id)->values, sizeof alignment);
    ctx->alignment = alignment;
    lay_out(ctx);
}

void gguf_add_tensor(struct gguf_context *ctx, const struct ggml_tensor *tensor)
{
    uint64_t count = ctx->tensors.count;
    tensor_info info = {.named = {.gone = false}};

    GGML_ASSERT(tensor != NULL);
    check_tensor(tensor);
    if (gguf_find_tensor(ctx, tensor->name) >= 0)
        GGML_ABORT("tensor \"%s\" exists already", tensor->name);
    if (ctx->scattered)
        lay_out(ctx);
    info.tensor = *tensor;
    if (count > 0)
        info.offset = compat_offset_behind(ctx, compat_tensor(ctx, count - 1),
                                           compat_tensor(ctx, count - 1)->offset);
    if (!compat_tensors_add(ctx, gufo_str_of(tensor->name), &info))
        ctx->incomplete = true;
}

static tensor_info *named_tensor(struct gguf_context *ctx, const char *name)
{
    int64_t id = gguf_find_tensor(ctx, name);

    if (id < 0)
        GGML_ABORT("there is no tensor \"%s\"", name);
    return compat_tensor(ctx, (uint64_t)id);
}

void compat_set_strides(struct ggml_tensor *tensor)
{
    tensor->nb[0] = ggml_type_size(tensor->type);
    tensor->nb[1] = tensor->nb[0] * (size_t)(tensor->ne[0] / ggml_blck_size(tensor->type));
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        tensor->nb[i] = tensor->nb[i - 1] * (size_t)tensor->ne[i - 1];
}

void gguf_set_tensor_type(struct gguf_context *ctx, const char *name, enum ggml_type type)
{
    tensor_info *info = named_tensor(ctx, name);
    struct ggml_tensor *tensor = &info->tensor;
    int64_t block;

    if ((unsigned)type >= GGML_TYPE_COUNT)
        GGML_ABORT("type %d does not exist", (int)type);
    block = ggml_blck_size(type);
    if (block == 0 || tensor->ne[0] % block != 0)
        GGML_ABORT("rows of tensor \"%s\" have %lld elements, which do not fill blocks of %lld",
                   name, (long long)tensor->ne[0], (long long)block);
    tensor->type = type;
    info->no_layout = false;
    compat_set_strides(tensor);
    lay_out(ctx);
}

void gguf_set_tensor_data(struct gguf_context *ctx, const char *name, const void *data)
{
    /* The field's type comes from ggml; nothing is ever written there. */
    memcpy(&named_tensor(ctx, name)->tensor.data, &data, sizeof data);
}
