/* Writing files.
 *
 *     in one call   gufo_write     a document, with the data of its tensors
 *
 * For all else there are jobs.  A job is a plan of one or several files, made by one of the functions that return a gufo_job
 * (edit.h, quant.h, gufo_job_of_documents below).  Everything that can be refused is refused before
 * anything is written:
 *
 *     plan     gufo_job_split, gufo_job_of_documents ...
 *     look     gufo_job_output_count, gufo_job_output_at ...
 *     write    gufo_job_run, or gufo_job_stream, once
 *     or       gufo_job_open, gufo_job_write ..., gufo_job_finish, for data that the caller has
 *
 * Either all files of a job appear or none: they are made under temporary names beside their
 * targets, space is reserved for all before the first byte is written, and they get their names
 * when all bytes are safe on disk.  Bytes that do not change are moved by the kernel, which shares
 * or copies them where it can.  The result does not depend on the threads, the memory or the
 * processor.
 *
 * The inputs of a job must outlive it.  One thread at a time, except gufo_job_write; writing uses
 * several threads. */
#ifndef GUFO_PRODUCE_H
#define GUFO_PRODUCE_H

#include "document.h"
#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

/* Writes a document to `path`.  data[i] is the data of tensor i, all of its bytes, in the byte order of the
 * document; NULL for a tensor that was copied from a model, whose data is moved, or decoded and encoded if
 * it was retyped (gufo_document_retype).  `data` may be NULL: all tensors were copied.  `flags` is
 * GUFO_JOB_REPLACE, if an existing file is to be replaced, or 0; `run` as in gufo_job_run.  On failure
 * nothing is left: as gufo_job_of_documents and gufo_job_run, GUFO_E_ARGUMENT for a tensor without data. */
GUFO_MUST_USE GUFO_API gufo_status gufo_write(gufo_document *document, const char *path,
                                              uint32_t flags, const void *const *data,
                                              const gufo_run *run, gufo_error *error);

/* ==== Jobs =================================================================================== */

typedef struct gufo_job gufo_job;

/* ---- planning ------------------------------------------------------------------------------- */

typedef struct gufo_job_plan_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_job_plan_options;

/* Plans one file for each document, which is laid out if it is not yet, and must not change until
 * the job is freed.  Tensors that were copied from a model are moved, or swapped where the byte
 * orders differ; those that were retyped (gufo_document_retype) are decoded and encoded, without
 * importance data, or repacked; the caller gives the data of all others.  All models from which
 * something was copied are inputs, with all their shards: no output replaces them.  Several
 * documents are the shards of a set, in order.  `options` may be NULL.  NULL on failure: as
 * gufo_document_layout; GUFO_E_ARGUMENT for no document, a retyped tensor whose old type has no
 * decoder, or whose new one has no encoder or needs importance data, data of a pipe. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_of_documents(gufo_document *const *documents,
                                                       size_t count,
                                                       const gufo_job_plan_options *options,
                                                       gufo_error *error);
/* NULL is allowed.  Removes an unfinished output and leaves its target unchanged. */
GUFO_API void gufo_job_free(gufo_job *job);

/* ---- looking -------------------------------------------------------------------------------- */

typedef struct gufo_job_output {
    uint64_t size; /* of the file */
    uint64_t tensor_count;
    uint64_t data_size; /* bytes of tensors, without padding */
    uint64_t reserved[4];
} gufo_job_output;

/* The files that will be written; false past the end. */
GUFO_API size_t gufo_job_output_count(const gufo_job *job);
GUFO_API bool gufo_job_output_at(const gufo_job *job, size_t index, gufo_job_output *out);
/* The path of output `index` for what gufo_job_run is given as `path`: that path for one file; for
 * a split, `path` is the prefix of all names; for any other set it is the path of the first shard,
 * whose name must contain the number of shards; of several models it is the path of the one that
 * output `index` belongs to.  Writes at most `size` bytes with the terminator and returns the bytes
 * that are needed without it, like snprintf. */
GUFO_API size_t gufo_job_output_path(const gufo_job *job, const char *path, size_t index, char *out,
                                     size_t size);

/* How the files differ from the input beyond what was requested, because gufo always writes files
 * in one way: version 3 (or 2, except after a change of byte order), data back to back in the order
 * of the tensor infos, padding of zeros, also at the end.  The model is the same. */
typedef enum gufo_normalised {
    GUFO_NORMALISED_VERSION = 1,     /* version 1, or 2 where it does not fit, becomes 3 */
    GUFO_NORMALISED_ORDER = 2,       /* data was in another order than the infos */
    GUFO_NORMALISED_GAPS = 4,        /* there were bytes that belong to no tensor */
    GUFO_NORMALISED_PADDING = 8,     /* padding held other bytes than zeros */
    GUFO_NORMALISED_TAIL = 16,       /* the padding at the end was missing */
    GUFO_NORMALISED_TRAILING = 32,   /* bytes followed the end of the model */
    GUFO_NORMALISED_SPLIT_KEYS = 64, /* a file that was not a shard had split keys */
    GUFO_NORMALISED_METADATA = 128,  /* shards after the first had their own metadata */
} gufo_normalised;

/* Of gufo_normalised. */
GUFO_API uint32_t gufo_job_normalised(const gufo_job *job);

/* ---- writing -------------------------------------------------------------------------------- */

typedef enum gufo_job_flags {
    /* Replace existing outputs, and what an interrupted run left beside them. */
    GUFO_JOB_REPLACE = 1,
    /* Write to PATH.part, and record the progress in PATH.part.journal; both stay if the caller
     * stops the job or the machine crashes. */
    GUFO_JOB_RESUMABLE = 2,
    /* The same, and continue what an interrupted run left, if anything; errors then leave it,
     * too. */
    GUFO_JOB_RESUME = 4,
    /* With GUFO_JOB_RESUME: removes each input file while the job works, as soon as everything that
     * is needed of it is synced; if one file becomes several, it punches holes into the file
     * instead, piece by piece.  So the disk needs room for one file, or some pieces, more than the
     * input.  The job can be resumed, but not undone.  Until the outputs have their names,
     * NAME.moved has the header of the input NAME, its size and its time, but not the data that was
     * released: where NAME is gone, open NAME.moved to resume the run (gufo_model_open_shards).
     * GUFO_E_ARGUMENT, before anything is written, for an input that another user owns, that has
     * other hard links, is a symlink, is read twice, or is on a file system without sparse files
     * (or without holes, where these are needed). */
    GUFO_JOB_DELETE_INPUT = 8,
    /* With GUFO_JOB_RESUMABLE: continues what an interrupted run left, as GUFO_JOB_RESUME does,
     * where nobody need be asked: its journal is a file of this user that others cannot write to,
     * of the same inputs and options, and no process works on it.  What else an interrupted run
     * left is in the way (GUFO_E_EXISTS), or replaced (GUFO_JOB_REPLACE: then nothing is
     * continued). */
    GUFO_JOB_CONTINUE = 16,
} gufo_job_flags;

typedef struct gufo_job_options {
    const char *path; /* compulsory: see gufo_job_output_path */
    uint32_t flags;   /* of gufo_job_flags */
    /* Files that the caller has read for the plan, such as a list of types: like the inputs that
     * the job knows, no output may replace them.  What has no file is passed over. */
    const char *const *also_read;
    size_t also_read_count;
    /* For a job that makes several models from one reading (gufo_quantize_options.more_targets):
     * the paths of the models after the first, each like `path`. */
    const char *const *more_paths;
    size_t more_count;
    /* Called once, from the thread that calls gufo_job_run, when that continues an interrupted run:
     * `done` of `total` bytes have been read already.  May be NULL. */
    void (*on_continue)(void *context, uint64_t done, uint64_t total);
    void *continue_context;
    uint64_t reserved[2]; /* must be zero */
} gufo_job_options;

/* Writes the files, once per job.  On failure nothing is left, unless the job can be resumed: by
 * the same version of this library, with the same inputs and options (threads, memory and cpu may
 * differ).  `run` may be NULL; its memory bounds all buffers.
 *   GUFO_E_EXISTS     an output, or what an interrupted run left, exists and may not be replaced.
 *                     (Shards that an interrupted commit of the same set left are replaced anyway.)
 *   GUFO_E_ARGUMENT   an output is an input, or another output; an edit of it is pending;
 *                     what an interrupted run left has other options or inputs, or belongs to
 *                     another user; data that the caller must give
 *   GUFO_E_LIMIT      a row of a tensor does not fit into the memory that may be used
 *   GUFO_E_RANGE      a value that is not finite, or becomes so (gufo_quantizer_job)
 *   GUFO_E_CHANGED    an input was changed since it was opened
 *   GUFO_E_STOPPED    progress asked for it
 *   GUFO_E_IO         another run, of any process, works on what it left; what the system refuses
 *   GUFO_E_TRUNCATED, GUFO_E_MALFORMED, GUFO_E_MEMORY */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_run(gufo_job *job, const gufo_job_options *options,
                                                const gufo_run *run, gufo_error *error);
/* Whether gufo_job_run with these options would refuse: gives its errors about outputs, inputs and
 * the files of an interrupted run, without doing the work.  Leaves no file.  The job can be run
 * afterwards. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_check(gufo_job *job, const gufo_job_options *options,
                                                  gufo_error *error);
/* Does the last step of a run with GUFO_JOB_DELETE_INPUT that was interrupted after its outputs got
 * their names: removes what is left of the inputs, whose names were `inputs`, and the journal.
 * `path` is that of the first output.  *done says whether gufo found such a run. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_clean(const char *path, const char *const *inputs,
                                                  size_t count, bool *done, gufo_error *error);
/* Writes the one file of a job to a descriptor that takes bytes in order (a pipe, a socket, a
 * terminal), which the caller keeps and which must block; bytes sent before a failure stay sent.  A
 * pipe that is closed raises SIGPIPE unless the program ignores it. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_stream(gufo_job *job, int fd, const gufo_run *run,
                                                   gufo_error *error);
/* The temporary files while a job is written, for a signal handler: a list of gufo_job_output_count
 * paths, NULL where there is none at the moment.  Lives as long as the job. */
GUFO_API const char *volatile const *gufo_job_temporaries(const gufo_job *job);

/* ---- data that the caller gives ------------------------------------------------------------- */

/* Begins a run in which the caller gives data: makes all temporary files, with their headers.  Only
 * GUFO_JOB_REPLACE counts as a flag.  Fails as gufo_job_run; then, and until gufo_job_finish,
 * freeing the job leaves everything as it was. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_open(gufo_job *job, const gufo_job_options *options,
                                                 gufo_error *error);
/* The same for a job of one file, all of whose tensors are given, to a descriptor as in
 * gufo_job_stream:
 * data must then come in order. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_open_fd(gufo_job *job, int fd, gufo_error *error);
/* Writes bytes [offset, offset + size) of tensor `tensor` of document `index`.  For a file, calls
 * may come from any thread and in any order, and may write bytes again.  GUFO_E_RANGE outside the
 * tensor, GUFO_E_ARGUMENT for a tensor that is not given, without gufo_job_open, or out of order to
 * a stream. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_write(gufo_job *job, size_t index, uint64_t tensor,
                                                  uint64_t offset, const void *data, size_t size,
                                                  gufo_error *error);
/* Checks that every given tensor has all its bytes (GUFO_E_ARGUMENT names one that does not), makes
 * all others, syncs, and renames the files to their targets.  On failure nothing is left behind
 * (except what a stream has sent).  `run` as above. */
GUFO_MUST_USE GUFO_API gufo_status gufo_job_finish(gufo_job *job, const gufo_run *run,
                                                   gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
