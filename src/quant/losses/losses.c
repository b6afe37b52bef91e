/* Losses of tensors: which types they may get; making, freeing, queries.
 *
 * The recipes of the quantizer are asked about each type as the target of all tensors.
 *
 *     tensor            target Q6_K    target Q4_K    target IQ2_XS    its options
 *     norm, F32         stays          stays          stays            F32            fixed
 *     rows of 4096      Q6_K           Q4_K           IQ2_XS           IQ2_XS Q4_K Q6_K
 *     rows of 4000      Q8_0           Q5_0           impossible       Q5_0 Q8_0
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/interleaved.h"
#include "format/model/model.h"
#include "quant/losses/losses.h"
#include "quant/recipes/recipe.h"

/* ---- types ---------------------------------------------------------------------------------- */

/* What tensors may get where the options have no list.  Each of the rest loses as much as one of these, or more,
 * at its size or a smaller one; those that are slow to encode are for tensors with importance: without it
 * the ones before them do as well. */
static const struct {
    uint32_t id;
    bool is_slow, own_only;
} standard_types[] = {
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
    for (size_t i = 0; i < sizeof standard_types / sizeof *standard_types; i++)
        if (standard_types[i].id == type->id)
            return standard_types[i].is_slow;
    return false;
}

static gufo_status model_has_type(const gufo_model *model, uint32_t id, bool *found,
                                  gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;

    *found = false;
    for (uint64_t i = 0; i < gufo_model_tensor_count(model) && status == GUFO_OK && !*found; i++) {
        status = model_tensor_at(model, i, &tensor, error);
        *found = status == GUFO_OK && tensor.type == id;
    }
    return status;
}

static gufo_status find_standard(gufo_losses *l, const gufo_model *input, bool weighs,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof standard_types / sizeof *standard_types && status == GUFO_OK;
         i++) {
        bool wanted = weighs || !standard_types[i].is_slow;

        if (standard_types[i].own_only)
            status = model_has_type(input, standard_types[i].id, &wanted, error);
        if (wanted)
            l->types[l->type_count++] =
                (loss_type){.type = gufo_element_type_by_id(standard_types[i].id),
                            .weighs_only = standard_types[i].is_slow,
                            .own_only = standard_types[i].own_only};
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

/* ---- options.c ------------------------------------------------------------------------------ */
/* Sets the types. */
static gufo_status losses_find_types(gufo_losses *l, const gufo_model *input,
                                     const gufo_quantize_options *options,
                                     const gufo_losses_options *more, gufo_error *error)
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

/* Sets tensors and options, by the quantizer. */
static gufo_status losses_find_options(gufo_losses *l, gufo_error *error)
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
                           .is_known = loss_is_known(o),
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
