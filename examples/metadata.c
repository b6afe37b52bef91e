/* Sets one key of a GGUF file through the documented C API: the program compiles unchanged with
 * this library and with ggml.
 *
 *     metadata IN.gguf OUT.gguf KEY TEXT */
#include <gguf.h>

int main(int argc, char **argv)
{
    struct ggml_context *tensors = NULL;
    struct gguf_init_params params = {.no_alloc = false, .ctx = &tensors};
    struct gguf_context *model;
    bool done;

    if (argc != 5)
        return fprintf(stderr, "usage: metadata IN.gguf OUT.gguf KEY TEXT\n"), 2;
    model = gguf_init_from_file(argv[1], params);
    if (model == NULL)
        return 1; /* the reason was told to stderr */
    for (int64_t i = 0; i < gguf_get_n_tensors(model); i++) {
        const char *name = gguf_get_tensor_name(model, i);

        gguf_set_tensor_data(model, name, ggml_get_tensor(tensors, name)->data);
    }
    gguf_set_val_str(model, argv[3], argv[4]);
    done = gguf_write_to_file(model, argv[2], false);
    gguf_free(model);
    ggml_free(tensors);
    return done ? 0 : 1;
}
