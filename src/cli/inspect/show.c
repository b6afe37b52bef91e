/* gufo show FILE...: what a model file is and what it holds.
 *
 * show.c reads the command line and opens files; show_summary.c and show_text.c write for people,
 * show_json.c for machines. */
#include "cli/inspect/show.h"

#include "cli/commands.h"
#include "cli/core/report.h"

/* ---- command line --------------------------------------------------------------------------- */

static const command_option show_table[] = {
    {"summary", NULL, "Only the summary", OPTION_FLAG(show_options, only_summary)},
    {"metadata", "GLOB", "Only metadata, and of it only the keys that match GLOB",
     OPTION_TEXT(show_options, metadata_glob), .given = offsetof(show_options, only_metadata),
     .optional = true},
    {"tensors", "GLOB", "Only tensors, and of them only those whose names match GLOB",
     OPTION_TEXT(show_options, tensor_glob), .given = offsetof(show_options, only_tensors),
     .optional = true},
    {"max-array", "N", "At most N elements of each array (default: 8; with --json: all)",
     OPTION_NUMBER(show_options, array_limit, 0, UINT64_MAX),
     .given = offsetof(show_options, limit_given)},
    {"lenient", NULL, "Show what can be read of a damaged file, and exit with status 1",
     OPTION_BITS(show_options, input.open_flags, GUFO_OPEN_LENIENT)},
    OPTION_SINGLE(show_options),
    {0},
};

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
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc = "Show what a model file is, its metadata and its tensors.\v"
           "FILE may be '-' for standard input.  The first shard of a set "
           "(NAME-00001-of-000NN.gguf) means the whole set.",
    .examples = {{"gufo show model.gguf", "The summary, all metadata and all tensors."},
                 {"gufo show --metadata='llama.*' --tensors='blk.0.*' model.gguf",
                  "Only these keys and the tensors of the first block."}},
    COMMAND_OPTIONS(show_table, show_options),
    .each = show,
};
