/* What is known of a model for its page: the model itself, and what gufo validate finds in it. */
#include "cli/report/report.h"

#include "cli/core/files/save.h"
#include "cli/core/values/array.h"
#include "cli/validate/validate.h"

#include <stdlib.h>
#include <string.h>

struct report_source {
    gufo_model *model;
    gufo_report_model shown;
    gufo_report_finding *findings;
    size_t count;
    bool failed;        /* without memory, after a report */
    report_store store; /* what was computed of it */
};

/* ---- findings ----------------------------------------------------------------------------------- */

static gufo_str kept(report_source *s, gufo_str text)
{
    gufo_str copy = report_store_text(&s->store, text);

    s->failed = s->failed || copy.data == NULL;
    return copy;
}

static void keep_finding(void *context, const validate_row *row)
{
    report_source *s = context;
    gufo_report_finding *finding =
        s->failed ? NULL : array_add(&s->findings, &s->count, sizeof *finding);

    s->failed = finding == NULL;
    if (s->failed)
        return;
    *finding = gufo_report_finding_of(row->finding, NULL);
    finding->severity = row->severity;
    finding->shard = row->shard;
    finding->subject = kept(s, finding->subject);
    finding->message = kept(s, finding->message);
    finding->hint = kept(s, gufo_str_of(row->advice.words));
    finding->command = kept(s, gufo_str_of(row->advice.command));
}

/* ---- a source ----------------------------------------------------------------------------------- */

static int check(report_source *s, const char *path, const shared_options *shared,
                 const input_options *opening)
{
    const validate_options options = {.base.shared = (shared_options *)shared, .input = *opening};
    int code = validate_rows(&options, path, keep_finding, s);

    return code == CODE_OK && s->failed ? CODE_FAILED : code;
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
