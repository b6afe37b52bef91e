/* gufo validate FILE...: every fault of a file, not just the first.
 *
 * The library finds; this file prints each finding as it comes, so that a file with a million
 * faults needs no more memory than a good one.  Text looks like a compiler's:
 *
 *     FILE: byte 1234: error G205 key-duplicate: message
 *     FILE: invalid: 1 error
 *
 * JSON is one object per FILE, its counts after the findings.  Tensor data is read only with
 * --data. */
#include "cli/commands.h"
#include "cli/cpu.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/stdout.h"
#include "cli/text.h"

#include "gufo/quant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct validate_options {
    command_input base;
    bool strict;
    input_options input;
    bool list_rules;
    bool data;
    gufo_cpu cpu; /* with `data` */
} validate_options;

/* ---- command line --------------------------------------------------------------------------- */

enum { OPTION_STRICT = OPTION_COMMAND, OPTION_LIST_RULES, OPTION_DATA };

static const struct argp_option validate_table[] = {
    {"strict", OPTION_STRICT, NULL, 0, "Warnings make a file invalid, too", 1},
    {"data", OPTION_DATA, NULL, 0,
     "Read all tensor data, too, and look for values and scales that are infinite or NaN", 1},
    {"list-rules", OPTION_LIST_RULES, NULL, 0, "List all rules that are checked", 1},
    {0},
};

static error_t parse_validate(int key, char *text, struct argp_state *state)
{
    validate_options *options = state->input;

    (void)text;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options->base.shared;
        state->child_inputs[1] = &options->input;
        return 0;
    case OPTION_STRICT:
        options->strict = true;
        return 0;
    case OPTION_LIST_RULES:
        options->list_rules = true;
        return 0;
    case OPTION_DATA:
        options->data = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp validate_argp = {
    .options = validate_table,
    .parser = parse_validate,
    .args_doc = "FILE...\n--list-rules",
    .doc = "Check files against the GGUF format and tell every fault.\v"
           "Errors make a file invalid: exit status 1.  Warnings do so with --strict.  Remarks on "
           "what other tools refuse are shown with -v.  With -q only the exit status tells.",
    .children = input_children,
};

/* ---- findings ------------------------------------------------------------------------------- */

/* One FILE argument on its way through. */
typedef struct report {
    const validate_options *options;
    const char *path;       /* of the argument */
    const char *shard_path; /* of the file that is being checked */
    size_t shard;           /* its number from 1; 0: not one of a set */
    json_writer j;
    bool begun; /* the JSON object */
    bool color;
    uint64_t counts[GUFO_ERROR + 1]; /* findings by severity */
} report;

static const char *const severity_colors[] = {
    [GUFO_INFO] = "\033[36m", [GUFO_WARNING] = "\033[33m", [GUFO_ERROR] = "\033[31m"};

static void put_colored(const report *r, const char *color, const char *text)
{
    if (r->color)
        printf("%s%s\033[0m", color, text);
    else
        fputs(text, stdout);
}

static void put_path(const char *path)
{
    text_put(stdout, gufo_str_of(path), TEXT_PLAIN);
    fputs(": ", stdout);
}

static void print_finding(const report *r, const gufo_finding *finding)
{
    put_path(r->shard_path);
    if (finding->offset != GUFO_NO_OFFSET)
        printf("byte %" PRIu64 ": ", finding->offset);
    put_colored(r, severity_colors[finding->rule->severity],
                gufo_severity_name(finding->rule->severity));
    printf(" %s %s: ", finding->rule->id, finding->rule->name);
    text_put(stdout, gufo_str_of(finding->message), TEXT_PLAIN);
    putc('\n', stdout);
}

/* The object begins with its first finding, or at the end: a file that cannot be read gives none.
 */
static void begin_object(report *r)
{
    if (r->begun)
        return;
    r->begun = true;
    json_begin_object(&r->j);
    json_write_key(&r->j, "path");
    json_write_text(&r->j, r->path);
    json_write_key(&r->j, "findings");
    json_begin_array(&r->j);
}

static void write_finding(report *r, const gufo_finding *finding)
{
    json_writer *j = &r->j;

    begin_object(r);
    json_begin_object(j);
    json_write_key(j, "rule");
    json_write_text(j, finding->rule->id);
    json_write_key(j, "name");
    json_write_text(j, finding->rule->name);
    json_write_key(j, "severity");
    json_write_text(j, gufo_severity_name(finding->rule->severity));
    json_write_offset(j, finding->offset);
    json_write_key(j, "subject");
    json_write_str(j, finding->subject);
    json_write_key(j, "message");
    json_write_text(j, finding->message);
    if (r->shard != 0) {
        json_write_key(j, "shard");
        json_write_u64(j, r->shard);
    }
    json_end_object(j);
}

static void on_finding(void *context, const gufo_finding *finding)
{
    report *r = context;
    const shared_options *shared = r->options->base.shared;

    r->counts[finding->rule->severity]++;
    if (stdout_broken())
        return;
    if (shared->json)
        write_finding(r, finding);
    else if (!shared->quiet && (finding->rule->severity > GUFO_INFO || shared->verbose > 0))
        print_finding(r, finding);
}

/* ---- verdict -------------------------------------------------------------------------------- */

static bool is_valid(const report *r)
{
    return r->counts[GUFO_ERROR] == 0 && (!r->options->strict || r->counts[GUFO_WARNING] == 0);
}

/* "2 errors, 1 warning" */
static void put_counts(const report *r)
{
    static const struct {
        gufo_severity severity;
        const char *one, *many;
    } words[] = {{GUFO_ERROR, "error", "errors"}, {GUFO_WARNING, "warning", "warnings"}};
    const char *separator = ": ";

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint64_t count = r->counts[words[i].severity];

        if (count == 0)
            continue;
        printf("%s%" PRIu64 " %s", separator, count, count == 1 ? words[i].one : words[i].many);
        separator = ", ";
    }
}

static void print_verdict(const report *r)
{
    put_path(r->path);
    put_colored(r, is_valid(r) ? "\033[32m" : "\033[31m", is_valid(r) ? "valid" : "invalid");
    put_counts(r);
    putc('\n', stdout);
}

static void write_shards(json_writer *j, const char *path, uint32_t shards)
{
    json_write_key(j, "shards");
    json_begin_array(j);
    for (uint32_t number = 1; number <= shards; number++) {
        char *shard = input_sibling_path(path, number);

        if (shard != NULL)
            json_write_text(j, shard);
        free(shard);
    }
    json_end_array(j);
}

/* What comes after the findings.  If not everything could be checked, whether the file is valid is
 * not known: null. */
static void end_object(report *r, uint32_t shards, bool complete)
{
    json_writer *j = &r->j;

    begin_object(r);
    json_end_array(j);
    if (shards > 0)
        write_shards(j, r->path, shards);
    json_write_key(j, "valid");
    if (complete)
        json_write_bool(j, is_valid(r));
    else
        json_write_null(j);
    json_write_key(j, "errors");
    json_write_u64(j, r->counts[GUFO_ERROR]);
    json_write_key(j, "warnings");
    json_write_u64(j, r->counts[GUFO_WARNING]);
    json_end_object(j);
    json_writer_line(j);
}

/* ---- checking ------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total);
    return true;
}

/* Rules about tensor data, of which findings may come at any time: the bar is for those who see
 * none of them on the same screen. */
static int check_data(report *r, const gufo_file *file)
{
    const shared_options *shared = r->options->base.shared;
    progress bar;
    gufo_stats_options scan = {.cpu = r->options->cpu,
                               .threads = shared->threads,
                               .progress = on_progress,
                               .progress_context = &bar};
    gufo_error error;
    gufo_status status;

    progress_start(&bar, shared->quiet || isatty(STDOUT_FILENO));
    status = gufo_file_check_data(file, &scan, on_finding, r, &error);
    progress_end(&bar);
    if (status == GUFO_OK)
        return CODE_OK;
    report_error(r->shard_path, &error);
    return status == GUFO_E_ARGUMENT ? CODE_USAGE : CODE_FAILED;
}

static int check_opened(report *r, const gufo_file *file)
{
    gufo_error error;

    if (gufo_file_check(file, on_finding, r, &error) == GUFO_OK)
        return r->options->data ? check_data(r, file) : CODE_OK;
    report_error(r->shard_path, &error);
    return CODE_FAILED;
}

/* A file that cannot be opened because it breaks a rule has been told of. */
static int check_file(report *r, const char *path, size_t shard)
{
    gufo_open_options lenient = {
        .flags = GUFO_OPEN_LENIENT, .on_finding = on_finding, .finding_context = r};
    int code = CODE_OK;
    gufo_error error;
    gufo_file *file;

    r->shard_path = path;
    r->shard = shard;
    signals_reading(path);
    if (input_is_stdin(path))
        file = gufo_open_fd(STDIN_FILENO, &lenient, &error);
    else
        file = gufo_open(path, &lenient, &error);
    if (file != NULL) {
        code = check_opened(r, file);
    } else if (error.rule == NULL) {
        report_error(path, &error);
        code = CODE_FAILED;
    }
    gufo_close(file);
    signals_reading(NULL);
    return code;
}

static int check_each_shard(report *r, uint32_t shards)
{
    int code = CODE_OK;

    for (uint32_t number = 1; number <= shards; number++) {
        char *path = input_sibling_path(r->path, number);

        if (path == NULL) {
            report_message(r->path, "out of memory");
            return CODE_FAILED;
        }
        code = worst_code(code, check_file(r, path, number));
        free(path);
    }
    return code;
}

/* A failure of the set as a finding about the shard at `path`. */
static void set_finding(report *r, const char *path, const gufo_error *error)
{
    const gufo_rule *rule = gufo_rule_by_id("shard-set");
    char message[sizeof error->message + 128];
    gufo_finding finding = {.rule = rule,
                            .offset = error->offset,
                            .subject = gufo_str_of("shards"),
                            .message = message};
    size_t prefix_len;
    uint32_t number, count;

    snprintf(message, sizeof message, "%s (%s)", error->message, rule->clause);
    r->shard_path = path;
    r->shard = gufo_shard_path_parse(path, &prefix_len, &number, &count) ? number : 0;
    on_finding(r, &finding);
}

/* Whether the shards belong together.  Faults inside of them have been told before, and so they are
 * opened leniently; of one that is no GGUF file at all, there is nothing to compare. */
static int check_set(report *r)
{
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error;
    char *failed_path = NULL;
    int code = CODE_OK;

    signals_reading(r->path);
    gufo_set *set = gufo_set_open(r->path, &lenient, &failed_path, &error);

    signals_reading(NULL);
    if (set == NULL && error.code == GUFO_E_SHARDS) {
        set_finding(r, failed_path != NULL ? failed_path : r->path, &error);
    } else if (set == NULL && error.rule == NULL) {
        report_error(failed_path != NULL ? failed_path : r->path, &error);
        code = CODE_FAILED;
    } else if (set != NULL) {
        r->shard_path = r->path;
        r->shard = 1;
        gufo_set_check(set, on_finding, r);
    }
    free(failed_path);
    gufo_set_close(set);
    return code;
}

static int validate(const char *path, const validate_options *options, bool color)
{
    const shared_options *shared = options->base.shared;
    report r = {.options = options, .path = path, .color = color};
    uint32_t shards = input_set_size(path, options->input.single);
    int code;

    if (input_is_pending(path))
        return CODE_FAILED;
    r.j = json_writer_start(stdout);
    code = shards > 0 ? check_each_shard(&r, shards) : check_file(&r, path, 0);
    if (shards > 0)
        code = worst_code(code, check_set(&r));
    if (shared->json && (code == CODE_OK || r.begun))
        end_object(&r, shards, code == CODE_OK);
    else if (code == CODE_OK && !shared->quiet && !shared->json)
        print_verdict(&r);
    if (code != CODE_OK)
        return code;
    return is_valid(&r) ? CODE_OK : CODE_NO;
}

/* ---- the list of rules ---------------------------------------------------------------------- */

static void write_rules(void)
{
    json_writer j = json_writer_start(stdout);
    const gufo_rule *rule;

    json_begin_object(&j);
    json_write_key(&j, "rules");
    json_begin_array(&j);
    for (size_t i = 0; (rule = gufo_rule_at(i)) != NULL; i++) {
        json_begin_object(&j);
        json_write_key(&j, "rule");
        json_write_text(&j, rule->id);
        json_write_key(&j, "name");
        json_write_text(&j, rule->name);
        json_write_key(&j, "severity");
        json_write_text(&j, gufo_severity_name(rule->severity));
        json_write_key(&j, "clause");
        json_write_text(&j, rule->clause);
        json_write_key(&j, "summary");
        json_write_text(&j, rule->summary);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    json_writer_line(&j);
}

static int longer(int width, const char *text)
{
    int len = (int)strlen(text);

    return len > width ? len : width;
}

/* Five columns: id, severity, name, clause, summary. */
static void print_rules(void)
{
    int severity = 0, name = 0, clause = 0;
    const gufo_rule *rule;

    for (size_t i = 0; (rule = gufo_rule_at(i)) != NULL; i++) {
        severity = longer(severity, gufo_severity_name(rule->severity));
        name = longer(name, rule->name);
        clause = longer(clause, rule->clause);
    }
    for (size_t i = 0; (rule = gufo_rule_at(i)) != NULL; i++)
        printf("%s  %-*s  %-*s  %-*s  %s\n", rule->id, severity, gufo_severity_name(rule->severity),
               name, rule->name, clause, rule->clause, rule->summary);
}

static int list_rules(const shared_options *shared)
{
    if (shared->arg_count > 0)
        return report_usage("validate", "--list-rules takes no FILE");
    if (shared->json)
        write_rules();
    else
        print_rules();
    return CODE_OK;
}

int command_validate(int argc, char **argv, shared_options *shared)
{
    validate_options options = {.base = {shared}};
    int code = options_parse(&validate_argp, 0, argc, argv, &options.base);

    if (code != 0 || shared->done)
        return code;
    if (options.list_rules)
        return list_rules(shared);
    if (shared->arg_count == 0)
        return report_usage("validate", "no FILE is given");
    if (options.data && (code = cpu_from_environment(&options.cpu)) != CODE_OK)
        return code;
    bool color = options_color(shared);

    for (int i = 0; i < shared->arg_count && !stdout_broken(); i++)
        code = worst_code(code, validate(shared->args[i], &options, color));
    return code;
}
