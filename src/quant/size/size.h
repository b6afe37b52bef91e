/* Size plans, the interface inside the folder.  Its files, in the order of the work:
 *
 *     sensitivity.c  coefficients and least types by the role of a tensor: registry/sensitivity.tsv
 *     groups.c       tensors that get the same type, and the types that they may get
 *     fit.c          choices whose files have the size that is asked for; a plan, even an unfinished one, as
 *                    options of a quantizer
 *     size_plan.c    the functions of the library: arguments, result; the fixed mixtures whose losses are known
 *     plan_text.c    plans as text
 *
 * A plan has an outcome for each target.  All of them have the same groups and choices; what differs is
 * which choice of each group is chosen. */
#ifndef GUFO_QUANT_SIZE_H
#define GUFO_QUANT_SIZE_H

#include "format/file/records.h"
#include "gufo/target_size.h"

/* ---- sensitivity.c: what is known about tensors by their role ------------------------------- */

/* Facts about a model that the table asks for. */
typedef struct sensitivity_facts {
    gufo_recipe_model model;
    bool is_tied; /* the token embedding is the output, too */
} sensitivity_facts;

/* The coefficient of a tensor. */
double sensitivity_of(const sensitivity_facts *facts, gufo_str name);
/* The least type of a tensor; NULL: any. */
const gufo_element_type *sensitivity_least(const sensitivity_facts *facts, gufo_str name);

/* ---- a plan --------------------------------------------------------------------------------- */

/* A tensor of the outputs. */
typedef struct size_tensor {
    gufo_losses_tensor facts;
    bool is_kept;
    double coefficient;
    const gufo_element_type *least, *most; /* NULL: any */
    bool is_least_given;                   /* by the caller: it does not give way */
    uint32_t tie;                          /* 0: none */
    uint64_t layer;                        /* one more than its number; 0: outside layers */
    uint64_t group;                        /* of one that is not kept */
} size_tensor;

/* A type that a group may get. */
typedef struct size_choice {
    const gufo_element_type *type;
    uint64_t bytes, padded; /* of all its tensors, without padding and with it */
    double loss;            /* the sum of coefficient times loss */
} size_choice;

typedef struct size_group {
    uint64_t first, count; /* of its tensors, in plan.order */
    uint64_t first_choice, choice_count;
} size_group;

enum { SIZE_NAME = 32 };

/* The plan for one target. */
typedef struct size_outcome {
    gufo_size_target wanted;
    char name[SIZE_NAME]; /* its address says which target of a quantizer it is */
    size_t *chosen;       /* for each group: which of its choices */
    uint64_t frame;       /* bytes that do not depend on what is chosen */
    uint64_t budget;      /* for the bytes that do */
    uint64_t least_bytes; /* the least budget that has a choice */
    gufo_size_result result;
} size_outcome;

struct gufo_size_plan {
    gufo_allocator allocator;
    const gufo_losses *losses;
    gufo_size_options options; /* `targets` is not used any more */
    const gufo_run *run;       /* while the plan is made */
    sensitivity_facts facts;
    size_tensor *tensors;
    uint64_t count;
    name_index names; /* of the tensors */
    uint32_t *order;  /* tensors that are not kept, group by group */
    uint64_t free_count;
    size_group *groups;
    uint64_t group_count;
    size_choice *choices; /* of all groups */
    uint64_t choice_count;
    size_outcome *outcomes;
    gufo_quantize_target *targets; /* of each */
    size_t outcome_count;
};

static inline const size_choice *size_chosen(const gufo_size_plan *plan,
                                             const size_outcome *outcome, uint64_t group)
{
    return &plan->choices[plan->groups[group].first_choice + outcome->chosen[group]];
}

/* ---- groups.c ------------------------------------------------------------------------------- */

/* Reads the tensors, and what may become of them; bytes with padding are not known yet. */
gufo_status groups_make(gufo_size_plan *plan, gufo_error *error);
/* Fills in the bytes with padding. */
gufo_status groups_pad(gufo_size_plan *plan, uint64_t alignment, gufo_error *error);

/* ---- fit.c ---------------------------------------------------------------------------------- */

/* The option of a tensor that an outcome has. */
gufo_loss apply_loss(const gufo_size_plan *plan, const size_outcome *outcome, uint64_t index);

/* ---- fit.c ---------------------------------------------------------------------------------- */

/* Chooses for all outcomes, and fills in their results except for mixtures. */
gufo_status fit_outcomes(gufo_size_plan *plan, gufo_error *error);
#endif
