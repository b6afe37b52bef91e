/* Converts a model of Hugging Face's libraries, a folder of config.json, safetensors and tokenizer files:
 * the same file as `gufo convert FOLDER OUT.gguf TYPE` writes.
 *
 *     convert_folder FOLDER OUT.gguf [TYPE]     Q4_K_M, F16 ...; without it what most of the model is */
#include <gufo.h>
#include <gufo/import.h>
#include <inttypes.h>
#include <stdio.h>

static gufo_status convert(const char *folder, const char *path, const char *type,
                           gufo_error *error)
{
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_import *import = gufo_import_checkpoint(folder, NULL, error);
    gufo_quantizer *quantizer =
        import != NULL ? gufo_import_quantize(import, type, NULL, error) : NULL;
    gufo_job_output out = {0};
    gufo_status status = quantizer != NULL
                             ? gufo_job_run(gufo_quantizer_job(quantizer), &options, NULL, error)
                             : error->code;

    if (status == GUFO_OK && gufo_job_output_at(gufo_quantizer_job(quantizer), 0, &out))
        printf("%s: %" PRIu64 " bytes\n", path, out.size);
    gufo_quantizer_free(quantizer);
    gufo_import_free(import);
    return status;
}

int main(int argc, char **argv)
{
    gufo_error error;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: convert_folder FOLDER OUT.gguf [TYPE]\n");
        return 2;
    }
    if (convert(argv[1], argv[2], argc == 4 ? argv[3] : NULL, &error) == GUFO_OK)
        return 0;
    fprintf(stderr, "convert_folder: %s\n", error.message);
    return 1;
}
