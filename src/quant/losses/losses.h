/* Losses, the interface inside the folder.
 *
 *     losses.c       which types a tensor may get; making, freeing; queries
 *     measure.c      the job that measures: a piece for each tensor, a result for each type
 *     sample.c       where rows are drawn, round after round, until the standard error is small
 *     file.c         the file: what it is about, reading, writing
 *
 * The quantizer inside is a plan without outputs, with a target for each type: what tensors are, and
 * what becomes of them, is found where the quantizer finds it. */
#ifndef GUFO_QUANT_LOSSES_H
#define GUFO_QUANT_LOSSES_H

#include "gufo/document.h"
#include "gufo/target_size.h"
#include "produce/produce.h"
#include "quant/quantizer.h"

typedef struct loss_option {
    const gufo_element_type *type; /* NULL: an unknown type */
    uint64_t bytes;
    uint32_t flags; /* of gufo_recipe_flags */
    bool stays;     /* nothing is encoded, or nothing is there */
    uint64_t rows;  /* that were measured; 0: the loss is not known, unless the option stays */
    double relative, standard_error;
    bool sampled; /* it is what is measured where all rows are not asked for */
} loss_option;

typedef struct loss_tensor {
    size_t first, count; /* of gufo_losses.options */
    bool is_fixed;
    gufo_recipe_reason reason;
} loss_tensor;

/* A type that tensors may get. */
typedef struct loss_type {
    const gufo_element_type *type;
    bool weighs_only; /* tensors with importance, */
    bool own_only;    /* or those that have it already */
} loss_type;

/* A row of a file that is of no use now, about a type that is not an option or of another way to measure: it is
 * kept for the next file. */
typedef struct loss_kept {
    uint64_t tensor;
    loss_option option; /* type, rows, loss and `sampled` alone */
} loss_kept;

struct gufo_losses {
    gufo_allocator allocator;
    gufo_quantizer *q;           /* target i is types[i] */
    gufo_quantize_options asked; /* as the caller gives them, for size/ */
    bool all_rows;               /* are wanted */
    loss_type types[GUFO_QUANTIZE_TARGETS];
    size_t type_count;
    loss_tensor *tensors; /* those of q */
    loss_option *options;
    uint64_t option_count, option_room;
    loss_kept *kept; /* in the order of tensors, then of ids */
    uint64_t kept_count;
};

static inline loss_option *loss_option_of(const gufo_losses *l, uint64_t tensor, size_t option)
{
    return &l->options[l->tensors[tensor].first + option];
}

/* Rows of a tensor. */
static inline uint64_t loss_rows_of(const gufo_losses *l, uint64_t tensor)
{
    const gufo_tensor input = quant_source(l->q, &l->q->tensors[tensor]);

    return input.elements > 0 ? input.elements / input.dims[0] : 0;
}

static inline bool loss_is_known(const loss_option *o)
{
    return o->stays || o->rows > 0;
}

/* ---- losses.c ------------------------------------------------------------------------------- */

/* Whether the encoder of a type searches long. */
bool losses_encodes_slowly(const gufo_element_type *type);

/* ---- sample.c ------------------------------------------------------------------------------- */

/* What is known of the loss of an option. */
typedef struct loss_sums {
    double error, value;       /* of rows that are not drawn: all, or the heaviest */
    uint64_t drawn;            /* rows, as often as they were drawn */
    double ratio, ratio_ratio; /* sums of their own losses, and of the squares of these */
} loss_sums;

static inline double loss_ratio(double error, double value)
{
    if (error == 0)
        return 0;
    return value > 0 ? error / value : 1;
}

/* ---- file.c --------------------------------------------------------------------------------- */

/* What decides about losses, beside tensor and type. */
typedef struct loss_identity {
    uint64_t inputs, plan;
} loss_identity;

/* Takes the losses that a file has for this identity: gufo_losses_read. */
gufo_status losses_take(gufo_losses *l, const loss_identity *identity, const gufo_model *file,
                        uint64_t *taken, gufo_error *error);
/* Adds a row to the check of all, which detects damage, not forgeries. */
void losses_chain(uint64_t *check, gufo_str name, const loss_option *o);
/* Sets what a file of these losses holds, and lays it out. */
gufo_status losses_describe(const gufo_losses *l, const loss_identity *identity, gufo_document *d,
                            gufo_error *error);

/* ---- sample.c ------------------------------------------------------------------------------- */

/* An option that is measured. */
typedef struct loss_result {
    loss_option *option;
    loss_sums sums;
    bool done;
} loss_result;

typedef enum loss_stage {
    STAGE_WAITS,
    STAGE_WEIGHS, /* all rows, without encoding them */
    STAGE_DRAWS,  /* heavy rows, and a sample of the others */
    STAGE_ALL,    /* all rows */
    STAGE_DONE,
} loss_stage;

enum { MOST_HEAVY = 32 };

/* A piece of the job: a result for each option, and behind them one that only weighs. */
typedef struct loss_piece {
    uint64_t tensor;
    size_t first; /* of the results */
    uint32_t count;
    uint64_t groups, group_rows; /* rows are read in groups, which are often single rows */
    loss_stage stage;
    uint64_t seed;
    unsigned level;  /* 2^level places are drawn */
    bool drawn;      /* those of the level before were */
    double *weights; /* of groups; then, without the heavy ones, the sums up to the end of each */
    double rest;     /* the part of the weight that is not of heavy groups */
    uint64_t heavy[MOST_HEAVY]; /* ascending */
    unsigned heavy_count;
} loss_piece;

typedef struct sampling {
    gufo_losses *losses;
    gufo_job *job;
    loss_piece *pieces;
    loss_result *results;
    uint64_t begin, end; /* pieces that are worked on together, */
    double *weights;     /* and the weights of their groups */
    job_sample *samples; /* of the round; */
    uint64_t *times;     /* how often each was drawn; 0: it is not drawn */
    uint64_t count, room, times_room;
} sampling;

/* What one sample gives for each result. */
typedef struct sampled {
    double error, value;
} sampled;

/* Sets what depends on the piece of the job. */
void sample_begin(const sampling *s, loss_piece *p, uint64_t number);
/* The bytes that all lists take. */
uint64_t sample_memory(const sampling *s);
/* Notes the weights of rows of a piece. */
gufo_status sample_weigh(const sampling *s, const measured_rows *seen, gufo_error *error);
/* The next round (job_sampler). */
gufo_status sample_next(void *context, const job_sample **samples, uint64_t *count,
                        gufo_error *error);
gufo_status sample_take(void *context, uint64_t index, const void *result, gufo_error *error);

#endif
