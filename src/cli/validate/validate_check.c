/* Which checks a FILE argument of gufo validate gets.
 *
 * A file: the rules of the format while it is opened, those that a second look finds, then what it
 * means.  A set: the rules of the format for each shard by itself, then whether the shards belong
 * together, then what they mean as one model.  A checkpoint: what the model means that it becomes. */
#include "cli/validate/validate.h"

#include "cli/core/foreign_file.h"
#include "cli/core/judge.h"
#include "cli/core/progress.h"
#include "cli/core/signals.h"
#include "schema/check/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

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
    return gufo_metadata_count(file) == gufo_model_facts(file).claimed_metadata &&
           gufo_tensor_count(file) == gufo_model_facts(file).claimed_tensors;
}

/* The number of shards of the set that the file belongs to; 1 for a whole model. */
static uint64_t shard_count(const gufo_model *file)
{
    uint64_t count;

    return gufo_get_u64(file, "split.count", &count, NULL) == GUFO_OK && count > 1 ? count : 1;
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
                                  .tokenizer_json = tokenizer_json_reader,
                                  .base = r->options->base_model};
    gufo_error error;

    if ((r->fixes != NULL ? schema_check_every : gufo_check)(model, &options, report_finding, r,
                                                             &error) == GUFO_OK)
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
    gufo_close(model);
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

    r->shard_path = path;
    r->shard = shard;
    signals_reading(path);
    if (path_is_standard(path))
        file = gufo_open_fd(STDIN_FILENO, &lenient, &error);
    else
        file = gufo_open(path, &lenient, &error);
    r->usable = file != NULL && gufo_model_damage(file) == NULL;
    if (file != NULL)
        code = check_opened(r, file);
    else if (error.rule == NULL)
        code = report_error(path, &error);
    report_rest(r);
    gufo_close(file);
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
    gufo_model *set = gufo_open(r->path, &lenient, &error);

    if (set != NULL)
        code = check_opened_set(r, set);
    else if (error.code == GUFO_E_SHARDS)
        set_finding(r, error.file[0] != '\0' ? error.file : r->path, &error);
    else if (error.rule == NULL)
        code = report_error(r->path, &error);
    gufo_close(set);
    signals_reading(NULL);
    return code;
}

int check_input(report *r, uint32_t shards)
{
    int code;

    if (shards == 0 && is_checkpoint(r->path))
        return check_checkpoint(r, r->path);
    code = shards > 0 ? check_each_shard(r, shards) : check_file(r, r->path, 0);
    return shards > 0 ? worst_code(code, check_set(r)) : code;
}
