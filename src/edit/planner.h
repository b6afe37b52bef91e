/* What split, merge, endian, strip and extract have in common: each is a planner of a gufo_job.
 *
 *     planner_begin     a job that reads all files of the input
 *     planner_document  an empty document, encoded as the input can be written; the job owns it
 *     planner_end       a target for every document, and what is normalised
 *
 *     split.c     documents of shards
 *     planner.c   a document: merge, strip, endian; what is not preserved
 *     extract.c   formats that are not GGUF */
#ifndef GUFO_EDIT_PLANNER_H
#define GUFO_EDIT_PLANNER_H

#include "format/document/document.h"
#include "gufo/edit.h"
#include "produce/produce.h"

/* What a job owns. */
typedef struct planner {
    gufo_allocator allocator;
    const gufo_model *input;
    records documents;     /* of gufo_document *: one for each output */
    void *header;          /* of another format */
    bool keeps_keys;       /* every output has the metadata of its own shard */
    bool drops_shard_keys; /* of a file that was not a shard, too: they get new ones */
} planner;

static inline planner *planner_of(const gufo_job *job)
{
    return job->planner;
}

static inline gufo_document *planner_document_at(const planner *p, uint64_t index)
{
    return *(gufo_document **)records_at(&p->documents, index);
}

/* NULL on failure.  GUFO_E_ARGUMENT for a model without files. */
gufo_job *planner_begin(const gufo_model *input, const gufo_allocator *allocator,
                        gufo_error *error);
/* The same for a model that may be without files. */
gufo_job *planner_begin_any(const gufo_model *input, const gufo_allocator *allocator,
                            gufo_error *error);

gufo_status planner_document(gufo_job *job, gufo_document **out, gufo_error *error);
/* Ends planning of GGUF files.  On failure the job is freed; returns it, or NULL. */
gufo_job *planner_end(gufo_job *job, gufo_status status, gufo_error *error);

/* GUFO_E_ARGUMENT for NULL. */
gufo_status planner_check_input(const gufo_model *input, gufo_error *error);

/* Adds to job->normalised what the input is not like. */
gufo_status planner_note_normalised(gufo_job *job, gufo_error *error);

#endif
