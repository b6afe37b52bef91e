/* Tensors of the quantizer, from the little that it keeps of each. */
#include "quant/quantizer.h"
#include "quant/recipes/recipe.h"

gufo_tensor quant_source(const gufo_quantizer *q, const quant_tensor *tensor)
{
    gufo_tensor input;

    if (q->sources != NULL)
        input = q->sources[tensor - q->tensors];
    else
        (void)gufo_tensor_at(q->input, tensor->index, &input);
    input.name = tensor->source_name;
    return input;
}

gufo_recipe_choice quant_choice(const gufo_quantizer *q, size_t target, uint64_t index)
{
    const quant_result *r = quant_result_of(q, target, index);
    const gufo_tensor input = quant_source(q, &q->tensors[index]);
    gufo_recipe_choice choice = {.type = quant_type_id(r),
                                 .wanted = r->wanted,
                                 .reason = (gufo_recipe_reason)r->reason,
                                 .flags = r->flags,
                                 .rule = r->rule,
                                 .size = r->size};

    choice.fallback_cost = recipe_fallback_cost(&input, &choice);
    return choice;
}
