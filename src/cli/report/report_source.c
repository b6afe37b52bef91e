/* What is known of a model for its page: the model itself, and what gufo validate finds in it. */
#include "cli/report/report.h"

#include "cli/core/files/save.h"
#include "cli/core/values/array.h"
#include "cli/validate/validate.h"

#include <stdlib.h>
#include <string.h>

/* A finding whose texts are copies. */
typedef struct finding_copy {
    char *texts; /* all of them, one after the other */
} finding_copy;

struct report_source {
    gufo_model *model;
    gufo_report_model shown;
    gufo_report_finding *findings;
    finding_copy *copies;
    size_t count, copy_count;
    bool failed;        /* without memory, after a report */
    report_store store; /* what was computed of it */
};

/* ---- findings ----------------------------------------------------------------------------------- */

/* Moves behind a copy of a text. */
static gufo_str copy_text(char **to, gufo_str text)
{
    gufo_str copy = {*to, text.len};

    if (text.len > 0)
        memcpy(*to, text.data, text.len);
    *to += text.len;
    return copy;
}

static gufo_report_finding *add_finding(report_source *s)
{
    gufo_report_finding *finding = array_add(&s->findings, &s->count, sizeof *finding);
    finding_copy *copy = array_add(&s->copies, &s->copy_count, sizeof *copy);

    s->failed = s->failed || finding == NULL || copy == NULL;
    return s->failed ? NULL : finding;
}

static void keep_finding(void *context, const validate_row *row)
{
    report_source *s = context;
    const gufo_str texts[] = {row->finding->subject, gufo_str_of(row->finding->message),
                              gufo_str_of(row->advice.words), gufo_str_of(row->advice.command)};
    gufo_report_finding *finding = add_finding(s);
    char *room;

    if (finding == NULL)
        return;
    room = malloc(texts[0].len + texts[1].len + texts[2].len + texts[3].len + 1);
    s->failed = room == NULL;
    if (room == NULL)
        return;
    s->copies[s->copy_count - 1].texts = room;
    *finding = (gufo_report_finding){.rule = row->finding->rule,
                                     .severity = row->severity,
                                     .offset = row->finding->offset,
                                     .shard = row->shard};
    finding->subject = copy_text(&room, texts[0]);
    finding->message = copy_text(&room, texts[1]);
    finding->hint = copy_text(&room, texts[2]);
    finding->command = copy_text(&room, texts[3]);
}

/* Moves the findings of the rule of finding `first`, with its severity, behind those that are sorted. */
static void move_rule(report_source *s, size_t first, gufo_report_finding *sorted, size_t *count)
{
    const gufo_rule *rule = s->findings[first].rule;
    const gufo_severity severity = s->findings[first].severity;

    for (size_t i = first; i < s->count; i++)
        if (s->findings[i].rule == rule && s->findings[i].severity == severity) {
            sorted[(*count)++] = s->findings[i];
            s->findings[i].rule = NULL;
        }
}

/* The worst first, those of a rule beside each other, else in the order in which they were found: there are few of
 * each rule. */
static bool sort_findings(report_source *s)
{
    gufo_report_finding *sorted = calloc(s->count + 1, sizeof *sorted);
    size_t count = 0;

    if (sorted == NULL)
        return false;
    for (int severity = GUFO_ERROR; severity >= GUFO_INFO; severity--)
        for (size_t i = 0; i < s->count; i++)
            if (s->findings[i].rule != NULL && (int)s->findings[i].severity == severity)
                move_rule(s, i, sorted, &count);
    free(s->findings);
    s->findings = sorted;
    return true;
}

/* ---- a source ----------------------------------------------------------------------------------- */

static int check(report_source *s, const char *path, const shared_options *shared,
                 const input_options *opening)
{
    const validate_options options = {.base.shared = (shared_options *)shared, .input = *opening};
    int code = validate_rows(&options, path, keep_finding, s);

    if (code == CODE_OK && (s->failed || !sort_findings(s)))
        code = report_memory(path);
    return code;
}

/* A file that breaks a rule so badly that it cannot be opened is a page with findings alone. */
static int open_source(report_source *s, const char *path, const input_options *opening)
{
    char *missing;
    bool is_set = input_find_set(path, opening->single, &missing) > 0;
    uint32_t flags = GUFO_OPEN_LENIENT | (is_set ? 0 : GUFO_OPEN_INCOMPLETE);
    gufo_error error;

    free(missing);
    s->model = input_open_quietly(path, flags, &error);
    if (s->model == NULL && error.rule == NULL && error.code != GUFO_E_SHARDS)
        return report_error(path, &error);
    return CODE_OK;
}

report_source *report_source_open(const char *path, const shared_options *shared,
                                  const input_options *opening, int *code)
{
    report_source *s = calloc(1, sizeof *s);

    *code = s != NULL ? check(s, path, shared, opening) : report_memory(path);
    if (*code == CODE_OK)
        *code = open_source(s, path, opening);
    if (*code != CODE_OK) {
        report_source_free(s);
        return NULL;
    }
    s->shown = (gufo_report_model){.model = s->model,
                                   .name = gufo_str_of(path_name(path)),
                                   .is_checked = true,
                                   .findings = s->findings,
                                   .finding_count = s->count};
    *code = report_add_memory(&s->store, NULL, NULL, &s->shown);
    if (*code == CODE_OK)
        *code = report_add_text(&s->store, &s->shown);
    if (*code == CODE_OK)
        return s;
    report_source_free(s);
    return NULL;
}

void report_source_free(report_source *source)
{
    if (source == NULL)
        return;
    for (size_t i = 0; i < source->copy_count; i++)
        free(source->copies[i].texts);
    free(source->copies);
    free(source->findings);
    report_store_free(&source->store);
    gufo_model_free(source->model);
    free(source);
}

gufo_report_model *report_source_model(report_source *source)
{
    return &source->shown;
}

bool report_source_guard(const report_source *source, gufo_guard *guard)
{
    const char *path;
    bool guarded = true;

    for (size_t i = 0;
         guarded && source->model != NULL && (path = input_file_at(source->model, i)) != NULL; i++)
        guarded = save_guard_more(guard, &path, 1);
    return guarded;
}

report_store *report_source_store(report_source *source)
{
    return &source->store;
}
