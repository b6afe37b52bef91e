/* The rows of the table convert_ops that an architecture has. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_TENSOR_RULES_H
#define IMPORT_ARCHITECTURES_OPERATIONS_TENSOR_RULES_H

#include "import/architectures/operations/operation.h"

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

/* The rules of an architecture, then those of "@all".  GUFO_E_ARGUMENT for a row
 * that makes no sense: a mistake of the table. */
gufo_status rules_open(tensor_rules *rules, const char *architecture, const gufo_allocator *a,
                       gufo_error *error);
void rules_close(tensor_rules *rules);

/* What a name says. */
typedef struct rule_match {
    uint64_t block, entry; /* numbers for {b} and {e}; UINT64_MAX: none */
    uint32_t name;         /* which of the names of the rule it is */
} rule_match;

bool rules_match(const tensor_rule *rule, gufo_str name, rule_match *match);

#endif
