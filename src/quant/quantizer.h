/* The quantizer, as the room sees it.
 *
 *     plan.c         which tensors there are, and what each becomes
 *     layers.c       layers that are left out, and the numbers of those after them
 *     metadata.c     the metadata of the output
 *     units.c        tensors cut into units of work
 *     convert.c      one unit decoded, encoded and measured
 *     copy.c         one unit copied
 *     loss.c         how much encoding has lost
 *     outputs.c      the files that are written
 *     journal.c      what is done, on disk
 *     keeper.c       keeps the journal up to date beside the work
 *     run.c          all of it in a row
 *
 * The order of everything is that of units: they are numbered through all tensors, and "done" is
 * one number. */
#ifndef GUFO_QUANT_QUANTIZER_H
#define GUFO_QUANT_QUANTIZER_H

#include "base/buffer.h"
#include "base/output.h"
#include "gufo/quant.h"

/* How a unit is made. */
typedef enum quant_method {
    METHOD_COPY,    /* bytes as they are */
    METHOD_REPACK,  /* a removed interleaved type to the type it was made from */
    METHOD_CONVERT, /* decode, encode */
} quant_method;

/* How a tensor is cut.  Slices (the matrices of a stack of experts) have an importance of their own
 * each, so that no unit crosses from one into the next. */
typedef struct quant_cut {
    quant_method method;
    uint64_t first_unit;
    uint64_t units;
    uint64_t unit_bytes;    /* METHOD_COPY: bytes of all units but the last */
    uint64_t slices;        /* else: */
    uint64_t rows;          /* of one slice */
    uint64_t rows_per_unit; /* but for the last of a slice */
    uint64_t units_per_slice;
    uint64_t rows_per_step;  /* that are decoded and encoded in one go */
    uint64_t row_bytes_from; /* of one row in the input */
    uint64_t row_bytes_to;   /* and in the output */
} quant_cut;

typedef struct quant_tensor {
    gufo_tensor source; /* its name is a copy */
    gufo_str name;      /* in the output */
    size_t shard;       /* of the input */
    size_t output;
    uint64_t output_index;              /* among the tensors of that output */
    const gufo_element_type *from, *to; /* NULL: a type nobody knows, which is copied */
    gufo_recipe_choice choice;
    bool has_importance, unfit_importance;
    uint64_t importance_index;
    quant_cut cut;
    gufo_quantize_loss loss;
} quant_tensor;

/* One file of the output. */
typedef struct quant_output {
    gufo_writer *writer; /* the plan only: bytes go to `file` */
    gufo_layout layout;
    char *path;   /* as it is named in errors */
    output *file; /* of `files` */
} quant_output;

struct gufo_quantizer {
    gufo_allocator allocator;
    const gufo_set *input;
    gufo_quantize_options options; /* `recipe.allocator` and `allocator` point to the one above */
    quant_tensor *tensors;
    uint64_t tensor_count;
    char *names; /* of all tensors */
    quant_output *outputs;
    output *files;
    size_t output_count;
    uint64_t unit_count;
    uint64_t source_bytes;   /* of all tensors */
    gufo_encoder **encoders; /* by id of the type; NULL where none is needed */
    char *journal_path;
    char *importance_path; /* NULL: not known */
    const char *failed_path;
    bool used; /* has been run */
};

/* ---- planning ------------------------------------------------------------------------------- */

/* The layers that are left out, ascending and without repetition. */
typedef struct layer_list {
    const uint64_t *layers;
    size_t count;
} layer_list;

/* Finds the number in "blk.N." anywhere in a name: `at` is where its digits begin, `len` how many
 * they are.  False if there is none, or it is too large. */
bool layer_find(gufo_str name, uint64_t *layer, size_t *at, size_t *len);
bool layer_is_listed(const layer_list *pruned, uint64_t layer);
/* The number of a layer that is not listed when those before it are gone. */
uint64_t layer_renumbered(const layer_list *pruned, uint64_t layer);

/* Fills the plan of output `index` with metadata. */
gufo_status quantizer_plan_metadata(const gufo_quantizer *q, size_t index, const layer_list *pruned,
                                    gufo_error *error);

/* Cuts a tensor, numbering units from `first_unit` on. */
void unit_cut(quant_tensor *tensor, uint64_t first_unit);

/* ---- units ---------------------------------------------------------------------------------- */

/* A unit of work, found by its number. */
typedef struct quant_unit {
    quant_tensor *tensor;
    uint64_t index;           /* of the tensor */
    bool last;                /* of its tensor */
    uint64_t from, from_size; /* bytes in the tensor of the input */
    uint64_t to, to_size;     /* and in the output's */
    uint64_t row, rows;       /* in the whole tensor; not for METHOD_COPY */
    uint64_t slice;
} quant_unit;

quant_unit unit_at(const gufo_quantizer *q, uint64_t number);

/* The file that an error is about. */
typedef enum blame { BLAME_INPUT, BLAME_OUTPUT, BLAME_IMPORTANCE } blame;

/* What a thread works with. */
typedef struct quant_worker {
    const gufo_quantizer *q;
    uint8_t *source, *coded; /* bytes of a unit */
    size_t source_size;
    float *values, *decoded; /* of a step */
    float *importance;       /* of a slice: */
    uint64_t importance_tensor, importance_slice;
    uint64_t failed_unit; /* UINT64_MAX: none */
    blame blame;
} quant_worker;

/* The bytes of a worker's buffers, those of the tensor that needs most; its index. */
typedef struct worker_sizes {
    uint64_t source, coded, values, importance; /* bytes; `decoded` is as large as `values` */
    uint64_t total;
    uint64_t tensor;
} worker_sizes;

worker_sizes quantizer_worker_sizes(const gufo_quantizer *q);

/* Make a unit and write it. */
gufo_status unit_convert(quant_worker *worker, const quant_unit *unit, gufo_quantize_loss *loss,
                         gufo_error *error);
gufo_status unit_copy(quant_worker *worker, const quant_unit *unit, gufo_error *error);

/* Adds the loss of `count` values and what they became; false if some of either are not finite. */
bool loss_measure(gufo_quantize_loss *loss, const float *values, const float *decoded,
                  uint64_t count);

/* ---- files ---------------------------------------------------------------------------------- */

/* Finds the files that `path` means and makes sure that none of them is the input. */
gufo_status outputs_find(gufo_quantizer *q, const char *path, gufo_error *error);
/* Makes sure that nothing is there, unless it may be replaced: outputs, and .part files of an
 * interrupted run, which are removed. */
gufo_status outputs_check_targets(gufo_quantizer *q, gufo_error *error);
gufo_status outputs_clear_parts(gufo_quantizer *q, gufo_error *error);
/* Opens the .part files, new or as they were left, reserves their sizes, writes their headers. */
gufo_status outputs_open(gufo_quantizer *q, bool again, gufo_error *error);
/* Whether the .part files that an interrupted run left are there in their full sizes. */
gufo_status outputs_check_parts(gufo_quantizer *q, gufo_error *error);
gufo_status outputs_sync(const gufo_quantizer *q, gufo_error *error);
/* Opens what is left to be named of outputs whose data is complete. */
gufo_status outputs_open_complete(gufo_quantizer *q, gufo_error *error);
/* Gives them their names (base/commit.h).  What fails is removed
 * unless `keep`. */
gufo_status outputs_commit(gufo_quantizer *q, bool keep, gufo_error *error);
/* Closes those that were not committed; removes them unless `keep`. */
void outputs_close(gufo_quantizer *q, bool keep);

#endif
