/* LoRA adapters that are added to the model on its way:
 *
 *     NAME + scale * (alpha / rank) * B A        in double, rounded once to what NAME becomes
 *
 * A tensor of an adapter under the base's own name takes its place.  The factors are tables beside
 * the tensor's piece: in memory while it is made, and not before or after.
 * What fits what is decided by the rules for adapters (schema/check/adapter.c). */
#include "base/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/model/model.h"
#include "format/rules/rules.h"
#include "gufo/check.h"
#include "gufo/schema.h"
#include "produce/produce.h"
#include "quant/quantizer.h"
#include "schema/check/identity.h"

/* ---- whether an adapter fits ---------------------------------------------------------------- */

/* Whether a finding keeps an adapter from being merged.  One that is activated is a good file all the same. */
static bool is_refused(const gufo_finding *finding, bool any_base)
{
    for (unsigned i = RULE_ADAPTER_TYPE; i <= RULE_ADAPTER_OTHER_BASE; i++)
        if (finding->rule == gufo_rule_at(i) && !(any_base && i == RULE_ADAPTER_OTHER_BASE))
            return finding->rule->severity == GUFO_ERROR || i == RULE_ADAPTER_ACTIVATED;
    return false;
}

/* The first fault. */
typedef struct fault {
    gufo_error *error;
    bool found, any_base;
} fault;

static void take_finding(void *context, const gufo_finding *finding)
{
    fault *f = context;

    if (f->found || !is_refused(finding, f->any_base))
        return;
    f->found = true;
    (void)fail_with(f->error, GUFO_E_MALFORMED, finding->offset, "%s", finding->message);
    if (f->error != NULL)
        f->error->rule = finding->rule;
}

static gufo_status check_adapter(const gufo_quantizer *q, const gufo_quantize_adapter *adapter,
                                 gufo_error *error)
{
    const gufo_check_options options = {
        .level = GUFO_LEVEL_MODEL, .allocator = &q->allocator, .base = q->input};
    fault f = {.error = error, .any_base = (q->options.flags & GUFO_QUANTIZE_ANY_BASE) != 0};
    gufo_error reason;
    gufo_status status =
        gufo_model_check_content(adapter->model, &options, take_finding, &f, &reason);

    if (f.found)
        return GUFO_E_MALFORMED;
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

/* ---- options -------------------------------------------------------------------------------- */

static gufo_status check_options(const gufo_quantizer *q, gufo_error *error)
{
    const gufo_quantize_options *options = &q->options;
    gufo_status status = GUFO_OK;

    if (options->adapters == NULL && options->adapter_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_quantize_options.adapters is missing");
    if (options->adapter_count > GUFO_QUANTIZE_ADAPTERS)
        return refuse(error, GUFO_E_LIMIT, "at most %d adapters are merged at once, not %zu",
                      GUFO_QUANTIZE_ADAPTERS, options->adapter_count);
    for (size_t i = 0; i < options->adapter_count && status == GUFO_OK; i++) {
        const gufo_quantize_adapter *a = &options->adapters[i];

        if (a->model == NULL)
            return refuse(error, GUFO_E_ARGUMENT, "gufo_quantize_adapter.model is missing");
        if (!isfinite(a->scale))
            return refuse(error, GUFO_E_ARGUMENT, "the scale of an adapter is not finite");
        for (size_t k = 0; k < gufo_model_shard_count(a->model); k++)
            if (!gufo_model_has_data(gufo_model_shard(a->model, k)))
                return refuse(error, GUFO_E_ARGUMENT,
                              "the data of a pipe cannot be merged; give a file");
        status = reserved_check((const uint64_t[4]){a->reserved[0], a->reserved[1]},
                                "gufo_quantize_adapter", error);
    }
    return status;
}

/* ---- which tensors change ------------------------------------------------------------------- */

/* Finds "NAME" + suffix in an adapter. */
static bool find_part(const gufo_quantizer *q, const gufo_model *adapter, gufo_str name,
                      const char *suffix, adapter_part *part)
{
    char text[GUFO_MAX_NAME + 16];

    if (name.len > GUFO_MAX_NAME)
        return false;
    (void)snprintf(text, sizeof text, "%.*s%s", (int)name.len, name.data, suffix);
    part->model = adapter;
    part->allocator = &q->allocator;
    return gufo_model_tensor_index(adapter, gufo_str_of(text), &part->index) &&
           gufo_model_tensor_at(adapter, part->index, &part->tensor);
}

/* The change that an adapter makes of a tensor; false if it makes none. */
static bool find_change(const gufo_quantizer *q, size_t adapter, gufo_str name,
                        adapter_change *change)
{
    const gufo_quantize_adapter *a = &q->options.adapters[adapter];
    double alpha = 0, scale = a->scale != 0 ? a->scale : 1;

    *change = (adapter_change){0};
    if (find_part(q, a->model, name, "", &change->a)) {
        change->replaces = true;
        return true;
    }
    if (!find_part(q, a->model, name, ".lora_a", &change->a) ||
        !find_part(q, a->model, name, ".lora_b", &change->b))
        return false;
    (void)gufo_model_key_f64(a->model, "adapter.lora.alpha", &alpha, NULL);
    change->looked_up = adapter_is_looked_up(name);
    change->number = scale * alpha / (double)change->b.tensor.dims[0];
    return true;
}

static gufo_status add_changes(gufo_quantizer *q, quant_tensor *tensor, gufo_error *error)
{
    if (q->change_count > UINT32_MAX - GUFO_QUANTIZE_ADAPTERS)
        return refuse(error, GUFO_E_LIMIT, "the adapters change too many tensors");
    tensor->first_change = (uint32_t)q->change_count;
    for (size_t i = 0; i < q->options.adapter_count; i++) {
        adapter_change change, *list;

        if (!find_change(q, i, tensor->source_name, &change))
            continue;
        list = mem_grow(&q->allocator, q->changes, q->change_count, &q->change_room, sizeof *list);
        if (list == NULL)
            return fail_memory(error);
        q->changes = list;
        q->changes[q->change_count++] = change;
        tensor->change_count++;
    }
    return GUFO_OK;
}

gufo_status adapters_find(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = check_options(q, error);

    for (size_t i = 0; i < q->options.adapter_count && status == GUFO_OK; i++) {
        status = check_adapter(q, &q->options.adapters[i], error);
        (void)model_fail(q->options.adapters[i].model, status, error);
    }
    for (uint64_t i = 0; q->options.adapter_count > 0 && i < q->tensor_count && status == GUFO_OK;
         i++)
        status = add_changes(q, &q->tensors[i], error);
    return status;
}

/* ---- what becomes of a tensor that changes -------------------------------------------------- */

/* The numbers of a base are added to as doubles; F64 would be cut before. */
static gufo_status check_types(const gufo_quantizer *q, const quant_tensor *tensor,
                               const gufo_element_type *to, gufo_error *error)
{
    const gufo_element_type *from = quant_source_type(q, tensor);

    if (from == NULL || (from->flags & GUFO_ELEMENT_DECODES) == 0 || from->id == GUFO_TYPE_F64)
        return refuse(error, GUFO_E_ARGUMENT,
                      "an adapter changes tensor %s, whose type must be one that floats can hold",
                      QUOTED(tensor->source_name));
    if (to == NULL || (to->flags & GUFO_ELEMENT_ENCODES) == 0 || to->id == GUFO_TYPE_F64)
        return refuse(error, GUFO_E_ARGUMENT,
                      "an adapter changes tensor %s, which nothing encodes as %s again: it needs "
                      "another type",
                      QUOTED(tensor->source_name), to != NULL ? to->name : "what it is");
    return GUFO_OK;
}

gufo_status adapters_choose(const gufo_quantizer *q, const quant_tensor *tensor,
                            quant_result *result, gufo_error *error)
{
    gufo_status status;

    if (tensor->change_count == 0)
        return GUFO_OK;
    status = check_types(q, tensor, result->to, error);
    if (status != GUFO_OK)
        return status;
    result->method = METHOD_CONVERT;
    result->flags &= (uint16_t)~GUFO_RECIPE_REPACKS;
    result->flags |= GUFO_RECIPE_CONVERTS;
    if ((result->to->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) == 0 || tensor->has_importance)
        return GUFO_OK;
    result->flags |= GUFO_RECIPE_IMPOSSIBLE;
    if (q->options.recipe.plan_only)
        return GUFO_OK;
    return refuse(error, GUFO_E_NOT_FOUND,
                  "an adapter changes tensor %s, and %s needs importance data, which is missing",
                  QUOTED(tensor->source_name), result->to->name);
}

/* ---- rows of adapters ----------------------------------------------------------------------- */

gufo_status adapters_add_inputs(const gufo_quantizer *q, gufo_job *job, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint32_t number;

    for (size_t i = 0; i < q->options.adapter_count && status == GUFO_OK; i++) {
        const gufo_model *model = q->options.adapters[i].model;

        for (uint32_t k = 0; k < gufo_model_shard_count(model) && status == GUFO_OK; k++)
            status = job_add_model(job, model, k, &number, error);
    }
    return status;
}

static gufo_status rows_of(gufo_job *job, const adapter_part *part, rows *out, gufo_error *error)
{
    uint32_t input;
    gufo_status status = job_add_model(job, part->model, part->tensor.shard, &input, error);

    if (status == GUFO_OK)
        *out = job_tensor_rows(job, input, &part->tensor, part->index);
    return status;
}

/* B of a token embedding, [rank, columns] as it is stored: its columns are the rows that are
 * wanted.  They are read all at once, as little-endian floats. */
static gufo_status read_turned(const rows *r, uint64_t first, uint64_t count, void *out,
                               gufo_error *error)
{
    const adapter_part *part = r->context;
    const gufo_allocator *allocator = part->allocator;
    const gufo_run run = {.threads = 1, .allocator = allocator};
    uint64_t rank = r->count, columns = r->columns;
    float *values = mem_array(allocator, part->tensor.elements, sizeof *values), *to = out;
    gufo_status status;

    if (values == NULL)
        return fail_memory(error);
    status = gufo_tensor_decode(part->model, &part->tensor, 0, columns, values, &run, error);
    for (uint64_t k = 0; k < count && status == GUFO_OK; k++)
        for (uint64_t i = 0; i < columns; i++)
            to[k * columns + i] = values[i * rank + first + k];
    if (status == GUFO_OK && HOST_IS_BIG_ENDIAN)
        copy_numbers(to, to, count * columns, sizeof *to, true);
    mem_free(allocator, values);
    return status;
}

uint64_t adapters_memory(const gufo_quantizer *q)
{
    uint64_t most = 0;

    for (uint64_t i = 0; i < q->change_count; i++)
        if (q->changes[i].looked_up)
            most = larger(most, q->changes[i].b.tensor.elements);
    return q->change_count * sizeof *q->changes + most * sizeof(float);
}

/* What an operation points to until the job has copied it. */
typedef struct factors {
    rows left, right;
} factors;

static gufo_status find_factors(gufo_job *job, const adapter_change *change, factors *out,
                                gufo_error *error)
{
    gufo_status status =
        rows_of(job, change->looked_up ? &change->a : &change->b, &out->left, error);
    const gufo_tensor *turned = &change->b.tensor;

    if (status == GUFO_OK)
        status = rows_of(job, change->looked_up ? &change->b : &change->a, &out->right, error);
    if (status == GUFO_OK && change->looked_up)
        out->right = (rows){.input = out->right.input,
                            .read = read_turned,
                            .context = (void *)&change->b,
                            .offset = change->b.index,
                            .columns = turned->dims[1],
                            .count = turned->dims[0],
                            .row_bytes = turned->dims[1] * sizeof(float),
                            .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
    return status;
}

/* ---- the piece ------------------------------------------------------------------------------ */

/* Whether the result is narrower than a float.  All results of a piece get the same numbers. */
static gufo_status find_narrow(const quant_tensor *tensor, const made *results, uint32_t count,
                               bool *narrow, gufo_error *error)
{
    uint32_t halves = 0;

    for (uint32_t i = 0; i < count; i++)
        halves += results[i].type->id == GUFO_TYPE_F16 || results[i].type->id == GUFO_TYPE_BF16;
    *narrow = halves > 0;
    if (halves == 0 || halves == count)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "an adapter changes tensor %s: gufo cannot make F16 and BF16 together with other "
                  "types, because they round differently",
                  QUOTED(tensor->source_name));
}

static gufo_status add_piece(gufo_job *job, const quant_tensor *tensor, const rows *from,
                             row_op *ops, uint32_t op_count, made *results, uint32_t count,
                             uint64_t slices, gufo_error *error)
{
    rows only = *from;
    segment all = {.count = {from->count, 1, 1}, .stride = {1, 0, 0}};
    piece p = {.how = PIECE_MAKE,
               .name = tensor->source_name,
               .sources = &only,
               .segments = &all,
               .ops = ops,
               .made = results,
               .n_sources = 1,
               .n_segments = 1,
               .n_ops = op_count,
               .n_made = count,
               .columns = from->columns,
               .slices = slices,
               .slice_rows = from->count / slices};
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p.n_made && status == GUFO_OK; i++)
        status = gufo_element_row_size(results[i].type, p.columns, &results[i].row_bytes, error);
    return status == GUFO_OK ? job_add_piece(job, &p, error) : status;
}

gufo_status adapters_add_tensor(const gufo_quantizer *q, gufo_job *job, const quant_tensor *tensor,
                                made *results, uint32_t made_count, uint64_t slices,
                                gufo_error *error)
{
    row_op ops[GUFO_QUANTIZE_ADAPTERS + 1];
    factors tables[GUFO_QUANTIZE_ADAPTERS];
    const gufo_tensor input = quant_source(q, tensor);
    rows from = job_tensor_rows(job, input.shard, &input, tensor->index);
    uint32_t count = 0;
    bool narrow;
    gufo_status status = find_narrow(tensor, results, made_count, &narrow, error);

    for (size_t i = 0; i < tensor->change_count && status == GUFO_OK; i++) {
        const adapter_change *change = &q->changes[tensor->first_change + i];

        if (change->replaces) {
            status = rows_of(job, &change->a, &from, error);
            count = 0;
            continue;
        }
        status = find_factors(job, change, &tables[count], error);
        ops[count] = (row_op){.kind = &row_op_product,
                              .side = {&tables[count].left, &tables[count].right},
                              .number = change->number};
        count++;
    }
    if (narrow && count > 0)
        ops[count++] = (row_op){.kind = &row_op_round_odd};
    return status == GUFO_OK
               ? add_piece(job, tensor, &from, ops, count, results, made_count, slices, error)
               : status;
}

/* What a model with merged adapters says of itself: it is another model than its base.
 *
 *     general.uuid                  new: made of the base, the adapters and their scales, and so the
 *                                   same for the same merge, whatever the type of the result
 *     general.base_model.count      1 + the number of adapters
 *     general.base_model.0.*        what the base says of itself: name, version, uuid ...
 *     general.base_model.1.* ...    the same of each adapter
 *
 * The parents of the base are those of the base alone. */

static bool is_parent_key(void *context, gufo_str key)
{
    (void)context;
    return str_begins(key, "general.base_model.");
}

/* What a file says of itself becomes what the merged one says of a parent. */
static gufo_status set_parent(gufo_document *document, const gufo_model *parent, size_t number,
                              gufo_error *error)
{
    static const char *const fields[] = {"name",         "author",      "version",
                                         "organization", "description", "url",
                                         "doi",          "repo_url",    "uuid"};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == GUFO_OK; i++) {
        char from[48], to[64];
        gufo_str text;

        (void)snprintf(from, sizeof from, "general.%s", fields[i]);
        (void)snprintf(to, sizeof to, "general.base_model.%zu.%s", number, fields[i]);
        if (gufo_model_get_str(parent, from, &text, NULL) == GUFO_OK && text.len > 0)
            status = gufo_document_set_str(document, to, text, error);
    }
    return status;
}

static void add_number(uint64_t *hash, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    store_u64(&bits, bits, HOST_IS_BIG_ENDIAN);
    hash_chain(hash, &bits, sizeof bits);
}

/* 64 bits of the merge; `seed` chooses which. */
static gufo_status hash_merge(const gufo_quantizer *q, uint64_t seed, uint64_t *hash,
                              gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_str uuid = {"", 0};

    *hash = seed;
    (void)gufo_model_get_str(q->input, "general.uuid", &uuid, NULL);
    hash_chain(hash, uuid.data, uuid.len);
    status = identity_add(q->input, IDENTITY_VECTORS, &q->allocator, hash, error);
    for (size_t i = 0; i < q->options.adapter_count && status == GUFO_OK; i++) {
        const gufo_quantize_adapter *a = &q->options.adapters[i];
        double alpha = 0;

        (void)gufo_model_key_f64(a->model, "adapter.lora.alpha", &alpha, NULL);
        add_number(hash, alpha);
        add_number(hash, a->scale != 0 ? a->scale : 1);
        status = identity_add(a->model, IDENTITY_ALL, &q->allocator, hash, error);
    }
    return status;
}

/* A UUID of version 8 (RFC 9562): of bits that the program chooses. */
static gufo_status set_uuid(const gufo_quantizer *q, gufo_document *document, gufo_error *error)
{
    uint64_t high, low;
    char text[40];
    gufo_status status = hash_merge(q, 1, &high, error);

    if (status == GUFO_OK)
        status = hash_merge(q, 2, &low, error);
    if (status != GUFO_OK)
        return status;
    (void)snprintf(text, sizeof text,
                   "%08" PRIx64 "-%04" PRIx64 "-8%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                   high >> 32, high >> 16 & 0xffff, high & 0xfff, (low >> 48 & 0x3fff) | 0x8000,
                   low & 0xffffffffffff);
    return gufo_document_set_text(document, "general.uuid", text, error);
}

gufo_status merged_set_keys(const gufo_quantizer *q, gufo_document *document, gufo_error *error)
{
    size_t count = q->options.adapter_count;
    gufo_status status;

    if (count == 0)
        return GUFO_OK;
    gufo_document_remove(document, is_parent_key, NULL, NULL);
    status = set_uuid(q, document, error);
    if (status == GUFO_OK)
        status =
            gufo_document_set_u32(document, "general.base_model.count", (uint32_t)count + 1, error);
    if (status == GUFO_OK)
        status = set_parent(document, q->input, 0, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = set_parent(document, q->options.adapters[i].model, i + 1, error);
    return status;
}
