/* Tensors that get the same type, and the types that they may get.
 *
 *     tensor    its options, from the least type to the most
 *     group     the types that all its tensors may get; bytes and losses are sums */
#include "quant/size/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sort.h"
#include "quant/losses/losses.h"
#include "quant/quantizer.h"
#include "quant/recipes/recipe.h"

/* ---- what a tensor may become --------------------------------------------------------------- */

/* Whether a type has fewer bits per weight than another one. */
static bool is_smaller(const gufo_element_type *a, const gufo_element_type *b)
{
    return (uint64_t)a->block_bytes * b->block_elements <
           (uint64_t)b->block_bytes * a->block_elements;
}

static bool is_allowed(const size_tensor *t, const gufo_element_type *type)
{
    return (t->least == NULL || !is_smaller(type, t->least)) &&
           (t->most == NULL || !is_smaller(t->most, type));
}

static bool has_choice(const gufo_size_plan *plan, uint64_t index)
{
    const size_tensor *t = &plan->tensors[index];
    gufo_loss loss;

    for (size_t i = 0; gufo_losses_option_at(plan->losses, index, i, &loss); i++)
        if (is_allowed(t, loss.type))
            return true;
    return false;
}

static gufo_status fail_without_choice(const gufo_size_plan *plan, uint64_t index,
                                       gufo_error *error)
{
    const size_tensor *t = &plan->tensors[index];
    char least[40] = "", most[40] = "", types[160] = "";
    gufo_loss loss;
    size_t len = 0;

    if (t->least != NULL)
        (void)snprintf(least, sizeof least, " at least %s", t->least->name);
    if (t->most != NULL)
        (void)snprintf(most, sizeof most, "%s at most %s", t->least != NULL ? " and" : "",
                       t->most->name);
    for (size_t i = 0; gufo_losses_option_at(plan->losses, index, i, &loss) && len < sizeof types;
         i++)
        len += (size_t)snprintf(types + len, sizeof types - len, "%s%s", i > 0 ? ", " : "",
                                loss.type->name);
    return refuse(error, GUFO_E_ARGUMENT,
                  "no type is left for tensor %s: it must have%s%s, and it may become %s",
                  QUOTED(t->facts.name), least, most, types);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static bool is_kept(const gufo_losses_tensor *facts)
{
    static const gufo_recipe_reason reasons[] = {
        GUFO_REASON_COPY,     GUFO_REASON_SHAPE,        GUFO_REASON_NO_WEIGHT,  GUFO_REASON_NAME,
        GUFO_REASON_INTEGERS, GUFO_REASON_UNKNOWN_TYPE, GUFO_REASON_OUTPUT_KEPT};

    for (size_t i = 0; facts->is_fixed && i < sizeof reasons / sizeof *reasons; i++)
        if (facts->reason == reasons[i])
            return true;
    return false;
}

static gufo_status check_losses(const gufo_size_plan *plan, uint64_t index, gufo_error *error)
{
    gufo_loss loss;

    for (size_t i = 0; gufo_losses_option_at(plan->losses, index, i, &loss); i++)
        if (!loss.is_known)
            return refuse(error, GUFO_E_ARGUMENT, "the loss of tensor %s as %s is not measured yet",
                          QUOTED(plan->tensors[index].facts.name), loss.type->name);
    return GUFO_OK;
}

static gufo_status read_coefficient(const gufo_size_plan *plan, size_tensor *t, gufo_error *error)
{
    const gufo_size_options *o = &plan->options;

    t->coefficient = sensitivity_of(&plan->facts, t->facts.name);
    if (o->coefficient != NULL)
        t->coefficient = o->coefficient(o->context, t->facts.name, t->coefficient);
    if (isfinite(t->coefficient) && t->coefficient >= 0)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "the coefficient of tensor %s is %g, not a number from 0 on",
                  QUOTED(t->facts.name), t->coefficient);
}

/* A built-in least type gives way. */
static gufo_status read_limits(const gufo_size_plan *plan, uint64_t index, gufo_error *error)
{
    const gufo_size_options *o = &plan->options;
    size_tensor *t = &plan->tensors[index];
    const gufo_element_type *standard = sensitivity_least(&plan->facts, t->facts.name);

    if (t->facts.is_fixed)
        return GUFO_OK;
    t->least =
        o->least_type != NULL ? o->least_type(o->context, t->facts.name, standard) : standard;
    t->most = o->most_type != NULL ? o->most_type(o->context, t->facts.name) : NULL;
    if (!has_choice(plan, index) && t->least == standard)
        t->least = NULL;
    return has_choice(plan, index) ? GUFO_OK : fail_without_choice(plan, index, error);
}

static gufo_status read_tensor(gufo_size_plan *plan, uint64_t index, gufo_error *error)
{
    const gufo_size_options *o = &plan->options;
    size_tensor *t = &plan->tensors[index];
    gufo_status status;
    size_t at, len;

    t->is_kept = is_kept(&t->facts);
    if (t->is_kept)
        return GUFO_OK;
    if (o->tie != NULL)
        t->tie = o->tie(o->context, t->facts.name);
    if (layer_find(t->facts.name, &t->layer, &at, &len))
        t->layer++;
    plan->order[plan->free_count++] = (uint32_t)index;
    status = check_losses(plan, index, error);
    if (status == GUFO_OK)
        status = read_coefficient(plan, t, error);
    return status == GUFO_OK ? read_limits(plan, index, error) : status;
}

static gufo_str name_of_tensor(const void *owner, uint64_t index)
{
    return ((const gufo_size_plan *)owner)->tensors[index].facts.name;
}

/* The embeddings are the output, too, where no tensor has its name.  Facts that the user overrides count. */
static void read_facts(gufo_size_plan *plan)
{
    const gufo_quantize_options *options = &plan->losses->asked;
    uint64_t index;

    gufo_model_recipe_facts(gufo_model_shard(plan->losses->q->input, 0), &plan->facts.model);
    recipe_model_override(&plan->facts.model, options->overrides, options->override_count);
    plan->facts.is_tied = !name_index_find(&plan->names, gufo_str_of("output.weight"), &index);
}

static gufo_status read_tensors(gufo_size_plan *plan, gufo_error *error)
{
    gufo_status status;
    uint64_t first;

    plan->count = gufo_losses_count(plan->losses);
    plan->tensors = mem_array(&plan->allocator, plan->count, sizeof *plan->tensors);
    plan->order = mem_array(&plan->allocator, plan->count, sizeof *plan->order);
    if (plan->tensors == NULL || plan->order == NULL)
        return fail_memory(error);
    status =
        name_index_new(&plan->names, plan->count, name_of_tensor, plan, &plan->allocator, error);
    for (uint64_t i = 0; i < plan->count && status == GUFO_OK; i++) {
        (void)gufo_losses_tensor_at(plan->losses, i, &plan->tensors[i].facts);
        (void)name_index_add(&plan->names, i, &first);
    }
    if (status == GUFO_OK)
        read_facts(plan);
    for (uint64_t i = 0; i < plan->count && status == GUFO_OK; i++)
        status = read_tensor(plan, i, error);
    return status;
}

/* ---- groups --------------------------------------------------------------------------------- */

static bool is_before(const void *owner, uint32_t a, uint32_t b)
{
    const size_tensor *tensors = owner;

    if (tensors[a].tie != tensors[b].tie)
        return tensors[a].tie < tensors[b].tie;
    if (tensors[a].tie != 0 && tensors[a].layer != tensors[b].layer)
        return tensors[a].layer < tensors[b].layer;
    return a < b;
}

static bool are_tied(const size_tensor *a, const size_tensor *b)
{
    return a->tie != 0 && a->tie == b->tie && a->layer == b->layer;
}

static gufo_status list_groups(gufo_size_plan *plan, gufo_error *error)
{
    plan->groups = mem_array(&plan->allocator, plan->free_count, sizeof *plan->groups);
    if (plan->groups == NULL)
        return fail_memory(error);
    sort_indices(plan->order, plan->free_count, is_before, plan->tensors);
    for (uint64_t i = 0; i < plan->free_count; i++) {
        size_tensor *t = &plan->tensors[plan->order[i]];

        if (i == 0 || !are_tied(&plan->tensors[plan->order[i - 1]], t))
            plan->groups[plan->group_count++] = (size_group){.first = i};
        t->group = plan->group_count - 1;
        plan->groups[t->group].count++;
    }
    return GUFO_OK;
}

/* Adds a type of tensor `index` to a choice; false if the tensor may not get it. */
static bool add_to_choice(const gufo_size_plan *plan, uint64_t index, size_choice *choice)
{
    const size_tensor *t = &plan->tensors[index];
    gufo_loss loss;

    if (!gufo_losses_find(plan->losses, index, choice->type, &loss) || !is_allowed(t, loss.type))
        return false;
    choice->loss += t->coefficient * loss.relative;
    return checked_add(choice->bytes, loss.bytes, &choice->bytes);
}

/* The number of the first tensor of a group that may not get a type; `count` if all may. */
static uint64_t find_unsuited(const gufo_size_plan *plan, const size_group *group,
                              size_choice *choice)
{
    uint64_t i = 0;

    while (i < group->count && add_to_choice(plan, plan->order[group->first + i], choice))
        i++;
    return i;
}

static gufo_status make_choices(gufo_size_plan *plan, size_group *group, gufo_error *error)
{
    uint32_t first = plan->order[group->first], unsuited = first;
    gufo_loss loss;

    group->first_choice = plan->choice_count;
    for (size_t i = 0; gufo_losses_option_at(plan->losses, first, i, &loss); i++) {
        size_choice *choice = &plan->choices[plan->choice_count];
        uint64_t end;

        *choice = (size_choice){.type = loss.type};
        end = find_unsuited(plan, group, choice);
        if (end == group->count)
            plan->choice_count++;
        else if (end > 0)
            unsuited = plan->order[group->first + end];
    }
    group->choice_count = plan->choice_count - group->first_choice;
    if (group->choice_count > 0)
        return GUFO_OK;
    return refuse(
        error, GUFO_E_ARGUMENT, "tensors %s and %s are tied, and may not become the same type",
        QUOTED(plan->tensors[first].facts.name), QUOTED(plan->tensors[unsuited].facts.name));
}

static gufo_status list_choices(gufo_size_plan *plan, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t most = 0;

    for (uint64_t i = 0; i < plan->group_count; i++)
        most += plan->tensors[plan->order[plan->groups[i].first]].facts.option_count;
    plan->choices = mem_array(&plan->allocator, most, sizeof *plan->choices);
    if (plan->choices == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < plan->group_count && status == GUFO_OK; i++)
        status = make_choices(plan, &plan->groups[i], error);
    return status;
}

gufo_status groups_make(gufo_size_plan *plan, gufo_error *error)
{
    gufo_status status = read_tensors(plan, error);

    if (status == GUFO_OK)
        status = list_groups(plan, error);
    return status == GUFO_OK ? list_choices(plan, error) : status;
}

/* ---- padding -------------------------------------------------------------------------------- */

static gufo_status pad_choice(const gufo_size_plan *plan, const size_group *group,
                              size_choice *choice, uint64_t alignment, gufo_error *error)
{
    choice->padded = 0;
    for (uint64_t i = 0; i < group->count; i++) {
        uint64_t index = plan->order[group->first + i], padded;
        gufo_loss loss;

        (void)gufo_losses_find(plan->losses, index, choice->type, &loss);
        if (!checked_align(loss.bytes, alignment, &padded) ||
            !checked_add(choice->padded, padded, &choice->padded))
            return refuse(error, GUFO_E_RANGE, "tensor %s is too large",
                          QUOTED(plan->tensors[index].facts.name));
    }
    return GUFO_OK;
}

gufo_status groups_pad(gufo_size_plan *plan, uint64_t alignment, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < plan->group_count; i++) {
        const size_group *group = &plan->groups[i];
        size_choice *choices = &plan->choices[group->first_choice];

        for (uint64_t c = 0; c < group->choice_count && status == GUFO_OK; c++)
            status = pad_choice(plan, group, &choices[c], alignment, error);
    }
    return status;
}
