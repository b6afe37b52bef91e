/* A program of somebody else that was written for ggml's <gguf.h>, and uses gufo's addition. */
#include <gguf.h>
#include <gufo_gguf.h>
#include <stdlib.h>

int main(void)
{
    struct gguf_init_params params = {true, NULL};
    struct gguf_context *ctx = gguf_init_empty(), *again;
    size_t size;
    void *data;

    gguf_set_val_str(ctx, "general.name", "foreign");
    size = gguf_get_meta_size(ctx);
    data = malloc(size);
    gguf_get_meta_data(ctx, data);
    again = gufo_gguf_open_buffer(data, size, params);
    if (again == NULL)
        return 1;
    printf("gguf read %s\n", gguf_get_val_str(again, 0));
    gguf_free(again);
    gguf_free(ctx);
    free(data);
    return 0;
}
