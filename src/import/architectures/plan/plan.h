/* The tensors that a model has in GGUF: a list that operations fill with views of the tensors of a checkpoint.
 *
 *     views.c      numbers of files in another order
 *     products.c   views of what adapters have: products of two factors
 *     gather.c     reading the numbers of a view
 *     pieces.c     what the engine makes of a view
 *     plan.c       the list; plan_memory.c: memory that it owns
 *
 * A view has a shape, and its numbers, in the order of the shape, are those of one chunk after the
 * other.  A chunk is a box of numbers in a file, walked with a stride for every axis of the box:
 *
 *     file     a b c d e f          shape 3, 2
 *     chunk    count 3, 2  stride 1, 3
 *     view     a d | b e | c f
 *
 * Operations change shapes, counts, strides and the list of chunks alone.
 *
 * A product, as adapters have it, is a pair of factors with a small inner size, the rank:
 *
 *     W[o][i] = sum over k < rank of rows[o][k] * columns[k][i]
 *
 * Operations see W: a tensor of a checkpoint with numbers of a type of its own (product_number), which no
 * file has.  Number o * width + i of a product is at that place behind the first one of it, and the products
 * follow each other as if they were in one long file of 4 bytes for each number.  So a chunk of a view says
 * of which product it is, and which numbers. */
#ifndef IMPORT_ARCHITECTURES_PLAN_PLAN_H
#define IMPORT_ARCHITECTURES_PLAN_PLAN_H

#include "format/file/records.h"
#include "gufo/format.h"
#include "import/architectures/configuration/config.h"
#include "import/containers/checkpoint.h"
#include "import/import.h"
#include "produce/produce.h"

/* ==== views.c: numbers of files in another order ================================================= */

enum { VIEW_DIMS = CHECKPOINT_MAX_DIMS, VIEW_OPS = 4 };

/* Counts and strides of numbers, or of rows of them, that lie apart: slowest first. */
typedef struct strided_box {
    uint64_t count[VIEW_DIMS], stride[VIEW_DIMS];
    uint32_t n; /* axes; 0: a single one */
} strided_box;

/* Numbers that lie apart on two sides. */
typedef struct strided_pair {
    uint64_t count[VIEW_DIMS], from[VIEW_DIMS], to[VIEW_DIMS];
    uint32_t n;
} strided_pair;

typedef struct chunk {
    const source *source; /* NULL: `packed` has them, or they are zeros, wherever they are */
    struct packed_weight *packed; /* as if its numbers were F32 in a file; NULL: it has none */
    const number_type *number;
    uint64_t offset; /* of its first number, in bytes */
    strided_box box; /* strides in numbers */
    uint64_t numbers;
    uint32_t file; /* of the checkpoint */
    bool swapped;
} chunk;

typedef struct view {
    const gufo_allocator *allocator;
    const checkpoint *checkpoint; /* whose files the chunks are in */
    uint32_t n_dims;
    uint64_t shape[VIEW_DIMS]; /* slowest first */
    uint64_t numbers;
    chunk *chunks; /* each has whole entries of axis 0 */
    uint64_t count, room;
    row_op ops[VIEW_OPS]; /* on every number */
    uint32_t n_ops;
} view;

/* The numbers of a tensor of a checkpoint; a view that numbers are added to; zeros.  The view is
 * freed with view_free, also after a failure. */
gufo_status view_open(view *v, const checkpoint *c, const checkpoint_tensor *t,
                      const gufo_allocator *a, gufo_error *error);
gufo_status view_copy(view *v, const view *from, gufo_error *error);
void view_free(view *v);

/* Each fails with GUFO_E_ARGUMENT for what does not fit the shape; the sentence does not name the
 * tensor. */
gufo_status view_reshape(view *v, uint32_t n_dims, const uint64_t *shape, gufo_error *error);
gufo_status view_swap(view *v, uint32_t a, uint32_t b, gufo_error *error);
/* Entries first, first + step ... of an axis. */
gufo_status view_slice(view *v, uint32_t axis, uint64_t first, uint64_t count, uint64_t step,
                       gufo_error *error);
/* Appends the numbers of another view along an axis; the other axes are equal. */
gufo_status view_append(view *v, const view *more, uint32_t axis, gufo_error *error);
/* Appends zeros to axis 0. */
gufo_status view_append_zeros(view *v, uint64_t entries, gufo_error *error);
gufo_status view_operate(view *v, const row_op *op, gufo_error *error);
/* Appends a chunk to the list; the shape of the view is the caller's to set. */
gufo_status view_add_chunk(view *v, const chunk *c, gufo_error *error);

static inline bool chunk_is_zeros(const chunk *c)
{
    return c->source == NULL && c->packed == NULL;
}

/* Removes an axis from the pair: its first entry is what remains of the axis. */
void strided_pair_remove(strided_pair *p, uint32_t axis);

/* Gives rows that lie apart to `add` as segments, which have three axes, the fastest first, and of which a
 * piece may have millions: `at` is the first row. */
typedef gufo_status add_strided_segment(void *context, const segment *s, gufo_error *error);
gufo_status strided_segments(const strided_box *s, segment at, add_strided_segment *add,
                             void *context, gufo_error *error);

/* Describes a chunk with a group of counts for each axis of `dims`, whose product it has: groups[i]
 * is the first count of axis i, groups[n_dims] the end.  False where no such description exists. */
bool chunk_align(chunk *c, uint32_t n_dims, const uint64_t *dims, uint32_t *groups);

/* ==== products.c: products of two factors, as adapters have them ================================= */

/* A factor: a matrix of a checkpoint, its axes as the product wants them. */
typedef struct product_factor {
    const checkpoint_tensor *tensor;
    uint64_t side; /* from one row (or column) of the product to the next, in numbers */
    uint64_t rank; /* from one k to the next */
} product_factor;

typedef struct product {
    uint64_t begin; /* of its numbers, in bytes; first: products are found by it */
    uint64_t height, width, rank;
    product_factor rows, columns;
    double scale;          /* that the numbers of W are multiplied by */
    checkpoint_tensor own; /* W */
} product;

typedef struct products {
    const checkpoint *files; /* of the factors */
    product *list;
    uint64_t count, room;
} products;

/* The type of numbers of products; no reader knows it. */
extern const number_type product_number;

/* Whether all numbers of a view are those of products. */
bool products_own(const view *v);

/* Completes `own` of a product, whose name, factors and sizes are set, behind `end` bytes of others;
 * *end is behind it then.  Its shape is that of a tensor of `seen`. */
gufo_status product_place(product *p, checkpoint *seen, uint64_t *end, gufo_error *error);

/* The factors of a view, in its own order: left [..., R, rank] and right [..., rank, C] where its shape
 * is [..., R, C].  *scale is what the left one is to be multiplied by.  Both are freed with view_free, also after a failure.
 * GUFO_E_TYPE where factors cannot follow what was done to the product. */
gufo_status products_divide(const products *list, const view *v, view *left, view *right,
                            double *scale, gufo_error *error);

/* ==== gather.c: reading the numbers of a view ==================================================== */

/* ---- rows whose numbers are anywhere: for orders that segments do not describe ----------------- */

/* What the elements of a view are, that are gathered. */
typedef enum gather_form {
    GATHER_NUMBERS,
    GATHER_ROWS,   /* whole rows of packed weights, as F32 */
    GATHER_BLOCKS, /* the same, as blocks */
} gather_form;

/* Rows of a view; their context, one block of memory. */
typedef struct gathering {
    const gufo_allocator *allocator;
    const checkpoint *checkpoint;
    chunk *chunks;
    uint64_t *begins; /* the first element of each chunk in the view */
    uint64_t count;
    uint64_t columns; /* elements in a row */
    uint64_t width;   /* bytes of an element */
    gather_form form;
} gathering;

/* Makes what `rows.read` reads from: one block of memory.  NULL without it. */
gathering *gather_new(const view *v, uint64_t columns);
/* The same for a view whose elements are rows of packed weights, of `width` bytes each. */
gathering *gather_new_rows(const view *v, uint64_t width, gather_form form);

/* rows.read, with a gathering as context.  Any thread. */
gufo_status gather_rows(const struct rows *r, uint64_t first, uint64_t count, void *out,
                        gufo_error *error);
/* rows.read of rows that are zeros. */
gufo_status gather_zeros(const struct rows *r, uint64_t first, uint64_t count, void *out,
                         gufo_error *error);

/* ---- numbers, a part at a time: what has to be known while a model is planned ------------------ */

enum { NUMBERS_AT_ONCE = 1 << 16 };

typedef struct number_reader {
    const gufo_allocator *allocator;
    const number_type *number;
    struct gathering *gathering;
    rows rows;      /* of one number */
    uint8_t *bytes; /* of NUMBERS_AT_ONCE numbers */
    uint64_t numbers;
} number_reader;

/* All numbers of a view have one type here. */
gufo_status numbers_open(number_reader *r, const view *v, gufo_error *error);
void numbers_close(number_reader *r);

/* Bytes of numbers [first, first + count), at most NUMBERS_AT_ONCE of them, into r->bytes; or the numbers
 * as floats. */
gufo_status numbers_bytes(const number_reader *r, uint64_t first, uint64_t count,
                          gufo_error *error);
gufo_status numbers_floats(const number_reader *r, uint64_t first, uint64_t count, float *out,
                           gufo_error *error);

/* ---- factors of packed weights that blocks do not have: tensors of their own ------------------- */

enum { FACTORS = 2 };

/* The factors of every matrix of a view. */
typedef struct factor_lists {
    uint64_t entries;     /* matrices */
    float *list[FACTORS]; /* the second is part of the first's memory */
} factor_lists;

/* What is behind the stem of a name: ".scale". */
extern const char *const factor_names[FACTORS];

/* Reads the factors of a view whose chunks are all packed, by a kind that has factors.  *fit: whether all
 * rows of each matrix have the same ones, so that blocks can hold them.  Freed with factors_free, also
 * after a failure. */
gufo_status factors_read(const view *v, factor_lists *l, bool *fit, gufo_error *error);
void factors_free(const view *v, const factor_lists *l);
/* Whether factors change nothing. */
bool factors_are_one(const float *list, uint64_t count);

/* ==== plan.c: the list of tensors ================================================================ */

/* Readers that end names with a NUL have room for so many bytes. */
enum { SHORT_NAME_MAX = 63 };

typedef struct planned_tensor {
    const char *name;              /* the plan's */
    const checkpoint_tensor *from; /* the first one that it is made of; NULL: it is generated */
    const uint64_t *dims;          /* GUFO_MAX_DIMS, of the plan; the contiguous one first */
    /* The type whose numbers it has: that of the checkpoint, or F32. */
    const gufo_element_type *type;
    const struct packed_weight *packed; /* the first one that it is made of; NULL: none is */
    /* Sources (whose input is the number of the file in the checkpoint), segments, operations and
     * shape.  What becomes of the rows (`made`) is for others to say. */
    piece *piece; /* NULL: the numbers are those of `from` in their order, as planned_piece says */
    uint8_t n_dims;
    bool keeps_type;  /* whatever type is asked for */
    bool only_half;   /* F16 in a file of F16; F32 in all others */
    bool comes_first; /* in the file: floats of 4 bits, with their factors */
    bool is_lent;     /* `piece` is that of a job, in place of the plan's own */
} planned_tensor;

/* The name of the first tensor that it is made of. */
static inline gufo_str planned_source(const planned_tensor *t)
{
    return t->from != NULL ? t->from->name : gufo_str_of("(generated)");
}

/* Gets every tensor that is planned, with the name that it has in GGUF.  Numbers that are generated come
 * from a source in memory. */
typedef struct tensor_watcher {
    void *context;
    gufo_status (*seen)(void *context, gufo_str name, const view *v, gufo_error *error);
} tensor_watcher;

typedef struct tensor_plan {
    const gufo_allocator *allocator;
    const checkpoint *checkpoint; /* that tensors are made of */
    planned_tensor *tensors;
    uint64_t count, room;
    const gufo_element_type *first_type; /* F16 or BF16: what TYPE "auto" is */
    bool is_assumed;                     /* it is F16 because no tensor says it */
    /* What the tensors refer to: names, and for their pieces numbers that are made and side tables. */
    void **blocks;
    uint64_t block_count, block_room;
    char *names; /* where the next one goes */
    size_t names_room;
    shape_table shapes;
    uint64_t segments; /* of all pieces */
    /* While it grows: */
    name_index by_name;            /* of the tensors; freed with plan_finish */
    const products *products;      /* of an adapter; NULL: none */
    const tensor_watcher *watcher; /* takes the views in place of pieces; NULL: none */
} tensor_plan;

/* The piece of a tensor; what is not kept is made in *room. */
const piece *planned_piece(const tensor_plan *plan, const planned_tensor *t, plain_piece *room);

void tensor_plan_free(tensor_plan *plan);

/* ---- plan_memory.c ---------------------------------------------------------------------------- */

/* Keeps a block of memory, which the plan frees; without memory it is freed at once. */
gufo_status plan_keep(tensor_plan *plan, void *block, gufo_error *error);

/* Keeps numbers that are made, as a source of F32; the plan frees it. */
gufo_status plan_numbers(tensor_plan *plan, const float *values, uint64_t count, const source **out,
                         gufo_error *error);
/* The same, as a view of one axis, which is freed with view_free. */
gufo_status plan_view(tensor_plan *plan, const float *values, uint64_t count, view *out,
                      gufo_error *error);

/* ---- pieces.c: from a view to a piece for the engine ------------------------------------------ */

/* Sets dimensions, type and piece of a tensor; the piece is freed with piece_release.  What it reads
 * through is the plan's. */
gufo_status piece_of_view(planned_tensor *t, const view *v, tensor_plan *plan, gufo_error *error);
/* Forgets a piece that has the numbers of one tensor of the checkpoint in their order: planned_piece
 * makes it again. */
void piece_forget_plain(planned_tensor *t, const view *v, const tensor_plan *plan);
void piece_release(planned_tensor *t, const gufo_allocator *a);
/* Puts the piece of a job that outlives the plan, and was made of this one, in its place. */
void piece_lend(planned_tensor *t, piece *of_job, const gufo_allocator *a);

/* ---- plan.c: filling a plan -------------------------------------------------------------------- */

/* Begins an empty plan of tensors of a checkpoint.  Freed with tensor_plan_free, also after a failure. */
gufo_status plan_begin(tensor_plan *plan, const checkpoint *c, const gufo_allocator *allocator,
                       gufo_error *error);

/* The type that a tensor is to have. */
typedef enum plan_type {
    PLAN_TYPE_BY_NAME, /* F32 with one dimension, and for what is not called a weight */
    PLAN_TYPE_GENERIC, /* F32 with one dimension: names mean little */
    PLAN_TYPE_F32,
    PLAN_TYPE_F16,
    PLAN_TYPE_HALF, /* F16 in a file of F16; F32 in all others */
    PLAN_TYPE_ANY,  /* as asked for, with two dimensions or more */
} plan_type;

/* Adds a tensor with the numbers of a view; of products, both factors: NAME.lora_a [rank, columns] and
 * NAME.lora_b [rows, rank].  `from`: the tensor of the checkpoint that errors are about; NULL: none. */
gufo_status plan_add(tensor_plan *plan, gufo_str name, const view *v, const checkpoint_tensor *from,
                     plan_type type, gufo_error *error);

/* Ends a plan: puts tensors that come first at its beginning, and says what "auto" is where no tensor
 * did. */
gufo_status plan_finish(tensor_plan *plan, gufo_error *error);

/* The first tensor with two dimensions of 16-bit numbers says what the type "auto" is. */
void plan_note_first(tensor_plan *plan, const checkpoint_tensor *t);

/* The planned tensor with this name; NULL: none. */
const planned_tensor *plan_find(const tensor_plan *plan, gufo_str name);

#endif
