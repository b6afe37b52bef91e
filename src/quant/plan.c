/* The plan: the tensors of the output, their types, and their places. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/interleaved.h"
#include "format/file/records.h"
#include "format/model/model.h"
#include "quant/quantizer.h"
#include "quant/recipes/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What only planning needs. */
typedef struct planning {
    gufo_quantizer *q;
    layer_list pruned;
    uint64_t *layers; /* owned: what `pruned` points to */
    size_t target;    /* that recipes choose types for */
    uint64_t names_len, names_room;
    name_index index; /* of the tensors of the output, by name */
} planning;

/* ---- layers that are left out --------------------------------------------------------------- */

static bool is_smaller(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

static gufo_status list_layers(planning *p, gufo_error *error)
{
    const gufo_quantize_options *options = &p->q->options;
    size_t kept = 0;

    p->layers = mem_array(&p->q->allocator, options->pruned_count, sizeof *p->layers);
    if (p->layers == NULL)
        return fail_memory(error);
    if (options->pruned_count > 0)
        memcpy(p->layers, options->pruned_layers, options->pruned_count * sizeof *p->layers);
    sort_items(p->layers, options->pruned_count, sizeof *p->layers, is_smaller);
    for (size_t i = 0; i < options->pruned_count; i++)
        if (kept == 0 || p->layers[i] != p->layers[kept - 1])
            p->layers[kept++] = p->layers[i];
    p->pruned = (layer_list){p->layers, kept};
    return GUFO_OK;
}

/* A number that no tensor has is a mistake. */
static gufo_status check_layers(const planning *p, gufo_error *error)
{
    const gufo_model *input = p->q->input;
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;
    uint64_t layer;
    size_t at, len;

    for (size_t i = 0; i < p->pruned.count; i++) {
        bool found = false;

        for (uint64_t t = 0; !found && t < gufo_model_tensor_count(input); t++) {
            status = model_tensor_at(input, t, &tensor, error);
            if (status != GUFO_OK)
                return status;
            found = layer_find(tensor.name, &layer, &at, &len) && layer == p->pruned.layers[i];
        }
        if (!found)
            return refuse(error, GUFO_E_ARGUMENT, "the model has no layer %" PRIu64 " to leave out",
                          p->pruned.layers[i]);
    }
    return GUFO_OK;
}

static bool is_pruned(const planning *p, gufo_str name)
{
    uint64_t layer;
    size_t at, len;

    return layer_find(name, &layer, &at, &len) && layer_is_listed(&p->pruned, layer);
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Copies a name: the input may be mapped, and a mapped file that is truncated raises SIGBUS. */
static gufo_str copy_name(planning *p, gufo_str name)
{
    char *kept = p->q->names + p->names_len;

    if (name.len > 0)
        memcpy(kept, name.data, name.len);
    p->names_len += name.len;
    return (gufo_str){kept, name.len};
}

/* What an import has made stays as it is. */
static bool is_import(const gufo_model *input)
{
    return model_maker(input) != NULL;
}

static gufo_str keep_name(planning *p, gufo_str name)
{
    return is_import(p->q->input) ? name : copy_name(p, name);
}

/* The name in the output.  Renumbering only makes numbers smaller. */
static gufo_str output_name(planning *p, gufo_str name)
{
    char digits[24];
    uint64_t layer;
    size_t at, len;
    gufo_str kept;

    if (!layer_find(name, &layer, &at, &len))
        return name;
    (void)snprintf(digits, sizeof digits, "%" PRIu64, layer_renumbered(&p->pruned, layer));
    kept = copy_name(p, (gufo_str){name.data, at});
    kept.len += copy_name(p, gufo_str_of(digits)).len;
    kept.len += copy_name(p, (gufo_str){name.data + at + len, name.len - at - len}).len;
    return kept;
}

static gufo_status add_tensor(planning *p, const gufo_tensor *from, uint64_t index,
                              gufo_error *error)
{
    gufo_quantizer *q = p->q;
    quant_tensor *tensor = &q->tensors[q->tensor_count];
    uint64_t first;

    tensor->index = (uint32_t)index; /* GUFO_MAX_COUNT */
    tensor->source_name = keep_name(p, from->name);
    tensor->output = q->output_count > 1 ? from->shard : 0;
    if (q->sources != NULL)
        q->sources[q->tensor_count] = *from;
    if (q->renumbered != NULL)
        q->renumbered[q->tensor_count] = output_name(p, tensor->source_name);
    if (name_index_grow(&p->index, q->tensor_count, &q->allocator, error) != GUFO_OK)
        return GUFO_E_MEMORY;
    if (!name_index_add(&p->index, q->tensor_count, &first)) {
        return refuse(error, GUFO_E_ARGUMENT, "two tensors would have the name %s",
                      QUOTED(quant_name(q, tensor)));
    }
    q->tensor_count++;
    return GUFO_OK;
}

/* How often a name may be copied: as it is, and renumbered. */
static uint64_t copies_of_name(const planning *p)
{
    return (uint64_t)!is_import(p->q->input) + (p->pruned.count > 0);
}

/* Bytes of all copies of names. */
static gufo_status all_names_len(const planning *p, uint64_t *len, gufo_error *error)
{
    const gufo_model *input = p->q->input;
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;

    *len = 0;
    for (uint64_t i = 0; i < gufo_model_tensor_count(input) && status == GUFO_OK; i++) {
        status = model_tensor_at(input, i, &tensor, error);
        if (status == GUFO_OK)
            *len += copies_of_name(p) * tensor.name.len;
    }
    return status;
}

/* Room for what is kept of tensors.  What a program makes may change when it is asked again. */
static gufo_status make_room(planning *p, uint64_t count, gufo_error *error)
{
    gufo_quantizer *q = p->q;
    bool is_kept = gufo_model_facts(q->input).is_made && !is_import(q->input);

    q->tensors = mem_array(&q->allocator, count, sizeof *q->tensors);
    q->names = mem_array(&q->allocator, p->names_room, 1);
    if (is_kept)
        q->sources = mem_array(&q->allocator, count, sizeof *q->sources);
    if (p->pruned.count > 0)
        q->renumbered = mem_array(&q->allocator, count, sizeof *q->renumbered);
    return q->tensors != NULL && q->names != NULL && (!is_kept || q->sources != NULL) &&
                   (p->pruned.count == 0 || q->renumbered != NULL)
               ? GUFO_OK
               : fail_memory(error);
}

static gufo_status list_tensors(planning *p, gufo_error *error)
{
    gufo_quantizer *q = p->q;
    uint64_t count = gufo_model_tensor_count(q->input);
    gufo_status status = all_names_len(p, &p->names_room, error);
    gufo_tensor tensor;

    if (status == GUFO_OK)
        status = make_room(p, count, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        status = model_tensor_at(q->input, i, &tensor, error);
        if (status == GUFO_OK && copies_of_name(p) * tensor.name.len > p->names_room - p->names_len)
            status = refuse(error, GUFO_E_CHANGED, "the name of tensor %" PRIu64 " was changed", i);
        if (status == GUFO_OK && !is_pruned(p, tensor.name))
            status = add_tensor(p, &tensor, i, error);
    }
    return status;
}

static gufo_str name_of_tensor(const void *owner, uint64_t index)
{
    const gufo_quantizer *q = owner;

    return quant_name(q, &q->tensors[index]);
}

/* ---- importance ----------------------------------------------------------------------------- */

/* Whether the recipes may count on importance: of one that does not fit a token embedding, nothing
 * is used. */
static bool has_importance(void *context, gufo_str name)
{
    const planning *p = context;
    uint64_t index;

    return name_index_find(&p->index, name, &index) && p->q->tensors[index].has_importance;
}

/* ---- choices -------------------------------------------------------------------------------- */

static quant_method method_of(const gufo_recipe_choice *choice)
{
    if (choice->flags & GUFO_RECIPE_REPACKS)
        return METHOD_REPACK;
    return choice->flags & GUFO_RECIPE_CONVERTS ? METHOD_CONVERT : METHOD_COPY;
}

/* Interleaved types merge rows of one matrix. */
static gufo_status check_groups(const gufo_quantizer *q, const quant_tensor *tensor,
                                const quant_result *result, gufo_error *error)
{
    gufo_tensor input;
    const interleaved *merged;

    if (result->method == METHOD_COPY)
        return GUFO_OK;
    input = quant_source(q, tensor);
    merged = interleaved_find(input.type);
    if (merged == NULL || input.dims[1] % merged->rows == 0)
        return GUFO_OK;
    return fail_with(error, GUFO_E_ARGUMENT, input.info_offset,
                     "tensor %s has %s rows; %s merges %" PRIu32 " at a time", QUOTED(input.name),
                     GROUPED(input.dims[1]), quant_source_type(q, tensor)->name, merged->rows);
}

static gufo_status take_choice(void *context, size_t index, const gufo_recipe_choice *choice,
                               gufo_error *error)
{
    const planning *p = context;
    const gufo_quantizer *q = p->q;
    const quant_tensor *tensor = &q->tensors[index];
    quant_result *result = quant_result_of(q, p->target, index);
    gufo_status status;

    *result = (quant_result){.to = gufo_element_type_by_id(choice->type),
                             .rule = choice->rule,
                             .size = choice->size,
                             .wanted = choice->wanted,
                             .flags = (uint16_t)choice->flags,
                             .reason = (uint8_t)choice->reason,
                             .method = (uint8_t)method_of(choice)};
    status = adapters_choose(q, tensor, result, error);
    if (status == GUFO_OK)
        status = check_groups(q, tensor, result, error);
    if (status == GUFO_OK && result->method == METHOD_CONVERT)
        status = weights_check(q, tensor, error);
    return status;
}

/* What recipes look at: tensors of the input with their names in the output. */
static gufo_str chosen_name(const void *context, size_t index)
{
    return name_of_tensor(((const planning *)context)->q, index);
}

static gufo_tensor chosen_tensor(const void *context, size_t index)
{
    const gufo_quantizer *q = ((const planning *)context)->q;
    gufo_tensor tensor = quant_source(q, &q->tensors[index]);

    tensor.name = quant_name(q, &q->tensors[index]);
    return tensor;
}

static gufo_status choose(planning *p, const gufo_recipe_model *model, gufo_error *error)
{
    const gufo_quantizer *q = p->q;
    const recipe_tensors tensors = {p, (size_t)q->tensor_count, chosen_name, chosen_tensor,
                                    take_choice};
    gufo_recipe_options recipe = q->options.recipe;

    recipe.target = q->targets[p->target];
    recipe.has_importance = q->options.importance != NULL ? has_importance : NULL;
    recipe.importance_context = p;
    recipe.allocator = &q->allocator;
    return recipe_choose(&recipe, model, &tensors, q->only_measures, error);
}

static gufo_status choose_all(planning *p, gufo_error *error)
{
    gufo_quantizer *q = p->q;
    gufo_status status = GUFO_OK;
    gufo_recipe_model model;
    uint64_t count;

    if (!checked_mul(q->target_count, q->tensor_count, &count))
        return fail_memory(error);
    q->results = mem_array(&q->allocator, count, sizeof *q->results);
    if (q->results == NULL)
        return fail_memory(error);
    gufo_model_recipe_facts(gufo_model_shard(q->input, 0), &model);
    recipe_model_override(&model, q->options.overrides, q->options.override_count);
    for (p->target = 0; p->target < q->target_count && status == GUFO_OK; p->target++)
        status = choose(p, &model, error);
    return status;
}

/* ---- outputs -------------------------------------------------------------------------------- */

static gufo_status check_input(const gufo_quantizer *q, gufo_error *error)
{
    for (size_t i = 0; i < gufo_model_shard_count(q->input); i++)
        if (!gufo_model_has_data(gufo_model_shard(q->input, i)))
            return model_fail(gufo_model_shard(q->input, i),
                              refuse(error, GUFO_E_ARGUMENT,
                                     "the data of a pipe cannot be quantized; give a file"),
                              error);
    return GUFO_OK;
}

static void free_documents(gufo_quantizer *q, size_t output_count)
{
    for (size_t i = 0; q->documents != NULL && i < q->target_count * output_count; i++)
        gufo_document_free(q->documents[i]);
    mem_free(&q->allocator, q->documents);
    q->documents = NULL;
}

static gufo_status make_documents(planning *p, gufo_error *error)
{
    gufo_quantizer *q = p->q;
    gufo_status status = GUFO_OK;

    q->documents =
        mem_array(&q->allocator, q->target_count * q->output_count, sizeof(gufo_document *));
    if (q->documents == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < q->target_count; i++)
        for (size_t k = 0; k < q->output_count && status == GUFO_OK; k++)
            status = settings_make_document(q, i, k, &p->pruned, error);
    return status;
}

/* What becomes of each tensor. */
static gufo_status plan_tensors(planning *p, gufo_error *error)
{
    gufo_status status = check_input(p->q, error);

    if (status == GUFO_OK)
        status = list_layers(p, error);
    if (status == GUFO_OK)
        status = check_layers(p, error);
    if (status == GUFO_OK)
        status = list_tensors(p, error);
    if (status == GUFO_OK)
        status = adapters_find(p->q, error);
    if (status == GUFO_OK)
        status = weights_find(p->q, error);
    return status == GUFO_OK ? choose_all(p, error) : status;
}

static gufo_status plan(planning *p, gufo_error *error)
{
    gufo_quantizer *q = p->q;
    bool keep_split = (q->options.flags & GUFO_QUANTIZE_KEEP_SPLIT) != 0;
    gufo_status status;

    q->output_count = keep_split ? gufo_model_shard_count(q->input) : 1;
    status = plan_tensors(p, error);
    name_index_free(&p->index, &q->allocator);
    (void)model_fail(q->input, status, error);
    if (status != GUFO_OK || q->only_measures)
        return status;
    status = make_documents(p, error);
    if (status == GUFO_OK && shards_wanted(q)) {
        status = shards_divide(q, error);
        free_documents(q, 1);
        if (status == GUFO_OK)
            status = make_documents(p, error);
    }
    return status == GUFO_OK ? pieces_make_job(q, error) : status;
}

/* ---- life ----------------------------------------------------------------------------------- */

/* Options that this version does not know. */
static gufo_status check_options(const gufo_quantize_options *options, gufo_error *error)
{
    const uint32_t known =
        GUFO_QUANTIZE_KEEP_SPLIT | GUFO_QUANTIZE_KEEP_NONFINITE | GUFO_QUANTIZE_ANY_BASE;

    if (flags_check(options->flags, known, "gufo_quantize_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (options->more_targets == NULL && options->more_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_quantize_options.more_targets is missing");
    if (options->more_count >= GUFO_QUANTIZE_TARGETS)
        return refuse(error, GUFO_E_LIMIT, "one reading makes %d types at most, not %zu",
                      GUFO_QUANTIZE_TARGETS, options->more_count + 1);
    if (options->effort > GUFO_EFFORT_HIGH)
        return refuse(error, GUFO_E_ARGUMENT, "effort %d does not exist", (int)options->effort);
    if (recipe_check_options(&options->recipe, error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    for (size_t i = 0; i < options->override_count; i++)
        if (reserved_check(options->overrides[i].reserved, "gufo_quantize_override", error) !=
            GUFO_OK)
            return GUFO_E_ARGUMENT;
    if ((options->split_size > 0 || options->split_tensors > 0) &&
        (options->flags & GUFO_QUANTIZE_KEEP_SPLIT) != 0)
        return refuse(error, GUFO_E_ARGUMENT,
                      "new shards and those of the input exclude each other");
    return reserved_check(options->reserved, "gufo_quantize_options", error);
}

static gufo_status list_targets(gufo_quantizer *q, gufo_error *error)
{
    const gufo_quantize_options *options = &q->options;
    gufo_status status = GUFO_OK;

    q->targets = mem_array(&q->allocator, options->more_count + 1, sizeof *q->targets);
    if (q->targets == NULL)
        return fail_memory(error);
    q->targets[q->target_count++] = options->recipe.target;
    for (size_t i = 0; i < options->more_count && status == GUFO_OK; i++) {
        status = reserved_check(options->more_targets[i].reserved, "gufo_quantize_target", error);
        q->targets[q->target_count++] = options->more_targets[i];
    }
    return status;
}

static gufo_quantizer *new_quantizer(const gufo_model *input, const gufo_quantize_options *options,
                                     gufo_error *error)
{
    gufo_quantizer *q;

    if (input == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "the model is missing");
        return NULL;
    }
    if (check_options(options, error) != GUFO_OK)
        return NULL;
    q = mem_object(options->allocator, sizeof *q, error);
    if (q == NULL)
        return NULL;
    q->input = input;
    q->options = *options;
    q->options.allocator = &q->allocator;
    return q;
}

gufo_quantizer *quantizer_plan(const gufo_model *input, const gufo_quantize_options *options,
                               bool only_measures, gufo_error *error)
{
    static const gufo_quantize_options standard = {0};
    gufo_quantizer *q;
    planning p;
    gufo_status status;

    q = new_quantizer(input, options != NULL ? options : &standard, error);
    if (q == NULL)
        return NULL;
    q->only_measures = only_measures;
    p = (planning){.q = q, .index = {.name_of = name_of_tensor, .owner = q}};
    status = list_targets(q, error);
    if (status == GUFO_OK)
        status = plan(&p, error);
    mem_free(&q->allocator, p.layers);
    name_index_free(&p.index, &q->allocator);
    if (status == GUFO_OK)
        return q;
    gufo_quantizer_free(q);
    return NULL;
}

gufo_quantizer *gufo_quantizer_new(const gufo_model *input, const gufo_quantize_options *options,
                                   gufo_error *error)
{
    return quantizer_plan(input, options, false, error);
}

void gufo_quantizer_free(gufo_quantizer *q)
{
    gufo_allocator allocator;

    if (q == NULL)
        return;
    allocator = q->allocator;
    gufo_job_free(q->job);
    free_documents(q, q->output_count);
    mem_free(&allocator, q->shard_ids);
    mem_free(&allocator, q->importance_path);
    mem_free(&allocator, q->results);
    mem_free(&allocator, q->targets);
    mem_free(&allocator, q->tensors);
    mem_free(&allocator, q->sources);
    mem_free(&allocator, q->renumbered);
    mem_free(&allocator, q->names);
    mem_free(&allocator, q->changes);
    mem_free(&allocator, q);
}

/* ---- looking -------------------------------------------------------------------------------- */

static gufo_recipe_choice quant_choice(const gufo_quantizer *q, size_t target, uint64_t index)
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

bool gufo_quantizer_target_tensor_at(const gufo_quantizer *q, size_t target, uint64_t index,
                                     gufo_quantizer_tensor *out)
{
    const quant_tensor *tensor;
    quant_loss loss;

    if (target >= q->target_count || index >= q->tensor_count)
        return false;
    tensor = &q->tensors[index];
    loss = pieces_loss(q, target, index);
    if (out != NULL)
        *out = (gufo_quantizer_tensor){.name = quant_name(q, tensor),
                                       .source = quant_source(q, tensor),
                                       .choice = quant_choice(q, target, index),
                                       .has_importance = tensor->has_importance,
                                       .unfit_importance = tensor->unfit_importance,
                                       .adapters = tensor->change_count,
                                       .loss = loss.plain,
                                       .weighted_value = loss.weighted_value,
                                       .weighted_error = loss.weighted_error};
    if (out != NULL)
        out->shard = out->source.shard;
    return true;
}

bool gufo_quantizer_tensor_at(const gufo_quantizer *q, uint64_t index, gufo_quantizer_tensor *out)
{
    return gufo_quantizer_target_tensor_at(q, 0, index, out);
}

uint64_t gufo_quantizer_target_size(const gufo_quantizer *q, size_t target)
{
    uint64_t size = 0;
    gufo_job_output out;

    for (size_t i = 0; target < q->target_count && i < q->output_count; i++)
        if (gufo_job_output_at(q->job, target * q->output_count + i, &out))
            size += out.size;
    return size;
}

uint64_t gufo_quantizer_output_size(const gufo_quantizer *q)
{
    uint64_t size = 0;

    for (size_t i = 0; i < q->target_count; i++)
        size += gufo_quantizer_target_size(q, i);
    return size;
}

gufo_job *gufo_quantizer_job(gufo_quantizer *q)
{
    return q->job;
}
