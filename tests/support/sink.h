/* A file that a test writes: a document, and the job that takes its data. */
#ifndef TEST_SUPPORT_SINK_H
#define TEST_SUPPORT_SINK_H

#include "check.h"

/* `{document}`: not open yet.  It owns the document. */
typedef struct sink {
    gufo_document *document;
    gufo_job *job;
} sink;

/* As gufo_job_open, _open_fd, _write and _finish; what is not planned yet is planned before. */
gufo_status sink_open(sink *s, const char *path, bool replace, gufo_error *error);
gufo_status sink_open_fd(sink *s, int fd, gufo_error *error);
gufo_status sink_write(sink *s, uint64_t tensor, uint64_t offset, const void *data, size_t size,
                       gufo_error *error);
gufo_status sink_finish(sink *s, gufo_error *error);
/* NULL: there is no temporary file. */
const char *sink_temporary(const sink *s);
void sink_free(sink *s);

/* The place of a tensor of a document that is laid out; false past the end. */
bool tensor_place(const gufo_document *d, uint64_t index, uint64_t *offset, uint64_t *size);
/* The header of a document, which is laid out if it is not yet. */
const void *document_header(gufo_document *d, size_t *size);

#endif
