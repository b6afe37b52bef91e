/* Operations on tensors: what the rows of the table convert_ops name.
 *
 *     tensors.c             which rows apply to a tensor, and what its results are called
 *     steps.c               the steps of a row: arguments, conditions
 *     tensor_rules.c        the rows of an architecture
 *     operations.c          the table of operations
 *     operations_names.c    names, tensors that are dropped
 *     operations_shape.c    shapes and parts
 *     operations_heads.c    orders of rows by heads
 *     operations_values.c   arithmetic
 *     operations_data.c     operations that look at numbers
 *     generated.c           tensors that are computed
 *     stacks.c              tensors that become one
 *     views.c, gather.c     numbers in another order
 *     plan.c, pieces.c      the list of results; plan_blocks.c: memory that it owns
 *     factors.c             factors of packed weights, in tensors of their own */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_OPERATION_H
#define IMPORT_ARCHITECTURES_OPERATIONS_OPERATION_H

#include "import/architectures/plan/plan.h"

enum { ITEM_NAME = 512, ITEM_VIEWS = 4, STEP_ARGUMENTS = 6 };

/* In a shape: the size that is left. */
#define SIZE_OF_REST UINT64_MAX

typedef enum item_fate { ITEM_PLANNED, ITEM_DROPPED, ITEM_WAITS } item_fate;

/* A tensor on its way. */
typedef struct item {
    const checkpoint_tensor *from; /* NULL: it is generated */
    char name[ITEM_NAME + 1];      /* of the checkpoint, with all renames */
    uint64_t block;                /* in its name; UINT64_MAX: none */
    uint64_t entry;                /* of a stack */
    view views[ITEM_VIEWS];
    uint32_t n_views;
    item_fate fate;
    bool skipped; /* with a tower that is not converted */
} item;

/* What operations may look at. */
typedef struct planner {
    growing_plan grown;
    gufo_import *import;
    const checkpoint *checkpoint;
    const model_config *config;
    uint64_t tokens;
    uint64_t skipped;
    gufo_str *firsts; /* groups that one tensor was taken from */
    uint64_t first_count, first_room;
} planner;

struct operation;

/* A step with its arguments. */
typedef struct operation_call {
    planner *planner;
    item *item;
    uint32_t view; /* for operations on single views: its number */
    gufo_str texts[STEP_ARGUMENTS];
    uint64_t numbers[STEP_ARGUMENTS]; /* where the argument is a number */
    double reals[STEP_ARGUMENTS];     /* where it is a real one */
    uint32_t n_arguments;
} operation_call;

typedef enum operation_scope {
    OPERATION_ON_NAMES, /* once; needs no numbers */
    OPERATION_ON_ITEMS, /* once */
    OPERATION_ON_VIEWS, /* once for each view */
    OPERATION_STACKS,   /* the planner does it: stacks.c */
} operation_scope;

/* What others ask about an operation. */
enum operation_flags {
    OPERATION_DROPS = 1,      /* nothing is left of the tensor */
    OPERATION_TRANSPOSES = 2, /* rows become columns */
    OPERATION_NEW_AXIS = 4,   /* of a stack: tensors lie side by side in an axis of their own */
    OPERATION_TO_F32 = 8,     /* of a rule about types: the tensor is F32 */
};

typedef struct operation {
    const char *name;
    /* A letter for each argument: n is a number, r a real one, t is text; those behind | may be missing, and
     * the last one before a * may come again. */
    const char *arguments;
    operation_scope scope;
    gufo_status (*apply)(const operation_call *call, gufo_error *error);
    unsigned flags; /* of operation_flags */
} operation;

/* NULL: no operation has this name. */
const operation *operation_find(gufo_str name);

/* Whether `count` arguments are right for it; the letter of argument `index`. */
bool operation_takes(const operation *o, uint32_t count);
char operation_wants(const operation *o, uint32_t index);

#endif
