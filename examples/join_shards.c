/* Opens files that are the shards of one model under any names, as a download that stores files by
 * their hash leaves them; keeps their bytes in memory, and reads the vocabulary in one call.
 *
 *     join_shards FIRST.gguf SECOND.gguf ... */
#include <gufo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The model of all files, which owns those that were opened; NULL on failure. */
static gufo_model *open_all(char **paths, size_t count, gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_model **parts = calloc(count + 1, sizeof(gufo_model *)), *model = NULL;
    size_t opened = 0;

    while (parts != NULL && opened < count &&
           (parts[opened] = gufo_model_open(paths[opened], &options, error)) != NULL)
        opened++;
    if (opened > 0 && opened == count)
        model = count > 1 ? gufo_model_join(parts, count, error) : parts[0];
    for (size_t i = 0; model == NULL && i < opened; i++)
        gufo_model_free(parts[i]);
    free(parts);
    return model;
}

/* Asks the system to read the files ahead; a program that may lock memory uses mlock. */
static void prefetch(const gufo_model *model)
{
    gufo_mapping mapping;

    for (size_t i = 0; gufo_model_mapping(model, i, &mapping); i++) {
        if (mapping.is_mapped)
            (void)posix_madvise((void *)mapping.data, (size_t)mapping.size, POSIX_MADV_WILLNEED);
        printf("%s: %" PRIu64 " bytes\n", mapping.path, mapping.size);
    }
}

/* All tokens in one pass: views of the file. */
static gufo_status print_tokens(const gufo_model *model, gufo_error *error)
{
    gufo_array tokens = {.count = 0};
    gufo_status status =
        gufo_model_get_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, error);
    gufo_str *texts = calloc((size_t)tokens.count + 1, sizeof *texts);

    if (texts == NULL)
        return GUFO_E_MEMORY;
    if (status == GUFO_OK)
        status = gufo_array_strings(&tokens, 0, tokens.count, texts, error);
    if (status == GUFO_OK && tokens.count > 0)
        printf("%" PRIu64 " tokens, the last one is \"%.*s\"\n", tokens.count,
               (int)texts[tokens.count - 1].len, texts[tokens.count - 1].data);
    free(texts);
    return status;
}

int main(int argc, char **argv)
{
    gufo_error error = {.message = "no files, or no memory"};
    gufo_model *model = open_all(argv + 1, argc > 1 ? (size_t)argc - 1 : 0, &error);
    gufo_status status = GUFO_E_ARGUMENT;

    if (model != NULL) {
        prefetch(model);
        status = print_tokens(model, &error);
    }
    if (status != GUFO_OK)
        fprintf(stderr, "%s\n", error.message);
    gufo_model_free(model);
    return status != GUFO_OK;
}
