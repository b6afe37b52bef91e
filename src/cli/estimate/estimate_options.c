/* What gufo estimate is asked for: the texts of options (lists of numbers and of sizes, types of the cache,
 * places of tensors), the memory of this machine, files beside the model. */
#include "cli/core/values/number.h"
#include "cli/core/values/str.h"
#include "cli/core/values/sums.h"
#include "cli/estimate/estimate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The memory of this machine as limits: what is available now, less a reserve, which llama.cpp leaves,
 * too, for what no estimate knows: the driver, other programs. */

enum { SHARE = 20 }; /* of a memory is left, and RESERVE */
#define RESERVE (UINT64_C(1) << 30)

static uint64_t limit_of(const estimate_options *o, uint64_t total, uint64_t available)
{
    uint64_t reserve = o->reserve > 0 ? o->reserve : RESERVE + total / SHARE;

    return available > reserve ? available - reserve : 1; /* 0 would be no limit */
}

/* Without any option the question is whether the model runs here. */
static bool estimate_asks_here(const estimate_options *o)
{
    const unsigned char *at = (const unsigned char *)&o->ctx;
    bool any = false;

    for (; at < (const unsigned char *)(o + 1); at++)
        any |= *at != 0;
    return o->here || o->reserve > 0 || !any;
}

void estimate_look_here(const estimate_options *o, estimate_values *v)
{
    const char *root = getenv("GUFO_ROOT");
    machine *m = &v->here;

    if (!estimate_asks_here(o))
        return;
    v->is_here = true;
    machine_look(root != NULL ? root : "", m);
    v->has_limits = m->total > 0 || m->device_count > 0;
    if (!v->has_limits)
        report_warning(NULL, "this machine does not report its memory; --host 64G states it");
    v->run.n_devices = m->device_count;
    if (m->total > 0)
        v->limits.host_bytes = limit_of(o, m->total, m->available);
    for (uint32_t d = 0; d < m->device_count; d++)
        v->fit[d] = limit_of(o, m->devices[d].total, m->devices[d].free);
    if (m->device_count > 0) {
        v->limits.device_bytes = v->fit;
        v->limits.split = v->split;
    }
}

/* Files beside the model of gufo estimate: adapters and a projector, whose weights count, and a
 * draft, which has an estimate of its own. */

/* llama.cpp refuses the file, or it cannot be read. */
static int report_file(const char *path, const gufo_error *error)
{
    return error->code == GUFO_E_ARGUMENT ? report_as(CODE_USAGE, path, "%s", error->message)
                                          : report_error(path, error);
}

/* Adds a file whose header alone counts. */
static int add_file(const estimate_options *o, const char *path, gufo_estimator *e,
                    gufo_status (*add)(gufo_estimator *e, const gufo_model *model,
                                       gufo_error *error))
{
    input in;
    gufo_error error;
    int code = input_open(&in, path, &o->input);

    if (code != CODE_OK)
        return code;
    if (add(e, in.model, &error) != GUFO_OK)
        code = report_file(path, &error);
    input_close(&in);
    return code;
}

static int add_draft(const estimate_options *o, gufo_estimator *e, estimate_draft *draft)
{
    gufo_error error;
    int code = input_open(&draft->in, o->draft, &o->input);

    if (code != CODE_OK)
        return code;
    draft->estimator = gufo_estimator_new(draft->in.model, NULL, &error);
    if (draft->estimator != NULL &&
        gufo_estimator_add_draft(e, draft->estimator, &error) == GUFO_OK)
        return CODE_OK;
    code = error.code == GUFO_E_TYPE ? report_as(CODE_NO, o->draft, "not known: %s", error.message)
                                     : report_file(o->draft, &error);
    if (draft->estimator == NULL)
        input_close(&draft->in);
    return code;
}

int estimate_add_beside(const estimate_options *o, gufo_estimator *e, estimate_draft *draft)
{
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && i < o->adapters.count; i++)
        code = add_file(o, o->adapters.items[i], e, gufo_estimator_add_adapter);
    if (code == CODE_OK && o->projector != NULL)
        code = add_file(o, o->projector, e, gufo_estimator_add_projector);
    return code == CODE_OK && o->draft != NULL ? add_draft(o, e, draft) : code;
}

void estimate_close_draft(estimate_draft *draft)
{
    if (draft->estimator == NULL)
        return;
    gufo_estimator_free(draft->estimator);
    input_close(&draft->in);
}

gufo_status estimate_run_draft(const estimate_work *w, gufo_estimate *out, gufo_error *error)
{
    gufo_estimate_options options = gufo_estimate_draft_options(&w->values->run);

    return gufo_estimator_run(w->draft->estimator, &options, out, error);
}

estimate_name estimate_name_of(uint32_t index)
{
    estimate_name name;

    (void)gufo_place_name((int)index - 1, name.text);
    return name;
}

const char *const estimate_cache_types[] = {"f32",  "f16",    "bf16", "q8_0", "q4_0",
                                            "q4_1", "iq4_nl", "q5_0", "q5_1", NULL};

static const gufo_element_type *cache_type(unsigned choice)
{
    return choice == 0 ? NULL
                       : gufo_element_type_meant(gufo_str_of(estimate_cache_types[choice - 1]));
}

/* ---- lists ---------------------------------------------------------------------------------- */

enum { MOST_SHOWN = 60 }; /* bytes of a number; a longer one is cut in reports */

static bool read_share(gufo_str piece, void *out)
{
    char text[64], *end;
    int len = snprintf(text, sizeof text, "%.*s", (int)smaller(piece.len, MOST_SHOWN), piece.data);

    *(double *)out = strtod(text, &end);
    return len > 0 && *end == '\0' && piece.len <= MOST_SHOWN &&
           (isdigit((unsigned char)text[0]) || text[0] == '.');
}

static bool read_memory(gufo_str piece, void *out)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%.*s", (int)smaller(piece.len, MOST_SHOWN), piece.data);

    return len > 0 && piece.len <= MOST_SHOWN && size_read_memory(text, out) &&
           *(uint64_t *)out > 0;
}

static bool read_bytes(gufo_str piece, void *out)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%.*s", (int)smaller(piece.len, MOST_SHOWN), piece.data);

    return len > 0 && piece.len <= MOST_SHOWN && size_read(text, out) && *(uint64_t *)out > 0;
}

/* How a list is read. */
typedef struct list_kind {
    const char *what, *example;
    bool (*read)(gufo_str piece, void *out);
    size_t size; /* bytes of an item */
} list_kind;

static const list_kind shares = {"numbers", "3,1", read_share, sizeof(double)};
static const list_kind speeds = {"sizes", "1000G,900G", read_bytes, sizeof(uint64_t)};
static const list_kind memories = {"sizes", "24G,16G", read_memory, sizeof(uint64_t)};

/* Reports a number such as 24, which would be bytes. */
static bool has_no_unit(const char *option, gufo_str piece)
{
    char text[MOST_SHOWN];
    uint64_t bytes;

    if (piece.len >= sizeof text)
        return false;
    memcpy(text, piece.data, piece.len);
    text[piece.len] = '\0';
    return size_likely_unit(text) != NULL &&
           option_memory(option, memories.example, text, 1, &bytes) != CODE_OK;
}

/* "A,B"; the number of items, or 0 after a report. */
static uint32_t read_list(const char *option, const char *text, const list_kind *kind, void *items)
{
    uint32_t count = 0;

    do {
        gufo_str piece = next_item(&text);

        if (count == GUFO_ESTIMATE_MAX_DEVICES) {
            (void)report_usage("%s takes at most %d %s", option, GUFO_ESTIMATE_MAX_DEVICES,
                               kind->what);
            return 0;
        }
        if (kind == &memories && has_no_unit(option, piece))
            return 0;
        if (!kind->read(piece, (char *)items + kind->size * count)) {
            (void)report_usage("%s takes %s such as %s, not '%.*s'", option, kind->what,
                               kind->example, (int)smaller(piece.len, MOST_SHOWN), piece.data);
            return 0;
        }
        count++;
    } while (text != NULL);
    return count;
}

/* As many devices as a list has numbers, unless --devices says it; a list may be shorter then. */
static int count_devices(estimate_values *v, const char *option, uint32_t count)
{
    if (count == 0)
        return CODE_USAGE;
    if (v->run.n_devices == 0)
        v->run.n_devices = count;
    if (count > v->run.n_devices)
        return report_usage("%s has %u numbers for %s", option, count,
                            human_counted(v->run.n_devices, "device", "devices").text);
    return CODE_OK;
}

/* Sizes of devices; a single one is that of each. */
static int read_sizes(estimate_values *v, const char *option, const char *text,
                      const list_kind *kind, uint64_t *out)
{
    uint32_t count = read_list(option, text, kind, out);
    int code = count_devices(v, option, count);

    if (code != CODE_OK)
        return code;
    if (count > 1 && count < v->run.n_devices)
        return report_usage("%s has %u sizes for %u devices", option, count, v->run.n_devices);
    for (uint32_t d = count; d < v->run.n_devices; d++)
        out[d] = out[0];
    return CODE_OK;
}

/* ---- places --------------------------------------------------------------------------------- */

static int place(void *context, gufo_str name)
{
    const estimate_values *v = context;

    for (size_t i = 0; i < v->override_count; i++)
        if (pattern_match(v->overrides[i].pattern, name) == PATTERN_YES)
            return v->overrides[i].place;
    return GUFO_ESTIMATE_BY_RULE;
}

typedef struct override_text {
    estimate_values *values;
    int code;
} override_text;

static int add_override(estimate_values *v, const gufo_place_rule *rule)
{
    char message[PATTERN_MESSAGE], *text;
    estimate_override *o = &v->overrides[v->override_count]; /* used if there is room */

    if (v->override_count == ESTIMATE_OVERRIDES)
        return report_usage("more than %d --override-tensor", ESTIMATE_OVERRIDES);
    text = strndup(rule->pattern.data, rule->pattern.len);
    if (text == NULL)
        return report_memory(NULL);
    *o = (estimate_override){pattern_new(text, message), rule->place};
    if (o->pattern == NULL)
        (void)report_usage("--override-tensor '%s': %s", text, message);
    free(text);
    v->override_count += o->pattern != NULL;
    return o->pattern != NULL ? CODE_OK : CODE_USAGE;
}

static gufo_status take_override(void *context, const gufo_place_rule *rule, gufo_error *error)
{
    override_text *o = context;

    (void)error;
    o->code = add_override(o->values, rule);
    return o->code == CODE_OK ? GUFO_OK : GUFO_E_STOPPED;
}

static int read_overrides(estimate_values *v, const option_texts *texts)
{
    override_text o = {v, CODE_OK};
    gufo_error error;

    for (size_t i = 0; i < texts->count && o.code == CODE_OK; i++)
        if (gufo_place_rules_read(gufo_str_of(texts->items[i]), take_override, &o, &error) !=
                GUFO_OK &&
            o.code == CODE_OK)
            o.code = report_usage("--override-tensor: %s", error.message);
    if (v->override_count > 0) {
        v->run.place = place;
        v->run.place_context = v;
    }
    return o.code;
}

int estimate_check_overrides(const estimate_values *v, const gufo_model *model)
{
    gufo_tensor tensor;

    for (uint64_t t = 0; v->override_count > 0 && gufo_model_tensor_at(model, t, &tensor); t++)
        for (size_t i = 0; i < v->override_count; i++)
            if (pattern_match(v->overrides[i].pattern, tensor.name) == PATTERN_TOO_COSTLY)
                return report_usage("pattern %zu of --override-tensor takes too many steps", i + 1);
    return CODE_OK;
}

void estimate_values_free(estimate_values *v)
{
    for (size_t i = 0; i < v->override_count; i++)
        pattern_free(v->overrides[i].pattern);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int read_split(estimate_values *v, const char *text)
{
    if (text == NULL)
        return CODE_OK;
    v->run.tensor_split = v->split;
    return count_devices(v, "--tensor-split", read_list("--tensor-split", text, &shares, v->split));
}

static int read_limits(const estimate_options *o, estimate_values *v)
{
    int code;

    v->has_limits = o->fit != NULL || o->host > 0;
    v->limits.host_bytes = o->host;
    if (o->has_ctx)
        v->limits.least_ctx = UINT64_MAX; /* -c 0 is the model's context, and no smaller one */
    if (o->fit == NULL)
        return CODE_OK;
    code = read_sizes(v, "--fit", o->fit, &memories, v->fit);
    v->limits.device_bytes = v->fit;
    v->limits.split = v->split;
    if (v->run.tensor_split != NULL || (!o->table && !o->plot))
        return code;
    for (uint32_t d = 0; d < v->run.n_devices; d++)
        v->split[d] = (double)v->fit[d];
    v->run.tensor_split = v->split; /* by size; nothing is looked for */
    return code;
}

/* A single number without devices is that of the host. */
static int read_bandwidth(const estimate_options *o, estimate_values *v)
{
    bool is_single = o->bandwidth != NULL && strchr(o->bandwidth, ',') == NULL;

    v->host_bandwidth = o->host_bandwidth;
    v->has_bandwidth = o->bandwidth != NULL || o->host_bandwidth > 0;
    if (o->bandwidth == NULL)
        return CODE_OK;
    if (!is_single || v->run.n_devices > 0)
        return read_sizes(v, "--bandwidth", o->bandwidth, &speeds, v->bandwidth);
    if (o->host_bandwidth > 0)
        return report_usage("--bandwidth describes devices, but --devices is missing");
    return read_list("--bandwidth", o->bandwidth, &speeds, &v->host_bandwidth) == 1 ? CODE_OK
                                                                                    : CODE_USAGE;
}

uint64_t estimate_limit(const estimate_values *v, uint32_t index)
{
    if (index == 0)
        return v->limits.host_bytes;
    return v->limits.device_bytes != NULL ? v->fit[index - 1] : 0;
}

int estimate_values_read(const estimate_options *o, estimate_values *out)
{
    int code = CODE_OK;

    *out = (estimate_values){.run = {
                                 .n_ctx = o->ctx,
                                 .n_batch = o->batch,
                                 .n_ubatch = o->ubatch,
                                 .n_seq = o->parallel,
                                 .n_outputs = o->outputs,
                                 .n_rs_seq = o->rs_seq,
                                 .type_k = cache_type(o->type_k),
                                 .type_v = cache_type(o->type_v),
                                 .flash_attention = (gufo_flash_attention)o->flash,
                                 .kv_unified = o->unified,
                                 .swa_full = o->swa_full,
                                 .embeddings = o->embeddings,
                                 .no_kv_offload = o->no_kv_offload,
                                 .n_devices = (uint32_t)o->devices,
                                 .has_gpu_layers = o->has_layers,
                                 .n_gpu_layers = o->layers,
                                 .has_cpu_moe = o->has_cpu_moe || o->cpu_moe,
                                 .n_cpu_moe = o->cpu_moe ? UINT32_MAX : o->cpu_moe_layers,
                             }};
    if ((o->here || o->reserve > 0) &&
        (o->fit != NULL || o->host > 0 || o->devices > 0 || o->split != NULL))
        return report_usage("%s describes this machine; --fit, --host, --devices and "
                            "--tensor-split describe another one",
                            o->here ? "--here" : "--reserve");
    if (o->plot && o->base.shared->json)
        return report_usage("--plot is a drawing; --table --json has the numbers");
    code = read_overrides(out, &o->overrides);
    if (code == CODE_OK)
        code = read_split(out, o->split);
    if (code == CODE_OK)
        code = read_limits(o, out);
    return code == CODE_OK ? read_bandwidth(o, out) : code;
}
