/* The tensors of a context for the caller: a ggml_context with them and, if wanted, their data. */
#include "compat/context.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"

/* The pool: sizes are checked against the file before anything of that size is allocated.  ggml
 * aborts where it cannot allocate, so that is tried first. */
static struct ggml_context *new_pool(const compat_reader *r, bool no_alloc)
{
    uint64_t tensors = r->ctx->tensors.count + (no_alloc ? 0 : 1), size;
    uint64_t behind = r->facts.size - (r->ctx->data_offset - r->start);
    struct ggml_context *pool = NULL;
    void *trial;

    if (!no_alloc && r->data_size > behind) {
        (void)fail_with(r->error, GUFO_E_TRUNCATED, r->facts.size,
                        "tensor data with its padding takes %s bytes, but only %s"
                        " are left in the file",
                        GROUPED(r->data_size), GROUPED(behind));
        return NULL;
    }
    if (checked_mul(tensors, ggml_tensor_overhead(), &size) &&
        checked_add(size, no_alloc ? 0 : r->data_size, &size) && size < SIZE_MAX - GGML_MEM_ALIGN &&
        (trial = malloc((size_t)size + GGML_MEM_ALIGN))) {
        free(trial);
        pool = ggml_init((struct ggml_init_params){.mem_size = (size_t)size, .no_alloc = no_alloc});
    }
    if (pool == NULL)
        (void)fail_memory(r->error);
    return pool;
}

/* Numbers of a tensor in this machine's byte order; one without a layout is but bytes. */
static bool swap_tensor(const compat_reader *r, const tensor_info *info, char *data)
{
    const gufo_element_type *type = gufo_element_type_by_id((uint32_t)info->tensor.type);

    if (info->no_layout)
        return true;
    if (type == NULL || type->block_bytes == 0)
        return refuse(r->error, GUFO_E_TYPE,
                      "tensor %s has an element type whose numbers cannot be swapped",
                      QUOTED(info->named.name)) == GUFO_OK;
    return gufo_swap_blocks(type, data + info->offset, compat_tensor_size(info) / type->block_bytes,
                            r->error) == GUFO_OK;
}

static bool swap_all(const compat_reader *r, char *data)
{
    if (!compat_swapped(r))
        return true;
    for (uint64_t i = 0; i < r->ctx->tensors.count; i++)
        if (!swap_tensor(r, compat_tensor(r->ctx, i), data))
            return false;
    return true;
}

/* The first tensor of a pool with data is all of it. */
static bool load_data(const compat_reader *r, struct ggml_context *pool, char **data)
{
    struct ggml_tensor *all = ggml_new_tensor_1d(pool, GGML_TYPE_I8, (int64_t)r->data_size);

    ggml_set_name(all, "GGUF tensor data binary blob");
    *data = all->data;
    return gufo_model_read_raw(r->file, r->ctx->data_offset - r->start, all->data,
                               (size_t)r->data_size, r->error) == GUFO_OK &&
           swap_all(r, all->data);
}

static void add_tensors(const compat_reader *r, struct ggml_context *pool, char *data)
{
    bool no_alloc = ggml_get_no_alloc(pool);

    ggml_set_no_alloc(pool, true);
    for (uint64_t i = 0; i < r->ctx->tensors.count; i++) {
        const tensor_info *info = compat_tensor(r->ctx, i);
        struct ggml_tensor *tensor =
            info->no_layout
                ? ggml_new_tensor_1d(pool, GGML_TYPE_I8, (int64_t)info->size)
                : ggml_new_tensor(pool, info->tensor.type, GGML_MAX_DIMS, info->tensor.ne);

        ggml_set_name(tensor, info->tensor.name);
        if (data != NULL)
            tensor->data = data + info->offset;
    }
    ggml_set_no_alloc(pool, no_alloc);
}

bool compat_load(const compat_reader *r, struct gguf_init_params params)
{
    struct ggml_context *pool = new_pool(r, params.no_alloc);
    char *data = NULL;

    if (pool == NULL)
        return false;
    if (!params.no_alloc && !load_data(r, pool, &data)) {
        ggml_free(pool);
        return false;
    }
    add_tensors(r, pool, data);
    *params.ctx = pool;
    return true;
}
