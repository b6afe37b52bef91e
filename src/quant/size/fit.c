/* Choices whose files have the size that is asked for.
 *
 *     size of the files  =  frame                         +  bytes of what is chosen
 *                           headers, tensors that keep       with padding
 *                           their type
 *
 * The frame is that of the smallest choices, whose size the layout of a quantizer gives.  It is the same
 * for other choices, except that these may need another shard: then the files of a choice are larger than
 * was asked for, the budget shrinks by as much, and the next choice is tried.  The bound is that of the
 * first budget, which no file of the size exceeds. */
#include "quant/size/size.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/error.h"
#include "quant/losses/losses.h"
#include "quant/quantizer.h"

/* A plan as options of a quantizer: the type of every tensor comes from the plan, as if from another
 * model.  Tensors with another reason for their type are left to it. */

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

/* The target for which rules hold that give each tensor its type: not one of plain numbers. */
static const char *target_for_rules(const gufo_size_result *result)
{
    const gufo_file_type *type = result->file_type;
    bool is_made = type != NULL && (type->flags & GUFO_FILE_TYPE_NOT_MADE) == 0;

    if (result->main_type->block_elements == 1)
        return "Q8_0";
    return is_made ? type->name : result->main_type->name;
}

/* Every target has a name at an address of its own, by which it is recognised. */
static gufo_status apply_target(gufo_size_plan *plan, size_t number, gufo_error *error)
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
    outcome->result.target = target_for_rules(&outcome->result);
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

/* The quantizer of all outcomes; *q is NULL on failure. */
static gufo_status apply_quantizer(const gufo_size_plan *plan, gufo_quantizer **q,
                                   gufo_error *error)
{
    gufo_quantize_options options = plan->losses->asked;
    gufo_error reason;

    gufo_size_plan_apply(plan, &options);
    options.recipe.plan_only = true;
    *q = gufo_quantizer_new(plan->losses->q->input, &options, &reason);
    return *q != NULL ? GUFO_OK : fail_as(error, &reason);
}

/* What only choosing needs. */
typedef struct fitting {
    gufo_size_plan *plan;
    gufo_allocate_group *groups;
    gufo_allocate_option *options; /* of all groups */
    gufo_allocate_options how;
} fitting;

static bool counts_files(const size_outcome *outcome)
{
    return outcome->wanted.bytes > 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

static void choose_smallest(const gufo_size_plan *plan, size_outcome *outcome)
{
    for (uint64_t i = 0; i < plan->group_count; i++) {
        const size_group *group = &plan->groups[i];
        const size_choice *choices = &plan->choices[group->first_choice];

        outcome->chosen[i] = 0;
        for (uint64_t c = 1; c < group->choice_count; c++)
            if (choices[c].bytes < choices[outcome->chosen[i]].bytes)
                outcome->chosen[i] = (size_t)c;
    }
}

/* Bytes of what is chosen; their sum fits, as they are in a file that was laid out. */
static uint64_t chosen_bytes(const gufo_size_plan *plan, const size_outcome *outcome)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < plan->group_count; i++)
        sum += counts_files(outcome) ? size_chosen(plan, outcome, i)->padded
                                     : size_chosen(plan, outcome, i)->bytes;
    return sum;
}

/* Bytes of all tensors, without padding. */
static uint64_t data_size(const gufo_size_plan *plan, const size_outcome *outcome)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < plan->count; i++)
        sum += apply_loss(plan, outcome, i).bytes;
    return sum;
}

/* What counts: files, or data. */
static uint64_t measured_size(const gufo_size_plan *plan, const gufo_quantizer *q, size_t number)
{
    const size_outcome *outcome = &plan->outcomes[number];

    return counts_files(outcome) ? gufo_quantizer_target_size(q, number) : data_size(plan, outcome);
}

/* The quantizer of all outcomes as they are chosen now. */
static gufo_status lay_out(gufo_size_plan *plan, gufo_quantizer **q, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *q = NULL;
    for (size_t i = 0; i < plan->outcome_count && status == GUFO_OK; i++)
        status = apply_target(plan, i, error);
    return status == GUFO_OK ? apply_quantizer(plan, q, error) : status;
}

static gufo_status find_frames(gufo_size_plan *plan, gufo_error *error)
{
    gufo_quantizer *q;
    gufo_status status;

    for (size_t i = 0; i < plan->outcome_count; i++)
        choose_smallest(plan, &plan->outcomes[i]);
    status = lay_out(plan, &q, error);
    if (status == GUFO_OK)
        status = groups_pad(plan, gufo_document_alignment(quant_document_of(q, 0, 0)), error);
    for (size_t i = 0; i < plan->outcome_count && status == GUFO_OK; i++) {
        size_outcome *outcome = &plan->outcomes[i];

        outcome->frame = measured_size(plan, q, i) - chosen_bytes(plan, outcome);
    }
    gufo_quantizer_free(q);
    return status;
}

/* ---- budgets -------------------------------------------------------------------------------- */

static gufo_status count_elements(const gufo_size_plan *plan, uint64_t *elements, gufo_error *error)
{
    *elements = 0;
    for (uint64_t i = 0; i < plan->count; i++)
        if (!checked_add(*elements, plan->tensors[i].facts.source.elements, elements) ||
            *elements > UINT64_C(1) << 53)
            return refuse(error, GUFO_E_RANGE, "the tensors have too many elements");
    return GUFO_OK;
}

static gufo_status set_asked(const gufo_size_plan *plan, gufo_error *error)
{
    uint64_t elements;
    gufo_status status = count_elements(plan, &elements, error);

    for (size_t i = 0; i < plan->outcome_count && status == GUFO_OK; i++) {
        size_outcome *outcome = &plan->outcomes[i];
        gufo_size_result *result = &outcome->result;

        result->elements = elements;
        result->asked = counts_files(outcome)
                            ? outcome->wanted.bytes
                            : (uint64_t)(outcome->wanted.bits_per_weight * ((double)elements / 8));
        outcome->budget = result->asked - smaller(result->asked, outcome->frame);
    }
    return status;
}

/* ---- a size that is too small --------------------------------------------------------------- */

enum { NAMED = 3 };

/* The tensors with the most bytes, the largest first. */
static size_t find_largest(const gufo_size_plan *plan, const size_outcome *outcome,
                           uint64_t largest[NAMED])
{
    uint64_t most[NAMED];
    size_t count = 0;

    for (uint64_t i = 0; i < plan->count; i++) {
        uint64_t bytes = apply_loss(plan, outcome, i).bytes;
        size_t at = count;

        for (; at > 0 && bytes > most[at - 1]; at--)
            if (at < NAMED) {
                most[at] = most[at - 1];
                largest[at] = largest[at - 1];
            }
        if (at == NAMED)
            continue;
        most[at] = bytes;
        largest[at] = i;
        count += count < NAMED;
    }
    return count;
}

static gufo_status fail_small(gufo_size_plan *plan, size_t number, gufo_error *error)
{
    size_outcome *outcome = &plan->outcomes[number];
    char text[NAMED * (GUFO_QUOTE_SIZE + 64)] = "";
    uint64_t largest[NAMED];
    size_t count, len = 0;

    choose_smallest(plan, outcome);
    count = find_largest(plan, outcome, largest);
    for (size_t i = 0; i < count; i++) {
        const gufo_loss loss = apply_loss(plan, outcome, largest[i]);

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s takes %s as %s",
                                i > 0 ? ", " : "", QUOTED(plan->tensors[largest[i]].facts.name),
                                GROUPED(loss.bytes),
                                loss.type != NULL ? loss.type->name : "what it is");
    }
    return refuse(error, GUFO_E_LIMIT, "%s bytes are asked for, and the least possible are %s%s%s",
                  GROUPED(outcome->result.asked), GROUPED(outcome->result.least),
                  count > 0 ? ": " : "", text);
}

/* ---- choosing ------------------------------------------------------------------------------- */

static void fill_options(const fitting *f, const size_outcome *outcome)
{
    const gufo_size_plan *plan = f->plan;

    for (uint64_t i = 0; i < plan->choice_count; i++)
        f->options[i] = (gufo_allocate_option){
            .bytes = counts_files(outcome) ? plan->choices[i].padded : plan->choices[i].bytes,
            .loss = plan->choices[i].loss,
        };
}

/* Chooses within the budget. */
static gufo_status choose(fitting *f, size_outcome *outcome, gufo_allocation *found,
                          gufo_error *error)
{
    fill_options(f, outcome);
    return gufo_allocate(f->groups, (size_t)f->plan->group_count, outcome->budget, &f->how,
                         outcome->chosen, found, error);
}

/* The first choice: no other one that is as small has less loss than it, or than its bound. */
static gufo_status choose_first(fitting *f, size_t number, gufo_error *error)
{
    size_outcome *outcome = &f->plan->outcomes[number];
    gufo_size_result *result = &outcome->result;
    gufo_allocation found = {0};
    gufo_status status = choose(f, outcome, &found, error);

    if (status != GUFO_OK && status != GUFO_E_LIMIT)
        return status;
    outcome->least_bytes = found.least_bytes;
    result->least = outcome->frame + found.least_bytes;
    if (result->asked < result->least)
        return fail_small(f->plan, number, error);
    result->loss = found.loss;
    result->bound = found.is_proven ? found.loss : found.bound;
    result->is_proven = found.is_proven;
    return GUFO_OK;
}

/* The next choice, of fewer bytes.  The smallest files are as large as was counted on. */
static gufo_status choose_smaller(fitting *f, size_t number, uint64_t excess, gufo_error *error)
{
    size_outcome *outcome = &f->plan->outcomes[number];
    uint64_t room = outcome->budget - outcome->least_bytes;
    gufo_allocation found = {0};
    gufo_status status;

    if (room == 0) {
        outcome->result.least = outcome->result.asked + excess;
        return fail_small(f->plan, number, error);
    }
    outcome->budget -= smaller(excess, room);
    status = choose(f, outcome, &found, error);
    outcome->result.loss = found.loss;
    outcome->result.is_proven = outcome->result.is_proven && found.loss <= outcome->result.bound;
    return status;
}

/* Chooses again where files are too large; *fits is false if some are. */
static gufo_status check_sizes(fitting *f, bool *fits, gufo_error *error)
{
    gufo_size_plan *plan = f->plan;
    gufo_quantizer *q;
    gufo_status status = lay_out(plan, &q, error);

    *fits = true;
    for (size_t i = 0; i < plan->outcome_count && status == GUFO_OK; i++) {
        gufo_size_result *result = &plan->outcomes[i].result;
        uint64_t size = measured_size(plan, q, i);

        result->size = gufo_quantizer_target_size(q, i);
        if (size <= result->asked)
            continue;
        *fits = false;
        status = choose_smaller(f, i, size - result->asked, error);
    }
    gufo_quantizer_free(q);
    return status;
}

static gufo_status fit(fitting *f, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    bool fits = false;

    for (size_t i = 0; i < f->plan->outcome_count && status == GUFO_OK; i++)
        status = choose_first(f, i, error);
    while (status == GUFO_OK && !fits)
        status = check_sizes(f, &fits, error);
    return status;
}

/* ---- results -------------------------------------------------------------------------------- */

/* Whether no group has a choice with a smaller loss. */
static bool is_best(const gufo_size_plan *plan, const size_outcome *outcome)
{
    for (uint64_t i = 0; i < plan->group_count; i++) {
        const size_group *group = &plan->groups[i];

        for (uint64_t c = 0; c < group->choice_count; c++)
            if (plan->choices[group->first_choice + c].loss < size_chosen(plan, outcome, i)->loss)
                return false;
    }
    return true;
}

static gufo_status prepare(fitting *f, gufo_error *error)
{
    gufo_size_plan *plan = f->plan;

    f->groups = mem_array(&plan->allocator, plan->group_count, sizeof *f->groups);
    f->options = mem_array(&plan->allocator, plan->choice_count, sizeof *f->options);
    if (f->groups == NULL || f->options == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < plan->group_count; i++)
        f->groups[i] = (gufo_allocate_group){.options = f->options + plan->groups[i].first_choice,
                                             .count = (size_t)plan->groups[i].choice_count};
    return GUFO_OK;
}

gufo_status fit_outcomes(gufo_size_plan *plan, gufo_error *error)
{
    fitting f = {.plan = plan, .how = {.states = plan->options.states, .run = plan->run}};
    gufo_status status = find_frames(plan, error);

    if (status == GUFO_OK)
        status = set_asked(plan, error);
    if (status == GUFO_OK)
        status = prepare(&f, error);
    if (status == GUFO_OK)
        status = fit(&f, error);
    mem_free(&plan->allocator, f.groups);
    mem_free(&plan->allocator, f.options);
    for (size_t i = 0; i < plan->outcome_count && status == GUFO_OK; i++) {
        size_outcome *outcome = &plan->outcomes[i];

        outcome->result.data_size = data_size(plan, outcome);
        outcome->result.is_best = is_best(plan, outcome);
    }
    return status;
}
