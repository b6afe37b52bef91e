/* The pool that tensors come from, as ggml's interface has it (standalone build).
 *
 *     pool   | link | tensor | data | link | tensor | data | ...
 *
 * A tensor takes as many bytes as in ggml, because programs compute the size of their pool from
 * ggml_tensor_overhead and the size of the data. */
#include "compat/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

typedef struct pool_link {
    struct pool_link *next;
    size_t end; /* of this tensor with its data, from the start of the pool */
} pool_link;

enum { LINK_SIZE = 32 };

_Static_assert(sizeof(pool_link) <= LINK_SIZE && LINK_SIZE % GGML_MEM_ALIGN == 0,
               "room for a link");

struct ggml_context {
    char *pool;
    size_t size;
    bool owned, no_alloc;
    pool_link *first, *last;
};

struct ggml_context *ggml_init(struct ggml_init_params params)
{
    size_t wanted = params.mem_size > 0 ? params.mem_size : GGML_MEM_ALIGN;
    struct ggml_context *ctx = malloc(sizeof *ctx);

    if (ctx == NULL || wanted > SIZE_MAX - GGML_MEM_ALIGN) {
        free(ctx);
        return NULL;
    }
    *ctx = (struct ggml_context){.pool = params.mem_buffer,
                                 .size = wanted,
                                 .owned = params.mem_buffer == NULL,
                                 .no_alloc = params.no_alloc};
    if (!ctx->owned)
        return ctx;
    ctx->size = GGML_PAD(wanted, (size_t)GGML_MEM_ALIGN);
    ctx->pool = malloc(ctx->size);
    if (ctx->pool == NULL) {
        free(ctx);
        return NULL;
    }
    return ctx;
}

void ggml_reset(struct ggml_context *ctx)
{
    if (ctx != NULL)
        ctx->first = ctx->last = NULL;
}

void ggml_free(struct ggml_context *ctx)
{
    if (ctx != NULL && ctx->owned)
        free(ctx->pool);
    free(ctx);
}

/* ---- facts ---------------------------------------------------------------------------------- */

size_t ggml_used_mem(const struct ggml_context *ctx)
{
    return ctx->last != NULL ? ctx->last->end : 0;
}

bool ggml_get_no_alloc(struct ggml_context *ctx)
{
    return ctx->no_alloc;
}

void ggml_set_no_alloc(struct ggml_context *ctx, bool no_alloc)
{
    ctx->no_alloc = no_alloc;
}

void *ggml_get_mem_buffer(const struct ggml_context *ctx)
{
    return ctx->pool;
}

size_t ggml_get_mem_size(const struct ggml_context *ctx)
{
    return ctx->size;
}

size_t ggml_get_max_tensor_size(const struct ggml_context *ctx)
{
    struct ggml_tensor *tensor = ggml_get_first_tensor(ctx);
    size_t largest = 0;

    for (; tensor != NULL; tensor = ggml_get_next_tensor(ctx, tensor))
        if (ggml_nbytes(tensor) > largest)
            largest = ggml_nbytes(tensor);
    return largest;
}

size_t ggml_tensor_overhead(void)
{
    return LINK_SIZE + GGML_TENSOR_SIZE;
}

/* ---- new tensors ---------------------------------------------------------------------------- */

/* Bytes of a tensor's data; aborts for a shape that does not exist. */
static uint64_t data_size(enum ggml_type type, int n_dims, const int64_t *ne)
{
    int64_t block = ggml_blck_size(type);
    uint64_t size;
    bool fits;

    GGML_ASSERT(n_dims >= 1 && n_dims <= GGML_MAX_DIMS);
    GGML_ASSERT(block > 0 && ne[0] >= 0 && ne[0] % block == 0);
    size = (uint64_t)(ne[0] / block);
    fits = checked_mul(size, ggml_type_size(type), &size);
    for (int i = 1; i < n_dims; i++)
        fits = fits && ne[i] >= 0 && checked_mul(size, (uint64_t)ne[i], &size);
    if (!fits)
        GGML_ABORT("the size of a tensor does not fit into 64 bits");
    return size;
}

/* Room for a tensor and `data` bytes behind it. */
static struct ggml_tensor *take(struct ggml_context *ctx, uint64_t data)
{
    size_t used = ggml_used_mem(ctx);
    uint64_t padded, needed;
    pool_link *taken;

    if (!checked_align(data, GGML_MEM_ALIGN, &padded) ||
        !checked_add(padded, ggml_tensor_overhead(), &needed) || needed > ctx->size - used)
        GGML_ABORT("the pool of %zu bytes is full: %zu are used, and the next tensor needs %llu "
                   "bytes and its data %llu",
                   ctx->size, used, (unsigned long long)ggml_tensor_overhead(),
                   (unsigned long long)data);
    taken = (pool_link *)(void *)(ctx->pool + used);
    *taken = (pool_link){.end = used + (size_t)needed};
    if (ctx->last != NULL)
        ctx->last->next = taken;
    else
        ctx->first = taken;
    ctx->last = taken;
    return (struct ggml_tensor *)(void *)((char *)taken + LINK_SIZE);
}

struct ggml_tensor *ggml_new_tensor(struct ggml_context *ctx, enum ggml_type type, int n_dims,
                                    const int64_t *ne)
{
    uint64_t size = data_size(type, n_dims, ne);
    bool with_data = size > 0 && !ctx->no_alloc;
    struct ggml_tensor *tensor = take(ctx, with_data ? size : 0);

    *tensor = (struct ggml_tensor){.type = type, .data = with_data ? tensor + 1 : NULL};
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        tensor->ne[i] = i < n_dims ? ne[i] : 1;
    compat_set_strides(tensor);
    return tensor;
}

struct ggml_tensor *ggml_new_tensor_1d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0)
{
    return ggml_new_tensor(ctx, type, 1, &ne0);
}

struct ggml_tensor *ggml_new_tensor_2d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                                       int64_t ne1)
{
    return ggml_new_tensor(ctx, type, 2, (int64_t[]){ne0, ne1});
}

struct ggml_tensor *ggml_new_tensor_3d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                                       int64_t ne1, int64_t ne2)
{
    return ggml_new_tensor(ctx, type, 3, (int64_t[]){ne0, ne1, ne2});
}

struct ggml_tensor *ggml_new_tensor_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                                       int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_new_tensor(ctx, type, 4, (int64_t[]){ne0, ne1, ne2, ne3});
}

struct ggml_tensor *ggml_dup_tensor(struct ggml_context *ctx, const struct ggml_tensor *src)
{
    return ggml_new_tensor(ctx, src->type, GGML_MAX_DIMS, src->ne);
}

/* ---- going through them --------------------------------------------------------------------- */

static struct ggml_tensor *tensor_of(pool_link *at)
{
    return at != NULL ? (struct ggml_tensor *)(void *)((char *)at + LINK_SIZE) : NULL;
}

struct ggml_tensor *ggml_get_first_tensor(const struct ggml_context *ctx)
{
    return tensor_of(ctx->first);
}

struct ggml_tensor *ggml_get_next_tensor(const struct ggml_context *ctx, struct ggml_tensor *tensor)
{
    (void)ctx;
    return tensor_of(((pool_link *)(void *)((char *)tensor - LINK_SIZE))->next);
}

struct ggml_tensor *ggml_get_tensor(struct ggml_context *ctx, const char *name)
{
    struct ggml_tensor *tensor = ggml_get_first_tensor(ctx);

    while (tensor != NULL && strcmp(tensor->name, name) != 0)
        tensor = ggml_get_next_tensor(ctx, tensor);
    return tensor;
}
