/* Plans of jobs as values, text that is read in place; and what is known of their parts. */
#ifndef GUFO_PRODUCE_PARTS_PLAN_H
#define GUFO_PRODUCE_PARTS_PLAN_H

#include <time.h>

#include "base/buffer.h"
#include "gufo/plan.h"
#include "produce/parts/parts.h"

/* An item of the identity: what decides about bytes. */
typedef struct plan_item {
    const char *kind, *name, *value;
} plan_item;

/* A part as the plan has it. */
typedef struct plan_part {
    uint64_t border, first_unit, end_unit; /* as in parts.h */
    uint64_t bytes;                        /* that are read */
    size_t first_range;                    /* of its ranges; the next part has the end of them */
} plan_part;

/* What was found of a part when its logs were read last. */
typedef struct plan_state {
    gufo_part_state state;
    uint64_t units_done;
    double silent;
    char *worker, *reason; /* NULL: none */
} plan_state;

struct gufo_plan {
    gufo_allocator allocator;
    char *text;   /* as it was written */
    char *fields; /* the same, cut into fields where they are */
    size_t size;
    size_t identity_end; /* of the lines of items, with which the text begins */
    uint64_t hash;       /* of all but the last line, which has it */

    plan_item *items;
    const char **arguments;
    gufo_plan_note *notes;
    gufo_plan_output *outputs;
    plan_part *parts;
    gufo_part_range *ranges;
    plan_state *states; /* of all parts; NULL: not looked at yet */
    uint64_t item_count, argument_count, note_count, output_count, part_count, range_count;
    uint64_t item_room, argument_room, note_room, output_room, part_room, range_room;
    const char *folder;
    uint64_t align, cost, unit_count, result_size;
    bool ended;
};

/* The text of the plan of a job whose pieces are there; or, without `outputs`, of its identity alone. */
gufo_status plan_write_job(gufo_job *job, const gufo_job_options *outputs, uint64_t workers,
                           const gufo_plan_options *options, gufo_text *out, gufo_error *error);
/* GUFO_E_ARGUMENT for a plan of another job than this, whose pieces are there. */
gufo_status plan_check_job(const gufo_plan *plan, gufo_job *job, gufo_error *error);
/* Forgets what was found of its parts. */
void plan_free_states(gufo_plan *plan);
/* The end of the ranges of a part. */
size_t plan_range_end(const gufo_plan *plan, uint64_t part);

gufo_status plan_options_check(const gufo_plan_options *options, gufo_error *error);

/* ---- logs --------------------------------------------------------------------------------------- */

/* What is known of a part, on disk: OUT.parts/P.log, of another worker OUT.parts/P.2.log, P.3.log ...
 *
 *     record   0  kind
 *              8  first unit, or the hash of the plan
 *             16  units, or the number of the part
 *             24  bytes of content
 *             32  check of the bytes before, and of the record's number
 *             40  content: results of units, the worker, a reason
 *              .  check of it, 8 bytes, where there is any
 *
 * Records are only appended, and units after their data is on disk, so what is in a log is true whatever has stopped its
 * worker; a record that was cut short does not count.  A log has one writer.  Numbers are little-endian; results are
 * bytes of this machine, whose byte order is part of the plan. */
enum { LOG_TEXT = 512 };

/* The logs of a plan. */
typedef struct logs {
    const char *folder; /* OUT.parts */
    uint64_t plan;      /* the hash of its text */
    size_t result_size;
    const gufo_allocator *allocator;
} logs;

typedef struct part_log {
    int fd; /* -1: none */
    char *path;
    const logs *of;
    buffer records;       /* to be written */
    uint64_t number, end; /* of the next record, and where it goes */
    uint64_t next_unit;
} part_log;

/* Begins a new log for a part, whose units before `next_unit` are done.  *taken: another worker has begun that one. */
gufo_status log_create(part_log *log, const logs *of, uint64_t part, unsigned attempt,
                       uint64_t next_unit, bool *taken, gufo_error *error);
/* Units [first, end) are done, and those since the last call that the part has nothing of are passed over; `results` are
 * those of each of them, one after the other. */
gufo_status log_units(part_log *log, uint64_t first, uint64_t end, const void *results,
                      gufo_error *error);
/* Waits until all of them are on disk. */
gufo_status log_sync(part_log *log, gufo_error *error);
/* The worker lives. */
gufo_status log_beat(part_log *log, gufo_error *error);
/* How the work on the part has ended: `state` is complete, failed (`reason`), or waiting: it was stopped. */
gufo_status log_end(part_log *log, gufo_part_state state, const char *reason, gufo_error *error);
void log_close(part_log *log);

/* What all logs of a part say together. */
typedef struct part_logs {
    gufo_part_state state; /* running, until the time is compared */
    unsigned attempts;     /* logs */
    struct timespec changed;
    char worker[LOG_TEXT],
        reason[LOG_TEXT]; /* of the last one; the reason is that of a failed one */
} part_logs;

/* Units [first, first + count) are done; `results` are theirs, NULL if they were not asked for, or if the part has
 * nothing of these units.  The bytes live during the call. */
typedef void log_visit(void *context, uint64_t first, uint64_t count, const uint8_t *results);

/* Reads the logs of a part.  GUFO_E_ARGUMENT for one of another plan.  Without `with_results` these are not read. */
gufo_status logs_read(const logs *of, uint64_t part, bool with_results, log_visit *visit,
                      void *context, part_logs *out, gufo_error *error);

/* The time of the file system: that of a file which is made and removed; of this machine where none can be made. */
struct timespec logs_now(const logs *of);

/* Removes the logs of all parts, and what workers that were killed have left beside them. */
gufo_status logs_remove(const logs *of, gufo_error *error);
/* Removes a file of the folder, which may be gone already. */
gufo_status logs_remove_file(const logs *of, const char *name, gufo_error *error);

/* PATH/NAME, which the caller frees; NULL without memory. */
char *logs_path(const logs *of, const char *name);

/* ---- its folder ------------------------------------------------------------------------------ */

/* PATH.parts, which the caller frees; NULL without memory. */
char *plan_folder_path(const char *path, const gufo_allocator *allocator);
/* GUFO_E_NOT_FOUND without it; GUFO_E_ARGUMENT if others can write to it. */
gufo_status plan_folder_check(const char *folder, gufo_error *error);
/* Both; the caller frees the path, also after a failure. */
gufo_status plan_folder_find(const char *path, const gufo_allocator *allocator, char **folder,
                             gufo_error *error);
/* The logs of a plan. */
logs plan_logs(const gufo_plan *plan, const char *folder);

/* How the parts of a plan are cut; the borders are the caller's, to be freed with cut_free. */
gufo_status plan_cut(const gufo_plan *plan, const gufo_job *job, job_cut *out, gufo_error *error);

/* ---- working ---------------------------------------------------------------------------------- */

/* Lets `here` be the plan beside the outputs, unless another worker is quicker.  The caller frees the one that is there; NULL
 * on failure. */
gufo_plan *maker_plan(gufo_job *job, const gufo_job_options *outputs, const gufo_plan *here,
                      const gufo_run *run, gufo_error *error);

/* GUFO_E_ARGUMENT for a job that is not made in parts. */
gufo_status parts_check_job(const gufo_job *job, const gufo_job_options *outputs,
                            gufo_error *error);

/* What the logs of a part say; all its units before *next are done. */
gufo_status plan_part_look(const gufo_plan *plan, const logs *of, uint64_t number, uint64_t *next,
                           part_logs *found, gufo_error *error);

/* A file that has not changed for so long has no worker any more. */
enum { SILENCE_SECONDS = 120 };
double plan_silence(const struct timespec *changed, const struct timespec *now);

#define PLAN_NAME "plan"
#define PLAN_COMMIT "commit"
#define PLAN_MAKER "maker"

#endif
