/* gufo quantize [OPTION...] IN [OUT] TYPE [THREADS]: a model with other element types.
 *
 * The library plans and works; this file reads the command line, opens what it names, watches for
 * signals, and says in which words things went wrong. */
#include "cli/quantize.h"

#include "cli/commands.h"
#include "cli/cpu.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- command line --------------------------------------------------------------------------- */

enum {
    OPTION_ALLOW_REQUANTIZE = OPTION_COMMAND,
    OPTION_LEAVE_OUTPUT,
    OPTION_PURE,
    OPTION_IMATRIX,
    OPTION_INCLUDE,
    OPTION_EXCLUDE,
    OPTION_OUTPUT_TYPE,
    OPTION_EMBEDDING_TYPE,
    OPTION_TENSOR_TYPE,
    OPTION_TENSOR_TYPE_FILE,
    OPTION_PRUNE,
    OPTION_KEEP_SPLIT,
    OPTION_OVERRIDE,
    OPTION_DRY_RUN,
    OPTION_NO_FALLBACK,
    OPTION_MEMORY,
    OPTION_RESUME,
    OPTION_KEEP_NONFINITE,
    OPTION_EFFORT,
    OPTION_REPORT,
};

static const struct argp_option quantize_table[] = {
    {"allow-requantize", OPTION_ALLOW_REQUANTIZE, NULL, 0,
     "Accept quantized tensors as a source; they lose more than the original does", 1},
    {"leave-output-tensor", OPTION_LEAVE_OUTPUT, NULL, 0, "Leave output.weight unchanged", 1},
    {"pure", OPTION_PURE, NULL, 0, "No mixture: the same type for every tensor", 1},
    {"imatrix", OPTION_IMATRIX, "FILE", 0, "Importance matrix, in either format", 1},
    {"include-weights", OPTION_INCLUDE, "NAME", 0,
     "Use it only for tensors with this in their names (repeatable)", 1},
    {"exclude-weights", OPTION_EXCLUDE, "NAME", 0,
     "Do not use it for tensors with this in their names (repeatable)", 1},
    {"output-tensor-type", OPTION_OUTPUT_TYPE, "TYPE", 0, "Element type of output.weight", 1},
    {"token-embedding-type", OPTION_EMBEDDING_TYPE, "TYPE", 0,
     "Element type of the token embeddings", 1},
    {"tensor-type", OPTION_TENSOR_TYPE, "PATTERN=TYPE", 0,
     "Element type of tensors whose names match a regular expression; the first match counts "
     "(repeatable)",
     1},
    {"tensor-type-file", OPTION_TENSOR_TYPE_FILE, "FILE", 0,
     "A file of PATTERN=TYPE items, separated by white space", 1},
    {"prune-layers", OPTION_PRUNE, "N,N,...", 0, "Leave layers out and renumber the others", 1},
    {"keep-split", OPTION_KEEP_SPLIT, NULL, 0, "Write one file per shard of the input", 1},
    {"override-kv", OPTION_OVERRIDE, "KEY=TYPE:VALUE", 0,
     "Set a metadata value; TYPE is int, float, bool or str (repeatable)", 1},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Show what every tensor would become, but write nothing",
     1},
    {"no-fallback", OPTION_NO_FALLBACK, NULL, 0,
     "Fail where rows do not fill blocks, instead of falling back to another type", 2},
    {"effort", OPTION_EFFORT, "WORD", 0,
     "reference (the bytes that llama-quantize makes) or high (slower, smaller errors)", 2},
    {"keep-nonfinite", OPTION_KEEP_NONFINITE, NULL, 0, "Accept values that are infinite or NaN", 2},
    {"memory", OPTION_MEMORY, "SIZE", 0, "Use at most SIZE of memory (default: 512M)", 2},
    {"resume", OPTION_RESUME, NULL, 0, "Continue an interrupted run, if there is one", 2},
    {"report", OPTION_REPORT, "FILE.csv", 0, "Write a row for every tensor", 2},
    {0},
};

static bool read_effort(quantize_options *options, const char *text)
{
    static const char *const words[] = {
        [GUFO_EFFORT_REFERENCE] = "reference", [GUFO_EFFORT_HIGH] = "high"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            options->effort = (gufo_effort)i;
            return true;
        }
    }
    report_usage("quantize", "--effort is reference or high, not '%s'", text);
    return false;
}

static bool add_name(const char ***list, size_t *count, const char *text)
{
    const char **larger = quantize_grow(*list, *count, sizeof *larger);

    if (larger == NULL)
        return false;
    *list = larger;
    (*list)[(*count)++] = text;
    return true;
}

static bool set_flag(quantize_options *o, int key)
{
    const struct {
        int key;
        bool *flag;
    } flags[] = {{OPTION_ALLOW_REQUANTIZE, &o->allow_requantize},
                 {OPTION_LEAVE_OUTPUT, &o->leave_output},
                 {OPTION_PURE, &o->pure},
                 {OPTION_KEEP_SPLIT, &o->keep_split},
                 {OPTION_DRY_RUN, &o->dry_run},
                 {OPTION_NO_FALLBACK, &o->no_fallback},
                 {OPTION_RESUME, &o->resume},
                 {OPTION_KEEP_NONFINITE, &o->keep_nonfinite}};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].key == key)
            return *flags[i].flag = true;
    return false;
}

static error_t parse_quantize(int key, char *text, struct argp_state *state)
{
    quantize_options *o = state->input;
    bool good = true;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o->base.shared;
        return 0;
    case OPTION_IMATRIX:
        o->imatrix = text;
        good = add_name(&o->read, &o->read_count, text);
        break;
    case OPTION_REPORT:
        o->report = text;
        return 0;
    case OPTION_INCLUDE:
        good = add_name(&o->included, &o->included_count, text);
        break;
    case OPTION_EXCLUDE:
        good = add_name(&o->excluded, &o->excluded_count, text);
        break;
    case OPTION_OUTPUT_TYPE:
        good = quantize_read_type("--output-tensor-type", text, &o->output_type);
        break;
    case OPTION_EMBEDDING_TYPE:
        good = quantize_read_type("--token-embedding-type", text, &o->embedding_type);
        break;
    case OPTION_TENSOR_TYPE:
        good = quantize_read_rule(o, text);
        break;
    case OPTION_TENSOR_TYPE_FILE:
        good = add_name(&o->read, &o->read_count, text) && quantize_read_rule_file(o, text);
        break;
    case OPTION_PRUNE:
        good = quantize_read_layers(o, text);
        break;
    case OPTION_OVERRIDE:
        good = quantize_read_override(o, text);
        break;
    case OPTION_MEMORY:
        good = quantize_read_size("--memory", text, &o->memory);
        break;
    case OPTION_EFFORT:
        good = read_effort(o, text);
        break;
    default:
        return set_flag(o, key) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return good ? 0 : EINVAL;
}

static const struct argp quantize_argp = {
    .options = quantize_table,
    .parser = parse_quantize,
    .args_doc = "IN [OUT] TYPE [THREADS]",
    .doc =
        "Change the element types of a model's tensors.\v"
        "TYPE is a file type (Q4_K_M, IQ4_XS, F16 ...), which mixes element types as "
        "llama-quantize does; the name of an element type (MXFP4, NVFP4 ...), which every tensor "
        "then gets; or COPY.  Without OUT the output is ggml-model-TYPE.gguf beside IN.\n\n"
        "While it works, the output is OUT.part.  An interrupted run leaves it, with a journal, "
        "and "
        "can be resumed.  The result does not depend on threads, memory or processor.",
    .children = options_children,
};

/* ---- arguments ------------------------------------------------------------------------------ */

/* "DIR/ggml-model-TYPE.gguf" for "DIR/IN". */
static bool make_default_output(quantize_options *o)
{
    const char *slash = strrchr(o->input, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - o->input) + 1;
    size_t size = folder + strlen(o->target.name) + sizeof "ggml-model-.gguf";

    o->default_output = malloc(size);
    if (o->default_output == NULL) {
        report_message(NULL, "out of memory");
        return false;
    }
    snprintf(o->default_output, size, "%.*sggml-model-%s.gguf", (int)folder, o->input,
             o->target.name);
    o->output = o->default_output;
    return true;
}

static bool read_thread_argument(shared_options *shared, const char *text)
{
    uint64_t threads;

    if (!options_number(shared, "THREADS", text, 1, 1024, &threads))
        return false;
    shared->threads = (unsigned)threads;
    return true;
}

/* IN TYPE [THREADS] if what follows IN is a type, else IN OUT TYPE [THREADS]. */
static bool read_arguments(quantize_options *o)
{
    shared_options *shared = o->base.shared;
    char **args = shared->args;
    int count = shared->arg_count, at = 1;
    gufo_quantize_target target;

    if (count < 2 || count > 4) {
        report_usage("quantize", "IN, OUT and TYPE are needed");
        return false;
    }
    o->input = args[0];
    if (count > 2 && !gufo_quantize_target_by_name(args[1], o->pure, &target))
        o->output = args[at++];
    o->type = args[at++];
    if (at < count && !read_thread_argument(shared, args[at++]))
        return false;
    if (at < count) {
        report_usage("quantize", "'%s' is an extra argument", args[at]);
        return false;
    }
    if (!quantize_read_target(o))
        return false;
    return o->output != NULL || o->dry_run || make_default_output(o);
}

/* The folder of a path: to be freed; NULL without memory.  *name is the rest of the path. */
static char *folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');

    *name = slash != NULL ? slash + 1 : path;
    return slash != NULL ? strndup(path, (size_t)(*name - path)) : strdup(".");
}

/* Whether the report can be written: not to be found out after the work. */
static int check_report(const quantize_options *o)
{
    const char *name;
    struct stat info;
    char *folder;
    int code = CODE_OK;

    if (o->report == NULL)
        return CODE_OK;
    if (stat(o->report, &info) == 0 && S_ISDIR(info.st_mode)) {
        report_message(o->report, "target exists and is not a regular file");
        return CODE_USAGE;
    }
    if (save_is_stream(o->report))
        return CODE_OK;
    if (!o->base.shared->force && access(o->report, F_OK) == 0) {
        report_message(o->report, "target exists already (--force replaces it)");
        return CODE_USAGE;
    }
    folder = folder_of(o->report, &name);
    if (folder != NULL && (*name == '\0' || access(folder, W_OK) != 0)) {
        report_system(o->report, *name == '\0' ? ENOENT : errno);
        code = CODE_FAILED;
    }
    free(folder);
    return code;
}

/* What can be seen to be wrong before anything is opened. */
static int check_arguments(const quantize_options *o)
{
    const char *output = o->dry_run ? NULL : o->output;

    if (input_is_stdin(o->input) || (output != NULL && strcmp(output, "-") == 0))
        return report_usage("quantize", "IN and OUT must be files, not '-'");
    if (o->included_count > 0 && o->excluded_count > 0)
        return report_usage("quantize",
                            "--include-weights and --exclude-weights exclude each other");
    if (output != NULL && save_is_pending(output))
        return CODE_USAGE;
    return check_report(o);
}

/* ---- what the library asks ------------------------------------------------------------------ */

static const gufo_element_type *type_of_rule(void *context, gufo_str name)
{
    quantize_options *o = context;

    /* One pattern that is too costly would be so for every tensor. */
    for (size_t i = 0; i < o->rule_count && o->costly == NULL; i++) {
        pattern_answer answer = pattern_match(o->rules[i].pattern, name);

        if (answer == PATTERN_YES)
            return o->rules[i].type;
        if (answer == PATTERN_TOO_COSTLY)
            o->costly = &o->rules[i];
    }
    return NULL;
}

static bool contains(gufo_str text, const char *part)
{
    size_t len = strlen(part);

    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.data + i, part, len) == 0)
            return true;
    return false;
}

static bool is_included(void *context, gufo_str name)
{
    const quantize_options *o = context;
    bool included = o->included_count == 0;

    for (size_t i = 0; i < o->included_count; i++)
        included = included || contains(name, o->included[i]);
    for (size_t i = 0; i < o->excluded_count; i++)
        included = included && !contains(name, o->excluded[i]);
    return included;
}

/* ---- the work ------------------------------------------------------------------------------- */

/* What a run has open. */
typedef struct work {
    quantize_options *options;
    gufo_model *input;
    gufo_imatrix *imatrix, *selection; /* of it */
    gufo_quantize_override *overrides;
    gufo_quantizer *quantizer;
    output_guard guard; /* what the report may not replace */
    gufo_cpu cpu;
    progress bar;
} work;

static int open_imatrix(work *w)
{
    quantize_options *o = w->options;
    gufo_imatrix_merge_options select = {.keep = is_included, .keep_context = o};
    gufo_error error;

    if (o->imatrix == NULL)
        return CODE_OK;
    w->imatrix = gufo_imatrix_open(o->imatrix, NULL, &error);
    if (w->imatrix != NULL && (o->included_count > 0 || o->excluded_count > 0)) {
        const gufo_imatrix *all = w->imatrix;

        w->selection = gufo_imatrix_merge(&all, 1, &select, &error);
    }
    if (w->imatrix == NULL ||
        (w->selection == NULL && (o->included_count > 0 || o->excluded_count > 0))) {
        report_error(o->imatrix, &error);
        return CODE_FAILED;
    }
    return CODE_OK;
}

static int make_overrides(work *w)
{
    const quantize_options *o = w->options;

    w->overrides = calloc(o->override_count + 1, sizeof *w->overrides);
    if (w->overrides == NULL) {
        report_message(NULL, "out of memory");
        return CODE_FAILED;
    }
    for (size_t i = 0; i < o->override_count; i++)
        if (!quantize_make_override(&o->overrides[i], gufo_model_shard(w->input, 0),
                                    &w->overrides[i]))
            return CODE_USAGE;
    return CODE_OK;
}

/* What helps against something at `path` that exists. */
static const char *exists_hint(const char *path)
{
    static const char suffix[] = ".part.journal";
    size_t len = strlen(path), suffix_len = sizeof suffix - 1;

    if (save_is_stream(path)) /* or a folder */
        return "";
    if (len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0)
        return " (--resume continues it, --force starts over)";
    return " (--force replaces it)";
}

/* An error with what the user can do about it.  Returns the exit code: most of what a plan refuses
 * is wrong usage. */
static int report_failure(const quantize_options *o, const char *path, const gufo_error *error,
                          bool planning)
{
    static const struct {
        gufo_status status;
        bool planning;
        int code;
        const char *hint;
    } cases[] = {
        {GUFO_E_ARGUMENT, true, CODE_USAGE, ""},
        {GUFO_E_TYPE, true, CODE_USAGE, " (--allow-requantize)"},
        {GUFO_E_NOT_FOUND, true, CODE_USAGE, " (--imatrix)"},
        {GUFO_E_ARGUMENT, false, CODE_USAGE, ""},
        {GUFO_E_LIMIT, false, CODE_USAGE, " (--memory)"},
        {GUFO_E_EXISTS, false, CODE_USAGE, ""},
        {GUFO_E_RANGE, false, CODE_FAILED, " (--keep-nonfinite accepts it)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *hint = cases[i].hint;

        if (cases[i].status != error->code || cases[i].planning != planning)
            continue;
        if (error->code == GUFO_E_TYPE && o->allow_requantize)
            hint = "";
        if (error->code == GUFO_E_EXISTS)
            hint = exists_hint(path);
        report_message(path, "%s%s", error->message, hint);
        return cases[i].code;
    }
    report_error(path, error);
    return CODE_FAILED;
}

static gufo_quantize_options library_options(const work *w)
{
    quantize_options *o = w->options;
    const gufo_imatrix *imatrix = w->selection != NULL ? w->selection : w->imatrix;
    gufo_quantize_options out = {
        .recipe = {.target = o->target,
                   .keep_output = o->leave_output,
                   .allow_requantize = o->allow_requantize,
                   .no_fallback = o->no_fallback,
                   .plan_only = o->dry_run,
                   .output_type = o->output_type,
                   .token_embedding_type = o->embedding_type,
                   .override_type = o->rule_count > 0 ? type_of_rule : NULL,
                   .override_context = o},
        .overrides = w->overrides,
        .override_count = o->override_count,
        .pruned_layers = o->pruned,
        .pruned_count = o->pruned_count,
        .flags = (o->keep_split ? GUFO_QUANTIZE_KEEP_SPLIT : 0u) |
                 (o->keep_nonfinite ? GUFO_QUANTIZE_KEEP_NONFINITE : 0u),
        .effort = o->effort,
    };

    if (imatrix != NULL && gufo_imatrix_entry_count(imatrix) > 0) {
        out.importance = imatrix;
        out.importance_path = gufo_str_of(o->imatrix);
    }
    return out;
}

static int plan(work *w)
{
    quantize_options *o = w->options;
    gufo_quantize_options options;
    gufo_error error;
    int code = cpu_from_environment(&w->cpu);

    if (code != CODE_OK)
        return code;
    options = library_options(w);
    w->quantizer = gufo_quantizer_new(w->input, &options, &error);
    if (o->costly != NULL)
        return report_usage("quantize", "a --tensor-type pattern for %s takes too many steps",
                            o->costly->type->name);
    if (w->quantizer == NULL)
        return report_failure(o, o->input, &error, true);
    quantize_warn(w->quantizer, o);
    return CODE_OK;
}

/* ---- the report's file ---------------------------------------------------------------------- */

static bool guard_outputs(work *w)
{
    const gufo_job *job = gufo_quantizer_job(w->quantizer);
    const quantize_options *o = w->options;
    bool guarded = true;

    for (size_t i = 0; !o->dry_run && guarded && i < gufo_job_output_count(job); i++) {
        size_t size = gufo_job_output_path(job, o->output, i, NULL, 0) + 1;
        char *path = malloc(size);

        if (path != NULL)
            (void)gufo_job_output_path(job, o->output, i, path, size);
        else
            report_message(NULL, "out of memory");
        guarded = path != NULL && save_guard_output(&w->guard, path);
        free(path);
    }
    return guarded;
}

/* The report replaces neither what is read nor what is made: not to be found out after the work. */
static int guard_report(work *w)
{
    const quantize_options *o = w->options;
    const input in = {o->input, w->input};

    if (o->report == NULL)
        return CODE_OK;
    if (!input_guard(&in, &w->guard) || !save_guard_more(&w->guard, o->read, o->read_count) ||
        !guard_outputs(w))
        return CODE_FAILED;
    return save_check(o->report, o->base.shared->force, &w->guard);
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    work *w = context;

    progress_update(&w->bar, done, total);
    return !signals_stopped();
}

static int report_stop(const quantize_options *o)
{
    report_message(o->output, "interrupted; what is done is kept beside it; the same command "
                              "with --resume continues");
    return CODE_INTERRUPTED;
}

static gufo_status run_job(work *w, gufo_error *error)
{
    const quantize_options *o = w->options;
    const shared_options *shared = o->base.shared;
    const gufo_job_options options = {.path = o->output,
                                      .flags = GUFO_JOB_RESUMABLE |
                                               (shared->force ? GUFO_JOB_REPLACE : 0u) |
                                               (o->resume ? GUFO_JOB_RESUME : 0u),
                                      .also_read = o->read,
                                      .also_read_count = o->read_count};
    const gufo_run how = {.threads = shared->threads,
                          .cpu = w->cpu,
                          .memory = o->memory,
                          .progress = on_progress,
                          .progress_context = w};

    return gufo_job_run(gufo_quantizer_job(w->quantizer), &options, &how, error);
}

static int run(work *w)
{
    const quantize_options *o = w->options;
    gufo_status status;
    gufo_error error;

    signals_reading(NULL); /* the mapping is not used any more */
    signals_defer();
    progress_start(&w->bar, o->base.shared->quiet);
    status = run_job(w, &error);
    progress_end(&w->bar);
    if (status == GUFO_OK)
        return CODE_OK;
    if (status == GUFO_E_STOPPED)
        return report_stop(o);
    return report_failure(
        o, error.role != GUFO_FILE_NONE && error.file[0] != '\0' ? error.file : o->input, &error,
        false);
}

static int tell(const work *w)
{
    const quantize_options *o = w->options;

    if (o->base.shared->json)
        quantize_write_json(w->quantizer, o);
    else if (o->dry_run)
        quantize_print_plan(w->quantizer, o);
    else if (!o->base.shared->quiet)
        quantize_print_result(w->quantizer, o);
    return o->report != NULL ? quantize_save_report(w->quantizer, o, &w->guard) : CODE_OK;
}

static int quantize(quantize_options *options)
{
    work w = {.options = options, .input = input_open_model(options->input, 0)};
    int code = w.input != NULL ? open_imatrix(&w) : CODE_FAILED;

    if (code == CODE_OK)
        code = make_overrides(&w);
    if (code == CODE_OK)
        code = plan(&w);
    if (code == CODE_OK)
        code = guard_report(&w);
    if (code == CODE_OK && !options->dry_run)
        code = run(&w);
    if (code == CODE_OK)
        code = tell(&w);
    guard_free(&w.guard);
    gufo_quantizer_free(w.quantizer);
    free(w.overrides);
    gufo_imatrix_close(w.selection);
    gufo_imatrix_close(w.imatrix);
    gufo_close(w.input);
    signals_reading(NULL);
    return code;
}

static void free_options(quantize_options *o)
{
    for (size_t i = 0; i < o->rule_count; i++)
        pattern_free(o->rules[i].pattern);
    for (size_t i = 0; i < o->override_count; i++)
        free(o->overrides[i].key);
    free(o->rules);
    free(o->overrides);
    free(o->pruned);
    free(o->included);
    free(o->excluded);
    free(o->read);
    free(o->default_output);
}

int command_quantize(int argc, char **argv, shared_options *shared)
{
    quantize_options options = {.base = {shared}};
    int code = options_parse(&quantize_argp, 0, argc, argv, &options.base);

    if (code == 0 && !shared->done) {
        code = read_arguments(&options) ? check_arguments(&options) : CODE_USAGE;
        if (code == CODE_OK)
            code = quantize(&options);
    }
    free_options(&options);
    return code;
}
