/* The tensors that a model has in GGUF: a list that operations fill with views of the tensors of a checkpoint.
 *
 *     views.c      numbers of files in another order
 *     products.c   views of what adapters have: products of two factors
 *     gather.c     reading the numbers of a view
 *     pieces.c     what the engine makes of a view
 *     plan.c       the list; plan_memory.c: memory that it owns */
#ifndef IMPORT_ARCHITECTURES_PLAN_PLAN_H
#define IMPORT_ARCHITECTURES_PLAN_PLAN_H

#include "format/file/records.h"
#include "gufo/format.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/plan/products.h"
#include "import/architectures/plan/views.h"
#include "import/containers/checkpoint.h"
#include "import/import.h"
#include "produce/produce.h"

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
gufo_status piece_of_view(planned_tensor *t, const view *v, tensor_plan *plan, const checkpoint *c,
                          gufo_error *error);
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
    PLAN_TYPE_ANY, /* as asked for, with two dimensions or more */
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
