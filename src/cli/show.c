/* gufo show FILE...: what a model file is and what it holds.
 *
 * show.c reads the command line and opens files; show_summary.c and show_text.c write for people,
 * show_json.c for machines. */
#include "cli/show.h"

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/stdout.h"

#include <fnmatch.h>
#include <string.h>

/* ---- command line --------------------------------------------------------------------------- */

static const command_option show_table[] = {
    {"metadata", "GLOB", "Only metadata, and of it only the keys that match GLOB",
     OPTION_TEXT(show_options, metadata_glob), .given = offsetof(show_options, only_metadata),
     .optional = true},
    {"tensors", "GLOB", "Only tensors, and of them only those whose names match GLOB",
     OPTION_TEXT(show_options, tensor_glob), .given = offsetof(show_options, only_tensors),
     .optional = true},
    {"array-limit", "N", "At most N elements of each array (default: 8; with --json: all)",
     OPTION_NUMBER(show_options, array_limit, 0, UINT64_MAX),
     .given = offsetof(show_options, limit_given)},
    {"lenient", NULL, "Show what can be read of a damaged file, and exit with status 1",
     OPTION_BITS(show_options, input.open_flags, GUFO_OPEN_LENIENT)},
    {0},
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

static int show(void *context, const char *path)
{
    const show_options *options = context;
    input in;
    const shared_options *shared = options->base.shared;
    bool json = shared->json;
    bool sound;
    int code = input_open(&in, path, &options->input);

    if (code != CODE_OK)
        return code;
    if (!json && path != shared->args[0])
        putc('\n', stdout);
    sound = json ? show_write_json(&in, options) : show_write_text(&in, options);
    code = input_damage(&in, !json); /* JSON has it in the object */
    if (!sound) {
        report_message(path, "changed while it was being read");
        code = CODE_FAILED;
    }
    input_close(&in);
    return code;
}

const command_line command_show = {
    .operands = "FILE...",
    .doc = "Show what a model file is, its metadata and its tensors.\v"
           "FILE may be '-' for standard input.  The first shard of a set "
           "(NAME-00001-of-000NN.gguf) means the whole set.",
    .options = show_table,
    .size = sizeof(show_options),
    .single = offsetof(show_options, input.single),
    .least = 1,
    .needed = "no FILE is given",
    .each = show,
};
