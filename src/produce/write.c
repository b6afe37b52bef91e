/* A file whose data the caller has in memory, in one call. */
#include "gufo/produce.h"

#include "base/error.h"
#include "codec/run.h"

/* Bytes between two reports of progress. */
#define AT_ONCE (UINT64_C(16) << 20)

typedef struct giving {
    gufo_job *job;
    const gufo_run *run;
    uint64_t done, total;
} giving;

static gufo_status give_tensor(giving *g, uint64_t index, uint64_t size, const void *data,
                               gufo_error *error)
{
    for (uint64_t at = 0; at < size; at += AT_ONCE) {
        const uint64_t part = size - at < AT_ONCE ? size - at : AT_ONCE;
        gufo_status status = gufo_job_write(g->job, 0, index, at, (const unsigned char *)data + at,
                                            (size_t)part, error);

        g->done += part;
        if (status == GUFO_OK)
            status = run_progress(g->run, g->done, g->total, error);
        if (status != GUFO_OK)
            return status;
    }
    return GUFO_OK;
}

/* Gives the data of all tensors that have some. */
static gufo_status give(giving *g, const gufo_document *document, const void *const *data,
                        gufo_error *error)
{
    gufo_document_tensor tensor;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; gufo_document_tensor_at(document, i, &tensor); i++)
        g->total += data[i] != NULL ? tensor.size : 0;
    for (uint64_t i = 0; status == GUFO_OK && gufo_document_tensor_at(document, i, &tensor); i++)
        if (data[i] != NULL)
            status = give_tensor(g, i, tensor.size, data[i], error);
    return status;
}

gufo_status gufo_write(gufo_document *document, const char *path, uint32_t flags,
                       const void *const *data, const gufo_run *run, gufo_error *error)
{
    const gufo_job_options options = {.path = path, .flags = flags};
    gufo_error first = {.code = GUFO_E_MEMORY};
    gufo_job *job = gufo_job_of_documents(&document, 1, NULL, &first);
    gufo_status status = job != NULL ? gufo_job_open(job, &options, &first) : first.code;

    if (status == GUFO_OK && data != NULL) {
        giving g = {.job = job, .run = run_of(run)};

        status = give(&g, document, data, &first);
    }
    if (status == GUFO_OK)
        status = gufo_job_finish(job, run, &first);
    gufo_job_free(job);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &first);
}
