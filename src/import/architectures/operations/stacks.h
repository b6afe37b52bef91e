/* Tensors that become one: experts, heads, q with k and v. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_STACKS_H
#define IMPORT_ARCHITECTURES_OPERATIONS_STACKS_H

#include "import/architectures/operations/tensor_rules.h"

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

#endif
