/* Prints type, size and name of every tensor of a GGUF file: the shortest useful program. */
#include <gufo.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    gufo_error error;
    gufo_tensor tensor;
    gufo_model *file = gufo_model_open(argc > 1 ? argv[1] : "", NULL, &error);

    if (file == NULL)
        return fprintf(stderr, "%s\n", error.message), 1;
    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        printf("%-8s %12" PRIu64 "  %.*s\n", type != NULL ? type->name : "?", tensor.size,
               (int)tensor.name.len, tensor.name.data);
    }
    gufo_model_free(file);
    return 0;
}
