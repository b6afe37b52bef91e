/* Which types a tensor may get: the recipes of the quantizer are asked about each type as the target
 * of all tensors.
 *
 *     tensor            target Q6_K    target Q4_K    target IQ2_XS    its options
 *     norm, F32         stays          stays          stays            F32            fixed
 *     rows of 4096      Q6_K           Q4_K           IQ2_XS           IQ2_XS Q4_K Q6_K
 *     rows of 4000      Q8_0           Q5_0           impossible       Q5_0 Q8_0
 */
#include "quant/losses/losses.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/interleaved.h"
#include "format/model/model.h"
#include "quant/recipes/recipe.h"

/* ---- types ---------------------------------------------------------------------------------- */

/* What tensors may get where the options have no list.  Each of the rest loses as much as one of these, or more,
 * at its size or a smaller one; those that are slow to encode are for tensors with importance: without it
 * the ones before them do as well. */
static const struct {
    uint32_t id;
    bool is_slow, own_only;
} standard[] = {
    {GUFO_TYPE_F32, false, true},     {GUFO_TYPE_F16, false, true},
    {GUFO_TYPE_BF16, false, true},    {GUFO_TYPE_Q8_0, false, false},
    {GUFO_TYPE_Q6_K, false, false},   {GUFO_TYPE_Q5_K, false, false},
    {GUFO_TYPE_Q4_K, false, false},   {GUFO_TYPE_IQ4_XS, false, false},
    {GUFO_TYPE_Q3_K, false, false},   {GUFO_TYPE_Q2_K, false, false},
    {GUFO_TYPE_IQ3_S, true, false},   {GUFO_TYPE_IQ3_XXS, true, false},
    {GUFO_TYPE_IQ2_S, true, false},   {GUFO_TYPE_IQ2_XS, true, false},
    {GUFO_TYPE_IQ2_XXS, true, false}, {GUFO_TYPE_IQ1_M, true, false},
    {GUFO_TYPE_IQ1_S, true, false},
};

bool losses_encodes_slowly(const gufo_element_type *type)
{
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
        if (standard[i].id == type->id)
            return standard[i].is_slow;
    return false;
}

static gufo_status model_has_type(const gufo_model *model, uint32_t id, bool *found,
                                  gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;

    *found = false;
    for (uint64_t i = 0; i < gufo_tensor_count(model) && status == GUFO_OK && !*found; i++) {
        status = model_tensor_at(model, i, &tensor, error);
        *found = status == GUFO_OK && tensor.type == id;
    }
    return status;
}

static gufo_status find_standard(gufo_losses *l, const gufo_model *input, bool weighs,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof standard / sizeof *standard && status == GUFO_OK; i++) {
        bool wanted = weighs || !standard[i].is_slow;

        if (standard[i].own_only)
            status = model_has_type(input, standard[i].id, &wanted, error);
        if (wanted)
            l->types[l->type_count++] = (loss_type){.type = gufo_element_type_by_id(standard[i].id),
                                                    .weighs_only = standard[i].is_slow,
                                                    .own_only = standard[i].own_only};
    }
    return status;
}

static gufo_status add_given(gufo_losses *l, const gufo_element_type *type, gufo_error *error)
{
    if (type == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "a type of gufo_losses_options.types is missing");
    if ((type->flags & GUFO_ELEMENT_ENCODES) == 0)
        return refuse(error, GUFO_E_ARGUMENT, "tensors cannot become %s: nothing encodes that type",
                      type->name);
    for (size_t i = 0; i < l->type_count; i++)
        if (l->types[i].type->id == type->id)
            return refuse(error, GUFO_E_ARGUMENT, "type %s is listed twice", type->name);
    l->types[l->type_count++] = (loss_type){.type = type};
    return GUFO_OK;
}

gufo_status losses_find_types(gufo_losses *l, const gufo_model *input,
                              const gufo_quantize_options *options, const gufo_losses_options *more,
                              gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (more->types == NULL && more->type_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_losses_options.types is missing");
    if (more->type_count > GUFO_QUANTIZE_TARGETS)
        return refuse(error, GUFO_E_LIMIT, "at most %d types are measured, not %zu",
                      GUFO_QUANTIZE_TARGETS, more->type_count);
    if (more->type_count == 0)
        return find_standard(l, input, options->importance != NULL, error);
    for (size_t i = 0; i < more->type_count && status == GUFO_OK; i++)
        status = add_given(l, more->types[i], error);
    return status;
}

/* ---- options of a tensor -------------------------------------------------------------------- */

/* The result that says what a tensor becomes in any case; NULL if its type is free.  Where another model
 * gives types, it may do so for some targets alone: an import keeps floats for plain ones. */
static const quant_result *decided(const gufo_losses *l, uint64_t tensor)
{
    const quant_result *given = quant_result_of(l->q, 0, tensor);
    bool is_given = true;

    for (size_t i = 0; i < l->type_count; i++) {
        const quant_result *r = quant_result_of(l->q, i, tensor);

        if (r->reason != GUFO_REASON_TARGET && r->reason != GUFO_REASON_MODEL)
            return r;
        is_given = is_given && r->reason == GUFO_REASON_MODEL && r->to == given->to;
    }
    return is_given ? given : NULL;
}

static loss_option *find_option(const gufo_losses *l, const loss_tensor *t,
                                const gufo_element_type *type)
{
    for (size_t i = t->first; i < t->first + t->count; i++)
        if (l->options[i].type == type)
            return &l->options[i];
    return NULL;
}

/* Adds an option, or finds that it exists: then a type that is wanted for itself is not a fallback. */
static gufo_status add_option(gufo_losses *l, loss_tensor *t, const loss_option *option,
                              gufo_error *error)
{
    loss_option *same = find_option(l, t, option->type), *list;

    if (same != NULL) {
        same->flags &= option->flags | ~(uint32_t)GUFO_RECIPE_FELL_BACK;
        return GUFO_OK;
    }
    list = mem_grow(&l->allocator, l->options, l->option_count, &l->option_room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    l->options = list;
    l->options[l->option_count++] = *option;
    t->count++;
    return GUFO_OK;
}

static gufo_status add_result(gufo_losses *l, uint64_t tensor, const quant_result *r,
                              gufo_error *error)
{
    const loss_option option = {.type = r->to,
                                .bytes = r->size,
                                .flags = r->flags,
                                .stays =
                                    r->method != METHOD_CONVERT || loss_rows_of(l, tensor) == 0};

    return add_option(l, &l->tensors[tensor], &option, error);
}

static gufo_status add_decided(gufo_losses *l, uint64_t tensor, const quant_result *r,
                               gufo_error *error)
{
    loss_tensor *t = &l->tensors[tensor];

    t->is_fixed = true;
    t->reason = (gufo_recipe_reason)r->reason;
    if (r->flags & GUFO_RECIPE_IMPOSSIBLE)
        return refuse(error, GUFO_E_NOT_FOUND, "tensor %s cannot become %s without importance data",
                      QUOTED(l->q->tensors[tensor].source_name), r->to->name);
    return add_result(l, tensor, r, error);
}

/* Whether a tensor may have a type as far as the list of types says. */
static bool is_for(const gufo_losses *l, const loss_type *type, const quant_tensor *t)
{
    if (type->own_only)
        return quant_source_type(l->q, t) == type->type;
    return !type->weighs_only || t->has_importance;
}

/* What is quantized already loses nothing if it stays, except where an adapter changes it. */
static gufo_status add_own(gufo_losses *l, uint64_t tensor, gufo_error *error)
{
    const quant_tensor *t = &l->q->tensors[tensor];
    const gufo_tensor input = quant_source(l->q, t);
    const gufo_element_type *from = gufo_element_type_by_id(input.type);
    const interleaved *merged = interleaved_find(input.type);
    const loss_option option = {.type =
                                    merged != NULL ? gufo_element_type_by_id(merged->plain) : from,
                                .bytes = input.size,
                                .flags = merged != NULL ? GUFO_RECIPE_REPACKS : 0,
                                .stays = true};

    if ((from->flags & GUFO_ELEMENT_QUANTIZED) == 0 || t->change_count > 0)
        return GUFO_OK;
    return add_option(l, &l->tensors[tensor], &option, error);
}

static bool is_before(const void *a, const void *b)
{
    const loss_option *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes < right->bytes;
    return left->type != NULL && right->type != NULL && left->type->id < right->type->id;
}

static gufo_status fail_without_option(const gufo_losses *l, uint64_t tensor, gufo_error *error)
{
    const gufo_tensor from = quant_source(l->q, &l->q->tensors[tensor]);

    for (size_t i = 0; i < l->type_count; i++)
        if (quant_result_of(l->q, i, tensor)->flags & GUFO_RECIPE_IMPOSSIBLE)
            return refuse(error, GUFO_E_NOT_FOUND,
                          "tensor %s cannot become any of the types without importance data",
                          QUOTED(from.name));
    return refuse(error, GUFO_E_ARGUMENT,
                  "tensor %s, with rows of %s elements, cannot become any of the types",
                  QUOTED(from.name), GROUPED(from.dims[0]));
}

static gufo_status add_free(gufo_losses *l, uint64_t tensor, gufo_error *error)
{
    const quant_tensor *t = &l->q->tensors[tensor];
    loss_tensor *found = &l->tensors[tensor];
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < l->type_count && status == GUFO_OK; i++) {
        const quant_result *r = quant_result_of(l->q, i, tensor);
        const uint32_t never = RECIPE_UNFIT | GUFO_RECIPE_IMPOSSIBLE;

        if (is_for(l, &l->types[i], t) && (r->flags & never) == 0)
            status = add_result(l, tensor, r, error);
    }
    if (status == GUFO_OK && l->q->options.recipe.allow_requantize)
        status = add_own(l, tensor, error);
    if (status == GUFO_OK && found->count == 0)
        return fail_without_option(l, tensor, error);
    if (status == GUFO_OK)
        sort_items(&l->options[found->first], found->count, sizeof *l->options, is_before);
    return status;
}

gufo_status losses_find_options(gufo_losses *l, gufo_error *error)
{
    uint64_t count = l->q->tensor_count;
    gufo_status status = GUFO_OK;

    l->tensors = mem_array(&l->allocator, count, sizeof *l->tensors);
    if (l->tensors == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        const quant_result *r = decided(l, i);

        l->tensors[i].first = (size_t)l->option_count;
        status = r != NULL ? add_decided(l, i, r, error) : add_free(l, i, error);
    }
    return status;
}
