/* Operations on tensors: what the rows of the table convert_ops name.
 *
 *     tensors.c        which rows apply to a tensor, and what its results are called
 *     generic.c        all tensors as they are, for an architecture without rules
 *     stacks.c         tensors that become one
 *     tensor_rules.c   the rows of an architecture, and their steps: arguments, conditions
 *     operations.c     the table of operations, and tensors that are computed from the configuration
 *     moves.c          operations on names, shapes and parts, and orders of rows by heads
 *     values.c         arithmetic, and operations that look at numbers
 *     names.c          what the frameworks call a tensor
 *
 * What they make is in plan/: views of numbers, and the list of tensors that the views become. */
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

typedef struct planner planner;

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

typedef gufo_status operation_function(const operation_call *call, gufo_error *error);

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
    OPERATION_TO_F16 = 16,    /* it is F16 */
    OPERATION_TO_HALF = 32,   /* it is F16 in a file of F16, and F32 in all others */
};

typedef struct operation {
    const char *name;
    /* A letter for each argument: n is a number, r a real one, t is text; those behind | may be missing, and
     * the last one before a * may come again. */
    const char *arguments;
    operation_scope scope;
    operation_function *apply;
    unsigned flags; /* of operation_flags */
} operation;

/* NULL: no operation has this name. */
const operation *operation_find(gufo_str name);

/* Whether `count` arguments are right for it; the letter of argument `index`. */
bool operation_takes(const operation *o, uint32_t count);
char operation_wants(const operation *o, uint32_t index);

/* ---- tensor_rules.c: rows of an architecture ------------------------------------------------- */

/* When a row applies. */
typedef enum rule_phase {
    RULE_NAMES,     /* first of all: every row that matches changes the name */
    RULE_SOURCE,    /* the first row that matches the name decides */
    RULE_MAPPED,    /* likewise, in one order with those, but it matches the name in GGUF */
    RULE_TYPE,      /* matches the name in GGUF: the type of the numbers */
    RULE_GENERATED, /* makes a tensor, before all others */
    RULE_AS,        /* the rows of another architecture come here */
} rule_phase;

typedef struct rule_row {
    const char *architectures, *phase, *names, *condition, *steps, *targets, *note;
} rule_row;

enum { RULE_NAMES_MOST = 32, RULE_STEPS = 6, RULE_TARGETS = ITEM_VIEWS };

typedef struct rule_step {
    const operation *operation;
    gufo_str arguments[STEP_ARGUMENTS];
    uint32_t n_arguments;
    uint32_t view; /* number of the view that it is for, from 1 on; 0: all of them */
} rule_step;

typedef enum rule_answer { RULE_UNKNOWN, RULE_HOLDS, RULE_DOES_NOT } rule_answer;

typedef struct tensor_rule {
    const rule_row *row;
    rule_phase phase;
    gufo_str names[RULE_NAMES_MOST];
    rule_step steps[RULE_STEPS];
    gufo_str targets[RULE_TARGETS];
    gufo_str condition;
    uint32_t n_names, n_steps, n_targets;
    rule_answer answer; /* of a condition that is the same for all tensors */
} tensor_rule;

typedef struct tensor_rules {
    const gufo_allocator *allocator;
    tensor_rule *list;
    uint64_t count, room;
} tensor_rules;

/* Row `index` of the table; NULL past the end. */
const rule_row *rules_row_at(size_t index);
bool rules_row_is_of(const rule_row *row, const char *architecture);

/* The rules of a group, then those of "@all"; where the group is a part, of a tower, then those of
 * "@tower".  GUFO_E_ARGUMENT for a row that makes no sense: a mistake of the table. */
gufo_status rules_open(tensor_rules *rules, const char *group, const gufo_allocator *a,
                       gufo_error *error);
void rules_close(tensor_rules *rules);

/* What a name says. */
typedef struct rule_match {
    uint64_t block, entry; /* numbers for {b} and {e}; UINT64_MAX: none */
    uint32_t name;         /* which of the names of the rule it is */
} rule_match;

bool rules_match(const tensor_rule *rule, gufo_str name, rule_match *match);

/* ---- stacks.c: tensors that become one: experts, heads, q with k and v ----------------------- */

enum { STACK_KEY = 96 };

/* One tensor that waits for the others. */
typedef struct stack_member {
    view view;
    const checkpoint_tensor *from;
    uint64_t entry;
    uint64_t next; /* the member before it + 1; 0: none */
    uint32_t rank; /* of its rule in the group */
} stack_member;

/* The tensors of a group in one block: those of all its rules. */
typedef struct stack {
    char key[STACK_KEY];
    uint64_t rule; /* one of its rules */
    uint64_t block;
    uint64_t entries; /* of each rule */
    uint64_t count;   /* members that are there */
    uint64_t last;    /* member + 1 */
    uint32_t rules;   /* of the group */
} stack;

typedef struct stacks {
    const gufo_allocator *allocator;
    stack *list;
    stack_member *members;
    uint64_t count, room, member_count, member_room;
    name_index by_key;
} stacks;

/* Where the members of a rule go. */
typedef struct stack_place {
    gufo_str group;
    gufo_str suffix; /* of the name: weights and biases are apart */
    uint64_t rule, block, entry, entries;
    uint32_t rank, rules;
} stack_place;

gufo_status stacks_open(stacks *s, const gufo_allocator *a, gufo_error *error);
void stacks_close(stacks *s);

/* Takes the only view of an item; *full is the number of the stack if it has all members now, else
 * UINT64_MAX. */
gufo_status stacks_add(stacks *s, item *it, const stack_place *place, uint64_t *full,
                       gufo_error *error);

/* Joins the members of one rule of a full stack: along a new axis, or along the first one.  *from is the
 * first of them. */
gufo_status stacks_take(stacks *s, uint64_t number, uint32_t rank, bool new_axis, view *out,
                        const checkpoint_tensor **from, gufo_error *error);

/* How many members of one rule a stack has; whether it has all of all rules. */
uint64_t stacks_members(const stacks *s, uint64_t number, uint32_t rank);
bool stacks_full(const stack *of);
/* Fails about a stack with `count` members of the rule that becomes `target`. */
gufo_status stacks_refuse(const stacks *s, uint64_t number, uint64_t count, const checkpoint *c,
                          gufo_str target, gufo_error *error);
/* How the names of its members end: ".weight", ".bias" or "". */
const char *stacks_suffix(const stack *of);

/* GUFO_E_MALFORMED for a stack that is not full. */
gufo_status stacks_check(const stacks *s, const checkpoint *c, const tensor_rules *rules,
                         gufo_error *error);

/* ---- the planner ------------------------------------------------------------------------------ */

/* What operations may look at. */
struct planner {
    tensor_plan *plan; /* with the checkpoint */
    gufo_import *import;
    gufo_document *document; /* of the vocabulary */
    const model_config *config;
    uint64_t tokens;
    uint64_t skipped;
    gufo_str *firsts; /* groups that one tensor was taken from */
    uint64_t first_count, first_room;
    tensor_rules rules;
    stacks stacks;
};

/* ---- steps of a rule, with what they are about filled in -------------------------------------- */

/* Writes a text of the table with its placeholders replaced: {b} {e} {suffix} {tokens}, and numbers of
 * other expressions. */
gufo_status steps_expand(const planner *p, const item *it, gufo_str text, char *out, size_t size,
                         gufo_error *error);

/* Whether the condition of a rule holds for a tensor. */
gufo_status steps_hold(const planner *p, tensor_rule *rule, const item *it, bool *out,
                       gufo_error *error);

/* The number that an argument is. */
gufo_status steps_number(const planner *p, const item *it, gufo_str text, uint64_t *out,
                         gufo_error *error);

/* Takes steps from `first` on, up to one that stacks: its number, or that of all steps, in *next. */
gufo_status steps_take(planner *p, item *it, const tensor_rule *rule, uint32_t first,
                       uint32_t *next, gufo_error *error);

/* ".weight", ".bias", or nothing: the end of a name. */
gufo_str steps_suffix(const char *name);

/* ---- the operations --------------------------------------------------------------------------- */

/* moves.c */
operation_function names_keep, names_drop, names_skip, names_rename, names_strip, names_begin,
    names_end, names_renumber, names_number, names_first, names_refuse;
operation_function shape_transpose, shape_swap, shape_reshape, shape_squeeze, shape_column,
    shape_flatten, shape_divide, shape_split, shape_alternate, shape_copy, shape_first_rows,
    shape_rows_from, shape_pad_rows, shape_repeat;
operation_function heads_permute, heads_unpermute, heads_regroup3, heads_regroup_kv, heads_split_kv,
    heads_qkvz, heads_tile, heads_tile_columns;

/* The number of the block in a name: its first part that has digits alone; UINT64_MAX: none. */
uint64_t names_block(const char *name);

/* values.c */
operation_function values_add, values_neg_exp, values_halve, values_multiply, values_multiply_rows,
    values_ternary;
operation_function data_zero, data_diagonal, data_drop_if_equal, data_token_rows, data_key;

/* operations.c: parameters of rope_type llama3, and how many numbers of a head are rotated. */
typedef struct llama3_ropes {
    float base, factor, low, high, context, size;
} llama3_ropes;

/* The factor of frequency `index`. */
float llama3_factor(const llama3_ropes *l, uint64_t index);

#endif
