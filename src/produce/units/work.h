/* The inside of the engine. */
#ifndef GUFO_PRODUCE_WORK_H
#define GUFO_PRODUCE_WORK_H

#include "base/checked.h"
#include "codec/run.h"
#include "produce/produce.h"

/* ---- inputs.c ------------------------------------------------------------------------------- */

/* Adds all shards of all models that the documents of targets were made from, unless they are
 * inputs already. */
gufo_status inputs_complete(gufo_job *job, gufo_error *error);

/* ---- rows.c --------------------------------------------------------------------------------- */

/* Rows of a piece that are contiguous in one of its sources. */
typedef struct row_run {
    const rows *rows;
    uint64_t first, count; /* in the source */
} row_run;

/* Whether all rows of the piece are inside its sources; sets the beginnings of segments and joins
 * counts that follow each other.  `rows` is how many there must be. */
bool rows_check(piece *p, uint64_t row_count);
/* The run that row `row` of the piece begins, with `most` rows at most. */
row_run rows_find(const piece *p, uint64_t row, uint64_t most);
/* Tells the sources of a piece which of their bytes come next, when `count` rows from `row` on are read: those up
 * to the end of the segments. */
void rows_expect(const piece *p, uint64_t row, uint64_t count);
/* Reads a run. */
gufo_status rows_read(const gufo_job *job, const row_run *run, void *out, gufo_error *error);
/* Reads rows [row, row + count) of a piece, one after the other. */
gufo_status rows_gather(const gufo_job *job, const piece *p, uint64_t row, uint64_t count,
                        uint8_t *out, gufo_error *error);
/* Reads bytes [from, from + size) of one row. */
gufo_status rows_read_part(const gufo_job *job, const row_run *run, uint64_t from, size_t size,
                           void *out, gufo_error *error);
/* Names the input in an error about it. */
gufo_status rows_fail(const gufo_job *job, const rows *r, gufo_status status, gufo_error *error);

/* Blocks of a run to numbers; its bytes are changed. */
gufo_status rows_decode(const gufo_job *job, const row_run *run, const float *const *sides,
                        uint8_t *bytes, float *out, gufo_cpu cpu, gufo_error *error);

/* ---- tables beside pieces ------------------------------------------------------------------------------ */

struct work;

/* The tables of a piece, whole and as floats; in the order of its sources and operations. */
typedef struct side_tables {
    float **tables; /* NULL where none exists; NULL itself without any */
    uint64_t count;
} side_tables;

enum { SIDE_PIECES = 64 };

/* Those of pieces that are worked on together. */
typedef struct loaded_sides {
    side_tables of[SIDE_PIECES];
    uint64_t first, count; /* pieces */
    uint64_t capacity;     /* bytes, where several pieces have tables */
} loaded_sides;

/* Whether a piece may have tables. */
bool side_exists(const piece *p);
/* Bytes that the tables of a piece take. */
gufo_status side_measure(const piece *p, uint64_t *bytes, gufo_error *error);
/* Loads those of pieces [first, first + count), SIDE_PIECES at most. */
gufo_status side_load(struct work *w, uint64_t first, uint64_t count, gufo_error *error);
void side_free(struct work *w);

static inline const side_tables *side_of_piece(const loaded_sides *s, uint64_t number)
{
    /* Pieces without tables are worked on together, however many. */
    return number - s->first < s->count ? &s->of[number - s->first] : NULL;
}

static inline const float *const *side_of_source(const side_tables *s, const piece *p,
                                                 const rows *r)
{
    if (s == NULL || s->tables == NULL)
        return NULL;
    return (const float *const *)s->tables + (size_t)(r - p->sources) * ROWS_SIDES;
}

static inline const float *const *side_of_op(const side_tables *s, const piece *p, uint32_t op)
{
    if (s == NULL || s->tables == NULL)
        return NULL;
    return (const float *const *)s->tables + (size_t)p->n_sources * ROWS_SIDES +
           (size_t)op * OP_SIDES;
}

/* ---- row_op.c ------------------------------------------------------------------------------- */

/* Whether the operations of a piece are those of one adapter, which need no row of doubles: from
 * floats to floats at once. */
bool row_op_merges(const piece *p);
/* Does them on rows [row, row + count); `sides` are those of the first. */
void row_op_merge(const piece *p, const float *const *sides, uint64_t row, uint64_t count,
                  float *values, gufo_cpu cpu);

/* ---- transposed pieces ----------------------------------------------------------------------------- */

/* The type of plain numbers that all sources have; NULL if they differ or have blocks. */
const gufo_element_type *cell_type(const piece *p);
/* Bytes of a number in a band of this piece. */
size_t cell_size(const piece *p);
/* Bytes that `numbers` numbers of a row take in the source, and in a worker's buffer, from whatever
 * source of the piece they come. */
uint64_t cell_part_bytes(const rows *r, uint64_t numbers);
uint64_t cell_part_room(const piece *p, uint64_t numbers);

/* ---- cut.c ---------------------------------------------------------------------------------- */

typedef struct unit {
    const piece *piece;
    uint64_t number; /* of the piece */
    uint64_t slice;
    uint64_t row, rows; /* of the piece */
    uint64_t skipped;   /* results that are not made: bit i is result i */
} unit;

/* Cuts a piece: unit_rows, step_rows, units.  GUFO_E_LIMIT for rows that no memory holds. */
gufo_status cut_piece(piece *p, uint64_t first_unit, gufo_error *error);
/* The bytes that are read for a unit. */
uint64_t cut_bytes(const unit *u);

/* Rows that interleaved types merge; 1 for all others. */
uint64_t cut_group(const piece *p);

/* Bytes of the buffers that a unit needs. */
typedef struct unit_buffers {
    uint64_t source;   /* before */
    uint64_t coded;    /* after, of all results */
    uint64_t values;   /* floats of a step; as many again when they are decoded */
    uint64_t operated; /* doubles of a step */
    uint64_t importance;
} unit_buffers;

unit_buffers cut_buffers(const piece *p, bool to_stream);

/* ---- numbers of units ------------------------------------------------------------------------------- */

/* Unit `number` of a job, whose piece may be in *room; the number of its piece alone. */
unit cut_find(const gufo_job *job, uint64_t number, plain_piece *room);
uint64_t cut_piece_of(const gufo_job *job, uint64_t number);

/* The row of the piece with which its unit `number` (of the job) begins; all rows for the end of the last one. */
uint64_t cut_row(const piece *p, uint64_t number);
/* The bytes that are read for units [begin, end) of the piece. */
uint64_t cut_span_bytes(const piece *p, uint64_t begin, uint64_t end);

/* ---- parts ------------------------------------------------------------------------------------ */

typedef struct byte_range {
    uint64_t from, to; /* of a target; from == to: nothing of it */
} byte_range;

/* A part of a job (parts/parts.h): what one process makes of it.
 *
 * Its units are those that touch a byte of the part in any target, or write nothing and are between its borders.
 * They are among [first_unit, end_unit), which has others only where pieces of several targets take turns. */
typedef struct job_part {
    uint64_t number;
    uint64_t border, next_border; /* units */
    uint64_t first_unit, end_unit;
    uint32_t first_target, end_target; /* targets that are touched are among these */
    byte_range *bytes;                 /* of each of them */
    uint64_t total;                    /* bytes that its units read */
} job_part;

/* What a part (NULL: everything) has of bytes [at, at + size) of a target. */
static inline byte_range part_clip(const job_part *part, uint32_t target, uint64_t at,
                                   uint64_t size)
{
    byte_range r = {at, at + size};

    if (part == NULL)
        return r;
    if (target < part->first_target || target >= part->end_target)
        return (byte_range){at, at};
    r.from = larger(r.from, part->bytes[target - part->first_target].from);
    r.to = smaller(r.to, part->bytes[target - part->first_target].to);
    return r.from < r.to ? r : (byte_range){at, at};
}

/* Whether a part has anything of a target. */
static inline bool part_touches(const job_part *part, uint32_t target)
{
    return target >= part->first_target && target < part->end_target &&
           part->bytes[target - part->first_target].from <
               part->bytes[target - part->first_target].to;
}

/* The unit that a row of a piece is in. */
uint64_t cut_unit_of(const piece *p, uint64_t row);
/* The units [*begin, *end) of a piece that a part makes; false: none. */
bool part_units(const job_part *part, const piece *p, uint64_t *begin, uint64_t *end);
/* What a piece writes to a target; NULL: nothing. */
const made *part_made(const piece *p, uint32_t target);
/* The first of pieces [from, end) that writes something to a target; `end`: none does. */
uint64_t part_next_piece(const gufo_job *job, uint32_t target, uint64_t from, uint64_t end);

/* The pieces that may write to a target: [first_piece, target_end(...)). */
static inline uint64_t target_end(const job_target *target)
{
    return target->has_pieces ? target->last_piece + 1 : target->first_piece;
}

/* ---- workers -------------------------------------------------------------------------------- */

/* What a thread works with. */
typedef struct worker {
    uint8_t *source, *coded;
    size_t source_size;
    float *values, *decoded, *importance;
    double *operated;
    uint64_t importance_piece, importance_slice; /* what is in `importance`; UINT64_MAX: nothing */
} worker;

/* A part of a transposed slice: output rows [first, first + count), complete. */
typedef struct band {
    uint8_t *cells;    /* row after row */
    uint64_t capacity; /* bytes */
    uint64_t piece, slice;
    uint64_t first, count; /* rows of the slice */
    size_t cell;           /* bytes of a number: as in the source, or a float */
} band;

typedef struct work {
    gufo_job *job;
    gufo_allocator allocator; /* of buffers and threads: the run's, or the job's */
    const gufo_run *run;
    gufo_cpu cpu;
    unsigned threads;
    uint64_t memory; /* the limit */
    worker *workers;
    uint8_t *buffers; /* of all workers */
    band band;
    loaded_sides sides;
    gufo_encoder **encoders; /* by id of the type; NULL where none is needed */
    const int *files;        /* descriptors of targets; NULL: nothing is written */
    char *const *paths;      /* of targets, for errors; may be NULL */
    const job_part *part;    /* whose bytes alone are written; NULL: all are */
    /* What is done with units that need nothing but their buffers; NULL: they are written. */
    gufo_status (*run_span)(void *context, uint64_t begin, uint64_t end, gufo_error *error);
    void *span_context;
    const job_sample *samples; /* the units, in place of those of the job; NULL: these */
    gufo_status (*take)(void *context, uint64_t index, const void *result, gufo_error *error);
    void *take_context;
    uint64_t done, total; /* bytes that were read, and that are to be read */
    /* Called for each unit that is done, in order, with what was measured of it; may be NULL. */
    gufo_status (*note)(void *context, uint64_t unit, uint64_t piece, const void *result,
                        gufo_error *error);
    void *note_context;
} work;

/* Makes room for threads.  GUFO_E_LIMIT if not one fits into the memory. */
gufo_status work_begin(work *w, gufo_job *job, const gufo_run *run, bool to_stream,
                       gufo_error *error);
void work_end(work *w);
/* Names a target in an error about it. */
gufo_status work_fail_target(const work *w, uint32_t target, gufo_status status, gufo_error *error);
/* Writes bytes of a target: those of the part. */
gufo_status work_write(const work *w, uint32_t target, uint64_t at, const uint8_t *bytes,
                       uint64_t size, gufo_error *error);
/* Counts what a unit has read; GUFO_E_STOPPED if the caller wants no more. */
gufo_status work_advance(work *w, uint64_t bytes, gufo_error *error);

/* ---- make.c, move.c --------------------------------------------------------- */

/* Makes a unit; the bytes of result `number` are at make_bytes(...) of the worker then. */
gufo_status make_unit(work *w, worker *t, const unit *u, void *result, gufo_error *error);
uint8_t *make_bytes(const worker *t, const unit *u, uint32_t number);
gufo_status make_write(work *w, const worker *t, const unit *u, gufo_error *error);

gufo_status move_unit(work *w, worker *t, const unit *u, gufo_error *error);

/* Fills the band with rows from `first` of the slice on, as many as it holds, but no units after the first
 * `units`. */
gufo_status transpose_fill(work *w, uint64_t number, uint64_t slice, uint64_t first, uint64_t units,
                           gufo_error *error);

/* ---- units.c -------------------------------------------------------------------------------- */

/* Whether making a piece takes nothing that all threads share. */
static inline bool piece_is_simple(const piece *p)
{
    return !p->transpose && !side_exists(p);
}

/* Unit `number` of the job, or of the samples. */
unit units_at(const work *w, uint64_t number, plain_piece *room);
/* Units [begin, end) whose tables and band exist, or that need none: numbers of the job's units, or of
 * samples. */
gufo_status units_span(work *w, uint64_t begin, uint64_t end, gufo_error *error);
/* All units [begin, end), in parallel. */
gufo_status units_run(work *w, uint64_t begin, uint64_t end, gufo_error *error);

/* ---- questions ------------------------------------------------------------------------------- */
/* Whether options make sense; GUFO_E_ARGUMENT also for NULL, for they hold the path. */
gufo_status job_check_options(const gufo_job_options *options, gufo_error *error);
/* Whether this version, on this processor, can do what a gufo_run wants. */
gufo_status job_check_run(const gufo_run *run, gufo_error *error);
/* Marks a job as used, which it must not be yet. */
gufo_status job_begin(gufo_job *job, const gufo_run *run, gufo_error *error);
/* The same, and makes room for threads, for a job of which the caller gives no data: else
 * GUFO_E_ARGUMENT. */
gufo_status job_start(gufo_job *job, work *w, const gufo_run *run, bool to_stream,
                      gufo_error *error);

#endif
