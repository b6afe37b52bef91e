/* The fixed mixtures of file types, to compare a plan with: those that make of every tensor a type whose
 * loss is known. */
#include "quant/size/size.h"

#include "base/error.h"
#include "quant/losses/losses.h"

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

gufo_status mixtures_compare(gufo_size_plan *plan, gufo_error *error)
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
