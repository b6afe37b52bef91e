/* Findings and verdicts of gufo validate. */
#include "cli/validate.h"

#include "cli/report.h"
#include "cli/stdout.h"
#include "cli/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- hints ---------------------------------------------------------------------------------- */

static const char *hint_of(const gufo_finding *finding)
{
    if (finding->hint == NULL && finding->fix.kind != GUFO_FIX_NONE)
        return "'gufo validate --fix FILE -o OUT' fixes it";
    return finding->hint;
}

/* Writes the path as a shell reads it as one word, in double quotes unless it is plain; returns the
 * end.  `out` has room for twice the path and two quotes. */
static char *put_word(char *out, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+@%:,-";
    bool quoted = path[strspn(path, plain)] != '\0' || path[0] == '-' || path[0] == '\0';

    if (quoted)
        *out++ = '"';
    for (; *path != '\0'; path++) {
        if (quoted && strchr("\"\\$`", *path) != NULL)
            *out++ = '\\';
        *out++ = *path;
    }
    if (quoted)
        *out++ = '"';
    return out;
}

/* The hint with the path of the file in the place of the word FILE: to be freed; NULL without
 * memory.  Only a command of gufo has the word there, others may quote it from the file. */
static char *fill_in(const char *hint, const char *path)
{
    const char *command = path_is_standard(path) ? NULL : strstr(hint, "'gufo ");
    const char *word = command != NULL ? strstr(command, "FILE") : NULL;
    char *text = malloc(strlen(hint) + 2 * strlen(path) + 3), *at = text;

    if (text == NULL)
        return NULL;
    if (word != NULL) {
        memcpy(text, hint, (size_t)(word - hint));
        at = put_word(text + (word - hint), path);
        hint = word + strlen("FILE");
    }
    memcpy(at, hint, strlen(hint) + 1);
    return text;
}

/* ---- findings ------------------------------------------------------------------------------- */

static void print_hint(const report *r, const gufo_finding *finding)
{
    const char *hint = hint_of(finding);
    char *text = hint != NULL ? fill_in(hint, r->shard_path) : NULL;

    if (text == NULL)
        return;
    fputs("    hint: ", stdout);
    text_put(stdout, gufo_str_of(text), TEXT_PLAIN);
    putc('\n', stdout);
    free(text);
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
    print_hint(r, finding);
}

/* The object begins with its first finding, or at the end: a file that cannot be read gives none.
 */
static void begin_object(report *r)
{
    if (r->begun)
        return;
    r->begun = true;
    json_begin_object(&r->j, NULL);
    json_write_text(&r->j, "path", r->path);
    json_begin_array(&r->j, "findings");
}

static void write_hint(report *r, const gufo_finding *finding)
{
    const char *hint = hint_of(finding);
    char *text = hint != NULL ? fill_in(hint, r->shard_path) : NULL;

    if (text == NULL)
        return;
    json_write_text(&r->j, "hint", text);
    free(text);
}

static void write_finding(report *r, const gufo_finding *finding)
{
    json_writer *j = &r->j;

    begin_object(r);
    json_begin_object(j, NULL);
    json_write_text(j, "rule", finding->rule->id);
    json_write_text(j, "name", finding->rule->name);
    json_write_text(j, "severity", gufo_severity_name(finding->rule->severity));
    json_write_offset(j, finding->offset);
    json_write_str(j, "subject", finding->subject);
    json_write_text(j, "message", finding->message);
    write_hint(r, finding);
    if (r->shard != 0) {
        json_write_u64(j, "shard", r->shard);
    }
    json_end_object(j);
}

void report_finding(void *context, const gufo_finding *finding)
{
    report *r = context;
    const shared_options *shared = r->options->base.shared;

    r->counts[finding->rule->severity]++;
    if (r->fixes != NULL)
        fix_list_add(r->fixes, &finding->fix);
    if (r->silent || stdout_broken())
        return;
    if (shared->json)
        write_finding(r, finding);
    else if (!shared->quiet && (finding->rule->severity > GUFO_INFO || shared->verbose > 0))
        print_finding(r, finding);
}

/* ---- verdict -------------------------------------------------------------------------------- */

bool report_is_valid(const report *r)
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

void report_verdict(const report *r)
{
    bool valid = report_is_valid(r);

    put_path(r->path);
    put_colored(r, valid ? "\033[32m" : "\033[31m", valid ? "valid" : "invalid");
    put_counts(r);
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
        fix_write(j, &fixes->fixes[i]);
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
    write_verdict(j, r, complete);
    if (output != NULL)
        write_fixes(j, r->fixes, output);
    json_end_document(j);
}
