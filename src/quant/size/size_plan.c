/* gufo_size_plan: arguments, life and results.  size.h names the steps between them. */
#include "quant/size/size.h"

#include "base/error.h"
#include "codec/run.h"

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
