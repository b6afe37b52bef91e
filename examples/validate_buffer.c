/* Validates untrusted bytes, as a server does with an upload: from memory, with limits, and with an
 * allocator that never exceeds its limit.
 *
 *     validate_buffer FILE */
#include <gufo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEMORY = 64 << 20, MOST_ENTRIES = 1 << 20, HEADER = 16 };

/* Each block begins with its size, so that freeing it can be counted. */
static void *limited_resize(void *context, void *block, size_t size)
{
    size_t *used = context, old = 0;
    unsigned char *begin = block != NULL ? (unsigned char *)block - HEADER : NULL;

    if (begin != NULL)
        memcpy(&old, begin, sizeof old);
    if (size == 0) {
        *used -= old;
        free(begin);
        return NULL;
    }
    if (size > MOST_MEMORY || *used - old + size > MOST_MEMORY)
        return NULL;
    unsigned char *resized = realloc(begin, HEADER + size);

    if (resized == NULL)
        return NULL;
    memcpy(resized, &size, sizeof size);
    *used += size - old;
    return resized + HEADER;
}

static void count_finding(void *context, const gufo_finding *finding)
{
    uint64_t *errors = context;

    *errors += finding->rule->severity == GUFO_ERROR;
    printf("%-7s %s: %s\n", gufo_severity_name(finding->rule->severity), finding->rule->id,
           finding->message);
}

/* Checks the rules of the format, then those about the meaning of keys and tensors. */
static gufo_status judge(const void *data, size_t size, const gufo_allocator *allocator,
                         uint64_t *errors, gufo_error *error)
{
    const gufo_open_options options = {.allocator = allocator,
                                       .max_metadata = MOST_ENTRIES,
                                       .max_tensors = MOST_ENTRIES,
                                       .name = "upload"};
    const gufo_check_options check = {.level = GUFO_LEVEL_MODEL, .allocator = allocator};
    const gufo_input input = {.kind = GUFO_INPUT_MEMORY, .data = data, .size = size};
    gufo_status status = gufo_validate(&input, &options, count_finding, errors, error);
    gufo_model *model;

    if (status != GUFO_OK || *errors > 0)
        return status;
    model = gufo_model_open_memory(data, size, &options, error);
    if (model == NULL)
        return error->code;
    status = gufo_model_check_content(model, &check, count_finding, errors, error);
    gufo_model_free(model);
    return status;
}

int main(int argc, char **argv)
{
    static unsigned char upload[32 << 20];
    FILE *file = fopen(argc > 1 ? argv[1] : "", "rb");
    size_t used = 0, size;
    const gufo_allocator allocator = {limited_resize, &used};
    uint64_t errors = 0;
    gufo_error error;

    if (file == NULL)
        return perror("validate_buffer"), 2;
    size = fread(upload, 1, sizeof upload, file);
    fclose(file);
    if (judge(upload, size, &allocator, &errors, &error) != GUFO_OK)
        return fprintf(stderr, "%s: %s\n", error.file, error.message), 3;
    printf("%" PRIu64 " errors; %zu bytes of memory are still in use\n", errors, used);
    return errors > 0;
}
