/* Operations on tensors, the other way round.
 *
 * A made-up checkpoint (names.h) is converted without data.  A chunk of a view says which numbers of a
 * tensor of the checkpoint follow each other in a tensor of the model; with both sides changed, it is a
 * box: where the numbers of a tensor of the model go.
 *
 *     chunk    numbers 0 3 1 4 2 5 of the source are 0 1 2 3 4 5 of the result   counts 3, 2  strides 1, 3
 *     box      the same, with strides 2, 1 in the result */
#ifndef IMPORT_EXPORT_INVERT_H
#define IMPORT_EXPORT_INVERT_H

#include "import/architectures/plan/tensors.h"
#include "import/architectures/plan/views.h"
#include "import/export/names.h"

typedef struct box {
    uint64_t owner;    /* tensor of the checkpoint */
    uint64_t tensor;   /* of the model */
    uint64_t to, from; /* the first number, in both */
    uint32_t n;
    uint64_t count[VIEW_DIMS], to_step[VIEW_DIMS], from_step[VIEW_DIMS]; /* in numbers */
} box;

uint64_t box_numbers(const box *b);
/* Whether both have the same counts and steps in the checkpoint, wherever they begin. */
bool boxes_fill_alike(const box *a, const box *b);

/* What gives the numbers of a tensor of the checkpoint. */
typedef struct undoing {
    uint64_t first_box, box_count;
    row_op ops[VIEW_OPS];
    uint32_t n_ops;
    bool exact;   /* in every type: nothing is computed, or numbers are scaled by powers of 2 */
    bool ternary; /* all numbers become their mean size, with a sign, or 0 */
} undoing;

typedef struct inversion {
    const gufo_model *model;
    const made_up *made;
    const gufo_allocator *allocator;
    tensor_plan plan; /* owns the tables of operations */
    box *boxes;       /* in the order of their owners, and of `to` */
    uint64_t box_count, box_room;
    undoing *undoings; /* of each tensor of the checkpoint */
    bool *given;   /* tensors of the model that the conversion gives, or generates as they are */
    bool *differs; /* that the conversion generates with other numbers */
} inversion;

/* Freed with inversion_free, also after a failure.  GUFO_E_TYPE for a tensor of the model that has another
 * shape than the conversion gives. */
gufo_status inversion_open(inversion *v, const gufo_model *model, const made_up *own,
                           gufo_import *import, const model_config *config, uint64_t tokens,
                           gufo_error *error);
void inversion_free(inversion *v);

#endif
