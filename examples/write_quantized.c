/* Writes a model and quantizes its weights: the program provides floats, and the file gets blocks,
 * a few rows at a time.
 *
 *     write_quantized OUT.gguf [TYPE] */
#include <gufo.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 512, COLUMNS = 1024, STEP = 16 };

static void make_rows(uint64_t first, float *values)
{
    for (uint64_t i = 0; i < (uint64_t)STEP * COLUMNS; i++)
        values[i] = sinf((float)(first * COLUMNS + i) * 0.37f) * 0.02f;
}

static gufo_document *describe(const gufo_element_type *type, gufo_error *error)
{
    const uint64_t dims[] = {COLUMNS, ROWS};
    gufo_document *document = gufo_document_new(NULL, error);
    gufo_status status;

    if (document == NULL)
        return NULL;
    status = gufo_document_set_text(document, "general.architecture", "example", error);
    if (status == GUFO_OK && (type->flags & GUFO_ELEMENT_QUANTIZED) != 0)
        status = gufo_document_set_u32(document, "general.quantization_version",
                                       GUFO_QUANTIZATION_VERSION, error);
    if (status == GUFO_OK)
        status = gufo_document_add_tensor(document, "w.weight", type, 2, dims, error);
    if (status == GUFO_OK)
        return document;
    gufo_document_free(document);
    return NULL;
}

static gufo_status write_rows(gufo_job *job, const gufo_element_type *type, gufo_error *error)
{
    gufo_encoder *encoder = gufo_encoder_new(type, NULL, error);
    float *values = malloc(STEP * COLUMNS * sizeof *values);
    unsigned char *blocks = NULL;
    uint64_t row_bytes = 0;
    gufo_status status = encoder == NULL  ? error->code
                         : values == NULL ? GUFO_E_MEMORY
                                          : gufo_element_row_size(type, COLUMNS, &row_bytes, error);

    if (status == GUFO_OK && row_bytes > 0)
        blocks = malloc(STEP * (size_t)row_bytes);
    if (status == GUFO_OK && blocks == NULL)
        status = GUFO_E_MEMORY;
    for (uint64_t row = 0; row < ROWS && status == GUFO_OK; row += STEP) {
        make_rows(row, values);
        status = gufo_encoder_encode(encoder, values, STEP, COLUMNS, NULL, blocks, NULL, error);
        if (status == GUFO_OK)
            status =
                gufo_job_write(job, 0, 0, row * row_bytes, blocks, STEP * (size_t)row_bytes, error);
    }
    free(blocks);
    free(values);
    gufo_encoder_free(encoder);
    return status;
}

static gufo_status write_file(gufo_document *document, const char *path,
                              const gufo_element_type *type, gufo_error *error)
{
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_job *job = gufo_job_of_documents(&document, 1, NULL, error);
    gufo_job_output out = {0};
    gufo_status status = job != NULL ? gufo_job_open(job, &options, error) : error->code;

    if (status == GUFO_OK)
        status = write_rows(job, type, error);
    if (status == GUFO_OK)
        status = gufo_job_finish(job, NULL, error);
    if (status == GUFO_OK && gufo_job_output_at(job, 0, &out))
        printf("%s: %" PRIu64 " bytes, %s\n", path, out.size, type->name);
    gufo_job_free(job);
    return status;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    const gufo_element_type *type = gufo_element_type_by_name(argc > 2 ? argv[2] : "Q4_K");
    gufo_error error = {.message = "out of memory"};
    gufo_document *document;
    gufo_status status;

    if (type == NULL)
        return fprintf(stderr, "unknown element type %s\n", argv[2]), 2;
    document = describe(type, &error);
    status = document != NULL ? write_file(document, path, type, &error) : error.code;
    gufo_document_free(document);
    if (status != GUFO_OK)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    return status != GUFO_OK;
}
