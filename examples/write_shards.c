/* Writes a model of two shards; the program provides the data.
 *
 *     write_shards NAME-00001-of-00002.gguf */
#include <gufo.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHARDS = 2, ROWS = 64, COLUMNS = 256, COUNT = ROWS * COLUMNS };

static const char *const names[SHARDS] = {"token_embd.weight", "output.weight"};

/* The metadata of a set is that of its first shard. */
static gufo_status describe(gufo_document *document, size_t shard, gufo_error *error)
{
    const uint64_t dims[] = {COLUMNS, ROWS};
    gufo_status status = GUFO_OK;

    if (shard == 0)
        status = gufo_document_set_text(document, "general.architecture", "example", error);
    if (status == GUFO_OK && shard == 0)
        status = gufo_document_set_u32(document, "example.block_count", 1, error);
    if (status == GUFO_OK)
        status = gufo_document_set_shard(document, shard, SHARDS, SHARDS, 0, error);
    if (status == GUFO_OK)
        status = gufo_document_add_tensor(document, names[shard],
                                          gufo_element_type_by_id(GUFO_TYPE_F32), 2, dims, error);
    return status;
}

/* Data may be given in any order, in parts, and from any thread. */
static gufo_status give(gufo_job *job, size_t shard, gufo_error *error)
{
    float row[COLUMNS];
    gufo_status status = GUFO_OK;

    for (uint64_t r = 0; r < ROWS && status == GUFO_OK; r++) {
        for (size_t c = 0; c < COLUMNS; c++)
            row[c] = (float)(r * COLUMNS + c) / COUNT;
        status = gufo_job_write(job, shard, 0, r * sizeof row, row, sizeof row, error);
    }
    return status;
}

static gufo_status write_set(gufo_document *const *documents, const char *path, gufo_error *error)
{
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_job *job = gufo_job_of_documents(documents, SHARDS, NULL, error);
    gufo_status status = job != NULL ? gufo_job_open(job, &options, error) : error->code;

    for (size_t i = 0; i < SHARDS && status == GUFO_OK; i++)
        status = give(job, i, error);
    if (status == GUFO_OK) /* both files appear now, or neither */
        status = gufo_job_finish(job, NULL, error);
    gufo_job_free(job);
    return status;
}

int main(int argc, char **argv)
{
    gufo_document *documents[SHARDS] = {NULL};
    gufo_status status = GUFO_OK;
    gufo_error error;

    for (size_t i = 0; i < SHARDS && status == GUFO_OK; i++) {
        documents[i] = gufo_document_new(NULL, &error);
        status = documents[i] != NULL ? describe(documents[i], i, &error) : error.code;
    }
    if (status == GUFO_OK)
        status = write_set(documents, argc > 1 ? argv[1] : "", &error);
    if (status != GUFO_OK)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    for (size_t i = 0; i < SHARDS; i++)
        gufo_document_free(documents[i]);
    return status != GUFO_OK;
}
