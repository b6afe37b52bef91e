/* Writes a file with metadata and two tensors, whose data the program has in memory.
 *
 *     write_tensors OUT.gguf */
#include <gufo.h>
#include <stdio.h>

enum { ROWS = 4, COLUMNS = 8 };

int main(int argc, char **argv)
{
    static float weights[ROWS][COLUMNS], norm[COLUMNS];
    const uint64_t dims[] = {COLUMNS, ROWS}; /* the row comes first */
    const void *const data[] = {weights, norm};
    const gufo_element_type *f32 = gufo_element_type_by_id(GUFO_TYPE_F32);
    gufo_error error;
    gufo_document *document = gufo_document_new(NULL, &error);
    gufo_status status = document != NULL ? GUFO_OK : error.code;

    for (int i = 0; i < COLUMNS; i++)
        weights[i % ROWS][i] = norm[i] = 1;
    if (status == GUFO_OK)
        status = gufo_document_set_text(document, "general.architecture", "example", &error);
    if (status == GUFO_OK)
        status = gufo_document_add_tensor(document, "w.weight", f32, 2, dims, &error);
    if (status == GUFO_OK)
        status = gufo_document_add_tensor(document, "norm.weight", f32, 1, dims, &error);
    if (status == GUFO_OK)
        status =
            gufo_write(document, argc > 1 ? argv[1] : "", GUFO_JOB_REPLACE, data, NULL, &error);
    if (status != GUFO_OK)
        fprintf(stderr, "%s\n", error.message);
    gufo_document_free(document);
    return status != GUFO_OK;
}
