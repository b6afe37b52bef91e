/* gufo estimate FILE: the memory that a model needs to run, from its header alone, and what fits into
 * memory. */
#include "cli/estimate/estimate.h"
#include "cli/core/files/remote.h"

#include "cli/commands.h"
#include "cli/inspect/ls.h"

#include <string.h>

static const char *const flash_words[] = {"auto", "on", "off", NULL};

/* ---- command line --------------------------------------------------------------------------- */

/* A number, or a word as llama.cpp has it: "auto" leaves the choice to --fit. */
static int read_layers(void *options, const option_given *given)
{
    estimate_options *o = options;

    o->has_layers = strcmp(given->text, "auto") != 0;
    o->layers = UINT32_MAX;
    if (!o->has_layers || strcmp(given->text, "all") == 0)
        return CODE_OK;
    return option_number("--gpu-layers", given->text, 0, UINT32_MAX, &o->layers);
}

static const command_option estimate_table[] = {
    {"ctx-size", "N", "Tokens of context for all sequences together (default: the model's)",
     OPTION_NUMBER(estimate_options, ctx, 0, UINT32_MAX), .letter = 'c',
     .given = offsetof(estimate_options, has_ctx), .common = true},
    {"batch-size", "N", "Tokens in a batch (default: 2048)",
     OPTION_NUMBER(estimate_options, batch, 1, INT32_MAX), .letter = 'b'},
    {"ubatch-size", "N", "Tokens in a physical batch (default: 512)",
     OPTION_NUMBER(estimate_options, ubatch, 1, INT32_MAX)},
    {"parallel", "N", "Sequences in parallel", OPTION_NUMBER(estimate_options, parallel, 1, 256),
     .common = true},
    {"cache-type-k", "TYPE", "Type of the cache of keys (default: F16)",
     OPTION_CHOICE(estimate_options, type_k, estimate_cache_types, 1), .common = true},
    {"cache-type-v", "TYPE", "Type of the cache of values (default: F16)",
     OPTION_CHOICE(estimate_options, type_v, estimate_cache_types, 1), .common = true},
    {"flash-attn", "WHEN", "Flash attention: on, off or auto",
     OPTION_CHOICE(estimate_options, flash, flash_words, 0)},
    {"kv-unified", NULL, "Use one cache for all sequences", OPTION_FLAG(estimate_options, unified)},
    {"swa-full", NULL, "Use caches of full size for sliding windows",
     OPTION_FLAG(estimate_options, swa_full)},
    {"gpu-layers", "N",
     "Layers on devices, counted from the last; the output counts as one; or: all, auto",
     OPTION_READ(read_layers), .common = true},
    {"devices", "N", "Devices beside the host",
     OPTION_NUMBER(estimate_options, devices, 0, GUFO_ESTIMATE_MAX_DEVICES)},
    {"tensor-split", "A,B...", "The share of each device", OPTION_TEXT(estimate_options, split)},
    {"no-kv-offload", NULL, "Keep cache and state on the host",
     OPTION_FLAG(estimate_options, no_kv_offload)},
    {"override-tensor", "PATTERN=DEV",
     "Put tensors that match on DEV: CPU, DEV0, DEV1 ...; separate several with commas "
     "(repeatable)",
     OPTION_TEXTS(estimate_options, overrides)},
    {"cpu-moe", NULL, "Keep all experts on the host", OPTION_FLAG(estimate_options, cpu_moe)},
    {"n-cpu-moe", "N", "Keep experts of the first N layers on the host",
     OPTION_NUMBER(estimate_options, cpu_moe_layers, 0, UINT32_MAX),
     .given = offsetof(estimate_options, has_cpu_moe)},
    {"n-outputs", "N", "Rows of logits of a batch (default: one for each token)",
     OPTION_NUMBER(estimate_options, outputs, 0, INT32_MAX)},
    {"rs-seq", "N", "Snapshots of the recurrent state",
     OPTION_NUMBER(estimate_options, rs_seq, 0, INT32_MAX)},
    {"embeddings", NULL, "Count embeddings in the output",
     OPTION_FLAG(estimate_options, embeddings)},
    {"no-mmap", NULL, "Read the host's weights instead of mapping them",
     OPTION_FLAG(estimate_options, no_mmap)},
    {"fit", "SIZE,SIZE...", "Find the largest context, then the most layers, that fit into devices",
     OPTION_TEXT(estimate_options, fit), .common = true},
    {"host", "SIZE", "Find what fits into the host's memory",
     OPTION_MEMORY(estimate_options, host, 1, "64G")},
    {"here", NULL, "Find what fits into this machine; the default without options",
     OPTION_FLAG(estimate_options, here)},
    {"reserve", "SIZE", "Leave SIZE free in each memory of this machine (default: 1G and 5 %)",
     OPTION_MEMORY(estimate_options, reserve, 1, "1G")},
    {"bandwidth", "SIZE,SIZE...",
     "Bytes per second that each device reads, for an upper bound of the speed; without devices, "
     "those of the host",
     OPTION_TEXT(estimate_options, bandwidth)},
    {"host-bandwidth", "SIZE", "Bytes per second that the host reads",
     OPTION_SIZE(estimate_options, host_bandwidth, 1, "60G")},
    {"table", NULL, "Show totals of several contexts and types of the cache",
     OPTION_FLAG(estimate_options, table), .common = true},
    {"plot", NULL, "Draw memory over the context", OPTION_FLAG(estimate_options, plot)},
    {"report", "FILE.html", "Write a page of the model, with memory over the context",
     OPTION_TEXT(estimate_options, report)},
    {"lora", "FILE", "Count an adapter (repeatable)", OPTION_TEXTS(estimate_options, adapters)},
    {"mmproj", "FILE", "Count the weights of a projector of images or sound",
     OPTION_TEXT(estimate_options, projector)},
    {"model-draft", "FILE", "Count a draft model, with all of its layers on devices",
     OPTION_TEXT(estimate_options, draft)},
    OPTION_SINGLE(estimate_options),
    {0},
};

/* As llama.cpp's users know them. */
static command_alias aliases[] = {
    {"-ub", "--ubatch-size"},
    {"-np", "--parallel"},
    {"-ctk", "--cache-type-k"},
    {"-ctv", "--cache-type-v"},
    {"-fa", "--flash-attn"},
    {"-kvu", "--kv-unified"},
    {"-ngl", "--gpu-layers"},
    {"--n-gpu-layers", "--gpu-layers"},
    {"-ts", "--tensor-split"},
    {"-nkvo", "--no-kv-offload"},
    {"-ot", "--override-tensor"},
    {"-cmoe", "--cpu-moe"},
    {"-ncmoe", "--n-cpu-moe"},
    {"-mm", "--mmproj"},
    {"-md", "--model-draft"},
    {"--draft", "--model-draft"},
    {NULL, ""},
};

static const command_hint hints[] = {
    {"--gpu", "--fit 24G is the memory of a device, --gpu-layers N the layers on devices"},
    {"--gpus", "--fit 24G,24G is the memory of each device"},
    {"--vram", "--fit 24G is the memory of a device"},
    {"--ram", "--host 64G is the memory of the host"},
    {"--memory", "--host 64G is the memory of the host, --fit 24G that of a device"},
    {NULL, NULL},
};

/* ---- work ----------------------------------------------------------------------------------- */

static int write_one(const estimate_work *w)
{
    const bool is_json = w->options->base.shared->json;
    estimate_values *v = w->values;
    gufo_error error;
    gufo_estimate e;
    gufo_status status = v->has_limits
                             ? gufo_estimator_fit(w->estimator, &v->limits, &v->run, &e, &error)
                             : gufo_estimator_run(w->estimator, &v->run, &e, &error);

    /* Without a rule for its buffers it is unknown whether the model fits; all else is known. */
    if (status == GUFO_E_TYPE && v->is_here) {
        v->has_limits = false;
        status = gufo_estimator_run(w->estimator, &v->run, &e, &error);
    }
    if (status == GUFO_E_LIMIT && !is_json)
        return estimate_write_no(w, &e);
    if (status == GUFO_E_LIMIT) {
        estimate_write_json_no(w, &e);
        return CODE_NO;
    }
    if (status != GUFO_OK)
        return estimate_report_failure(w, &error);
    (is_json ? estimate_write_json : estimate_write_text)(w, &e);
    return CODE_OK;
}

static int run(const input *in, const estimate_options *options, estimate_values *values,
               bool is_brief)
{
    gufo_error error;
    gufo_estimator *estimator = gufo_estimator_new(in->model, NULL, &error);
    estimate_draft draft = {.estimator = NULL};
    estimate_work w = {in, options, values, estimator, &draft, is_brief};
    int code = CODE_OK;

    if (estimator == NULL)
        return estimate_report_failure(&w, &error);
    code = estimate_add_beside(options, estimator, &draft);
    if (options->table && code == CODE_OK)
        code = estimate_write_table(&w);
    if (options->plot && code == CODE_OK)
        code = estimate_plot(&w);
    if (!options->table && !options->plot && code == CODE_OK)
        code = write_one(&w);
    if (options->report != NULL && code <= CODE_NO)
        code = worst_code(code, estimate_save_page(&w));
    gufo_estimator_free(estimator);
    estimate_close_draft(&draft);
    return code;
}

/* What the options and the machine give, for one model after the other. */
typedef struct estimate_request {
    estimate_options *options;
    estimate_values *values;
    bool in_folder;
} estimate_request;

/* A search changes the values. */
static int estimate_file(void *context, const char *path)
{
    const estimate_request *r = context;
    estimate_values *v = r->values;
    const gufo_estimate_options before = v->run;
    bool has_limits = v->has_limits;
    input in;
    int code = input_open(&in, path, &r->options->input);

    if (code != CODE_OK)
        return code;
    code = estimate_check_overrides(v, in.model);
    if (code == CODE_OK && estimate_is_adapter(in.model))
        code = estimate_adapter(&in, r->options, v->has_limits && !v->is_here);
    else if (code == CODE_OK)
        code = run(&in, r->options, v, r->in_folder);
    input_close(&in);
    v->run = before;
    v->has_limits = has_limits;
    return code;
}

static int estimate(void *context)
{
    estimate_options *options = context;
    const char *path = remote_shown(options->base.shared->args[0]);
    estimate_values values;
    estimate_request r = {options, &values, ls_is_folder(path)};
    int code = estimate_values_read(options, &values);

    if (code == CODE_OK)
        code = estimate_check_page(options);
    options->input.open_flags |= GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_NO_READ_AHEAD;
    if (code == CODE_OK) {
        estimate_look_here(options, &values);
        code = r.in_folder ? ls_each(path, &r, estimate_file) : estimate_file(&r, path);
    }
    estimate_values_free(&values);
    return code;
}

const command_line command_estimate = {
    .operands = {"FILE|FOLDER", 1, 1, "one FILE or FOLDER is needed"},
    .doc =
        "Show the memory that a model needs to run.\v"
        "gufo reads the header, not tensor data.  Numbers are those that llama.cpp allocates: "
        "weights, cache and state to the byte; buffers for computing, with ~, within the margin "
        "that gufo prints.  The short options of llama.cpp work, too: -ub, -np, -ctk, -ctv, -fa, "
        "-kvu, -ngl, -ts, -ot, -nkvo, -cmoe, -ncmoe, -mm and -md.  Exit status 1 means that "
        "nothing fits, or that gufo has no rule for the architecture; 2 also that llama.cpp "
        "refuses the options.  In sizes of memory G is 2^30 bytes: 24G is what a card of 24 GB "
        "has.",
    .examples = {{"gufo estimate model.gguf", "Says whether this machine runs it, and how."},
                 {"gufo estimate --devices 1 --gpu-layers 20 model.gguf",
                  "Puts 20 layers on a device."},
                 {"gufo estimate --fit 24G model.gguf",
                  "Finds the largest context for a card of 24 GB."}},
    COMMAND_OPTIONS(estimate_table, estimate_options),
    .aliases = aliases,
    .hints = hints,
    .run = estimate,
};
