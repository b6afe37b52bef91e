/* The memory that a model needs, for machines: every number of bytes has its accuracy in an object
 * beside it. */
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/estimate/estimate.h"

#include <inttypes.h>

/* gufo estimate ADAPTER: what an adapter adds to the memory of the model that it changes. */

bool estimate_is_adapter(const gufo_model *model)
{
    gufo_str type;

    return gufo_model_get_str(model, "general.type", &type, NULL) == GUFO_OK &&
           gufo_str_equal(type, gufo_str_of("adapter"));
}

static gufo_str base_name(const gufo_model *adapter)
{
    gufo_str name;

    return gufo_model_get_str(adapter, "general.base_model.0.name", &name, NULL) == GUFO_OK
               ? name
               : (gufo_str){"", 0};
}

static void write_json(const input *in, uint64_t bytes)
{
    gufo_str base = base_name(in->model);
    json_writer j = json_begin_document(in->path);

    json_write_u64(&j, "adapter_bytes", bytes);
    json_write_u64(&j, "tensors", gufo_model_tensor_count(in->model));
    if (base.len > 0)
        json_write_str(&j, "base", base);
    json_end_document(&j);
}

static void write_text(const input *in, uint64_t bytes)
{
    gufo_str base = base_name(in->model);

    text_print("%s: a LoRA adapter%s%.*s\n", in->path, base.len > 0 ? " of " : "", (int)base.len,
               base.data);
    text_print(
        "  weights: %s bytes, on top of what its base needs (gufo estimate BASE --lora %s)\n",
        human_grouped(bytes).text, in->path);
}

int estimate_adapter(const input *in, const estimate_options *options, bool fits)
{
    gufo_error error;
    uint64_t bytes;

    if (options->table || options->plot || fits)
        return report_as(CODE_USAGE, in->path,
                         "an adapter runs with its base: gufo estimate BASE --lora ADAPTER");
    if (gufo_model_adapter_bytes(in->model, &bytes, &error) != GUFO_OK)
        return report_error(in->path, &error);
    (options->base.shared->json ? write_json : write_text)(in, bytes);
    return CODE_OK;
}

static const char *const qualities[] = {"not known", "exact", "fitted", "rough"};

/* {"exact":true}; {"exact":false,"margin":N}, or null where the margin is not known. */
static void write_accuracy(json_writer *j, const char *key, bool is_known, uint64_t margin)
{
    json_begin_object(j, key);
    json_write_bool(j, "exact", is_known && margin == 0);
    if (!is_known || margin > 0)
        json_write_known(j, "margin", is_known, margin);
    json_end_object(j);
}

static void write_accuracies(json_writer *j, const gufo_estimate *e, const gufo_estimate_device *d)
{
    json_begin_object(j, "accuracy");
    write_accuracy(j, "model_bytes", e->missing_tensors == 0, 0);
    write_accuracy(j, "context_bytes", true, 0);
    write_accuracy(j, "compute_bytes", d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN,
                   d->compute_margin);
    write_accuracy(j, "output_bytes", true, 0);
    write_accuracy(j, "adapter_bytes", true, 0);
    write_accuracy(j, "projector_bytes", true, 0);
    write_accuracy(j, "draft_bytes", d->draft_quality != GUFO_ESTIMATE_NOT_KNOWN, d->draft_margin);
    json_end_object(j);
}

/* What is left of the limit, margins counted; of --fit and --host. */
static void write_limit(json_writer *j, const gufo_estimate_device *d, uint64_t limit)
{
    uint64_t most = gufo_estimate_most_bytes(d);

    json_write_known(j, "limit_bytes", limit > 0, limit);
    json_write_known(j, "left_bytes", limit >= most && limit > 0, limit - most);
}

static void write_device(json_writer *j, const estimate_values *v, const gufo_estimate *e,
                         uint32_t index)
{
    const gufo_estimate_device *d = &e->devices[index];

    json_begin_object(j, NULL);
    json_write_text(j, "device", estimate_name_of(index).text);
    json_write_u64(j, "model_bytes", d->model_bytes);
    if (index == 0)
        json_write_u64(j, "mapped_bytes", d->mapped_bytes);
    json_write_u64(j, "context_bytes", d->context_bytes);
    json_write_u64(j, "kv_bytes", d->kv_bytes);
    json_write_u64(j, "state_bytes", d->state_bytes);
    json_write_known(j, "compute_bytes", d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN,
                     d->compute_bytes);
    json_write_u64(j, "output_bytes", d->output_bytes);
    json_write_u64(j, "adapter_bytes", d->adapter_bytes);
    json_write_u64(j, "projector_bytes", d->projector_bytes);
    json_write_u64(j, "draft_bytes", d->draft_bytes);
    json_write_u64(j, "read_bytes", d->read_bytes);
    json_write_u64(j, "layers", d->layers);
    json_write_bool(j, "has_output", d->has_output);
    json_write_text(j, "compute", qualities[d->compute_quality]);
    if (v->has_limits)
        write_limit(j, d, estimate_limit(v, index));
    write_accuracies(j, e, d);
    json_end_object(j);
}

/* Why --fit found no more; null where it found all. */
static void write_shortage(json_writer *j, const char *key, const gufo_estimate_shortage *s)
{
    if (s->missing_bytes == 0) {
        json_write_null(j, key);
        return;
    }
    json_begin_object(j, key);
    json_write_u64(j, "n_ctx", s->n_ctx);
    json_write_u64(j, "n_gpu_layers", s->n_gpu_layers);
    json_write_u64(j, "n_cpu_moe", s->n_cpu_moe);
    json_write_text(j, "device", estimate_name_of(s->device).text);
    json_write_u64(j, "missing_bytes", s->missing_bytes);
    json_end_object(j);
}

static const char *type_name(const gufo_element_type *type, bool is_small)
{
    return is_small ? "Q8_0" : type != NULL ? type->name : "F16";
}

/* What to change where nothing fits; null in place of what would not help. */
static void write_changes(json_writer *j, const estimate_work *w, const gufo_estimate *e)
{
    const gufo_estimate_options *run = &w->values->run;
    uint64_t size = estimate_smaller_size(w, e);
    estimate_change change;

    if (estimate_find_change(w, &change)) {
        json_begin_object(j, "change");
        json_write_u64(j, "n_ctx", change.n_ctx);
        json_write_known(j, "n_gpu_layers", change.has_layers, change.n_gpu_layers);
        json_write_known(j, "n_cpu_moe", change.has_cpu_moe, change.n_cpu_moe);
        json_write_text(j, "type_k", type_name(run->type_k, change.small_cache));
        json_write_text(j, "type_v", type_name(run->type_v, change.small_cache));
        json_end_object(j);
    } else {
        json_write_null(j, "change");
    }
    json_write_known(j, "target_size", size > 0, size);
}

static void write_fit(json_writer *j, const estimate_work *w, const gufo_estimate *e, bool fits)
{
    json_begin_object(j, "fit");
    json_write_bool(j, "fits", fits);
    if (!fits)
        write_changes(j, w, e);
    write_shortage(j, "context_shortage", &e->context_shortage);
    write_shortage(j, "layers_shortage", &e->layers_shortage);
    json_begin_array(j, "tensor_split");
    for (uint32_t d = 1; d < e->device_count; d++)
        json_write_u64(j, NULL, e->devices[d].layers + e->devices[d].has_output);
    json_end_array(j);
    json_end_object(j);
}

static void write_shapes(json_writer *j, const gufo_estimate *e)
{
    json_write_u64(j, "n_ctx", e->n_ctx);
    json_write_u64(j, "n_ctx_seq", e->n_ctx_seq);
    json_write_u64(j, "n_batch", e->n_batch);
    json_write_u64(j, "n_ubatch", e->n_ubatch);
    json_write_bool(j, "flash_attn", e->flash_attention);
}

static void write_devices(json_writer *j, const estimate_values *v, const gufo_estimate *e)
{
    json_begin_array(j, "devices");
    for (uint32_t d = 0; d < e->device_count; d++)
        write_device(j, v, e, d);
    json_end_array(j);
}

/* null without one. */
static void write_draft(json_writer *j, const estimate_work *w)
{
    const estimate_values none = {.has_limits = false};
    gufo_estimate e;

    if (w->draft->estimator == NULL || estimate_run_draft(w, &e, NULL) != GUFO_OK) {
        json_write_null(j, "draft");
        return;
    }
    json_begin_object(j, "draft");
    json_write_text(j, "path", w->draft->in.path);
    write_shapes(j, &e);
    write_devices(j, &none, &e);
    json_end_object(j);
}

/* null, not 0, where no bandwidth is known of what reads: 0 would be a bound. */
static void write_speed(json_writer *j, const estimate_values *v, const gufo_estimate *e)
{
    double speed = gufo_estimate_speed(e, v->host_bandwidth, v->bandwidth);

    if (speed > 0)
        json_write_f64(j, "tokens_per_second", speed);
    else
        json_write_null(j, "tokens_per_second");
}

/* What this machine has. */
static void write_machine(json_writer *j, const machine *m)
{
    json_begin_object(j, "machine");
    json_write_known(j, "total_bytes", m->total > 0, m->total);
    json_write_known(j, "available_bytes", m->total > 0, m->available);
    json_write_bool(j, "limited", m->is_limited);
    json_begin_array(j, "devices");
    for (uint32_t d = 0; d < m->device_count; d++) {
        json_begin_object(j, NULL);
        json_write_text(j, "name", m->devices[d].name);
        json_write_u64(j, "total_bytes", m->devices[d].total);
        json_write_u64(j, "free_bytes", m->devices[d].free);
        json_end_object(j);
    }
    json_end_array(j);
    if (m->unknown[0] != '\0')
        json_write_text(j, "not_counted", m->unknown);
    else
        json_write_null(j, "not_counted");
    json_end_object(j);
}

static void write_all(const estimate_work *w, const gufo_estimate *e, bool fits)
{
    const estimate_values *v = w->values;
    json_writer j = json_begin_document(w->in->path);

    json_write_u64(&j, "schema_version", 1);
    write_shapes(&j, e);
    json_write_known(&j, "n_gpu_layers", v->run.has_gpu_layers, v->run.n_gpu_layers);
    json_write_u64(&j, "n_cpu_moe", v->run.n_cpu_moe);
    json_write_u64(&j, "kv_token_bytes", e->kv_token_bytes);
    if (v->has_bandwidth)
        write_speed(&j, v, e);
    json_write_u64(&j, "unused_bytes", e->unused_bytes);
    json_write_u64(&j, "missing_tensors", e->missing_tensors);
    if (v->is_here)
        write_machine(&j, &v->here);
    if (v->has_limits)
        write_fit(&j, w, e, fits);
    write_devices(&j, v, e);
    write_draft(&j, w);
    json_end_document(&j);
}

void estimate_write_json(const estimate_work *w, const gufo_estimate *e)
{
    write_all(w, e, true);
}

void estimate_write_json_no(const estimate_work *w, const gufo_estimate *e)
{
    write_all(w, e, false);
}
