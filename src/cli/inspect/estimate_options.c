/* The texts of options of gufo estimate: lists of numbers and of sizes, types of the cache, places of
 * experts. */
#include "cli/inspect/estimate.h"

#include "base/checked.h"
#include "base/text.h"
#include "cli/core/size.h"

#include <stdio.h>
#include <stdlib.h>

const char *const estimate_cache_types[] = {"f32",  "f16",    "bf16", "q8_0", "q4_0",
                                            "q4_1", "iq4_nl", "q5_0", "q5_1", NULL};

static const gufo_element_type *cache_type(unsigned choice)
{
    char name[16];
    size_t i = 0;

    if (choice == 0)
        return NULL;
    for (const char *at = estimate_cache_types[choice - 1]; *at != '\0' && i + 1 < sizeof name;
         at++)
        name[i++] = to_upper(*at);
    name[i] = '\0';
    return gufo_element_type_by_name(name);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static bool read_share(gufo_str piece, void *out)
{
    char text[64], *end;
    int len = snprintf(text, sizeof text, "%.*s", (int)smaller(piece.len, 60), piece.data);

    *(double *)out = strtod(text, &end);
    return len > 0 && *end == '\0' && piece.len <= 60 && (is_digit(text[0]) || text[0] == '.');
}

static bool read_bytes(gufo_str piece, void *out)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%.*s", (int)smaller(piece.len, 60), piece.data);

    return len > 0 && piece.len <= 60 && size_read(text, out);
}

/* "A,B" into items of `size` bytes; their number, or 0 after a report. */
static uint32_t read_list(const char *option, const char *text,
                          bool (*read)(gufo_str piece, void *out), void *items, size_t size)
{
    uint32_t count = 0;

    while (*text != '\0') {
        if (count == GUFO_ESTIMATE_MAX_DEVICES ||
            !read(str_piece(&text, ','), (char *)items + size * count)) {
            (void)report_usage("%s takes up to %d numbers with commas between them", option,
                               GUFO_ESTIMATE_MAX_DEVICES);
            return 0;
        }
        count++;
    }
    if (count == 0)
        (void)report_usage("%s: no number is given", option);
    return count;
}

/* As many devices as a list has numbers, unless --devices says more. */
static int count_devices(estimate_values *v, const char *option, uint32_t count)
{
    if (count == 0)
        return CODE_USAGE;
    if (v->run.n_devices != 0 && v->run.n_devices != count)
        return report_usage("%s has %u numbers for %u devices", option, count, v->run.n_devices);
    v->run.n_devices = count;
    return CODE_OK;
}

/* ---- places --------------------------------------------------------------------------------- */

/* The experts of the first layers, which --n-cpu-moe counts, stay on the host. */
static bool is_host_expert(const estimate_options *options, gufo_str name)
{
    size_t start = strlen("blk.");
    gufo_str digits;
    uint64_t layer;

    if (!str_begins(name, "blk.") || str_search(name, gufo_str_of("exps.")) == NULL)
        return false;
    digits = (gufo_str){name.data + start, str_digits(name, start)};
    return options->cpu_moe || (str_number(digits, &layer) && layer < options->cpu_moe_layers);
}

static int place(void *context, gufo_str name)
{
    const estimate_values *v = context;

    for (size_t i = 0; i < v->override_count; i++)
        if (pattern_match(v->overrides[i].pattern, name) == PATTERN_YES)
            return v->overrides[i].place;
    return is_host_expert(v->options, name) ? GUFO_ESTIMATE_HOST : GUFO_ESTIMATE_BY_RULE;
}

/* "CPU", "DEV0", "DEV1" ... */
static bool read_place(const char *text, int *out)
{
    uint64_t number;

    if (strcmp(text, "CPU") == 0) {
        *out = GUFO_ESTIMATE_HOST;
        return true;
    }
    if (strncmp(text, "DEV", 3) != 0 || !str_number(gufo_str_of(text + 3), &number) ||
        number >= GUFO_ESTIMATE_MAX_DEVICES)
        return false;
    *out = (int)number;
    return true;
}

/* PATTERN=DEVICE; what is behind the last sign of equality is the device. */
static int read_override(estimate_values *v, const char *text)
{
    char message[PATTERN_MESSAGE], expression[512];
    const char *end = strrchr(text, '=');
    estimate_override *o = &v->overrides[v->override_count];

    if (end == NULL || (size_t)(end - text) >= sizeof expression || !read_place(end + 1, &o->place))
        return report_usage("--override-tensor takes PATTERN=CPU or PATTERN=DEV0, not '%s'", text);
    if (v->override_count == ESTIMATE_OVERRIDES - 1)
        return report_usage("more than %d --override-tensor", ESTIMATE_OVERRIDES - 1);
    snprintf(expression, sizeof expression, "%.*s", (int)(end - text), text);
    o->pattern = pattern_new(expression, message);
    if (o->pattern == NULL)
        return report_usage("--override-tensor '%s': %s", expression, message);
    v->override_count++;
    return CODE_OK;
}

static int read_overrides(estimate_values *v)
{
    const option_texts *texts = &v->options->overrides;
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && i < texts->count; i++)
        code = read_override(v, texts->items[i]);
    return code;
}

void estimate_values_free(estimate_values *v)
{
    for (size_t i = 0; i < v->override_count; i++)
        pattern_free(v->overrides[i].pattern);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int read_limits(const estimate_options *o, estimate_values *v)
{
    int code;

    v->is_fitted = o->fit != NULL || o->host > 0;
    v->limits.host_bytes = o->host;
    if (o->fit == NULL)
        return CODE_OK;
    code =
        count_devices(v, "--fit", read_list("--fit", o->fit, read_bytes, v->fit, sizeof *v->fit));
    v->limits.device_bytes = v->fit;
    return code;
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
                             }};
    out->options = o;
    code = read_overrides(out);
    if (o->cpu_moe || o->cpu_moe_layers > 0 || out->override_count > 0) {
        out->run.place = place;
        out->run.place_context = out;
    }
    if (code == CODE_OK && o->split != NULL) {
        code = count_devices(
            out, "--tensor-split",
            read_list("--tensor-split", o->split, read_share, out->split, sizeof *out->split));
        out->run.tensor_split = out->split;
    }
    return code == CODE_OK ? read_limits(o, out) : code;
}
