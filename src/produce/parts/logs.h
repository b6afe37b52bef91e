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
#ifndef GUFO_PRODUCE_PARTS_LOGS_H
#define GUFO_PRODUCE_PARTS_LOGS_H

#include <time.h>

#include "base/buffer.h"
#include "gufo/plan.h"

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

/* Begins a new log for a part, of which units before `unit` are done.  *taken: another worker has begun that one. */
gufo_status log_create(part_log *log, const logs *of, uint64_t part, unsigned attempt,
                       uint64_t unit, bool *taken, gufo_error *error);
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

#endif
