/* One job on many machines: the result is byte for byte that of gufo_job_run.  Every worker makes the same job, from the
 * same inputs, and then its share of the parts; when all are there, anyone makes the job once more and commits:
 *
 *     gufo_part share = {.worker = 3, .workers = 16};
 *     status = gufo_plan_run(job, &files, &share, NULL, NULL, NULL, &error);
 *     ...
 *     status = gufo_plan_commit(job, &files, NULL, &missing, &error);
 *     if (status == GUFO_OK && missing == 0)
 *         status = gufo_plan_clean(files.path, &done, &error);
 *
 * The plan says what the job writes and how the work is cut into parts.  The first worker writes it:
 *
 *     out.gguf.parts/plan    text: the command, the identity of the job item by item, the parts
 *     out.gguf.parts/P.log   of part P: what is done, and what was measured of each unit
 *     out.gguf.part          the output, or one such file for each, of its full size and sparse
 *
 * A worker writes only the bytes of its parts: whole blocks of gufo_plan_options.align bytes, so that two machines
 * never write to one block.  The identity has what decides about a byte: not paths, times, threads or memory.  A
 * worker whose job differs is refused (GUFO_E_ARGUMENT, and the error names the item with both values).
 * No part waits for another: one that nobody finishes can be made again by any worker, also by two at once. */
#ifndef GUFO_PLAN_H
#define GUFO_PLAN_H

#include "produce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ======================================================================= */

/* Which parts a worker makes. */
typedef struct gufo_part {
    /* Worker `worker` of `workers`, from 0: an equal share, parts p of C with p * workers / C = worker.  Any number of
     * workers can go on with what any other number has begun; {p, C} is part p alone. */
    uint64_t worker, workers;
    /* Or one part after the other: first those that nobody has begun, then those whose worker has stopped or failed,
     * or been silent for 120 seconds.  `workers` is then how many there may be, or 0. */
    bool next;
    uint64_t reserved[4]; /* must be zero */
} gufo_part;

/* A name and a text. */
typedef struct gufo_plan_note {
    const char *name, *text;
    uint64_t reserved[2]; /* must be zero */
} gufo_plan_note;

/* What the first worker writes into the plan beside the job. */
typedef struct gufo_plan_options {
    /* A power of two from 4096; 0: 1 MiB.  On NFS it must be a multiple of the size in which clients write. */
    uint64_t align;
    /* The command that made the job, for gufo_plan_argument: who commits can make it again. */
    const char *const *command;
    size_t command_count;
    /* Names that come from one machine and reach the output, such as that of a checkpoint's folder: other workers take
     * them from the plan (gufo_plan_note_find) before they make their job. */
    const gufo_plan_note *notes;
    size_t note_count;
    /* Called from the thread that calls gufo_plan_run before each part.  May be NULL. */
    void (*on_part)(void *context, uint64_t part, uint64_t count);
    void *part_context;
    /* The same after a part has failed.  May be NULL. */
    void (*on_failure)(void *context, uint64_t part, const gufo_error *error);
    uint64_t reserved[3]; /* must be zero */
} gufo_plan_options;

typedef struct gufo_part_result {
    uint64_t count;    /* of all parts of the plan */
    uint64_t made;     /* by this call */
    uint64_t complete; /* of the worker's share, or with `next` of all, made by any worker */
    uint64_t bytes;    /* that this call has read */
    uint64_t failed;   /* parts, in this call */
    uint64_t reserved[3];
} gufo_part_result;

/* Whether part `part` of `count` is one of a share; with `next` all are. */
GUFO_API bool gufo_part_has(const gufo_part *share, uint64_t part, uint64_t count);

/* Makes parts of a job, once per job.  `outputs` as for gufo_job_run: path, also_read, more_paths; of its flags
 * only GUFO_JOB_REPLACE.  `options`, `run` and `result` may be NULL.  What it has done stays, whatever happens.  A part
 * that fails ends no other, unless an input has changed or memory is missing: afterwards the error is that of the first
 * one, or of one that another try may help against.  If another process commits meanwhile, all parts are complete.
 *   GUFO_E_ARGUMENT   the plan is of another job; data that the caller gives (gufo_job_open); an output that is an input;
 *                     what is beside the output belongs to another user; a job that looks at all its numbers before it
 *                     writes them
 *   GUFO_E_EXISTS     an output, or what an interrupted run of gufo_job_run left, exists and may not be replaced
 *   GUFO_E_RANGE      `worker` is not below `workers`
 *   and those of gufo_job_run.  Thread safety: as a job. */
GUFO_MUST_USE GUFO_API gufo_status gufo_plan_run(gufo_job *job, const gufo_job_options *outputs,
                                                 const gufo_part *part,
                                                 const gufo_plan_options *options,
                                                 const gufo_run *run, gufo_part_result *result,
                                                 gufo_error *error);

/* Gives all files their names when all parts are complete: compares the job with the plan, adds what was measured in the
 * order of units, so that the job says of itself what it says after gufo_job_run, checks the inputs again, syncs and
 * renames.  *missing is the number of parts that are not complete: while there are any, nothing is renamed.  After a
 * failure or an interruption another call does the rest.  The plan stays until gufo_plan_clean.
 *   GUFO_E_NOT_FOUND  PATH.parts has no plan; or another process has committed meanwhile
 *   GUFO_E_ARGUMENT   the plan is of another job
 *   GUFO_E_EXISTS     an output, or what an interrupted run of gufo_job_run left, exists and may not be replaced
 *   GUFO_E_MALFORMED  a log lacks results, or was damaged
 *   and those of gufo_job_run.  Thread safety: as a job; of several commits at once one does the work. */
GUFO_MUST_USE GUFO_API gufo_status gufo_plan_commit(gufo_job *job, const gufo_job_options *outputs,
                                                    const gufo_run *run, uint64_t *missing,
                                                    gufo_error *error);
/* Removes PATH.parts if its commit is complete, and says so in *done; other plans stay.  Without PATH.parts it does
 * nothing. */
GUFO_MUST_USE GUFO_API gufo_status gufo_plan_clean(const char *path, bool *done, gufo_error *error);

/* ==== Plans ====================================================================================== */

/* A plan does not change, but for gufo_plan_look: any number of threads may use one otherwise. */
typedef struct gufo_plan gufo_plan;

/* The plan of a job that has not run, for `workers` workers; writes nothing.  `options` may be NULL. */
GUFO_MUST_USE GUFO_API gufo_plan *gufo_plan_of_job(gufo_job *job, const gufo_job_options *outputs,
                                                   uint64_t workers,
                                                   const gufo_plan_options *options,
                                                   gufo_error *error);
/* The plan in PATH.parts.  GUFO_E_NOT_FOUND without one; GUFO_E_ARGUMENT if another user can have written it;
 * GUFO_E_MALFORMED if it is not a plan. */
GUFO_MUST_USE GUFO_API gufo_plan *gufo_plan_open(const char *path, gufo_error *error);
/* A plan as text, and back.  The text of gufo_plan_write is appended. */
GUFO_MUST_USE GUFO_API gufo_status gufo_plan_write(const gufo_plan *plan, gufo_text *out,
                                                   gufo_error *error);
GUFO_MUST_USE GUFO_API gufo_plan *gufo_plan_read(const char *text, size_t size, gufo_error *error);
/* GUFO_E_ARGUMENT if they are not of the same result; names the first item that differs, with both values: `here` is the
 * one that asks.  Commands, notes and parts are not compared. */
GUFO_MUST_USE GUFO_API gufo_status gufo_plan_compare(const gufo_plan *plan, const gufo_plan *here,
                                                     gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_plan_free(gufo_plan *plan);

/* The command that the plan keeps: argument `index`, NULL past the end.  Lives as long as the plan; so do all texts
 * below. */
GUFO_API const char *gufo_plan_argument(const gufo_plan *plan, size_t index);
/* The folder in which the plan was made; NULL: it is not known. */
GUFO_API const char *gufo_plan_folder(const gufo_plan *plan);
/* The text of a note; NULL: it has none of that name. */
GUFO_API const char *gufo_plan_note_find(const gufo_plan *plan, const char *name);

typedef struct gufo_plan_output {
    const char *name; /* the path as the plan's maker spelled it */
    uint64_t size;
    bool complete; /* all parts that write to it are; set by gufo_plan_look */
    uint64_t reserved[4];
} gufo_plan_output;

/* The files that the job writes; false past the end. */
GUFO_API bool gufo_plan_output_at(const gufo_plan *plan, size_t index, gufo_plan_output *out);

typedef enum gufo_part_state {
    GUFO_PART_WAITING = 0,  /* nobody has begun it, or its worker was stopped */
    GUFO_PART_RUNNING = 1,  /* its log has changed within 120 seconds */
    GUFO_PART_SILENT = 2,   /* it has not: its worker is gone, or cannot write */
    GUFO_PART_FAILED = 3,   /* its worker says why */
    GUFO_PART_COMPLETE = 4, /* all its bytes are on disk */
} gufo_part_state;

typedef struct gufo_part_info {
    gufo_part_state state;
    uint64_t first_unit, unit_count; /* of the job */
    uint64_t units_done;
    uint64_t bytes, bytes_done; /* that are read for it */
    uint64_t size;              /* bytes of outputs that it writes */
    double silent;              /* seconds since its log has changed, by the file system's clock */
    const char *worker;         /* host and process, "node7:1234"; NULL: nobody has begun it */
    const char *reason;         /* of GUFO_PART_FAILED; else NULL */
    uint64_t reserved[4];
} gufo_part_info;

/* Reads the logs in PATH.parts, again. */
GUFO_MUST_USE GUFO_API gufo_status gufo_plan_look(gufo_plan *plan, const char *path,
                                                  gufo_error *error);
GUFO_API uint64_t gufo_plan_part_count(const gufo_plan *plan);
/* About how long one core computes for all parts, in seconds, as the plan's maker has estimated it from the types: what the
 * parts were cut by. */
GUFO_API double gufo_plan_core_seconds(const gufo_plan *plan);
/* Part `index`; its state is what the last gufo_plan_look has found.  False past the end. */
GUFO_API bool gufo_plan_part_at(const gufo_plan *plan, uint64_t index, gufo_part_info *out);

typedef struct gufo_part_range {
    size_t output;
    uint64_t from, to; /* bytes */
    uint64_t reserved[2];
} gufo_part_range;

/* The bytes that part `part` writes: range `index` of them, in the order of outputs; false past the end. */
GUFO_API bool gufo_plan_range_at(const gufo_plan *plan, uint64_t part, size_t index,
                                 gufo_part_range *out);

#ifdef __cplusplus
}
#endif

#endif
