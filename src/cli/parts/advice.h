/* How long a run of parts takes: arithmetic on figures that are known or measured before it.
 *
 * A run makes `parts` equal parts by `workers` processes, one on each machine.  Its time is
 *
 *     begin   the scheduler's delay, the plan, the first worker's reservation
 *   + the longest of
 *       rounds       every worker makes one part after the other, each as slow as its slowest step: bytes
 *                    read through its link, numbers encoded by its cores, bytes written
 *       shared       all bytes through what the machines share: a file server, its disks; all file
 *                    operations through its metadata server
 *   + commit  one process adds results and gives names
 *
 * Machines that are slow, and machines that fail, lengthen the rounds.  bench/simulate runs the same
 * figures event by event and says how far both are apart.
 *
 * In all figures 0 means: no limit, none, no time. */
#ifndef CLI_PARTS_ADVICE_H
#define CLI_PARTS_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes, seconds, bytes per second. */
typedef struct advice_run {
    /* The work. */
    double read_bytes, write_bytes;
    double core_seconds; /* of encoding, on one core of a worker */
    double
        part_core_seconds; /* more for each part: a unit at its border, which its neighbour makes, too */
    double most_parts; /* as many as there are shards, where parts are whole shards */

    /* A worker. */
    double cores;
    double read_rate,
        write_rate;   /* the least of its link and what the file server gives one client */
    bool staged;      /* copies a part's input to its own disk, works there, and copies the
                                     output away, one after the other; else all at once */
    double disk_rate; /* of its own disk, reading and writing together, if staged */

    /* What all workers share. */
    double read_cap, write_cap, both_cap; /* both: reading and writing together */
    double core_cap;                      /* cores, if the workers are processes of one machine */
    double operation_cap;                 /* opening, making, naming files: operations per second */

    /* Steps that do not depend on bytes. */
    double start;            /* until the first worker runs */
    double launch_rate;      /* workers that the scheduler starts per second */
    double plan, reserve;    /* of every worker; of the first one */
    double operation_time;   /* latency of an operation */
    double start_operations; /* of a worker: files that it opens */
    double part_operations;
    double commit, commit_part; /* in all, and for each part */

    /* Trouble. */
    double slow_share, slow_factor; /* so many of the workers take so many times as long */
    double fail_every;              /* mean time between failures of a worker */
    double restart;                 /* from a failure until the worker works again */
    double log_every;               /* work that is younger is lost when a worker dies */
    double silence; /* of a part's log, after which another worker goes on with it */

    bool fixed; /* every worker has its share (K/N); else it takes the next part that is left */
} advice_run;

/* What decides the time. */
typedef enum advice_limit {
    ADVICE_ENCODE,     /* the workers' cores */
    ADVICE_LINK,       /* their links or disks */
    ADVICE_SHARED,     /* bytes through what they share */
    ADVICE_CORES,      /* the one machine's cores */
    ADVICE_OPERATIONS, /* the metadata server */
    ADVICE_BEGIN,      /* steps before and after the work */
} advice_limit;

typedef struct advice_time {
    double seconds; /* all of it: */
    double begin, work, commit;
    double part; /* seconds of one part on a worker that is not slow */
    advice_limit limit;
} advice_time;

/* The time of `parts` parts (at least 1, at most `most_parts`) with `workers` workers (at least 1). */
advice_time advice_predict(const advice_run *run, uint64_t workers, uint64_t parts);

typedef struct advice {
    advice_time alone; /* one worker, as many parts as is best for it */
    advice_time best;
    uint64_t workers, parts; /* of the best */
    bool one_is_enough;      /* more workers save less than a third of the time */
} advice;

/* The most workers up to `most_workers` of which each is used at least half, as one alone would be, and
 * the fewest parts that come within 1 % of the least time then.  If one is enough, it is `best`. */
advice advice_choose(const advice_run *run, uint64_t most_workers);

#endif
