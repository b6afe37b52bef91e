/* Losses of tensors: making, freeing, queries. */
#include "quant/losses/losses.h"

#include "base/error.h"
#include "base/memory.h"

/* ---- life ----------------------------------------------------------------------------------- */

/* The plan that finds what each type does to each tensor. */
static gufo_status plan(gufo_losses *l, const gufo_model *input,
                        const gufo_quantize_options *options, gufo_error *error)
{
    gufo_quantize_target targets[GUFO_QUANTIZE_TARGETS] = {{0}};
    gufo_quantize_options inner = *options;

    for (size_t i = 0; i < l->type_count; i++)
        targets[i] = (gufo_quantize_target){
            .name = l->types[i].type->name, .base_type = l->types[i].type, .pure = true};
    inner.recipe.target = targets[0];
    inner.recipe.plan_only = true;
    inner.more_targets = targets + 1;
    inner.more_count = l->type_count - 1;
    inner.split_size = inner.split_tensors = 0;
    inner.allocator = &l->allocator;
    l->q = quantizer_plan(input, &inner, true, error);
    if (l->q == NULL)
        return error != NULL ? error->code : GUFO_E_ARGUMENT;
    l->q->options.more_targets = NULL; /* that list ends here; the quantizer has its own */
    return GUFO_OK;
}

static gufo_status fill(gufo_losses *l, const gufo_model *input,
                        const gufo_quantize_options *options, const gufo_losses_options *more,
                        gufo_error *error)
{
    gufo_status status;

    if (input == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    status = flags_check(more->flags, GUFO_LOSSES_ALL_ROWS, "gufo_losses_options", error);
    if (status == GUFO_OK)
        status = reserved_check(more->reserved, "gufo_losses_options", error);
    if (status == GUFO_OK)
        status = losses_find_types(l, input, options, more, error);
    if (status != GUFO_OK)
        return status;
    l->asked = *options;
    l->all_rows = (more->flags & GUFO_LOSSES_ALL_ROWS) != 0;
    status = plan(l, input, options, error);
    return status == GUFO_OK ? losses_find_options(l, error) : status;
}

gufo_losses *gufo_losses_new(const gufo_model *input, const gufo_quantize_options *options,
                             const gufo_losses_options *more, gufo_error *error)
{
    static const gufo_quantize_options standard = {0};
    static const gufo_losses_options usual = {0};
    gufo_losses *l;
    gufo_error reason;

    options = options != NULL ? options : &standard;
    l = mem_object(options->allocator, sizeof *l, error);
    if (l == NULL)
        return NULL;
    if (fill(l, input, options, more != NULL ? more : &usual, &reason) == GUFO_OK)
        return l;
    (void)fail_as(error, &reason);
    gufo_losses_free(l);
    return NULL;
}

void gufo_losses_free(gufo_losses *l)
{
    gufo_allocator allocator;

    if (l == NULL)
        return;
    allocator = l->allocator;
    gufo_quantizer_free(l->q);
    mem_free(&allocator, l->tensors);
    mem_free(&allocator, l->options);
    mem_free(&allocator, l->kept);
    mem_free(&allocator, l);
}

/* ---- queries -------------------------------------------------------------------------------- */

uint64_t gufo_losses_count(const gufo_losses *l)
{
    return l->q->tensor_count;
}

bool gufo_losses_tensor_at(const gufo_losses *l, uint64_t index, gufo_losses_tensor *out)
{
    const quant_tensor *t;

    if (index >= l->q->tensor_count)
        return false;
    t = &l->q->tensors[index];
    if (out != NULL)
        *out = (gufo_losses_tensor){.name = quant_name(l->q, t),
                                    .source = quant_source(l->q, t),
                                    .option_count = l->tensors[index].count,
                                    .is_fixed = l->tensors[index].is_fixed,
                                    .has_importance = t->has_importance,
                                    .adapters = (size_t)t->change_count,
                                    .reason = l->tensors[index].reason};
    return true;
}

bool gufo_losses_option_at(const gufo_losses *l, uint64_t index, size_t option, gufo_loss *out)
{
    const loss_option *o;
    uint64_t all;

    if (index >= l->q->tensor_count || option >= l->tensors[index].count)
        return false;
    o = loss_option_of(l, index, option);
    all = loss_rows_of(l, index);
    if (out != NULL)
        *out = (gufo_loss){.type = o->type,
                           .bytes = o->bytes,
                           .is_known = loss_is_known(o, all, l->all_rows),
                           .relative = o->relative,
                           .standard_error = o->standard_error,
                           .rows = o->rows,
                           .all_rows = all,
                           .flags = o->flags};
    return true;
}

bool gufo_losses_find(const gufo_losses *l, uint64_t index, const gufo_element_type *type,
                      gufo_loss *out)
{
    for (size_t i = 0; index < l->q->tensor_count && i < l->tensors[index].count; i++)
        if (loss_option_of(l, index, i)->type == type)
            return gufo_losses_option_at(l, index, i, out);
    return false;
}

double gufo_losses_actual(const gufo_quantizer_tensor *tensor)
{
    if (tensor->has_importance)
        return loss_ratio(tensor->weighted_error, tensor->weighted_value);
    return loss_ratio(tensor->loss.square_error, tensor->loss.square_value);
}
