/* From a size to the types of tensors: measure, keep the measurements, choose.
 *
 *     MODEL.gguf.losses   beside the output: what was measured, for another size, or after an interruption */
#include "cli/quantize/quantize.h"

#include "cli/core/files/path.h"
#include "cli/core/files/progress.h"
#include "cli/core/jobs/job_run.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- rules ---------------------------------------------------------------------------------- */

static double coefficient_of(void *context, gufo_str name, double standard)
{
    quantize_options *o = context;
    const name_rule *rule = name_rules_find(&o->size.coefficients, name);

    return rule != NULL ? rule->number : o->size.equal ? 1 : standard;
}

static const gufo_element_type *least_type_of(void *context, gufo_str name,
                                              const gufo_element_type *standard)
{
    quantize_options *o = context;
    const name_rule *rule = name_rules_find(&o->size.least, name);

    return rule != NULL ? rule->type : o->size.any_least ? NULL : standard;
}

static const gufo_element_type *most_type_of(void *context, gufo_str name)
{
    quantize_options *o = context;
    const name_rule *rule = name_rules_find(&o->size.most, name);

    return rule != NULL ? rule->type : NULL;
}

static uint32_t tie_of(void *context, gufo_str name)
{
    quantize_options *o = context;
    const name_rule *rule = name_rules_find(&o->size.ties, name);

    return rule != NULL ? (uint32_t)(rule - o->size.ties.list) + 1 : 0;
}

enum { RULE_LISTS = 5 };

static void list_rules(quantize_options *o, name_rules *lists[RULE_LISTS])
{
    lists[0] = &o->rules;
    lists[1] = &o->size.least;
    lists[2] = &o->size.most;
    lists[3] = &o->size.ties;
    lists[4] = &o->size.coefficients;
}

/* Whether each option has a pattern that matches. */
static int check_rules(quantize_options *o, const gufo_model *input)
{
    name_rules *lists[RULE_LISTS];
    int code = CODE_OK;

    list_rules(o, lists);
    for (size_t i = 0; i < RULE_LISTS && code == CODE_OK; i++)
        code = name_rules_check(lists[i], o->input, input);
    return code;
}

/* CODE_OK, unless a pattern took too many steps. */
static int check_costs(quantize_options *o)
{
    name_rules *lists[RULE_LISTS];

    list_rules(o, lists);
    for (size_t i = 0; i < RULE_LISTS; i++)
        if (lists[i]->costly != NULL)
            return report_usage("the --%s pattern '%s' takes too many steps", lists[i]->option,
                                lists[i]->costly->text);
    return CODE_OK;
}

/* ---- measurements that are kept ------------------------------------------------------------- */

/* Beside the output, or where it would be; NULL after a report. */
static char *kept_path(const quantize_options *o)
{
    size_t len = strlen(o->input);
    char *input, *name, *path = NULL;

    while (len > 1 && o->input[len - 1] == '/')
        len--;
    input = path_format("%.*s", (int)len, o->input);
    name = input != NULL ? path_format("%s.losses", path_name(input)) : NULL;
    if (name != NULL && o->folder != NULL)
        path = path_format("%s/%s", o->folder, name);
    else if (name != NULL)
        path = path_beside(o->paths[0] != NULL ? o->paths[0] : input, name);
    free(name);
    free(input);
    return path;
}

static bool is_kept(const quantize_options *o)
{
    return !o->size.no_cache && !(o->dry_run && o->folder != NULL && !path_is_folder(o->folder));
}

/* Measurements that do not fit are measured again; the reason is worth knowing. */
static void recall(quantize_options *o, const char *path)
{
    gufo_error error;
    gufo_status status = gufo_losses_read(o->size.losses, path, &o->size.recalled, &error);

    if (status != GUFO_OK && status != GUFO_E_NOT_FOUND)
        report_warning(path, "measurements are not used: %s", error.message);
}

/* Without this file nothing but time is lost. */
static void keep(const quantize_options *o, const char *path)
{
    gufo_error error;

    if (gufo_losses_write(o->size.losses, path, &error) != GUFO_OK)
        report_warning(path, "measurements are not kept: %s", error.message);
}

/* ---- places of files ------------------------------------------------------------------------ */

/* Whether the run writes to the paths as they are: those of shards are others. */
static bool writes_paths(const quantize_options *o)
{
    return !o->dry_run && (o->plan.flags & GUFO_QUANTIZE_KEEP_SPLIT) == 0 &&
           o->plan.split_size == 0 && o->plan.split_tensors == 0;
}

/* Files after this one may not replace it. */
static int add_place(gufo_guard *guard, const char *path)
{
    bool is_file = path != NULL && !save_is_stream(path);

    return !is_file || save_guard_output(guard, path) ? CODE_OK : CODE_FAILED;
}

static int check_place(const quantize_options *o, gufo_guard *guard, const char *path)
{
    int code = path != NULL ? save_check_later(path, o->base.shared->force, guard) : CODE_OK;

    return code == CODE_OK ? add_place(guard, path) : code;
}

static int check_all(const quantize_options *o, const char *kept, gufo_guard *guard)
{
    int code = CODE_OK;
    bool begins = writes_paths(o) && !(o->paths[0] != NULL && resume_is_left(o->paths[0]));

    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++)
        code = begins ? check_place(o, guard, o->paths[i]) : add_place(guard, o->paths[i]);
    if (code == CODE_OK)
        code = check_place(o, guard, o->size.saved);
    if (code == CODE_OK)
        code = check_place(o, guard, o->report);
    return code == CODE_OK && kept != NULL ? save_check(kept, true, guard) : code;
}

/* Finds out before the work whether files can be written, and whether one would replace another one that is
 * read or written. */
static int check_places(const quantize_options *o, const char *kept)
{
    gufo_guard guard = {0};
    int code;

    if (!save_guard(&guard, o->read.items, o->read.count))
        return CODE_FAILED;
    code = check_all(o, kept, &guard);
    gufo_guard_free(&guard);
    return code;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static int open_losses(quantize_options *o, const gufo_model *input)
{
    const gufo_losses_options options = {
        .types = o->size.type_count > 0 ? o->size.types : NULL,
        .type_count = o->size.type_count,
        .flags = o->size.exact ? GUFO_LOSSES_ALL_ROWS : 0u,
    };
    gufo_error error;

    o->size.losses = gufo_losses_new(input, &o->plan, &options, &error);
    return o->size.losses != NULL ? CODE_OK : quantize_failed(o, o->input, &error, true);
}

static int run_measurement(quantize_options *o, gufo_cpu cpu)
{
    const shared_options *shared = o->base.shared;
    progress bar = {0};
    gufo_run how = progress_run(&bar, shared);
    gufo_status status;
    gufo_error error;
    bool is_named;

    how.cpu = cpu;
    how.memory = o->memory;
    signals_defer();
    progress_start(&bar, shared->quiet);
    status = gufo_losses_measure(o->size.losses, &how, &error);
    progress_end(&bar);
    if (status == GUFO_OK)
        return CODE_OK;
    if (status == GUFO_E_STOPPED)
        return report_as(CODE_INTERRUPTED, o->input, "interrupted while it was measured%s",
                         is_kept(o) ? "; the same command continues" : "");
    is_named = error.role != GUFO_FILE_NONE && error.file[0] != '\0';
    return quantize_failed(o, is_named ? error.file : o->input, &error, false);
}

/* What was measured is kept after an interruption, too. */
static int measure(quantize_options *o, const char *path, gufo_cpu cpu)
{
    int code;

    if (path != NULL)
        recall(o, path);
    code = run_measurement(o, cpu);
    if (path != NULL && (code == CODE_OK || code == CODE_INTERRUPTED))
        keep(o, path);
    return code;
}

/* The place of the measurements.  Anybody can plant a symlink there, so one is skipped with a warning. */
static int find_kept(const quantize_options *o, char **kept)
{
    struct stat info;

    *kept = is_kept(o) ? kept_path(o) : NULL;
    if (is_kept(o) && *kept == NULL)
        return CODE_FAILED;
    if (*kept != NULL && lstat(*kept, &info) == 0 && S_ISLNK(info.st_mode)) {
        report_warning(*kept, "measurements are neither read nor kept: it is a symlink");
        free(*kept);
        *kept = NULL;
    }
    return CODE_OK;
}

static int measure_beside(quantize_options *o, gufo_cpu cpu)
{
    char *kept;
    int code = find_kept(o, &kept);

    if (code == CODE_OK)
        code = check_places(o, kept);

    if (code == CODE_OK)
        code = measure(o, kept, cpu);
    free(kept);
    return code;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static gufo_size_plan *plan_sizes(quantize_options *o, const gufo_size_target *targets,
                                  size_t count, gufo_error *error)
{
    const gufo_size_options options = {
        .targets = targets,
        .target_count = count,
        .coefficient = coefficient_of,
        .least_type = least_type_of,
        .most_type = most_type_of,
        .tie = o->size.ties.count > 0 ? tie_of : NULL,
        .context = o,
    };

    return gufo_size_plan_new(o->size.losses, &options, NULL, error);
}

gufo_size_plan *size_plan_for(quantize_options *o, const gufo_size_target *targets, size_t count)
{
    return plan_sizes(o, targets, count, NULL);
}

static int choose(quantize_options *o)
{
    gufo_error error;

    o->size.plan = plan_sizes(o, o->size.targets, o->size.count, &error);
    if (check_costs(o) != CODE_OK)
        return CODE_USAGE;
    if (o->size.plan == NULL)
        return quantize_failed(o, o->input, &error, true);
    gufo_size_plan_apply(o->size.plan, &o->plan);
    return CODE_OK;
}

/* Whether patterns can match all names. */
static int check_names(const quantize_options *o, const gufo_model *input)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(input, i, &tensor); i++)
        if (gufo_utf8_valid_prefix(tensor.name) < tensor.name.len)
            return report_as(CODE_USAGE, o->input,
                             "the name of tensor \"%.*s\" is not UTF-8: no pattern of --save-plan "
                             "would match it",
                             (int)tensor.name.len, tensor.name.data);
    return CODE_OK;
}

int size_make_plan(quantize_options *o, const gufo_model *input, gufo_cpu cpu)
{
    int code = check_rules(o, input);

    if (code == CODE_OK && o->size.saved != NULL)
        code = check_names(o, input);
    if (code == CODE_OK)
        code = open_losses(o, input);
    if (code == CODE_OK)
        code = check_costs(o);
    if (code == CODE_OK)
        code = measure_beside(o, cpu);
    return code == CODE_OK ? choose(o) : code;
}

/* ---- the plan as a file --------------------------------------------------------------------- */

/* The command that makes the same files: where TYPE is a plain type rules do not hold, so that it is another
 * one, and the file type is set. */
int size_write_plan(const quantize_options *o, gufo_text *text)
{
    bool merges = strcmp(o->base.shared->command, "lora") == 0;
    char set[64] = "", comment[256];
    gufo_size_result result;
    gufo_error error;

    (void)gufo_size_plan_at(o->size.plan, 0, &result);
    if (result.main_type->block_elements == 1 && result.file_type != NULL)
        snprintf(set, sizeof set, " --override-kv general.file_type=int:%u",
                 (unsigned)result.file_type->id);
    snprintf(comment, sizeof comment, "gufo %s --tensor-type-file THIS%s%s%s %s",
             merges ? "lora merge" : o->base.shared->command, set,
             o->imatrix != NULL ? " --imatrix IMATRIX" : "",
             merges ? " BASE ADAPTER -o OUT --type" : " IN OUT", result.target);
    return gufo_size_plan_write(o->size.plan, 0, comment, text, &error) == GUFO_OK
               ? CODE_OK
               : report_memory(NULL);
}
