/* gufo_size_plan: arguments, life and results, and the mixtures that it is compared with.  size.h names the
 * steps between them. */
#include <math.h>

#include "base/error.h"
#include "codec/run.h"
#include "quant/losses/losses.h"
#include "quant/size/size.h"

/* ---- mixtures ------------------------------------------------------------------------------- */

/* The fixed mixtures of file types, to compare a plan with: those that make of every tensor a type whose
 * loss is known. */

/* What a mixture makes of the model. */
typedef struct mixture {
    const gufo_file_type *type;
    uint64_t size, data_size;
    double loss;
} mixture;

/* Whether some tensor may get the type. */
static bool is_measured(const gufo_size_plan *plan, uint32_t type)
{
    for (uint64_t i = 0; i < plan->choice_count; i++)
        if (plan->choices[i].type->id == type)
            return true;
    return false;
}

/* False if a loss is not known. */
static bool add_up(const gufo_size_plan *plan, const gufo_quantizer *q, mixture *out)
{
    gufo_quantizer_tensor tensor;
    gufo_loss loss;

    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        out->data_size += tensor.choice.size;
        if (plan->tensors[i].is_kept)
            continue;
        if (!gufo_losses_find(plan->losses, i, gufo_element_type_by_id(tensor.choice.type), &loss))
            return false;
        out->loss += plan->tensors[i].coefficient * loss.relative;
    }
    return true;
}

/* False, without a failure, for a mixture that cannot be made, or compared. */
static gufo_status make_mixture(const gufo_size_plan *plan, const gufo_file_type *type,
                                mixture *out, bool *is_made, gufo_error *error)
{
    gufo_quantize_options options = plan->losses->asked;
    gufo_quantizer *q;
    gufo_error reason;

    *is_made = false;
    if ((type->flags & GUFO_FILE_TYPE_NOT_MADE) != 0 || !is_measured(plan, type->base_type) ||
        !gufo_quantize_target_by_name(type->name, false, &options.recipe.target))
        return GUFO_OK;
    options.more_count = 0;
    options.recipe.plan_only = true;
    q = gufo_quantizer_new(plan->losses->q->input, &options, &reason);
    if (q == NULL)
        return reason.code == GUFO_E_MEMORY ? fail_as(error, &reason) : GUFO_OK;
    *out = (mixture){.type = type, .size = gufo_quantizer_output_size(q)};
    *is_made = add_up(plan, q, out);
    gufo_quantizer_free(q);
    return GUFO_OK;
}

/* The largest one counts; of equal ones, the one that loses less. */
static void offer(size_outcome *outcome, const mixture *m)
{
    gufo_size_result *result = &outcome->result;
    uint64_t counted = outcome->wanted.bytes > 0 ? m->size : m->data_size;

    if (counted > result->asked)
        return;
    if (result->mixture != NULL &&
        (m->size < result->mixture_size ||
         (m->size == result->mixture_size && m->loss >= result->mixture_loss)))
        return;
    result->mixture = m->type;
    result->mixture_size = m->size;
    result->mixture_loss = m->loss;
}

/* Finds the nearest mixture of each outcome, whose `asked` is known. */
static gufo_status mixtures_compare(gufo_size_plan *plan, gufo_error *error)
{
    const gufo_file_type *type;
    gufo_status status = GUFO_OK;
    bool is_made;
    mixture m;

    for (size_t i = 0; status == GUFO_OK && (type = gufo_file_type_at(i)) != NULL; i++) {
        status = make_mixture(plan, type, &m, &is_made, error);
        for (size_t k = 0; status == GUFO_OK && is_made && k < plan->outcome_count; k++)
            offer(&plan->outcomes[k], &m);
    }
    return status;
}

/* ---- arguments ------------------------------------------------------------------------------ */

static gufo_status check_target(const gufo_size_target *target, gufo_error *error)
{
    const uint64_t reserved[4] = {target->reserved[0], target->reserved[1]};
    double bits = target->bits_per_weight;

    if (reserved_check(reserved, "gufo_size_target", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (target->bytes > 0 ? bits == 0 : bits > 0 && bits <= GUFO_SIZE_MOST_BITS)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "a size is either bytes, or bits per weight above 0 and at most %d, not %s bytes "
                  "and %g bits",
                  GUFO_SIZE_MOST_BITS, GROUPED(target->bytes), bits);
}

static gufo_status check_options(const gufo_losses *losses, const gufo_size_options *options,
                                 gufo_error *error)
{
    gufo_status status;

    if (losses == NULL || options == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the losses, or the options, are missing");
    if (options->targets == NULL || options->target_count == 0 ||
        options->target_count > GUFO_QUANTIZE_TARGETS)
        return refuse(error, GUFO_E_ARGUMENT, "a plan is for 1 to %d sizes, not %zu",
                      GUFO_QUANTIZE_TARGETS, options->target_count);
    status = reserved_check(options->reserved, "gufo_size_options", error);
    for (size_t i = 0; i < options->target_count && status == GUFO_OK; i++)
        status = check_target(&options->targets[i], error);
    return status;
}

/* ---- life ----------------------------------------------------------------------------------- */

static gufo_status make_outcomes(gufo_size_plan *plan, gufo_error *error)
{
    const gufo_allocator *allocator = &plan->allocator;

    plan->outcomes = mem_array(allocator, plan->options.target_count, sizeof *plan->outcomes);
    plan->targets = mem_array(allocator, plan->options.target_count, sizeof *plan->targets);
    if (plan->outcomes == NULL || plan->targets == NULL)
        return fail_memory(error);
    plan->outcome_count = plan->options.target_count;
    for (size_t i = 0; i < plan->outcome_count; i++) {
        size_outcome *outcome = &plan->outcomes[i];

        outcome->wanted = plan->options.targets[i];
        outcome->chosen = mem_array(allocator, plan->group_count, sizeof *outcome->chosen);
        if (outcome->chosen == NULL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

static gufo_status make_plan(gufo_size_plan *plan, gufo_error *error)
{
    gufo_status status = groups_make(plan, error);

    if (status == GUFO_OK)
        status = make_outcomes(plan, error);
    if (status == GUFO_OK)
        status = fit_outcomes(plan, error);
    return status == GUFO_OK ? mixtures_compare(plan, error) : status;
}

gufo_size_plan *gufo_size_plan_new(const gufo_losses *losses, const gufo_size_options *options,
                                   const gufo_run *run, gufo_error *error)
{
    gufo_size_plan *plan;
    gufo_status status;

    run = run_of(run);
    if (check_options(losses, options, error) != GUFO_OK || run_check(run, error) != GUFO_OK)
        return NULL;
    plan = mem_object(run->allocator, sizeof *plan, error);
    if (plan == NULL)
        return NULL;
    plan->losses = losses;
    plan->options = *options;
    plan->run = run;
    status = make_plan(plan, error);
    plan->run = NULL;
    plan->options.targets = NULL;
    if (status == GUFO_OK)
        return plan;
    gufo_size_plan_free(plan);
    return NULL;
}

void gufo_size_plan_free(gufo_size_plan *plan)
{
    gufo_allocator allocator;

    if (plan == NULL)
        return;
    allocator = plan->allocator;
    for (size_t i = 0; i < plan->outcome_count; i++)
        mem_free(&allocator, plan->outcomes[i].chosen);
    mem_free(&allocator, plan->outcomes);
    mem_free(&allocator, plan->targets);
    mem_free(&allocator, plan->choices);
    mem_free(&allocator, plan->groups);
    mem_free(&allocator, plan->order);
    mem_free(&allocator, plan->tensors);
    name_index_free(&plan->names, &allocator);
    mem_free(&allocator, plan);
}

/* ---- looking -------------------------------------------------------------------------------- */

bool gufo_size_plan_at(const gufo_size_plan *plan, size_t target, gufo_size_result *out)
{
    if (target >= plan->outcome_count)
        return false;
    if (out != NULL)
        *out = plan->outcomes[target].result;
    return true;
}

bool gufo_size_plan_tensor_at(const gufo_size_plan *plan, size_t target, uint64_t index,
                              gufo_size_tensor *out)
{
    const size_tensor *t;

    if (target >= plan->outcome_count || index >= plan->count)
        return false;
    t = &plan->tensors[index];
    if (out == NULL)
        return true;
    *out = (gufo_size_tensor){.name = t->facts.name,
                              .is_kept = t->is_kept,
                              .loss = apply_loss(plan, &plan->outcomes[target], index),
                              .coefficient = t->is_kept ? 0 : t->coefficient,
                              .tied = 1};
    if (t->is_kept)
        return true;
    out->group = t->group;
    out->tied = plan->groups[t->group].count;
    return true;
}

/* Sums that were added up in another order differ in their last digits. */
static bool is_within(const gufo_loss *expected, double actual)
{
    return fabs(actual - expected->relative) <= 3 * expected->standard_error + 1e-9 * actual;
}

bool gufo_size_tensor_compare(const gufo_size_tensor *planned, const gufo_quantizer_tensor *written,
                              double *actual, bool *agrees)
{
    double loss;

    if (planned->is_kept || planned->loss.rows == 0 || written->loss.count == 0)
        return false;
    loss = gufo_losses_actual(written);
    if (actual != NULL)
        *actual = loss;
    if (agrees != NULL)
        *agrees = is_within(&planned->loss, loss);
    return true;
}
