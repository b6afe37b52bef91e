/* The part against the headers of libggml-base, a stand-in or a real one. */
#include "home.h"

#include "both.h"

#include "gguf.h"

int theirs(const char *path)
{
    struct ggml_init_params pool_params = {4096, NULL, false};
    struct gguf_init_params params = {true, NULL};
    struct ggml_context *pool = ggml_init(pool_params);
    struct ggml_tensor *tensor = ggml_new_tensor_1d(pool, GGML_TYPE_F32, 3);
    struct gguf_context *ctx = gguf_init_empty(), *again;
    const char *name;
    int right;

    gguf_set_val_str(ctx, "general.name", "theirs");
    right = gguf_write_to_file(ctx, path, true);
    again = gguf_init_from_file(path, params);
    name = gguf_get_val_str(again, gguf_find_key(again, "general.name"));
    right = right && ggml_nbytes(tensor) == 12 &&
            (gguf_get_version(again) == 1000 ? strcmp(name, "stand-in") == 0
                                             : strcmp(name, "theirs") == 0);
    printf("%s is %s\n", home_of((void *)gguf_init_from_file), right ? "right" : "wrong");
    gguf_free(ctx);
    gguf_free(again);
    ggml_free(pool);
    return right ? 0 : 1;
}
