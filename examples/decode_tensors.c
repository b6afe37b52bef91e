/* Lists the tensors of a model, of any types, with the mean of their numbers.
 *
 *     decode_tensors FILE.gguf */
#include <gufo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The mean of a tensor, a row at a time. */
static gufo_status find_mean(const gufo_model *model, const gufo_tensor *tensor, double *mean,
                             gufo_error *error)
{
    uint64_t columns = tensor->dims[0], rows = tensor->elements / columns;
    float *row = malloc((size_t)columns * sizeof *row);
    gufo_status status = row != NULL ? GUFO_OK : GUFO_E_MEMORY;

    *mean = 0;
    for (uint64_t r = 0; r < rows && status == GUFO_OK; r++) {
        status = gufo_tensor_decode(model, tensor, r, 1, row, NULL, error);
        for (uint64_t i = 0; i < columns && status == GUFO_OK; i++)
            *mean += (double)row[i] / (double)tensor->elements;
    }
    free(row);
    return status;
}

int main(int argc, char **argv)
{
    gufo_error error = {.message = "out of memory"};
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;
    gufo_model *model = gufo_model_open(argc > 1 ? argv[1] : "", NULL, &error);

    if (model == NULL)
        return fprintf(stderr, "%s\n", error.message), 1;
    for (uint64_t i = 0; status == GUFO_OK && gufo_model_tensor_at(model, i, &tensor); i++) {
        double mean;

        status = tensor.elements > 0 ? find_mean(model, &tensor, &mean, &error) : GUFO_OK;
        if (status == GUFO_OK && tensor.elements > 0)
            printf("%-20.*s %s of %" PRIu64 ": mean %.4g\n", (int)tensor.name.len, tensor.name.data,
                   gufo_element_type_by_id(tensor.type)->name, tensor.elements, mean);
    }
    if (status != GUFO_OK)
        fprintf(stderr, "%s\n", error.message);
    gufo_model_free(model);
    return status != GUFO_OK;
}
