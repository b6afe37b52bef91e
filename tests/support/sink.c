#include "sink.h"

static gufo_status plan(sink *s, gufo_error *error)
{
    if (s->job == NULL)
        s->job = gufo_job_of_documents(&s->document, 1, NULL, error);
    return s->job != NULL ? GUFO_OK : error->code;
}

gufo_status sink_open(sink *s, const char *path, bool replace, gufo_error *error)
{
    gufo_job_options options = {.path = path, .flags = replace ? GUFO_JOB_REPLACE : 0};
    gufo_status status = plan(s, error);

    return status == GUFO_OK ? gufo_job_open(s->job, &options, error) : status;
}

gufo_status sink_open_fd(sink *s, int fd, gufo_error *error)
{
    gufo_status status = plan(s, error);

    return status == GUFO_OK ? gufo_job_open_fd(s->job, fd, error) : status;
}

gufo_status sink_write(sink *s, uint64_t tensor, uint64_t offset, const void *data, size_t size,
                       gufo_error *error)
{
    gufo_status status = plan(s, error);

    return status == GUFO_OK ? gufo_job_write(s->job, 0, tensor, offset, data, size, error)
                             : status;
}

gufo_status sink_finish(sink *s, gufo_error *error)
{
    gufo_status status = plan(s, error);

    return status == GUFO_OK ? gufo_job_finish(s->job, NULL, error) : status;
}

const char *sink_temporary(const sink *s)
{
    return s->job != NULL ? gufo_job_temporaries(s->job)[0] : NULL;
}

void sink_free(sink *s)
{
    gufo_job_free(s->job);
    gufo_document_free(s->document);
    *s = (sink){NULL, NULL};
}

bool tensor_place(const gufo_document *d, uint64_t index, uint64_t *offset, uint64_t *size)
{
    gufo_document_tensor tensor;

    if (!gufo_document_tensor_at(d, index, &tensor) || tensor.offset == GUFO_NO_OFFSET)
        return false;
    *offset = tensor.offset;
    *size = tensor.size;
    return true;
}

const void *document_header(gufo_document *d, size_t *size)
{
    gufo_error error = no_error();
    const void *header = NULL;

    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    check_ok(gufo_document_header(d, &header, size, &error), &error, "header");
    return header;
}
