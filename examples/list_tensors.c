/* Prints name, type and dims of every tensor of a GGUF file: the shortest useful program. */
#include <gufo.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    gufo_error error;
    gufo_tensor tensor;
    gufo_file *file = argc == 2 ? gufo_open(argv[1], NULL, &error) : NULL;

    if (!file)
        return fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: list_tensors FILE"), 1;
    for (uint64_t i = 0; gufo_tensor_at(file, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        printf("%.*s %s", (int)tensor.name.len, tensor.name.data, type ? type->name : "?");
        for (uint32_t d = 0; d < tensor.n_dims; d++)
            printf(" %" PRIu64, tensor.dims[d]);
        putchar('\n');
    }
    gufo_close(file);
    return 0;
}
