/* The library between, llama.h.  Compiled against the stand-in's headers or those of a real
 * ggml. */
#include "home.h"

#include "llama.h"

#include "gguf.h"

static const char *last_log = "nobody's";

static void keep_log(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)user_data;
    last_log = strncmp(text, "gguf: ", 6) == 0 ? "gufo's" : "another's";
}

static int write_model(const char *path)
{
    struct gguf_context *ctx = gguf_init_empty();

    gguf_set_val_str(ctx, "general.name", "tiny");
    if (!gguf_write_to_file(ctx, path, true))
        return 1;
    gguf_free(ctx);
    return 0;
}

int llama_describe(const char *path)
{
    struct gguf_init_params params = {true, NULL};
    struct gguf_context *ctx;

    if (write_model(path) != 0)
        return 1;
    ctx = gguf_init_from_file(path, params);
    if (ctx == NULL)
        return 1;
    printf("reading in %s, writing in %s\n", home_of((void *)gguf_init_from_file),
           home_of((void *)gguf_write_to_file));
    printf("version %u, name %s\n", (unsigned)gguf_get_version(ctx),
           gguf_get_val_str(ctx, gguf_find_key(ctx, "general.name")));
    gguf_free(ctx);
    ggml_log_set(keep_log, NULL);
    ctx = gguf_init_from_file("/nonexistent", params);
    printf("the message about a missing file is %s\n", last_log);
    gguf_free(ctx);
    return 0;
}
