/* The part against libgguf's headers, compiled as C and as C++. */
#include "both.h"

#include "gguf.h"

#include <stdio.h>
#include <string.h>

/* A context with a name and a tensor. */
static struct gguf_context *made(struct ggml_context *pool)
{
    struct gguf_context *ctx = gguf_init_empty();
    struct ggml_tensor *tensor = ggml_new_tensor_1d(pool, GGML_TYPE_F32, 3);

    memcpy(tensor->data, "twelve bytes", 12);
    gguf_set_val_str(ctx, "general.name", "ours");
    gguf_add_tensor(ctx, ggml_set_name(tensor, "t"));
    return ctx;
}

static bool is_right(const struct gguf_context *ctx, struct ggml_context *pool)
{
    return gguf_get_version(ctx) == 3 && gguf_get_n_tensors(ctx) == 1 &&
           strcmp(gguf_get_val_str(ctx, gguf_find_key(ctx, "general.name")), "ours") == 0 &&
           memcmp(ggml_get_tensor(pool, "t")->data, "twelve bytes", 12) == 0;
}

#ifdef __cplusplus
int ours_in_cpp(const char *path)
#else
int ours(const char *path)
#endif
{
    struct ggml_init_params pool_params = {4096, NULL, false};
    struct ggml_context *pool = ggml_init(pool_params), *again_pool = NULL;
    struct gguf_init_params params = {false, &again_pool};
    struct gguf_context *ctx = made(pool), *again;
    bool right = gguf_write_to_file(ctx, path, false);

    again = right ? gguf_init_from_file(path, params) : NULL;
    right = again != NULL && is_right(again, again_pool);
    gguf_free(ctx);
    gguf_free(again);
    ggml_free(pool);
    ggml_free(again_pool);
    printf("libgguf is %s\n", right ? "right" : "wrong");
    return right ? 0 : 1;
}
