/* The engine that writes files from pieces: its interface for the rooms above.
 *
 * A job has targets, the files that it writes, and pieces, which fill them.  A planner (split,
 * merge, quantize, convert ...) defines the pieces; the engine does the rest: threads, memory,
 * temporary files, names, interruptions.
 *
 *     rows of a file --segments--> rows of the piece --ops, encoders--> rows of a target
 *
 *     sources   | a a a a | b b b |            where rows are: tensors, members of an archive
 *     segments  b0 a1 b1 a3 ...                which rows, in which order
 *     piece     | unit 0 | unit 1 | unit 2 |   the work of one thread at a time
 *     target    | header | piece | piece | ...
 *
 *     piece/   rows.c       from a row of a piece to bytes of a file
 *              row_op.c     operations on the numbers of a row, and the way back
 *              cut.c        units: their size; the shape of a transposed piece
 *     plan/    pieces.c     checking, copying and cutting pieces; tensors of models as pieces
 *              job.c        making, filling and asking a job; pieces in little memory
 *              inputs.c     the files that are read
 *     units/   make.c       a unit that is made: read, decoded, changed, encoded, measured; columns that
 *                           become rows, a band at a time
 *              move.c       a unit whose bytes do not change
 *              part.c       the units that a part has of a piece
 *              sample.c     chosen rows of pieces, made and measured without a run
 *              work.c       threads with their memory; small tables beside pieces: scales, factors, orders
 *              units.c      all units in a row
 *     run/     targets.c    temporary files and their names; what an interrupted run left of them
 *              journal.c    the progress, on disk; identity.c: of what it is; keeper.c writes it
 *              release.c    inputs that are removed when their bytes are safe
 *              run.c        a whole run, from the checks before it to the end of the job
 *              stream.c     to a pipe; given.c: data that the caller gives
 *     parts/   borders.c    a job in parts; spans.c: a part of it
 *              plan.c       the plan of a job as a value; plan_text.c: made of a job
 *              logs.c       what is done, on disk; progress.c: how far the parts are
 *              maker.c      the first worker; part_run.c: any of them; commit.c: the end
 *     document.c   the planner for documents whose tensors were copied
 *
 * Units are numbered through the whole job and depend on shapes alone.  So the progress is one
 * number, and the result does not depend on threads, memory or interruptions. */
#ifndef GUFO_PRODUCE_PRODUCE_H
#define GUFO_PRODUCE_PRODUCE_H

#include <inttypes.h>

#include "base/files/output.h"
#include "base/files/source.h"
#include "gufo/codec.h"
#include "gufo/produce.h"

/* ---- where rows come from ------------------------------------------------------------------- */

struct rows;

/* Numbers that are packed in a way no element type has: the rule of another format. */
typedef struct unpacker {
    const char *name;
    /* Rows [first, first + count) of `r`, whose bytes are at `bytes`, to count * r->columns floats.
     * `sides` are the tables of r->side, whole and as floats; NULL where none exists. */
    gufo_status (*floats)(const struct rows *r, const float *const *sides, const uint8_t *bytes,
                          uint64_t first, uint64_t count, float *out, gufo_error *error);
} unpacker;

enum { ROWS_SIDES = 3, OP_SIDES = 2 };

/* Rows as a source stores them: back to back from byte `offset` of a source, or wherever `read`
 * finds them. */
typedef struct rows {
    uint32_t input; /* number in the job's list: whom errors are about */
    bool swapped;   /* numbers are big-endian */
    const source *source;
    uint64_t offset;
    /* Without a source: rows [first, first + count) into `out`. */
    gufo_status (*read)(const struct rows *r, uint64_t first, uint64_t count, void *out,
                        gufo_error *error);
    void *context;
    bool
        generated; /* `read` computes numbers that no input has: their values belong to the identity */
    uint64_t memory; /* that `read` keeps for all threads together, in bytes */
    uint64_t row_bytes, count;
    uint64_t columns;              /* numbers in a row */
    const gufo_element_type *type; /* NULL: only moved, or `unpack` knows */
    const unpacker *unpack;
    const struct rows *side[ROWS_SIDES]; /* scales, zeros, an order */
} rows;

/* Some rows of a source, in some order:
 *
 *     row = first + i * stride[0] + j * stride[1] + k * stride[2]     i fastest, below count[0] */
typedef struct segment {
    uint32_t source; /* of the piece */
    uint64_t first, count[3], stride[3];
    uint64_t begin; /* its first row in the piece; set by job_add_piece */
} segment;

/* ---- what becomes of them ------------------------------------------------------------------- */

struct row_op;

/* One row of numbers, in double: operations are done there and rounded once. */
typedef struct op_row {
    double *values; /* `columns` numbers, changed in place */
    uint64_t columns;
    uint64_t row; /* in the piece */
} op_row;

/* Rows that follow each other in the piece, for an operation that is faster with several. */
typedef struct op_rows {
    double *values; /* one row after the other */
    uint64_t columns, first, count;
    gufo_cpu cpu;
} op_rows;

typedef struct row_op_kind {
    const char *name;
    uint32_t sides; /* that it needs */
    bool half;      /* in F16, not in F32: of those that undo others */
    /* Whether its tables fit a piece with `piece_rows` rows of `columns` numbers; NULL: it has none. */
    bool (*fits)(const struct row_op *op, uint64_t piece_rows, uint64_t columns);
    /* One of these exists. */
    void (*apply)(const struct row_op *op, const float *const *sides, op_row *row);
    void (*apply_rows)(const struct row_op *op, const float *const *sides, const op_rows *rows);
} row_op_kind;

extern const row_op_kind
    row_op_add, /* v + number, or v + number * side[0] where there is one row of it, or one each */
    row_op_scale,      /* v * number, or v * number * side[0] likewise */
    row_op_scale_rows, /* v * number * side[0][row], which has one column */
    row_op_neg_exp,    /* -exp(v) */
    /* The way back, to numbers of F32, or F16, that give the same numbers of F32, or F16, again where
     * any do: */
    row_op_subtract, row_op_subtract_f16, /* v - number */
    row_op_divide, row_op_divide_f16,     /* v / number */
    row_op_divide_rows,                 /* v / (number * side[0][row]), which has one column; F32 */
    row_op_log_neg, row_op_log_neg_f16, /* log(-v) */
    row_op_round_f16, /* the nearest number of F16: what arithmetic in F16 gives */
    row_op_round_f32, /* the nearest number of F32, between two operations in F32 */
    row_op_round_odd, /* a number of F32 that F16 and BF16 round as they round v: the last one */
    row_op_ternary, /* -1, 0 or 1, whichever v * number is nearest to, divided by number; in F32 */
    row_op_product; /* v + number * the sum over k of side[0][row][k] * side[1][k][column]; side[1]
                     * may have as many rows for each matrix of a stack */

typedef struct row_op {
    const row_op_kind *kind;
    const rows *side[OP_SIDES];
    double number;
} row_op;

/* ---- where they go -------------------------------------------------------------------------- */

#define NO_TARGET UINT32_MAX /* measured, not written */

/* One result of reading a piece; several of them are several types from one reading. */
typedef struct made {
    uint32_t target;               /* of the job, or NO_TARGET */
    bool encode : 1;               /* else blocks pass as they are, or repacked without loss */
    bool weighs : 1;               /* the encoder gets importance */
    bool swap : 1;                 /* numbers become big-endian */
    bool measure : 1;              /* what encoding loses */
    bool weighted : 1;             /* measuring gets importance, too */
    uint64_t place;                /* of its first row in the target */
    uint64_t row_bytes;            /* of one row there */
    const gufo_element_type *type; /* that it has there; NULL where it is only moved */
} made;

typedef enum piece_how {
    PIECE_MOVE,  /* bytes as they are: the kernel shares or copies them */
    PIECE_MAKE,  /* read, swapped or unpacked, decoded, operated on, encoded, measured, written */
    PIECE_GIVEN, /* the caller fills it */
} piece_how;

typedef struct piece {
    piece_how how;
    bool transpose;       /* every slice: its columns become rows */
    bool encodes, weighs; /* any result; the latter: or its measuring; set by job_add_piece */
    gufo_str name;        /* for errors */
    rows *sources;
    segment *segments;
    row_op *ops;
    made *made;
    uint32_t n_sources, n_segments, n_ops, n_made;
    uint64_t columns; /* numbers in a row of the result */
    uint64_t slices;  /* matrices with an importance each; no unit crosses from one into the next */
    uint64_t slice_rows;

    /* Set by job_add_piece, from what is above. */
    uint64_t unit_rows, step_rows, slice_units;
    uint64_t first_unit, units;
    uint64_t bytes; /* that are read for it in all */
} piece;

/* A piece of whole rows of one source in their order, with one result; its lists are here. */
typedef struct plain_piece {
    piece piece;
    rows source;
    segment all;
    made result;
} plain_piece;

#define NO_RESULT UINT32_MAX

/* A piece as a job keeps it: whole, or, of rows of one file in their order with one result, what
 * job_piece_at makes it of.  A job may have a million. */
typedef struct kept_piece {
    uint64_t first_unit; /* first: pieces are found by it */
    piece *whole;        /* NULL: */
    const char *name;
    uint32_t name_len;
    uint32_t input;
    uint64_t offset, columns, count; /* of the rows */
    const gufo_element_type *type;   /* NULL: they have as many bytes as in the target */
    made made;
    uint32_t result; /* its number among those that are measured, or NO_RESULT */
    bool swapped;
    uint8_t how; /* of piece_how */
} kept_piece;

/* ---- jobs ----------------------------------------------------------------------------------- */

/* A file that is read. */
typedef struct job_input {
    gufo_file_role role;
    uint32_t index;
    const char *name;
    const source *source;    /* NULL: not a file */
    uint64_t head;           /* bytes at its beginning that say what it is: metadata */
    const gufo_model *model; /* the shard that it is, or NULL */
    uint32_t first_file;     /* of a model that an import made: the first of the files it reads */
    bool replaceable;        /* by an output */
    bool released;           /* its data was needed no more, and is deleted (run/run.h) */
    bool planned; /* what is read of it is part of gufo_job.identity; else file and time count */
} job_input;

/* Rows on their way: [row, row + count) of a piece. */
typedef struct measured_rows {
    uint64_t piece;
    uint32_t made; /* the result that `decoded` is of */
    uint64_t row, count, columns;
    const float *values, *decoded;
    const float *importance; /* of the columns; NULL where made.weighted is not set */
} measured_rows;

/* What a planner does while its job runs.  Any of them may be NULL. */
typedef struct job_hooks {
    void *context;
    /* Called when the job begins, before anything is looked at or made; `run` is that of the job. */
    gufo_status (*begin)(void *context, const gufo_run *run, gufo_error *error);
    /* The importance of the columns of a slice: `columns` factors into `out`.  Any thread. */
    gufo_status (*importance)(void *context, uint64_t piece, uint64_t slice, float *out,
                              gufo_error *error);
    /* Some rows of a piece and what they became: adds to `result`, result_size bytes that begin as
     * zeros with each unit.  Any thread.  A failure ends the job. */
    gufo_status (*measure)(void *context, const measured_rows *seen, void *result,
                           gufo_error *error);
    /* Adds the result of a unit to what its piece has so far; in the order of units. */
    void (*add)(void *context, void *sum, const void *result);
    size_t result_size;
} job_hooks;

enum { JOB_RESULT_SIZE = 1536 }; /* the largest result */

typedef struct job_target {
    uint64_t size;                    /* of the file */
    uint64_t tensor_count, data_size; /* for those who ask */
    const char *name;                 /* with JOB_NAMED_EACH: of the file; the planner's */
    /* The bytes before the pieces: */
    gufo_document *document; /* a GGUF header, which the planner owns; or */
    const void *header;      /* bytes of another format, likewise; or nothing */
    size_t header_size;
    uint64_t first_piece, last_piece; /* that write to it; set by job_add_piece */
    bool has_pieces;
} job_target;

typedef enum job_naming {
    JOB_NAMED_FILE,   /* by the path */
    JOB_NAMED_PREFIX, /* as shards whose names begin with the path */
    JOB_NAMED_SET,    /* as shards, of which the path is the first; one is named by the path */
    JOB_NAMED_STEM,   /* the same, and NAME.gguf means NAME-00001-of-0000N.gguf */
    JOB_NAMED_EACH,   /* by names of their own, in the folder that the path is */
} job_naming;

/* What a planner was told that decides about bytes and that neither pieces nor targets show.  The texts are constant. */
typedef struct job_choice {
    const char *name, *value;
} job_choice;

enum { JOB_CHOICES = 4 };

struct gufo_job {
    gufo_allocator allocator;
    job_input *inputs;
    kept_piece *pieces;
    job_target *targets;
    uint8_t *results; /* of each piece that is measured: hooks.result_size bytes */
    uint32_t result_count;
    uint64_t input_count, piece_count, target_count;
    uint64_t input_room, piece_room, target_room;
    uint64_t unit_count;
    uint64_t total; /* bytes that are read in all */
    job_hooks hooks;
    gufo_effort effort;    /* of encoders */
    uint64_t memory;       /* that may be used where gufo_run does not say, */
    uint64_t other_memory; /* and what the planner takes of it */
    bool unreserved;       /* targets share blocks with inputs, or have too much padding to write */
    uint64_t identity; /* a hash of whatever else decides about the bytes; hooks.begin may set it */
    /* What of that has a name: plans say its value. */
    job_choice choices[JOB_CHOICES];
    uint32_t choice_count;
    job_naming naming;
    uint32_t set_count;  /* sets of so many targets each, one after the other; 0: one */
    uint32_t normalised; /* of gufo_normalised */
    void *planner;       /* what belongs to the plan, with its end; may be NULL */
    void (*planner_free)(void *planner);

    const char *volatile *temporaries; /* of all targets, while it is written */
    struct given *given;               /* between gufo_job_open and _finish */
    bool used;
    /* Its identity is that of a plan, which has samples of all inputs: hooks.begin reads none of them for it. */
    bool by_parts;
    bool begins_with_data; /* hooks.begin makes numbers, on which the first bytes depend */

    /* Adds all pieces again, for hooks.context, when the job is to be written: until then those that are added
     * are only counted, for many plans are only looked at.  NULL: pieces are kept as they are added. */
    gufo_status (*add_pieces)(void *context, gufo_error *error);
    uint64_t counted;

    /* Of a job that is only asked: piece `index`, which is made in *room where it is not kept.  NULL: all
     * pieces are kept. */
    const piece *(*piece_at)(const gufo_job *job, uint64_t index, plain_piece *room);
    const void *asked; /* for piece_at */
};

gufo_job *job_new(const gufo_allocator *allocator, gufo_error *error);

gufo_status job_add_input(gufo_job *job, const job_input *input, uint32_t *number,
                          gufo_error *error);
gufo_status job_add_target(gufo_job *job, const job_target *target, uint32_t *number,
                           gufo_error *error);
/* Takes a piece: copies it with its arrays (side tables are copied, too), checks that everything is
 * inside its sources, and cuts it.  Pieces of one target come in the order of their places.
 * GUFO_E_ARGUMENT for a piece that makes no sense, GUFO_E_LIMIT for rows that are too long. */
gufo_status job_add_piece(gufo_job *job, const piece *p, gufo_error *error);
/* The same checks and counts without taking the piece: what job_add_piece sets is set in *p. */
gufo_status job_count_piece(gufo_job *job, piece *p, gufo_error *error);
/* Piece `index` of a job; what is not kept is made in *room. */
const piece *job_piece_at(const gufo_job *job, uint64_t index, plain_piece *room);
/* Makes room for `count` more pieces, which stay where they are then. */
gufo_status job_reserve_pieces(gufo_job *job, uint64_t count, gufo_error *error);
/* All rows of one source, in their order, in `slices` slices, and what becomes of them. */
gufo_status job_add_results(gufo_job *job, piece_how how, gufo_str name, const rows *from,
                            const made *results, uint32_t count, uint64_t slices,
                            gufo_error *error);
/* The same with one result. */
gufo_status job_add_rows(gufo_job *job, piece_how how, gufo_str name, const rows *from,
                         const made *result, uint64_t slices, gufo_error *error);
/* Bytes of a file, as rows. */
rows job_byte_rows(const gufo_job *job, uint32_t input, uint64_t from, uint64_t size);
/* Bytes of a file that stay as they are. */
gufo_status job_add_move(gufo_job *job, uint32_t input, uint64_t from, uint64_t size,
                         uint32_t target, uint64_t place, gufo_str name, gufo_error *error);

/* Adds a target for a document and a piece for each of its tensors: what was copied from a model is
 * moved or swapped, the rest is given by the caller.  The document is laid out. */
gufo_status job_add_document(gufo_job *job, gufo_document *document, gufo_error *error);
/* The same target without pieces, for a planner that makes its own. */
gufo_status job_add_document_target(gufo_job *job, gufo_document *document, uint32_t *number,
                                    gufo_error *error);
/* The rows of tensor `index` of the model that is input `input`. */
rows job_tensor_rows(const gufo_job *job, uint32_t input, const gufo_tensor *tensor,
                     uint64_t index);
/* Adds what is made of tensor `index` of the model that is input `input`; row_bytes of the results is
 * set here. */
gufo_status job_add_tensor(gufo_job *job, uint32_t input, const gufo_tensor *tensor, uint64_t index,
                           made *results, uint32_t count, uint64_t slices, gufo_error *error);
/* The number of a shard of a model among the inputs, which it becomes if it is not one yet. */
gufo_status job_add_model(gufo_job *job, const gufo_model *model, uint32_t shard, uint32_t *number,
                          gufo_error *error);
/* All shards of a model as inputs, also those of which nothing is taken: they must not be replaced,
 * nor change.  First of all in a plan, so that shard i is input i. */
gufo_status job_add_shards(gufo_job *job, const gufo_model *model, gufo_error *error);
/* A tensor of a file whose numbers are not empty, in the other byte order than the file's. */
gufo_status job_add_swapped(gufo_job *job, uint32_t input, const gufo_tensor *tensor,
                            uint32_t target, uint64_t place, gufo_error *error);
/* Keeps a piece, which is counted, for a job; false without memory.  A job that is only asked has whole
 * pieces alone: who asks it makes the others. */
bool piece_keep(gufo_job *job, const piece *p, uint32_t first_input, kept_piece *out);
/* Frees a whole piece with what it owns. */
void piece_free(const gufo_allocator *allocator, piece *p);
/* What depends on the pieces, once all are there. */
gufo_status job_complete_pieces(gufo_job *job, gufo_error *error);
/* Adds the pieces that were only counted so far.  First of all where a job is written. */
gufo_status job_add_counted(gufo_job *job, gufo_error *error);
/* Ends planning: what can only be known then is checked and reserved.  On failure the job is freed;
 * returns it, or NULL. */
gufo_job *job_planned(gufo_job *job, gufo_status status, gufo_error *error);

/* Rows that are made and measured, and not written: [row, row + count) of a piece, which neither cross
 * from one slice into the next nor are more than a unit has (job_unit_rows).  Rows of interleaved types
 * begin and end with their groups (job_group_rows). */
typedef struct job_sample {
    uint64_t piece, row, count;
    uint64_t skipped; /* results of the piece that are not made: bit i is result i */
} job_sample;

/* Who says which rows. */
typedef struct job_sampler {
    void *context;
    /* The samples of the next round, in the order of pieces and rows; *count 0 ends the work.  They
     * live until the next call. */
    gufo_status (*next)(void *context, const job_sample **samples, uint64_t *count,
                        gufo_error *error);
    /* What hooks.measure gave for sample `index` of the round; in their order, one at a time. */
    gufo_status (*take)(void *context, uint64_t index, const void *result, gufo_error *error);
} job_sampler;

/* Measures samples, round after round, with the threads and memory of one run.  A job that is planned
 * and has no targets; may be called again. */
gufo_status job_measure_samples(gufo_job *job, const gufo_run *run, const job_sampler *sampler,
                                gufo_error *error);
/* Rows of a piece in a whole unit, and rows that are only read together. */
uint64_t job_unit_rows(const piece *p);
uint64_t job_group_rows(const piece *p);

/* Rows [row, row + count) of piece `index`, which has one result without importance: what a run would
 * write, without one.  Any thread. */
gufo_status job_peek(const gufo_job *job, uint64_t index, uint64_t row, uint64_t count, void *out,
                     gufo_error *error);
/* Hashes of the inputs (size, time, what they say before their data) and of the plan, by which a later
 * process finds that a job is the same.  GUFO_E_ARGUMENT if none of the inputs is a file. */
gufo_status job_identity(const gufo_job *job, uint64_t *inputs, uint64_t *plan, gufo_error *error);
/* GUFO_E_CHANGED if an input was written to since it was opened. */
gufo_status job_check_inputs(const gufo_job *job, gufo_error *error);

/* The bytes before the pieces of a target; they live until the document changes. */
gufo_status job_header(const job_target *target, const void **bytes, size_t *size,
                       gufo_error *error);

/* Shards in each set that the job writes. */
static inline uint64_t job_set_size(const gufo_job *job)
{
    return job->set_count > 1 ? job->target_count / job->set_count : job->target_count;
}

/* What has been measured of a piece so far; NULL: nothing is. */
static inline void *job_result(const gufo_job *job, uint64_t index)
{
    const uint32_t number = job->pieces[index].result;

    return number != NO_RESULT ? job->results + number * job->hooks.result_size : NULL;
}

/* Adds the result of a unit of a piece. */
static inline void job_add_result(const gufo_job *job, uint64_t index, const void *result)
{
    void *sum = job_result(job, index);

    if (sum != NULL && job->hooks.add != NULL)
        job->hooks.add(job->hooks.context, sum, result);
}

#endif
