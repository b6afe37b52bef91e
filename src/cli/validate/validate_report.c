/* Findings and verdicts of gufo validate. */
#include "cli/core/files/foreign_file.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"
#include "cli/validate/validate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- advice --------------------------------------------------------------------------------- */

static bool is_writable(const char *path)
{
    char *folder = path_beside(path, ".");
    bool writable = folder != NULL && access(path, W_OK) == 0 && access(folder, W_OK) == 0;

    free(folder);
    return writable;
}

/* Files are looked at only where the advice depends on it. */
static advice_file file_of(const report *r, const gufo_finding *finding, foreign_kind *kind)
{
    bool is_fixed = finding->fix.kind != GUFO_FIX_NONE;
    bool is_foreign =
        strcmp(finding->rule->name, "magic") == 0 && foreign_file_find(r->shard_path, kind);

    return (advice_file){.path = r->shard_path,
                         .is_usable = r->usable && !path_is_standard(r->shard_path),
                         .is_shard = r->shard != 0 || r->shard_count != 0,
                         .is_writable = is_fixed && is_writable(r->shard_path),
                         .foreign = is_foreign ? kind : NULL};
}

/* The words of the advice itself; where it has none, of a limit that an option sets. */
static void put_words(FILE *out, const advice_file *file, const gufo_finding *finding)
{
    const char *limit = report_limit(finding->rule);

    if (finding->hint == NULL && limit != NULL)
        fputs(limit, out);
    else
        advice_put_words(out, file, finding);
}

/* NULL if nothing is put, or without memory. */
static char *text_of(void (*put)(FILE *out, const advice_file *file, const gufo_finding *finding),
                     const advice_file *file, const gufo_finding *finding)
{
    text_stream text;

    if (!text_stream_open(&text))
        return NULL;
    put(text.out, file, finding);
    return text_stream_close(&text);
}

hint hint_of(const report *r, const gufo_finding *finding)
{
    foreign_kind kind;
    const advice_file file = file_of(r, finding, &kind);

    return (hint){text_of(put_words, &file, finding), text_of(advice_put_command, &file, finding)};
}

static void hint_free(const hint *h)
{
    free(h->words);
    free(h->command);
}

static const char *const severity_colors[] = {
    [GUFO_INFO] = "\033[36m", [GUFO_WARNING] = "\033[33m", [GUFO_ERROR] = "\033[31m"};

static void put_colored(const report *r, const char *color, const char *text)
{
    if (r->color)
        printf("%s%s\033[0m", color, text);
    else
        fputs(text, stdout);
}

/* ---- findings ------------------------------------------------------------------------------- */

/* At the level of the specification, its requirements are errors. */
static gufo_severity severity_of(const report *r, const gufo_rule *rule)
{
    return r->options->level == GUFO_LEVEL_SPEC ? rule->spec_severity : rule->severity;
}

enum { BELOW = 4 };

/* Writes a piece of a line of which `used` columns are used, or begins the next one with it; returns
 * the columns that are used then. */
static size_t put_piece(const report *r, size_t used, const char *color, const char *text)
{
    size_t columns = text_columns(gufo_str_of(text), TEXT_PLAIN), width = stdout_columns();

    if (width > 0 && used > BELOW && used + columns > width) {
        printf("\n%*s", BELOW, "");
        used = BELOW;
    }
    if (color != NULL)
        put_colored(r, color, text);
    else
        text_put(stdout, gufo_str_of(text), TEXT_PLAIN);
    return used + columns;
}

/* A command is to be copied: it stays whole. */
static void print_hint(const hint *h)
{
    static const char name[] = "    hint: ";

    if (h->words != NULL) {
        printf("\n%s", name);
        text_put_wrapped(stdout, gufo_str_of(h->words), sizeof name - 1, sizeof name - 1,
                         stdout_columns());
    }
    if (h->command != NULL) {
        fputs("\n    fix: ", stdout);
        text_put(stdout, gufo_str_of(h->command), TEXT_PLAIN);
    }
}

static size_t print_place(const report *r, const gufo_finding *finding)
{
    char byte[40] = "";
    size_t used = text_columns(gufo_str_of(r->shard_path), TEXT_PLAIN) + 2;

    text_print("%s: ", r->shard_path);
    if (finding->offset == GUFO_NO_OFFSET)
        return used;
    (void)snprintf(byte, sizeof byte, "byte %" PRIu64 ": ", finding->offset);
    return put_piece(r, used, NULL, byte);
}

static void print_finding(const report *r, const gufo_finding *finding)
{
    gufo_severity severity = severity_of(r, finding->rule);
    size_t used = print_place(r, finding);
    hint h = hint_of(r, finding);

    used = put_piece(r, used, severity_colors[severity], gufo_severity_name(severity));
    used = put_piece(r, used, NULL, " ");
    used = put_piece(r, used, NULL, finding->rule->id);
    used = put_piece(r, used, NULL, " ");
    used = put_piece(r, used, NULL, finding->rule->name);
    used = put_piece(r, used, NULL, ": ");
    text_put_wrapped(stdout, gufo_str_of(finding->message), used, BELOW, stdout_columns());
    if (r->options->base.shared->verbose)
        printf(" (%s)", finding->rule->clause);
    print_hint(&h);
    putc('\n', stdout);
    hint_free(&h);
}

/* The object begins with its first finding, or at the end: a file that cannot be read gives none.
 */
static void begin_object(report *r)
{
    if (r->begun)
        return;
    r->begun = true;
    r->j = json_begin_document(r->path);
    json_begin_array(&r->j, "findings");
}

typedef struct finding_row {
    gufo_finding finding;
    gufo_rule rule;
    const char *severity, *hint;
    fix_row fix;
    bool has_fix;
    size_t shard;
} finding_row;

static const record_field finding_fields[] = {
    {"rule", NULL, RECORD_TEXT, RECORD_AT(finding_row, rule.id)},
    {"name", NULL, RECORD_TEXT, RECORD_AT(finding_row, rule.name)},
    {"severity", NULL, RECORD_TEXT, RECORD_AT(finding_row, severity)},
    {"offset", NULL, RECORD_OFFSET, RECORD_AT(finding_row, finding.offset)},
    {"subject", NULL, RECORD_STR, RECORD_AT(finding_row, finding.subject)},
    {"message", NULL, RECORD_TEXT, RECORD_AT(finding_row, finding.message)},
    {"clause", NULL, RECORD_TEXT, RECORD_AT(finding_row, rule.clause)},
    {"hint", NULL, RECORD_TEXT, RECORD_AT(finding_row, hint), .none = RECORD_OR_OUT},
    {"fix", NULL, RECORD_RECORD, RECORD_AT(finding_row, fix), RECORD_GIVEN(finding_row, has_fix),
     .of = &fix_type},
    {"shard", NULL, RECORD_PLAIN, RECORD_AT(finding_row, shard), .none = RECORD_OR_OUT},
};
static const record_type finding_type = RECORD_OF(finding_row, finding_fields, 0);

static void write_finding(report *r, const gufo_finding *finding)
{
    bool is_fixed = finding->fix.kind != GUFO_FIX_NONE;
    hint h = hint_of(r, finding);
    /* A command alone is for a file of a format before GGUF. */
    finding_row row = {.finding = *finding,
                       .rule = *finding->rule,
                       .severity = gufo_severity_name(severity_of(r, finding->rule)),
                       .hint = h.words,
                       .fix = is_fixed ? fix_row_of(&finding->fix) : (fix_row){.action = "migrate"},
                       .has_fix = is_fixed || h.command != NULL,
                       .shard = r->shard};

    row.fix.is_advice = is_fixed;
    row.fix.command = h.command;
    begin_object(r);
    record_write(&r->j, NULL, &finding_type, &row);
    hint_free(&h);
}

static void pass_finding(const report *r, const gufo_finding *finding)
{
    const validate_row row = {.finding = finding,
                              .severity = severity_of(r, finding->rule),
                              .shard = r->shard,
                              .advice = hint_of(r, finding)};

    r->row(r->row_context, &row);
    hint_free(&row.advice);
}

static void show_finding(report *r, const gufo_finding *finding)
{
    const shared_options *shared = r->options->base.shared;

    if (r->row != NULL) {
        pass_finding(r, finding);
        return;
    }
    if (r->silent || stdout_broken())
        return;
    if (shared->json)
        write_finding(r, finding);
    else if (!shared->quiet && (severity_of(r, finding->rule) > GUFO_INFO || shared->verbose))
        print_finding(r, finding);
}

/* The checks of what a file means count by themselves, unless everything is to be fixed. */
static bool is_listed(report *r, const gufo_rule *rule)
{
    return (rule->id[0] != 'G' && r->fixes == NULL) ||
           r->listed[rule - gufo_rule_at(0)]++ < GUFO_FINDINGS_OF_A_RULE;
}

void report_rest(report *r)
{
    char message[GUFO_FINDINGS_REST_SIZE];

    for (size_t i = 0; i < MOST_RULES; i++) {
        const gufo_finding rest = {.rule = gufo_rule_at(i),
                                   .offset = GUFO_NO_OFFSET,
                                   .subject = {"", 0},
                                   .message = message};

        if (gufo_findings_rest(r->listed[i], message))
            show_finding(r, &rest);
        r->listed[i] = 0;
    }
}

void report_finding(void *context, const gufo_finding *finding)
{
    report *r = context;

    if (r->set != NULL) {
        r->shard_path = gufo_model_name(gufo_model_shard(r->set, finding->shard));
        r->shard = finding->shard + 1;
    }
    r->counts[severity_of(r, finding->rule)]++;
    if (r->fixes != NULL)
        gufo_fixes_add(r->fixes, finding);
    if (is_listed(r, finding->rule))
        show_finding(r, finding);
}

/* ---- verdict -------------------------------------------------------------------------------- */

bool report_is_valid(const report *r)
{
    return r->counts[GUFO_ERROR] == 0 && (!r->options->strict || r->counts[GUFO_WARNING] == 0);
}

/* "2 errors, 1 warning" */
static size_t put_counts(const report *r, size_t used)
{
    const char *separator = ": ";
    char text[64];

    for (int severity = GUFO_ERROR; severity >= GUFO_WARNING; severity--) {
        uint64_t count = r->counts[severity];

        if (count == 0)
            continue;
        used = put_piece(r, used, NULL, separator);
        snprintf(text, sizeof text, "%.30s %s%s", human_grouped(count).text,
                 gufo_severity_name((gufo_severity)severity), count == 1 ? "" : "s");
        used = put_piece(r, used, NULL, text);
        separator = ", ";
    }
    return used;
}

void report_verdict(const report *r)
{
    bool valid = report_is_valid(r);
    size_t used = text_columns(gufo_str_of(r->path), TEXT_PLAIN) + 2;
    char text[64];

    text_print("%s: ", r->path);
    used = put_piece(r, used, valid ? "\033[32m" : "\033[31m", valid ? "valid" : "invalid");
    used = put_counts(r, used);
    snprintf(text, sizeof text, " (1 of %" PRIu64 " shards checked)", r->shard_count);
    if (r->shard_count > 0)
        (void)put_piece(r, used, NULL, text);
    putc('\n', stdout);
}

static void write_shards(json_writer *j, const char *path, uint32_t shards)
{
    json_begin_array(j, "shards");
    for (uint32_t number = 1; number <= shards; number++) {
        char *shard = input_sibling_path(path, number);

        if (shard != NULL)
            json_write_text(j, NULL, shard);
        free(shard);
    }
    json_end_array(j);
}

/* The parts of what comes after the findings: of the FILE, and of what --fix has written. */
enum { OF_FILE = 1, OF_OUTPUT = 2 };

static const record_type output_type;

static const record_field ending_fields[] = {
    {"path", NULL, RECORD_TEXT, RECORD_AT(report, path), .part = OF_OUTPUT},
    {"shards_judged", NULL, RECORD_PLAIN, RECORD_AT(report, shards_judged), .none = RECORD_OR_OUT,
     .part = OF_FILE},
    {"shard_count", NULL, RECORD_PLAIN, RECORD_AT(report, shard_count), .none = RECORD_OR_OUT,
     .part = OF_FILE},
    {"valid", NULL, RECORD_FLAG, RECORD_AT(report, valid), RECORD_KNOWN(report, complete)},
    {"errors", NULL, RECORD_PLAIN, RECORD_AT(report, counts[GUFO_ERROR])},
    {"warnings", NULL, RECORD_PLAIN, RECORD_AT(report, counts[GUFO_WARNING])},
    {"fixes", NULL, RECORD_LIST, RECORD_AT(report, fixed), RECORD_GIVEN(report, is_fixed),
     .of = &fix_type, .part = OF_FILE},
    {"output", NULL, RECORD_POINTER, RECORD_TO(report, output), .none = RECORD_OR_OUT,
     .of = &output_type, .part = OF_FILE},
};
static const record_type ending_type = RECORD_OF(report, ending_fields, OF_FILE);
static const record_type output_type = RECORD_OF(report, ending_fields, OF_OUTPUT);

void report_end_object(report *r, uint32_t shards, bool complete, report *output)
{
    begin_object(r);
    json_end_array(&r->j);
    if (shards > 0)
        write_shards(&r->j, r->path, shards);
    r->complete = complete;
    r->valid = report_is_valid(r);
    r->output = output;
    if (output != NULL) {
        r->is_fixed = output->complete = true;
        r->fixed = (record_list){.make = fix_make_row, .context = r->fixes};
        output->valid = report_is_valid(output);
    }
    record_write_members(&r->j, &ending_type, r);
    json_end_document(&r->j);
}
