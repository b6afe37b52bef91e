/* gufo show FILE...: shows a model file and its content.
 *
 * show.c reads the command line and opens files; facts.c and show_text.c write for people,
 * show_markdown.c for the page of a model, show_json.c for machines. */
#include "cli/inspect/show.h"

#include "cli/commands.h"
#include "cli/core/options/names.h"
#include "cli/inspect/ls.h"
#include "cli/inspect/pager.h"

/* ---- command line --------------------------------------------------------------------------- */

static const command_option show_table[] = {
    {"summary", NULL, "Show only the summary", OPTION_FLAG(show_options, only_summary),
     .common = true},
    {"metadata", "GLOB", "Show only metadata, or only the keys that match GLOB",
     OPTION_TEXT(show_options, metadata_glob), .given = offsetof(show_options, only_metadata),
     .optional = true, .common = true},
    {"tensors", "GLOB",
     "Show only tensors, each on its own line, or only those whose names match GLOB",
     OPTION_TEXT(show_options, tensor_glob), .given = offsetof(show_options, only_tensors),
     .optional = true, .common = true},
    {"max-array", "N", "Show at most N elements of each array (default: 8; with --json: all)",
     OPTION_NUMBER(show_options, array_limit, 0, UINT64_MAX),
     .given = offsetof(show_options, limit_given)},
    {"full", NULL, "Show whole values, and each tensor on its own line",
     OPTION_FLAG(show_options, full), .common = true},
    {"markdown", NULL, "Write a model card", OPTION_FLAG(show_options, markdown), .common = true},
    {"map", NULL, "Draw the types of layers and roles, from few bits to many",
     OPTION_FLAG(show_options, map), .common = true},
    {"no-pager", NULL, "Do not start a pager", OPTION_FLAG(show_options, no_pager)},
    {"lenient", NULL, "Show the readable part of a damaged file, and exit with status 1",
     OPTION_BITS(show_options, input.open_flags, GUFO_OPEN_LENIENT)},
    OPTION_SINGLE(show_options),
    {0},
};

/* ---- the command ---------------------------------------------------------------------------- */

typedef bool show_writer(const input *in, const show_options *options);

static show_writer *find_writer(const show_options *options)
{
    if (options->base.shared->json)
        return show_write_json;
    if (options->markdown)
        return show_write_markdown;
    return options->map ? show_write_map : show_write_text;
}

/* A folder that is not a model shows as its list of models. */
static int show_folder(const char *path, const shared_options *shared)
{
    ls_files files = {0};

    ls_add_argument(&files, path, false);
    return ls_list(&files, shared, LS_BY_NAME, "");
}

/* CODE_NO after a report if nothing matches a GLOB. */
static int report_unmatched(const input *in, const show_options *options)
{
    const char *keys = options->metadata_glob, *tensors = options->tensor_glob;
    uint64_t first = 0, first_tensor = 0;
    gufo_tensor tensor;
    gufo_entry entry;
    int code = CODE_OK;

    if (keys != NULL && !glob_next_entry(keys, in->model, &first, &entry))
        code = report_as(CODE_NO, in->path, "no key matches '%s'", keys);
    if (tensors != NULL && !glob_next_tensor(tensors, in->model, &first_tensor, &tensor))
        code = report_as(CODE_NO, in->path, "no tensor matches '%s'", tensors);
    return code;
}

static int show_file(void *context, const char *path)
{
    const show_options *options = context;
    const shared_options *shared = options->base.shared;
    input in;
    bool sound;
    int code;

    if (ls_is_folder(path))
        return show_folder(path, shared);
    code = input_open(&in, path, &options->input);
    if (code != CODE_OK)
        return code;
    if (!shared->json && path != shared->args[0])
        putc('\n', stdout);
    sound = find_writer(options)(&in, options);
    code = report_unmatched(&in, options);
    if (input_damage(&in, !shared->json) != CODE_OK) /* JSON has it in the object */
        code = CODE_NO;
    if (!sound)
        code = report_as(CODE_FAILED, path, "changed while it was being read");
    input_close(&in);
    return code;
}

static int show(void *context)
{
    show_options *options = context;
    const shared_options *shared = options->base.shared;
    pager p;

    if (shared->json && options->markdown)
        return report_usage("--json and --markdown exclude each other");
    if (options->map && (shared->json || options->markdown))
        return report_usage("--map is a drawing; --json and --markdown have the types as text");
    pager_start(&p, !shared->json && !options->no_pager);
    return pager_end(&p, command_line_each(options, show_file));
}

const command_line command_show = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc =
        "Show a summary of a model file, its metadata and its tensors.\v"
        "FILE may be '-' for standard input.  The first shard of a set (NAME-00001-of-000NN.gguf) "
        "means the whole set.\n\n"
        "On a terminal, values are cut at the end of the line, tensors whose names differ only in "
        "a number share a line, and a pager (GUFO_PAGER, PAGER, less) shows output that is longer "
        "than a screen.  Elsewhere strings are whole, arrays show 8 elements, and each tensor has "
        "a line.\n\n"
        "Exit status 1 means that a GLOB matches nothing.",
    .examples = {{"gufo show model.gguf", "The summary, all metadata and all tensors."},
                 {"gufo show --metadata='llama.*' --tensors='blk.0.*' model.gguf",
                  "Only these keys and the tensors of the first block."},
                 {"gufo show --markdown model.gguf >README.md", "A model card."}},
    COMMAND_OPTIONS(show_table, show_options),
    .run = show,
};
