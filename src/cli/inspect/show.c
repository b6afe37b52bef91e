/* gufo show FILE...: shows a model file and its content.
 *
 * show.c reads the command line and opens files; facts.c and show_text.c write for people,
 * show_markdown.c for the page of a model. */
#include "cli/commands.h"
#include "cli/core/options/names.h"
#include "cli/core/records/model_json.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/values/value.h"
#include "cli/inspect/ls.h"
#include "cli/inspect/metadata.h"
#include "cli/inspect/pager.h"
#include "cli/inspect/show.h"

/* ---- JSON: one object per file, which docs/json.md describes --------------------------------- */

#define SCHEMA_VERSION 1 /* of the output: higher when a member changes its meaning */

static const char *const byte_orders[] = {
    [GUFO_LITTLE_ENDIAN] = "little", [GUFO_BIG_ENDIAN] = "big"};

static const record_field facts_fields[] = {
    {"schema_version", NULL, RECORD_FIXED, .at = SCHEMA_VERSION},
    {"file_size", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, size)},
    {"version", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, version)},
    {"byte_order", NULL, RECORD_CHOICE, RECORD_AT(gufo_facts, byte_order), .words = byte_orders},
    {"alignment", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, alignment)},
    {"data_offset", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, data_offset)},
    {"data_size", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, data_size)},
};
static const record_type facts_type = RECORD_OF(gufo_facts, facts_fields, 0);

/* That all sums are those of one shard. */
static void write_part(json_writer *j, const gufo_model *model)
{
    uint64_t number, count;

    if (!input_is_part(model, &number, &count))
        return;
    json_begin_object(j, "partial");
    json_write_u64(j, "number", number);
    json_write_u64(j, "of", count);
    json_end_object(j);
}

/* The first fault of the first damaged file. */
static void write_damage(json_writer *j, const input *in)
{
    const gufo_error *damage = NULL;
    size_t shard = 0;

    for (; shard < gufo_model_shard_count(in->model) && damage == NULL; shard++)
        damage = gufo_model_damage(gufo_model_shard(in->model, shard));
    if (damage == NULL)
        return;
    json_begin_object(j, "damaged");
    json_write_offset(j, damage->offset);
    json_write_text(j, "message", damage->message);
    if (gufo_model_shard_count(in->model) > 1)
        json_write_u64(j, "shard", shard);
    json_end_object(j);
}

static uint64_t array_limit(const show_options *options)
{
    return options->limit_given ? options->array_limit : VALUE_ALL;
}

static bool next_entry(const void *context, const gufo_model *model, uint64_t *next,
                       gufo_entry *out)
{
    const show_options *options = context;

    return !stdout_broken() && glob_next_entry(options->metadata_glob, model, next, out);
}

static bool show_write_json(const input *in, const show_options *options)
{
    show_tensors tensors = show_tensors_of(in->model, options->tensor_glob), *next = &tensors;
    gufo_summary o;

    gufo_model_summarize(in->model, &o);
    json_writer j = json_begin_document(in->path);

    record_write_members(&j, &facts_type, &o.facts);
    model_json_shards(&j, "shards", in->model);
    write_part(&j, in->model);
    write_damage(&j, in);
    if (show_wants(options, options->only_summary))
        facts_write(&j, "summary", &o, array_limit(options));
    if (show_wants(options, options->only_metadata))
        metadata_write(&j, in->model, next_entry, options, array_limit(options));
    if (show_wants(options, options->only_tensors))
        record_write_list(&j, "tensors", &tensors.type,
                          &(record_list){.make = show_make_tensor, .context = &next});
    json_end_document(&j);
    return !j.changed;
}

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
    {"layers", NULL, "Draw the types of layers and roles, from few bits to many",
     OPTION_FLAG(show_options, layers), .common = true},
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
    return options->layers ? show_write_layers : show_write_text;
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
        return ls_folder(path, shared); /* it is not a model, but has some */
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
    if (options->layers && (shared->json || options->markdown))
        return report_usage("--layers is a drawing; --json and --markdown have the types as text");
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
