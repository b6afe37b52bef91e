/* The life of a context: made empty, and freed. */
#include "compat/context.h"

#include <stdlib.h>

struct gguf_context *gguf_init_empty(void)
{
    struct gguf_context *ctx = calloc(1, sizeof *ctx);

    if (ctx == NULL)
        return NULL;
    ctx->version = GGUF_VERSION;
    ctx->alignment = GGUF_DEFAULT_ALIGNMENT;
    named_list_init(&ctx->entries, sizeof(entry), "key", &default_allocator);
    named_list_init(&ctx->tensors, sizeof(tensor_info), "tensor", &default_allocator);
    ctx->entries.drop = compat_entry_drop;
    return ctx;
}

void gguf_free(struct gguf_context *ctx)
{
    if (ctx == NULL)
        return;
    named_list_free(&ctx->entries);
    named_list_free(&ctx->tensors);
    free(ctx);
}
