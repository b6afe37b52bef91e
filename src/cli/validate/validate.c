/* gufo validate FILE...: every fault of a file, not just the first.
 *
 * The library finds; the command prints each finding as it comes, so that a file with a million
 * faults needs no more memory than a good one.  Text looks like a compiler's:
 *
 *     FILE: byte 1234: error G205 key-duplicate: message
 *     FILE: invalid: 1 error
 *
 * JSON is one object per FILE, its counts after the findings.  Tensor data is read only with
 * --data. */
#include "cli/validate/validate.h"

#include "cli/commands.h"
#include "cli/core/foreign_file.h"
#include "cli/inspect/catalogue.h"
#include "cli/inspect/ls.h"

#include <stdlib.h>

/* ---- command line --------------------------------------------------------------------------- */

static const char *const levels[] = {"structure", "standard", "model", "spec", NULL};

static const command_option validate_table[] = {
    {"level", "structure|standard|model|spec",
     "How much to check: whether the file can be read; whether keys and values follow the "
     "standard; whether the model is complete and consistent (the default); whether the "
     "file has all that the specification requires, even where readers do without",
     OPTION_CHOICE(validate_options, level, levels, GUFO_LEVEL_STRUCTURE), .common = true},
    {"strict", NULL, "Treat warnings as errors", OPTION_FLAG(validate_options, strict)},
    {"data", NULL,
     "Read all tensor data, too, and report values and scales that are infinite or NaN",
     OPTION_FLAG(validate_options, data), .common = true},
    {"base", "BASE", "Check that the LoRA adapter FILE fits BASE, so that it can be merged",
     OPTION_TEXT(validate_options, base_path), .common = true},
    {"fix", NULL, "Fix faults that have one right answer, in a copy",
     OPTION_FLAG(validate_options, fix), .common = true},
    {"output", "OUT", "With --fix: the file to write", OPTION_OUTPUT},
    {"list-rules", NULL, "List all rules that are checked",
     OPTION_FLAG(validate_options, list_rules)},
    OPTION_SINGLE(validate_options),
    {0},
};

static int check_options(const validate_options *o)
{
    const shared_options *shared = o->base.shared;

    if (shared->arg_count == 0)
        return report_usage("no FILE is given");
    if (o->base_path != NULL && o->level < GUFO_LEVEL_MODEL && o->level != GUFO_LEVEL_DEFAULT)
        return report_usage("--base is for the levels model and spec");
    if (o->fix && o->base.output == NULL)
        return report_usage("--fix needs -o OUT");
    if (o->fix && path_is_standard(o->base.output))
        return report_usage("--fix writes a file, not standard output");
    if (!o->fix && o->base.output != NULL)
        return report_usage("-o OUT is for --fix");
    if (o->fix && shared->arg_count > 1)
        return report_usage("--fix takes one FILE");
    return CODE_OK;
}

/* ---- the work ------------------------------------------------------------------------------- */

/* Reports the verdict on the file, or on the output of --fix.  `checked` is false if not everything
 * could be checked. */
static int finish(report *r, uint32_t shards, bool checked, int code, const report *output)
{
    const shared_options *shared = r->options->base.shared;
    const report *last = output != NULL ? output : r;

    if (shared->json && (checked || r->begun))
        report_end_object(r, shards, checked, output);
    else if (code == CODE_OK && !shared->quiet && !shared->json)
        report_verdict(last);
    if (code != CODE_OK)
        return code;
    return report_is_valid(last) ? CODE_OK : CODE_NO;
}

static int check_request(const validate_options *o, const char *path, uint32_t shards)
{
    if (input_is_pending(path))
        return CODE_FAILED;
    if (o->fix && shards > 1)
        return report_usage("--fix takes one file, not a set: 'gufo merge' makes it one");
    if (o->fix && path_is_standard(path))
        return report_usage("--fix needs a file, not standard input");
    if (o->fix && foreign_file_refuse(path))
        return CODE_FAILED;
    return CODE_OK;
}

static int validate(void *context, const char *path)
{
    const validate_options *options = context;
    fix_list fixes = {0};
    report r = {.options = options,
                .path = path,
                .color = options_color(options->base.shared),
                .fixes = options->fix ? &fixes : NULL};
    report output = {
        .options = options, .path = options->base.output, .color = r.color, .silent = true};
    char *missing;
    uint32_t shards = input_find_set(path, options->input.single, &missing);
    bool checked;
    int code = check_request(options, path, shards);

    r.missing = missing;
    if (code == CODE_OK)
        code = check_input(&r, shards);
    checked = code == CODE_OK;
    if (checked)
        fix_list_settle(&fixes);
    if (fixes.count > 0 && checked) {
        code = fix_file(&r);
        if (code == CODE_OK)
            code = check_input(&output, 0);
    }
    code = finish(&r, shards, checked, code, fixes.count > 0 && code == CODE_OK ? &output : NULL);
    fix_list_free(&fixes);
    free(missing);
    return code;
}

/* Of a folder each model. */
static int validate_argument(void *options, const char *path)
{
    const validate_options *o = options;

    if (!ls_is_folder(path))
        return validate(options, path);
    return o->fix ? report_usage("--fix takes one FILE") : ls_each(path, options, validate);
}

static int list_rules(const shared_options *shared)
{
    if (shared->arg_count > 0)
        return report_usage("--list-rules takes no FILE");
    catalogue_list(catalogue_find("rules"), NULL, shared->json);
    return CODE_OK;
}

static int validate_all(void *context)
{
    validate_options *options = context;
    int code;

    if (options->list_rules)
        return list_rules(options->base.shared);
    code = check_options(options);
    if (code == CODE_OK && options->data)
        code = options_cpu(&options->cpu);
    if (code == CODE_OK && options->base_path != NULL) {
        options->base_model = input_open_model(options->base_path, 0);
        code = options->base_model != NULL ? CODE_OK : CODE_FAILED;
    }
    return code == CODE_OK ? command_line_each(options, validate_argument) : code;
}

static void release(void *context)
{
    gufo_close(((validate_options *)context)->base_model);
}

const command_line command_validate = {
    .operands = {.names = "FILE|FOLDER...\nADAPTER --base BASE\n--fix FILE -o OUT\n--list-rules"},
    .doc = "Check files against the GGUF format and the registry of models, and report every "
           "fault.\v"
           "Errors make a file invalid: exit status 1.  Warnings do so with --strict.  -v also "
           "shows remarks about what other tools refuse.  With -q, the exit status is the only "
           "result.",
    .examples = {{"gufo validate model.gguf", "Checks everything but the numbers in the tensors."},
                 {"gufo validate --data --strict model.gguf",
                  "Checks the numbers, too, and treats warnings as errors."},
                 {"gufo validate --fix model.gguf -o fixed.gguf",
                  "Writes a copy without the faults that have one right answer."}},
    COMMAND_OPTIONS(validate_table, validate_options),
    .run = validate_all,
    .release = release,
};
