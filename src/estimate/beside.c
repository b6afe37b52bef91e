/* What is loaded beside a model: adapters, a projector, a draft.
 *
 * A LoRA adapter has two tensors for each weight that it changes; llama.cpp loads both where the weight
 * is.  A projector, which makes embeddings of images or sound, is on the first device, or on the host
 * without devices.  A draft, a smaller model that proposes tokens, has an estimate of its own. */
#include "estimate/estimator.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#define SUFFIX_LENGTH 7 /* of ".lora_a" and ".lora_b" */

/* ---- adapters ------------------------------------------------------------------------------- */

static bool has_text(const gufo_model *model, const char *key, const char *text)
{
    gufo_str found;

    return gufo_model_get_str(model, key, &found, NULL) == GUFO_OK &&
           gufo_str_equal(found, gufo_str_of(text));
}

static gufo_status check_kind(const gufo_model *adapter, gufo_error *error)
{
    if (has_text(adapter, "general.type", "adapter") && has_text(adapter, "adapter.type", "lora"))
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT, "the file is not a LoRA adapter");
}

static gufo_status check_adapter(const gufo_estimator *e, const gufo_model *adapter,
                                 gufo_error *error)
{
    gufo_status status = check_kind(adapter, error);

    if (status != GUFO_OK)
        return status;
    return has_text(adapter, "general.architecture", e->values.rule.arch)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "the adapter is not for the architecture %s",
                        e->values.rule.arch);
}

/* llama.cpp ignores the norms of an adapter. */
static bool is_ignored(const gufo_tensor *tensor)
{
    return str_ends(tensor->name, "_norm.weight");
}

/* Adds a tensor under the name of the weight that it changes. */
static gufo_status add_tensor(gufo_estimator *e, const gufo_tensor *tensor, gufo_error *error)
{
    companions *c = &e->beside;
    gufo_tensor base;
    weight *list;

    if (is_ignored(tensor))
        return GUFO_OK;
    if (!str_ends(tensor->name, ".lora_a") && !str_ends(tensor->name, ".lora_b"))
        return refuse(error, GUFO_E_ARGUMENT, "tensor %s is neither lora_a nor lora_b of a weight",
                      QUOTED(tensor->name));
    list = mem_grow(&e->allocator, c->list, c->count, &c->room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    c->list = list;
    if (!gufo_model_tensor_find_str(
            e->model, (gufo_str){tensor->name.data, tensor->name.len - SUFFIX_LENGTH}, &base) ||
        !estimate_weight_read(&list[c->count], &base, &e->values))
        return refuse(error, GUFO_E_ARGUMENT, "tensor %s of the adapter changes none of the model",
                      QUOTED(tensor->name));
    list[c->count++].bytes = tensor->size;
    return GUFO_OK;
}

gufo_status gufo_estimator_add_adapter(gufo_estimator *e, const gufo_model *adapter,
                                       gufo_error *error)
{
    uint64_t before;
    gufo_tensor tensor;
    gufo_status status;

    if (e == NULL || adapter == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "no estimator, or no adapter, is given");
    before = e->beside.count;
    status = check_adapter(e, adapter, error);
    for (uint64_t i = 0; status == GUFO_OK && gufo_model_tensor_at(adapter, i, &tensor); i++)
        status = add_tensor(e, &tensor, error);
    if (status != GUFO_OK) {
        e->beside.count = before;
        fail_in(error, GUFO_FILE_INPUT, 0, gufo_model_name(adapter));
    }
    return status;
}

gufo_status gufo_model_adapter_bytes(const gufo_model *adapter, uint64_t *bytes, gufo_error *error)
{
    gufo_status status = check_kind(adapter, error);
    gufo_tensor tensor;

    *bytes = 0;
    for (uint64_t i = 0; status == GUFO_OK && gufo_model_tensor_at(adapter, i, &tensor); i++)
        if (!is_ignored(&tensor))
            *bytes = capped_add(*bytes, tensor.size);
    return status;
}

/* ---- projector, draft ----------------------------------------------------------------------- */

gufo_status gufo_estimator_add_projector(gufo_estimator *e, const gufo_model *projector,
                                         gufo_error *error)
{
    uint64_t sum = 0;
    bool is_too_large = false;
    gufo_tensor tensor;
    gufo_status status = GUFO_OK;

    if (e == NULL || projector == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "no estimator, or no projector, is given");
    if (!has_text(projector, "general.architecture", "clip"))
        status = refuse(error, GUFO_E_ARGUMENT,
                        "the file is not a projector: its architecture is not \"clip\"");
    for (uint64_t i = 0; status == GUFO_OK && gufo_model_tensor_at(projector, i, &tensor); i++)
        sum = amount_plus(&is_too_large, sum, estimate_weight_room(&is_too_large, tensor.size));
    if (is_too_large)
        status = amount_refuse(error);
    if (status == GUFO_OK)
        e->beside.projector_bytes = sum;
    else
        fail_in(error, GUFO_FILE_INPUT, 0, gufo_model_name(projector));
    return status;
}

gufo_status gufo_estimator_add_draft(gufo_estimator *e, const gufo_estimator *draft,
                                     gufo_error *error)
{
    if (e == NULL || draft == NULL || e == draft || draft->beside.draft != NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "a draft is an estimator of another model, without a draft of its own");
    e->beside.draft = draft;
    return GUFO_OK;
}

gufo_estimate_options gufo_estimate_draft_options(const gufo_estimate_options *options)
{
    gufo_estimate_options o = {0};

    if (options == NULL)
        return (gufo_estimate_options){.n_outputs = 1};
    o.n_ctx = options->n_ctx;
    o.n_batch = options->n_batch;
    o.n_ubatch = options->n_ubatch;
    o.n_seq = options->n_seq;
    o.n_outputs = larger(options->n_seq, 1);
    o.flash_attention = options->flash_attention;
    o.kv_unified = options->kv_unified;
    o.swa_full = options->swa_full;
    o.embeddings = options->embeddings;
    o.no_kv_offload = options->no_kv_offload;
    o.n_devices = options->n_devices;
    o.tensor_split = options->tensor_split;
    return o;
}

/* ---- sums ----------------------------------------------------------------------------------- */

bool companions_add_draft(const gufo_estimate *draft, gufo_estimate *out)
{
    bool is_too_large = false;

    for (uint32_t d = 0; d < out->device_count; d++) {
        const gufo_estimate_device *one = &draft->devices[d];
        const uint64_t parts[] = {one->context_bytes, one->compute_bytes, one->output_bytes,
                                  one->adapter_bytes, one->projector_bytes};
        uint64_t sum = one->model_bytes;

        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            sum = amount_plus(&is_too_large, sum, parts[i]);
        out->devices[d].draft_bytes = sum;
        out->devices[d].draft_margin = one->compute_margin;
        out->devices[d].draft_quality = one->compute_quality;
    }
    return !is_too_large;
}

gufo_status companions_sum(const companions *c, const model_values *v, const settings *s,
                           gufo_estimate *out, gufo_error *error)
{
    bool is_too_large = false;

    for (uint64_t i = 0; i < c->count; i++) {
        uint32_t device;
        gufo_status status = estimate_weight_device(&c->list[i], v, s, &device, error);
        uint64_t *bytes;

        if (status != GUFO_OK)
            return status;
        bytes = &out->devices[device].adapter_bytes;
        *bytes = amount_plus(&is_too_large, *bytes,
                             estimate_weight_room(&is_too_large, c->list[i].bytes));
    }
    out->devices[s->o.n_devices > 0 ? 1 : 0].projector_bytes = c->projector_bytes;
    for (uint32_t d = 0; d < out->device_count; d++)
        out->devices[d].draft_quality = GUFO_ESTIMATE_EXACT;
    return is_too_large ? amount_refuse(error) : GUFO_OK;
}
