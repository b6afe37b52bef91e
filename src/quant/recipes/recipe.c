/* Recipes: which tensor gets which element type.
 *
 * For every tensor, the first answer counts:
 *
 *     a model      that gives the types
 *     kept         by its shape, its name, its type
 *     the user     types for the output and the token embedding, overrides
 *     the target   one type for all (pure), or the mixture of the file type (mix.c)
 *
 * and then rows that do not fill blocks of that type fall back to another one.
 *
 * Mixtures depend on the place of a tensor among those of its kind ("the first eighth of layers"),
 * so tensors are looked at in the order of their layers, whatever their order in the file. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/interleaved.h"
#include "gufo/schema.h"
#include "quant/recipes/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- facts about a model, from its metadata -------------------------------------------------- */

/* No architecture has a longer name. */
enum { ARCHITECTURE_MAX = 64, KEY_SIZE = ARCHITECTURE_MAX + 32 };

static const struct {
    const char *key;
    size_t at;
} model_keys[] = {
    {"{arch}.block_count", offsetof(gufo_recipe_model, layers)},
    {"{arch}.attention.head_count", offsetof(gufo_recipe_model, heads)},
    {"{arch}.attention.head_count_kv", offsetof(gufo_recipe_model, key_value_heads)},
    {"{arch}.expert_count", offsetof(gufo_recipe_model, experts)},
};

enum { FACT_COUNT = sizeof model_keys / sizeof *model_keys };

static uint64_t *fact_at(gufo_recipe_model *model, size_t i)
{
    return (uint64_t *)(void *)((char *)model + model_keys[i].at);
}

/* A number, or the first one of an array with one per layer. */
static bool read_number(const gufo_model *file, const char *key, uint64_t *out)
{
    gufo_value value, first;

    if (!gufo_model_key_value(file, key, &value))
        return false;
    if (value.type != GUFO_VALUE_ARRAY)
        return gufo_value_u64(&value, out, NULL) == GUFO_OK;
    return gufo_array_at(&value.as.array, 0, &first, NULL) == GUFO_OK &&
           gufo_value_u64(&first, out, NULL) == GUFO_OK;
}

void gufo_model_recipe_facts(const gufo_model *file, gufo_recipe_model *out)
{
    *out = (gufo_recipe_model){.architecture = {"", 0}};
    if (gufo_model_get_str(file, "general.architecture", &out->architecture, NULL) != GUFO_OK ||
        out->architecture.len > ARCHITECTURE_MAX) {
        out->architecture = gufo_str_of("");
        return;
    }
    for (size_t i = 0; i < FACT_COUNT; i++)
        (void)read_number(file, model_keys[i].key, fact_at(out, i));
    /* 0 groups: every head has its own keys and values. */
    if (out->key_value_heads == 0)
        out->key_value_heads = out->heads;
}

void recipe_model_override(gufo_recipe_model *model, const gufo_quantize_override *overrides,
                           size_t count)
{
    char key[KEY_SIZE];

    for (size_t i = 0; i < FACT_COUNT; i++) {
        (void)snprintf(key, KEY_SIZE, "%.*s%s", (int)model->architecture.len,
                       model->architecture.data, model_keys[i].key + strlen("{arch}"));
        for (size_t k = 0; k < count; k++)
            if (gufo_str_equal(gufo_str_of(overrides[k].key), gufo_str_of(key)))
                (void)gufo_value_u64(&overrides[k].value, fact_at(model, i), NULL);
    }
}

/* ---- recipes --------------------------------------------------------------------------------- */

typedef struct recipe {
    const gufo_recipe_options *options;
    const gufo_recipe_model *model;
    const recipe_tensors *tensors;
    uint64_t layers;
    uint64_t totals[KIND_COUNT]; /* tensors of each kind */
    uint64_t seen[KIND_COUNT];   /* of them, those that a mixture was asked about */
    uint32_t model_facts;
    bool marks_unfit; /* in place of a failure */
    gufo_error *error;
} recipe;

/* ---- reasons -------------------------------------------------------------------------------- */

static const char *const reason_texts[] = {
    [GUFO_REASON_COPY] = "copied",
    [GUFO_REASON_SHAPE] = "fewer than two dimensions",
    [GUFO_REASON_NO_WEIGHT] = "name does not end in weight",
    [GUFO_REASON_NAME] = "kept by name",
    [GUFO_REASON_INTEGERS] = "whole numbers",
    [GUFO_REASON_UNKNOWN_TYPE] = "unknown type",
    [GUFO_REASON_OUTPUT_KEPT] = "output kept",
    [GUFO_REASON_OUTPUT_TYPE] = "output type",
    [GUFO_REASON_EMBEDDING_TYPE] = "token embedding type",
    [GUFO_REASON_OVERRIDE] = "override",
    [GUFO_REASON_TARGET] = "target",
    [GUFO_REASON_RECIPE] = "recipe",
    [GUFO_REASON_MODEL] = "given for this tensor",
};

const char *gufo_recipe_reason_text(gufo_recipe_reason reason)
{
    size_t index = (size_t)reason;

    return index < sizeof reason_texts / sizeof *reason_texts ? reason_texts[index] : "unknown";
}

/* ---- failures ------------------------------------------------------------------------------- */

static gufo_status fail_rows(const recipe *r, const gufo_tensor *tensor, uint32_t type,
                             const char *why)
{
    const gufo_element_type *wanted = gufo_element_type_by_id(type);

    return refuse(
        r->error, GUFO_E_ARGUMENT,
        "tensor %s has rows of %s elements, which do not fill blocks of %" PRIu32 " (%s)%s",
        QUOTED(tensor->name), GROUPED(tensor->dims[0]), wanted->block_elements, wanted->name, why);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Bytes of `elements` elements as if blocks could be cut. */
static bool measure(uint64_t elements, uint32_t type, uint64_t *bytes)
{
    const gufo_element_type *t = gufo_element_type_by_id(type);
    uint64_t rest = elements % t->block_elements * t->block_bytes / t->block_elements;

    return checked_mul(elements / t->block_elements, t->block_bytes, bytes) &&
           checked_add(*bytes, rest, bytes);
}

static gufo_status set_sizes(const recipe *r, const gufo_tensor *tensor, gufo_recipe_choice *choice)
{
    uint64_t elements = 1, wanted;
    bool fits = true;

    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        fits = fits && checked_mul(elements, tensor->dims[i], &elements);
    if (!fits || !measure(elements, choice->type, &choice->size) ||
        !measure(elements, choice->wanted, &wanted) || choice->size > INT64_MAX ||
        wanted > INT64_MAX)
        return refuse(r->error, GUFO_E_RANGE, "tensor %s is too large", QUOTED(tensor->name));
    choice->fallback_cost = (int64_t)choice->size - (int64_t)wanted;
    return GUFO_OK;
}

int64_t recipe_fallback_cost(const gufo_tensor *tensor, const gufo_recipe_choice *choice)
{
    uint64_t wanted = 0;

    if (choice->type == choice->wanted)
        return 0;
    (void)measure(tensor->elements, choice->wanted, &wanted); /* it has fit before */
    return (int64_t)choice->size - (int64_t)wanted;
}

/* ---- kept tensors --------------------------------------------------------------------------- */

/* What an interleaved type is without: it says the same. */
static uint32_t plain_type(uint32_t type)
{
    const interleaved *layout = interleaved_find(type);

    return layout != NULL ? layout->plain : type;
}

static bool has_rows(const gufo_tensor *tensor)
{
    return tensor->dims[1] > 1 || tensor->dims[2] > 1 || tensor->dims[3] > 1;
}

static bool is_decodable(uint32_t type)
{
    const gufo_element_type *known = gufo_element_type_by_id(type);

    return known != NULL && (known->flags & GUFO_ELEMENT_DECODES) != 0;
}

static bool is_integer(uint32_t type)
{
    return type == GUFO_TYPE_I8 || type == GUFO_TYPE_I16 || type == GUFO_TYPE_I32 ||
           type == GUFO_TYPE_I64;
}

/* Whether the tensor keeps its type, and why. */
static bool is_kept(const recipe *r, const gufo_tensor *tensor, gufo_recipe_choice *choice)
{
    choice->rule = recipe_kept_name(tensor->name);
    if (r->options->target.base_type == NULL)
        choice->reason = GUFO_REASON_COPY;
    else if (!has_rows(tensor))
        choice->reason = GUFO_REASON_SHAPE;
    else if (!recipe_is_weight(tensor->name))
        choice->reason = GUFO_REASON_NO_WEIGHT;
    else if (choice->rule != NULL)
        choice->reason = GUFO_REASON_NAME;
    else if (r->options->keep_output && recipe_kind(tensor->name) == KIND_OUTPUT)
        choice->reason = GUFO_REASON_OUTPUT_KEPT;
    else if (!is_decodable(tensor->type))
        choice->reason = GUFO_REASON_UNKNOWN_TYPE;
    else if (is_integer(tensor->type))
        choice->reason = GUFO_REASON_INTEGERS;
    else
        return false;
    if (choice->reason != GUFO_REASON_NAME)
        choice->rule = NULL;
    return true;
}

/* ---- the wanted type ------------------------------------------------------------------------ */

/* The total that a place among feed-forward tensors is compared with is the number of layers, even
 * if some layers have none or several. */
static uint32_t place_facts(recipe *r, const gufo_tensor *tensor, tensor_kind kind)
{
    uint64_t place = r->seen[kind]++;
    int64_t layer = recipe_layer(tensor->name);

    if (kind == KIND_V)
        return mix_place_facts(place, r->totals[kind]);
    if (r->model->experts > 1 && layer >= 0 && !mix_counts_always(r->options->target.file_type))
        place = (uint64_t)layer;
    return mix_place_facts(place, r->layers != 0 ? r->layers : r->totals[kind]);
}

/* True also for types with unknown blocks: they have no encoder, and fail for that reason. */
static bool fills_blocks(const gufo_tensor *tensor, uint32_t type)
{
    uint32_t elements = gufo_element_type_by_id(type)->block_elements;

    return elements == 0 || tensor->dims[0] % elements == 0;
}

static uint32_t mix(recipe *r, const gufo_tensor *tensor, tensor_kind kind)
{
    uint32_t facts = r->model_facts | place_facts(r, tensor, kind);

    if (tensor->dims[2] > 1)
        facts |= FACT_STACK;
    if (!fills_blocks(tensor, r->options->target.base_type->id))
        facts |= FACT_MISFIT;
    return mix_choose(r->options->target.file_type, kind, facts);
}

static bool is_unquantized_target(const gufo_quantize_target *target)
{
    return target->base_type->id == GUFO_TYPE_F32 || target->base_type->id == GUFO_TYPE_F16 ||
           target->base_type->id == GUFO_TYPE_BF16;
}

static const gufo_element_type *overridden(const recipe *r, const gufo_tensor *tensor)
{
    if (r->options->override_type == NULL || is_unquantized_target(&r->options->target))
        return NULL;
    return r->options->override_type(r->options->override_context, tensor->name);
}

static bool is_mixed(const gufo_quantize_target *target)
{
    return target->file_type != NULL && !target->pure && !is_unquantized_target(target);
}

/* Types that the user gave for the output and the token embedding are taken as they are. */
static const gufo_element_type *given_type(const recipe *r, tensor_kind kind,
                                           gufo_recipe_choice *choice)
{
    if (kind == KIND_EMBEDDING && r->options->token_embedding_type != NULL) {
        choice->reason = GUFO_REASON_EMBEDDING_TYPE;
        return r->options->token_embedding_type;
    }
    if (kind == KIND_OUTPUT && r->options->output_type != NULL) {
        choice->reason = GUFO_REASON_OUTPUT_TYPE;
        return r->options->output_type;
    }
    return NULL;
}

/* The type in the other model. */
static const gufo_element_type *model_type(const recipe *r, const gufo_tensor *tensor)
{
    if (r->options->model_type == NULL || !is_decodable(tensor->type) || is_integer(tensor->type))
        return NULL;
    return r->options->model_type(r->options->model_context, &r->options->target, tensor->name);
}

/* The type by override, target or mixture. */
static void want(recipe *r, const gufo_tensor *tensor, tensor_kind kind, gufo_recipe_choice *choice)
{
    const gufo_quantize_target *target = &r->options->target;
    const gufo_element_type *type = overridden(r, tensor);
    bool tied = r->totals[KIND_OUTPUT] == 0;

    choice->wanted = target->base_type->id;
    choice->reason = GUFO_REASON_TARGET;
    if (type != NULL) {
        choice->wanted = type->id;
        choice->reason = GUFO_REASON_OVERRIDE;
        return;
    }
    if (!is_mixed(target))
        return;
    if (kind == KIND_EMBEDDING && tied)
        kind = KIND_OUTPUT;
    type = given_type(r, kind, choice);
    choice->wanted = type != NULL ? type->id : mix(r, tensor, kind);
    if (type == NULL && choice->wanted != target->base_type->id)
        choice->reason = GUFO_REASON_RECIPE;
}

/* ---- rows that do not fill blocks ----------------------------------------------------------- */

/* Related types with blocks of 32. */
static const struct {
    uint32_t type, fallback;
} fallbacks[] = {
    {GUFO_TYPE_IQ1_S, GUFO_TYPE_IQ4_NL},   {GUFO_TYPE_IQ1_M, GUFO_TYPE_IQ4_NL},
    {GUFO_TYPE_IQ2_XXS, GUFO_TYPE_IQ4_NL}, {GUFO_TYPE_IQ2_XS, GUFO_TYPE_IQ4_NL},
    {GUFO_TYPE_IQ2_S, GUFO_TYPE_IQ4_NL},   {GUFO_TYPE_IQ3_XXS, GUFO_TYPE_IQ4_NL},
    {GUFO_TYPE_IQ3_S, GUFO_TYPE_IQ4_NL},   {GUFO_TYPE_IQ4_XS, GUFO_TYPE_IQ4_NL},
    {GUFO_TYPE_Q2_K, GUFO_TYPE_Q4_0},      {GUFO_TYPE_Q3_K, GUFO_TYPE_Q4_0},
    {GUFO_TYPE_TQ1_0, GUFO_TYPE_Q4_0},     {GUFO_TYPE_TQ2_0, GUFO_TYPE_Q4_0},
    {GUFO_TYPE_Q2_0, GUFO_TYPE_Q4_0},      {GUFO_TYPE_Q4_K, GUFO_TYPE_Q5_0},
    {GUFO_TYPE_Q5_K, GUFO_TYPE_Q5_1},      {GUFO_TYPE_Q6_K, GUFO_TYPE_Q8_0},
};

/* F32: there is none. */
static uint32_t find_fallback(uint32_t type)
{
    for (size_t i = 0; i < sizeof fallbacks / sizeof *fallbacks; i++)
        if (fallbacks[i].type == type)
            return fallbacks[i].fallback;
    return GUFO_TYPE_F32;
}

/* Tensors that no recipe knows, like the convolutions of image models with their rows of 1 and 3,
 * must not keep a model from being quantized: they become F16 where no other type is related. */
static gufo_status fall_back(const recipe *r, const gufo_tensor *tensor, tensor_kind kind,
                             gufo_recipe_choice *choice)
{
    uint32_t fallback = find_fallback(choice->wanted);

    choice->type = choice->wanted;
    if (fills_blocks(tensor, choice->wanted))
        return GUFO_OK;
    if (r->options->no_fallback)
        return fail_rows(r, tensor, choice->wanted, ", and falling back is not allowed");
    if (fallback == GUFO_TYPE_F32 && kind != KIND_OTHER)
        return fail_rows(r, tensor, choice->wanted, "; no related type takes them, F16 does");
    if (fallback == GUFO_TYPE_F32 || !fills_blocks(tensor, fallback))
        fallback = GUFO_TYPE_F16;
    choice->type = fallback;
    choice->flags |= GUFO_RECIPE_FELL_BACK;
    return GUFO_OK;
}

/* ---- whether it can be done ----------------------------------------------------------------- */

static bool has_importance(const recipe *r, gufo_str name)
{
    return r->options->has_importance != NULL &&
           r->options->has_importance(r->options->importance_context, name);
}

/* Types so small that without importance data little is left of the tensor. */
static bool is_poor(const recipe *r, tensor_kind kind, uint32_t type)
{
    if (kind == KIND_OUTPUT || kind == KIND_EMBEDDING)
        return false;
    if (type == GUFO_TYPE_Q2_K)
        return r->options->target.file_type != NULL && !r->options->target.pure &&
               r->options->target.file_type->id == GUFO_FILE_TYPE_Q2_K_S;
    return type == GUFO_TYPE_IQ1_M || type == GUFO_TYPE_IQ2_S || type == GUFO_TYPE_IQ3_XXS;
}

static gufo_status go_without(const recipe *r, const gufo_tensor *tensor, tensor_kind kind,
                              gufo_recipe_choice *choice)
{
    const gufo_element_type *to = gufo_element_type_by_id(choice->type);

    if ((to->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) == 0) {
        choice->flags |= is_poor(r, kind, choice->type) ? GUFO_RECIPE_POOR : 0;
        return GUFO_OK;
    }
    choice->flags |= GUFO_RECIPE_IMPOSSIBLE;
    if (r->options->plan_only)
        return GUFO_OK;
    return refuse(r->error, GUFO_E_NOT_FOUND,
                  "tensor %s cannot become %s: that type needs importance data, and there is "
                  "none for it",
                  QUOTED(tensor->name), to->name);
}

/* A tensor that cannot have the type of the target keeps its own, with a mark. */
static void mark_unfit(const gufo_tensor *tensor, gufo_recipe_choice *choice)
{
    choice->type = plain_type(tensor->type);
    choice->flags = RECIPE_UNFIT;
}

/* Sets the flags; bytes of the right type are copied.  To decode what is quantized takes nothing
 * away, to encode it again does. */
static gufo_status check_conversion(const recipe *r, const gufo_tensor *tensor, tensor_kind kind,
                                    gufo_recipe_choice *choice)
{
    const gufo_element_type *from = gufo_element_type_by_id(tensor->type);
    const gufo_element_type *to = gufo_element_type_by_id(choice->type);

    if (choice->type == plain_type(tensor->type)) {
        choice->flags |= choice->type != tensor->type ? GUFO_RECIPE_REPACKS : 0;
        return GUFO_OK;
    }
    if ((from->flags & to->flags & GUFO_ELEMENT_QUANTIZED) != 0 && !r->options->allow_requantize)
        return refuse(r->error, GUFO_E_TYPE,
                      "tensor %s is quantized already: making %s from %s loses more than making it "
                      "from the original",
                      QUOTED(tensor->name), to->name, from->name);
    if ((to->flags & GUFO_ELEMENT_ENCODES) == 0)
        return refuse(r->error, GUFO_E_TYPE,
                      "tensor %s cannot become %s: nothing encodes that type", QUOTED(tensor->name),
                      to->name);
    choice->flags |= GUFO_RECIPE_CONVERTS;
    return has_importance(r, tensor->name) ? GUFO_OK : go_without(r, tensor, kind, choice);
}

/* ---- one tensor, all tensors ---------------------------------------------------------------- */

static gufo_status choose(recipe *r, const gufo_tensor *tensor, gufo_recipe_choice *choice)
{
    tensor_kind kind = recipe_kind(tensor->name);
    const gufo_element_type *known = model_type(r, tensor), *given;
    gufo_status status = GUFO_OK;

    *choice = (gufo_recipe_choice){0};
    if (known == NULL && is_kept(r, tensor, choice)) {
        choice->type = choice->wanted = plain_type(tensor->type);
        choice->flags = choice->type != tensor->type ? GUFO_RECIPE_REPACKS : 0;
        choice->size = tensor->size;
        return GUFO_OK;
    }
    given = known == NULL ? given_type(r, kind, choice) : NULL;
    if (known != NULL) {
        choice->wanted = plain_type(known->id);
        choice->reason = GUFO_REASON_MODEL;
        status = fall_back(r, tensor, kind, choice);
    } else if (given == NULL) {
        want(r, tensor, kind, choice);
        status = fall_back(r, tensor, kind, choice);
        if (status != GUFO_OK && r->marks_unfit && choice->reason == GUFO_REASON_TARGET) {
            mark_unfit(tensor, choice);
            return set_sizes(r, tensor, choice);
        }
    } else {
        choice->type = choice->wanted = given->id;
        if (!fills_blocks(tensor, given->id))
            status = fail_rows(r, tensor, given->id, "");
    }
    if (status == GUFO_OK)
        status = check_conversion(r, tensor, kind, choice);
    return status == GUFO_OK ? set_sizes(r, tensor, choice) : status;
}

static gufo_str name_at(const recipe_tensors *tensors, size_t index)
{
    return tensors->name_at(tensors->context, index);
}

/* Tensors without a layer first, then layer by layer, and by name within. */
static bool before(const void *owner, uint32_t a, uint32_t b)
{
    const recipe_tensors *tensors = owner;
    gufo_str name_a = name_at(tensors, a), name_b = name_at(tensors, b);
    int64_t layer_a = recipe_layer(name_a), layer_b = recipe_layer(name_b);
    size_t common = name_a.len < name_b.len ? name_a.len : name_b.len;
    int order = common > 0 ? memcmp(name_a.data, name_b.data, common) : 0;

    if (layer_a != layer_b)
        return layer_a < layer_b;
    if (order != 0)
        return order < 0;
    return name_a.len < name_b.len || (name_a.len == name_b.len && a < b);
}

static void look_around(recipe *r)
{
    int64_t highest = -1;

    for (size_t i = 0; i < r->tensors->count; i++) {
        gufo_str name = name_at(r->tensors, i);
        int64_t layer = recipe_layer(name);

        highest = layer > highest ? layer : highest;
        r->totals[recipe_kind(name)]++;
    }
    r->layers = r->model->layers != 0 ? r->model->layers : (uint64_t)(highest + 1);
    r->model_facts = mix_model_facts(r->model, r->options->has_importance != NULL);
}

static gufo_status choose_at(recipe *r, size_t index)
{
    const recipe_tensors *tensors = r->tensors;
    const gufo_tensor tensor = tensors->tensor_at(tensors->context, index);
    gufo_recipe_choice choice;
    gufo_status status = choose(r, &tensor, &choice);

    return status == GUFO_OK ? tensors->take(tensors->context, index, &choice, r->error) : status;
}

gufo_status recipe_check_options(const gufo_recipe_options *options, gufo_error *error)
{
    if (reserved_check(options->target.reserved, "gufo_quantize_target", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    return reserved_check((const uint64_t[4]){options->reserved[0], options->reserved[1]},
                          "gufo_recipe_options", error);
}

gufo_status recipe_choose(const gufo_recipe_options *options, const gufo_recipe_model *model,
                          const recipe_tensors *tensors, bool marks_unfit, gufo_error *error)
{
    static const gufo_recipe_options standard = {0};
    static const gufo_recipe_model unknown = {0};
    const size_t count = tensors->count;
    const gufo_allocator *allocator;
    recipe r = {.options = options != NULL ? options : &standard,
                .model = model != NULL ? model : &unknown,
                .tensors = tensors,
                .marks_unfit = marks_unfit,
                .error = error};
    gufo_status status;
    uint32_t *order;

    options = r.options;
    allocator = mem_allocator(options->allocator);
    status = recipe_check_options(options, error);
    if (status == GUFO_OK)
        status = reserved_check(r.model->reserved, "gufo_recipe_model", error);
    if (status != GUFO_OK || count == 0)
        return status;
    if (count > UINT32_MAX || count > SIZE_MAX / sizeof *order ||
        (order = mem_alloc(allocator, count * sizeof *order)) == NULL)
        return fail_memory(error);
    look_around(&r);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_indices(order, count, before, tensors);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = choose_at(&r, order[i]);
    mem_free(allocator, order);
    return status;
}

/* ---- lists ---------------------------------------------------------------------------------- */

typedef struct lists {
    const gufo_tensor *tensors;
    gufo_recipe_choice *choices;
} lists;

static gufo_str listed_name(const void *context, size_t index)
{
    return ((const lists *)context)->tensors[index].name;
}

static gufo_tensor listed_tensor(const void *context, size_t index)
{
    return ((const lists *)context)->tensors[index];
}

static gufo_status list_choice(void *context, size_t index, const gufo_recipe_choice *choice,
                               gufo_error *error)
{
    (void)error;
    ((const lists *)context)->choices[index] = *choice;
    return GUFO_OK;
}

gufo_status gufo_recipe_choose(const gufo_recipe_options *options, const gufo_recipe_model *model,
                               const gufo_tensor *tensors, size_t count,
                               gufo_recipe_choice *choices, gufo_error *error)
{
    lists l = {tensors, choices};
    const recipe_tensors listed = {&l, count, listed_name, listed_tensor, list_choice};

    return recipe_choose(options, model, &listed, false, error);
}
