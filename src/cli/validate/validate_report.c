/* Findings and verdicts of gufo validate. */
#include "cli/validate/validate.h"

#include "cli/core/human.h"
#include "cli/core/stdout.h"
#include "cli/core/line.h"
#include "cli/core/text.h"

#include <inttypes.h>
#include <stdlib.h>

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

static void write_finding(report *r, const gufo_finding *finding)
{
    hint h = hint_of(r, finding);
    json_writer *j = &r->j;

    begin_object(r);
    json_begin_object(j, NULL);
    json_write_text(j, "rule", finding->rule->id);
    json_write_text(j, "name", finding->rule->name);
    json_write_text(j, "severity", gufo_severity_name(severity_of(r, finding->rule)));
    json_write_offset(j, finding->offset);
    json_write_str(j, "subject", finding->subject);
    json_write_text(j, "message", finding->message);
    json_write_text(j, "clause", finding->rule->clause);
    if (h.words != NULL)
        json_write_text(j, "hint", h.words);
    if (finding->fix.kind != GUFO_FIX_NONE)
        fix_write(j, "fix", &finding->fix, h.command);
    else if (h.command != NULL) { /* of a file of a format before GGUF */
        json_begin_object(j, "fix");
        json_write_text(j, "action", "migrate");
        json_write_text(j, "command", h.command);
        json_end_object(j);
    }
    if (r->shard != 0)
        json_write_u64(j, "shard", r->shard);
    json_end_object(j);
    hint_free(&h);
}

static void show_finding(report *r, const gufo_finding *finding)
{
    const shared_options *shared = r->options->base.shared;

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
           r->listed[rule - gufo_rule_at(0)]++ < FINDINGS_OF_A_RULE;
}

void report_rest(report *r)
{
    char message[RULE_REST_SIZE];

    for (size_t i = 0; i < RULE_COUNT; i++) {
        const gufo_finding rest = {.rule = gufo_rule_at(i),
                                   .offset = GUFO_NO_OFFSET,
                                   .subject = {"", 0},
                                   .message = message};

        if (rule_rest(r->listed[i], message))
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
        fix_list_add(r->fixes, &finding->fix);
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

static void write_verdict(json_writer *j, const report *r, bool complete)
{
    if (complete)
        json_write_bool(j, "valid", report_is_valid(r));
    else
        json_write_null(j, "valid");
    json_write_u64(j, "errors", r->counts[GUFO_ERROR]);
    json_write_u64(j, "warnings", r->counts[GUFO_WARNING]);
}

static void write_fixes(json_writer *j, const fix_list *fixes, const report *output)
{
    json_begin_array(j, "fixes");
    for (size_t i = 0; i < fixes->count; i++)
        fix_write(j, NULL, &fixes->fixes[i], NULL);
    json_end_array(j);
    json_begin_object(j, "output");
    json_write_text(j, "path", output->path);
    write_verdict(j, output, true);
    json_end_object(j);
}

void report_end_object(report *r, uint32_t shards, bool complete, const report *output)
{
    json_writer *j = &r->j;

    begin_object(r);
    json_end_array(j);
    if (shards > 0)
        write_shards(j, r->path, shards);
    if (r->shard_count > 0) {
        json_write_u64(j, "shards_judged", 1);
        json_write_u64(j, "shard_count", r->shard_count);
    }
    write_verdict(j, r, complete);
    if (output != NULL)
        write_fixes(j, r->fixes, output);
    json_end_document(j);
}
