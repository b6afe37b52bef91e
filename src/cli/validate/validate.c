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
#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/progress.h"
#include "cli/core/files/remote.h"
#include "cli/core/options/built_in.h"
#include "cli/core/terminal/signals.h"
#include "cli/inspect/catalogue.h"
#include "cli/inspect/ls.h"
#include "cli/validate/validate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Which checks a FILE argument of gufo validate gets.
 *
 * A file: the rules of the format while it is opened, those that a second look finds, then what it
 * means.  A set: the rules of the format for each shard by itself, then whether the shards belong
 * together, then what they mean as one model.  A checkpoint: what the model means that it becomes. */

/* ---- one file ------------------------------------------------------------------------------- */

/* Checks the rules about tensor data.  Findings may come at any time: the bar is shown only where
 * they go to another screen. */
static int check_data(report *r, const gufo_model *file)
{
    const shared_options *shared = r->options->base.shared;
    progress bar;
    gufo_run run = progress_run(&bar, shared);
    gufo_error error;
    gufo_status status;

    run.cpu = r->options->cpu;
    progress_start(&bar, shared->quiet || isatty(STDOUT_FILENO));
    status = gufo_model_check_data(file, &run, report_finding, r, &error);
    progress_end(&bar);
    return status == GUFO_OK ? CODE_OK : report_refusal(r->shard_path, &error);
}

/* Whether everything could be read: checks would report the rest as missing. */
static bool is_whole(const gufo_model *file)
{
    return gufo_model_entry_count(file) == gufo_model_facts(file).claimed_metadata &&
           gufo_model_tensor_count(file) == gufo_model_facts(file).claimed_tensors;
}

/* The number of shards of the set that the file belongs to; 1 for a whole model. */
static uint64_t shard_count(const gufo_model *file)
{
    uint64_t count;

    return gufo_model_get_u64(file, "split.count", &count, NULL) == GUFO_OK && count > 1 ? count
                                                                                         : 1;
}

/* Checks a shard alone, which the verdict names.  Missing shards are a finding, unless the user
 * asks for just this one. */
static void check_alone(report *r, const gufo_model *file)
{
    const char *shown = r->missing != NULL ? r->missing : "";
    uint64_t count = shard_count(file);
    char message[512];
    uint32_t number, named = 0;
    bool has_name = !path_is_standard(r->shard_path) &&
                    gufo_shard_path_parse(r->shard_path, NULL, &number, &named) && named > 1;
    gufo_finding finding = {.rule = gufo_rule_by_id("shard-missing"),
                            .offset = GUFO_NO_OFFSET,
                            .subject = gufo_str_of("shards"),
                            .message = message};

    r->shard_count = has_name ? named : count > 1 ? count : 0;
    r->shards_judged = r->shard_count > 0;
    if (r->shard_count == 0 || r->options->input.single || (has_name && r->missing == NULL))
        return;
    if (has_name)
        snprintf(message, sizeof message, "shard %s is missing; gufo checks only this file", shown);
    else
        snprintf(message, sizeof message,
                 "the file is one of %" PRIu64
                 " shards, but is not named like one; gufo checks only this file",
                 r->shard_count);
    report_finding(r, &finding);
}

/* The second level, of a set or of a file that does not belong to one that is checked. */
static int check_meaning(report *r, const gufo_model *model)
{
    /* The name of a folder says nothing about the file that it becomes. */
    bool is_file = !path_is_standard(r->path) && !gufo_model_facts(model).is_made;
    gufo_check_options options = {.level = r->options->level,
                                  .path = is_file ? r->path : NULL,
                                  .single = r->set == NULL && shard_count(model) > 1,
                                  .judge = template_judge,
                                  .every = r->fixes != NULL,
                                  .tokenizer_json = tokenizer_json_reader,
                                  .base = r->options->base_model};
    gufo_error error;

    if (gufo_model_check_content(model, &options, report_finding, r, &error) == GUFO_OK)
        return CODE_OK;
    return report_error(r->set != NULL ? r->path : r->shard_path, &error);
}

static int check_opened(report *r, const gufo_model *file)
{
    int code = CODE_OK;
    gufo_error error;

    if (gufo_model_check(file, report_finding, r, &error) != GUFO_OK)
        return report_error(r->shard_path, &error);
    if (r->shard == 0)
        check_alone(r, file);
    if (r->shard == 0 && is_whole(file))
        code = check_meaning(r, file);
    return code == CODE_OK && r->options->data ? check_data(r, file) : code;
}

/* Whether 'gufo convert' makes a file of it.  An old file is a finding, whose fix is a command. */
static bool is_checkpoint(const char *path)
{
    foreign_kind kind;

    return !path_is_standard(path) && foreign_file_find(path, &kind) && kind.converts;
}

/* The model that a checkpoint becomes has no bytes to check. */
static int check_checkpoint(report *r, const char *path)
{
    gufo_error error;
    gufo_model *model;
    int code;

    r->shard_path = path;
    signals_reading(path);
    model = foreign_file_open(path, FOREIGN_JUDGED, &error);
    code = model != NULL ? check_meaning(r, model) : report_error(path, &error);
    if (code == CODE_OK && r->options->data)
        code = check_data(r, model);
    gufo_model_free(model);
    signals_reading(NULL);
    return code;
}

/* A file that cannot be opened because it breaks a rule already has a finding. */
static int check_file(report *r, const char *path, size_t shard)
{
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT | GUFO_OPEN_INCOMPLETE,
                                 .on_finding = report_finding,
                                 .finding_context = r,
                                 .name = path,
                                 .max_depth = options_max_depth()};
    int code = CODE_OK;
    gufo_error error;
    gufo_model *file;

    r->shard_path = path = remote_shown(path);
    r->shard = shard;
    signals_reading(path);
    file = input_open_file(path, &lenient, &error);
    r->usable = file != NULL && gufo_model_damage(file) == NULL;
    if (file != NULL)
        code = check_opened(r, file);
    else if (error.rule == NULL)
        code = report_error(path, &error);
    report_rest(r);
    gufo_model_free(file);
    signals_reading(NULL);
    return code;
}

/* ---- a set ---------------------------------------------------------------------------------- */

static int check_each_shard(report *r, uint32_t shards)
{
    int code = CODE_OK;

    for (uint32_t number = 1; number <= shards; number++) {
        char *path = input_sibling_path(r->path, number);

        if (path == NULL)
            return report_memory(r->path);
        code = worst_code(code, check_file(r, path, number));
        free(path);
    }
    return code;
}

/* A failure of the set as a finding about the shard at `path`. */
static void set_finding(report *r, const char *path, const gufo_error *error)
{
    gufo_finding finding = {.rule = gufo_rule_by_id("shard-set"),
                            .offset = error->offset,
                            .subject = gufo_str_of("shards"),
                            .message = error->message};
    uint32_t number;

    r->shard_path = path;
    r->shard = gufo_shard_path_parse(path, NULL, &number, NULL) ? number : 0;
    report_finding(r, &finding);
}

static int check_opened_set(report *r, const gufo_model *set)
{
    bool whole = true;
    int code;

    r->set = set;
    r->usable = gufo_model_damage(set) == NULL;
    gufo_model_check_set(set, report_finding, r);
    for (size_t i = 0; i < gufo_model_shard_count(set); i++)
        whole = whole && is_whole(gufo_model_shard(set, i));
    code = whole ? check_meaning(r, set) : CODE_OK;
    r->set = NULL;
    r->shard_path = r->path;
    r->shard = 0;
    report_rest(r);
    return code;
}

/* Checks whether the shards belong together.  The faults inside them were reported before, and so
 * they are opened leniently; a file that is not a GGUF file cannot be compared. */
static int check_set(report *r)
{
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT, .max_depth = options_max_depth()};
    gufo_error error;
    int code = CODE_OK;

    signals_reading(r->path);
    gufo_model *set = input_open_file(r->path, &lenient, &error);

    if (set != NULL)
        code = check_opened_set(r, set);
    else if (error.code == GUFO_E_SHARDS)
        set_finding(r, error.file[0] != '\0' ? error.file : r->path, &error);
    else if (error.rule == NULL)
        code = report_error(r->path, &error);
    gufo_model_free(set);
    signals_reading(NULL);
    return code;
}

/* Checks the FILE of a report and adds the findings to it.  `shards` as input_set_size gives it.
 * Returns CODE_OK, or another code after a report to standard error. */
static int check_input(report *r, uint32_t shards)
{
    int code;

    if (shards == 0 && is_checkpoint(r->path))
        return check_checkpoint(r, r->path);
    code = shards > 0 ? check_each_shard(r, shards) : check_file(r, r->path, 0);
    return shards > 0 ? worst_code(code, check_set(r)) : code;
}

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
static int finish(report *r, uint32_t shards, bool checked, int code, report *output)
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

/* Writes the fixed file, if there is something to fix, and checks it. */
static int fix_and_check(const report *r, report *output)
{
    gufo_error error;
    int code;

    if (gufo_fixes_settle(r->fixes, &error) != GUFO_OK)
        return report_error(r->path, &error);
    if (gufo_fixes_count(r->fixes) == 0)
        return CODE_OK;
    code = fix_file(r);
    return code == CODE_OK ? check_input(output, 0) : code;
}

int validate_rows(const validate_options *options, const char *path, validate_row_fn *row,
                  void *context)
{
    report r = {.options = options, .path = path, .row = row, .row_context = context};
    char *missing;
    uint32_t shards = input_find_set(path, options->input.single, &missing);
    int code = check_request(options, path, shards);

    r.missing = missing;
    if (code == CODE_OK)
        code = check_input(&r, shards);
    free(missing);
    return code;
}

static int validate_with(const validate_options *options, const char *path, gufo_fixes *fixes)
{
    report r = {.options = options,
                .path = remote_shown(path),
                .color = options_color(options->base.shared),
                .fixes = fixes};
    report output = {
        .options = options, .path = options->base.output, .color = r.color, .silent = true};
    char *missing;
    uint32_t shards = input_find_set(path, options->input.single, &missing);
    bool checked, is_fixed;
    int code = check_request(options, path, shards);

    r.missing = missing;
    if (code == CODE_OK)
        code = check_input(&r, shards);
    checked = code == CODE_OK;
    if (checked && fixes != NULL)
        code = fix_and_check(&r, &output);
    is_fixed = checked && code == CODE_OK && fixes != NULL && gufo_fixes_count(fixes) > 0;
    code = finish(&r, shards, checked, code, is_fixed ? &output : NULL);
    free(missing);
    return code;
}

static int validate(void *context, const char *path)
{
    const validate_options *options = context;
    gufo_error error;
    gufo_fixes *fixes = options->fix ? gufo_fixes_new(NULL, &error) : NULL;
    int code;

    if (options->fix && fixes == NULL)
        return report_error(path, &error);
    code = validate_with(options, path, fixes);
    gufo_fixes_free(fixes);
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
    gufo_model_free(((validate_options *)context)->base_model);
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
