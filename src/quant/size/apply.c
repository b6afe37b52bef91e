/* A plan as options of a quantizer: the type of every tensor comes from the plan, as if from another
 * model.  Tensors with another reason for their type are left to it. */
#include "quant/size/size.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/error.h"
#include "quant/losses/losses.h"

/* ---- the target ----------------------------------------------------------------------------- */

gufo_loss apply_loss(const gufo_size_plan *plan, const size_outcome *outcome, uint64_t index)
{
    const size_tensor *t = &plan->tensors[index];
    gufo_loss loss = {0};

    if (t->is_kept)
        (void)gufo_losses_option_at(plan->losses, index, 0, &loss);
    else
        (void)gufo_losses_find(plan->losses, index, size_chosen(plan, outcome, t->group)->type,
                               &loss);
    return loss;
}

/* Elements of each type. */
typedef struct type_count {
    const gufo_element_type *type;
    uint64_t elements;
} type_count;

enum { MOST_TYPES = 256 }; /* more than there are */

static gufo_status count_types(const gufo_size_plan *plan, const size_outcome *outcome,
                               type_count counts[MOST_TYPES], gufo_error *error)
{
    for (uint64_t i = 0; i < plan->count; i++) {
        const gufo_element_type *type = apply_loss(plan, outcome, i).type;
        size_t at = 0;

        while (type != NULL && at < MOST_TYPES && counts[at].type != NULL &&
               counts[at].type != type)
            at++;
        if (type == NULL || at == MOST_TYPES)
            continue;
        counts[at].type = type;
        if (!checked_add(counts[at].elements, plan->tensors[i].facts.source.elements,
                         &counts[at].elements))
            return refuse(error, GUFO_E_RANGE, "the tensors have too many elements");
    }
    return GUFO_OK;
}

/* The type that most elements have; of equal ones, that with the lower id.  NULL: no type is known. */
static const gufo_element_type *main_type(const type_count counts[MOST_TYPES])
{
    const type_count *most = counts;

    for (const type_count *c = counts; c < counts + MOST_TYPES && c->type != NULL; c++)
        if (c->elements > most->elements ||
            (c->elements == most->elements && c->type->id < most->type->id))
            most = c;
    return most->type;
}

/* Every target has a name at an address of its own, by which it is recognised. */
gufo_status apply_target(gufo_size_plan *plan, size_t number, gufo_error *error)
{
    size_outcome *outcome = &plan->outcomes[number];
    gufo_quantize_target *target = &plan->targets[number];
    type_count counts[MOST_TYPES] = {{NULL, 0}};
    gufo_status status = count_types(plan, outcome, counts, error);
    const gufo_element_type *type = main_type(counts);

    if (type == NULL)
        type = gufo_element_type_by_id(GUFO_TYPE_F32);
    if (!gufo_quantize_target_by_name(type->name, true, target))
        *target = (gufo_quantize_target){.base_type = type, .pure = true};
    (void)snprintf(outcome->name, sizeof outcome->name, "%s", type->name);
    target->name = outcome->name;
    outcome->result.main_type = type;
    outcome->result.file_type = target->file_type;
    return status;
}

/* ---- options -------------------------------------------------------------------------------- */

/* Tensors whose type does not depend on the plan, so that reports have the reason.  Rules by name do not
 * hold for plain targets. */
static bool is_left_to_rules(const size_tensor *t, const gufo_quantize_target *target)
{
    return t->is_kept || (t->facts.is_fixed && t->facts.reason != GUFO_REASON_MODEL &&
                          target->base_type->block_elements > 1);
}

static const gufo_element_type *type_in_plan(void *context, const gufo_quantize_target *target,
                                             gufo_str name)
{
    const gufo_size_plan *plan = context;
    const size_outcome *outcome = plan->outcomes;
    uint64_t index;

    while (outcome < plan->outcomes + plan->outcome_count && outcome->name != target->name)
        outcome++;
    if (outcome == plan->outcomes + plan->outcome_count ||
        !name_index_find(&plan->names, name, &index) ||
        is_left_to_rules(&plan->tensors[index], target))
        return NULL;
    return size_chosen(plan, outcome, plan->tensors[index].group)->type;
}

void gufo_size_plan_apply(const gufo_size_plan *plan, gufo_quantize_options *options)
{
    options->recipe.target = plan->targets[0];
    options->recipe.model_type = type_in_plan;
    options->recipe.model_context = (void *)plan;
    options->more_targets = plan->targets + 1;
    options->more_count = plan->outcome_count - 1;
}

gufo_status apply_quantizer(const gufo_size_plan *plan, gufo_quantizer **q, gufo_error *error)
{
    gufo_quantize_options options = plan->losses->asked;
    gufo_error reason;

    gufo_size_plan_apply(plan, &options);
    options.recipe.plan_only = true;
    *q = gufo_quantizer_new(plan->losses->q->input, &options, &reason);
    return *q != NULL ? GUFO_OK : fail_as(error, &reason);
}
