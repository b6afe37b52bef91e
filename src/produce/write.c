/* A file whose data the caller has in memory, in one call. */
#include "gufo/produce.h"

#include "base/error.h"

/* Gives the data of all tensors that have some. */
static gufo_status give(gufo_job *job, const gufo_document *document, const void *const *data,
                        gufo_error *error)
{
    gufo_document_tensor tensor;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && gufo_document_tensor_at(document, i, &tensor); i++)
        if (data[i] != NULL)
            status = gufo_job_write(job, 0, i, 0, data[i], (size_t)tensor.size, error);
    return status;
}

gufo_status gufo_write(gufo_document *document, const char *path, uint32_t flags,
                       const void *const *data, const gufo_run *run, gufo_error *error)
{
    const gufo_job_options options = {.path = path, .flags = flags};
    gufo_error first = {.code = GUFO_E_MEMORY};
    gufo_job *job = gufo_job_of_documents(&document, 1, NULL, &first);
    gufo_status status = job != NULL ? gufo_job_open(job, &options, &first) : first.code;

    if (status == GUFO_OK && data != NULL)
        status = give(job, document, data, &first);
    if (status == GUFO_OK)
        status = gufo_job_finish(job, run, &first);
    gufo_job_free(job);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &first);
}
