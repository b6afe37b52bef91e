/* gufo show FILE...: what a model file is and what it holds.
 *
 * show.c reads the command line and opens files; show_summary.c and show_text.c write for people,
 * show_json.c for machines. */
#include "cli/show.h"

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/stdout.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- command line --------------------------------------------------------------------------- */

enum { OPTION_METADATA = OPTION_COMMAND, OPTION_TENSORS, OPTION_ARRAY_LIMIT, OPTION_LENIENT };

static const struct argp_option show_table[] = {
    {"metadata", OPTION_METADATA, "GLOB", OPTION_ARG_OPTIONAL,
     "Only metadata, and of it only the keys that match GLOB", 1},
    {"tensors", OPTION_TENSORS, "GLOB", OPTION_ARG_OPTIONAL,
     "Only tensors, and of them only those whose names match GLOB", 1},
    {"array-limit", OPTION_ARRAY_LIMIT, "N", 0,
     "At most N elements of each array (default: 8; with --json: all)", 1},
    {"lenient", OPTION_LENIENT, NULL, 0,
     "Show what can be read of a damaged file, and exit with status 1", 1},
    {0},
};

static error_t parse_show(int key, char *text, struct argp_state *state)
{
    show_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options->base.shared;
        state->child_inputs[1] = &options->input;
        return 0;
    case OPTION_METADATA:
        options->only_metadata = true;
        options->metadata_glob = text;
        return 0;
    case OPTION_TENSORS:
        options->only_tensors = true;
        options->tensor_glob = text;
        return 0;
    case OPTION_ARRAY_LIMIT:
        options->limit_given = true;
        return options_number(options->base.shared, "--array-limit", text, 0, UINT64_MAX,
                              &options->array_limit)
                   ? 0
                   : EINVAL;
    case OPTION_LENIENT:
        options->input.open_flags |= GUFO_OPEN_LENIENT;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp show_argp = {
    .options = show_table,
    .parser = parse_show,
    .args_doc = "FILE...",
    .doc = "Show what a model file is, its metadata and its tensors.\v"
           "FILE may be '-' for standard input.  The first shard of a set "
           "(NAME-00001-of-000NN.gguf) means the whole set.",
    .children = input_children,
};

/* ---- what the parts share ------------------------------------------------------------------- */

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

show_totals show_sum(const input *in)
{
    show_totals totals = {.sizes_known = true};
    gufo_tensor tensor;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++) {
        totals.file_size =
            saturating_add(totals.file_size, gufo_model_facts(gufo_model_shard(in->model, i)).size);
        totals.data_size = saturating_add(
            totals.data_size, gufo_model_facts(gufo_model_shard(in->model, i)).data_size);
    }
    for (; gufo_tensor_at(in->model, totals.tensors, &tensor); totals.tensors++) {
        totals.parameters = saturating_add(totals.parameters, tensor.elements);
        totals.tensor_size = saturating_add(totals.tensor_size, tensor.size);
        totals.complete += tensor.complete;
        totals.sizes_known = totals.sizes_known && tensor.size_known;
    }
    return totals;
}

bool show_matches(const char *glob, gufo_str name)
{
    char copy[GUFO_MAX_KEY + 1];

    if (glob == NULL)
        return true;
    if (name.len >= sizeof copy)
        return false;
    /* fnmatch takes C strings: a NUL inside must not cut the name, and is matched by `*` and `?`.
     */
    for (size_t i = 0; i < name.len; i++)
        copy[i] = name.data[i] != '\0' ? name.data[i] : '\1';
    copy[name.len] = '\0';
    return fnmatch(glob, copy, 0) == 0;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* In text the first fault is reported like any other error; JSON has it in the object. */
static int report_damage(const input *in, bool report)
{
    int code = CODE_OK;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++) {
        const gufo_error *damage = gufo_model_damage(gufo_model_shard(in->model, i));

        if (damage == NULL)
            continue;
        code = CODE_NO;
        if (report)
            report_error(gufo_model_name(gufo_model_shard(in->model, i)), damage);
    }
    return code;
}

static int show(const char *path, const show_options *options, bool first)
{
    input in;
    bool json = options->base.shared->json;
    bool sound;
    int code = input_open(&in, path, &options->input);

    if (code != CODE_OK)
        return code;
    if (!json && !first)
        putc('\n', stdout);
    sound = json ? show_write_json(&in, options) : show_write_text(&in, options);
    code = report_damage(&in, !json);
    if (!sound) {
        report_message(path, "changed while it was being read");
        code = CODE_FAILED;
    }
    input_close(&in);
    return code;
}

int command_show(int argc, char **argv, shared_options *shared)
{
    show_options options = {.base = {shared}};
    int code = options_parse(&show_argp, 0, argc, argv, &options.base);

    if (code != 0 || shared->done)
        return code;
    if (shared->arg_count == 0)
        return report_usage("show", "no FILE is given");
    for (int i = 0; i < shared->arg_count && !stdout_broken(); i++)
        code = worst_code(code, show(shared->args[i], &options, i == 0));
    return code;
}
