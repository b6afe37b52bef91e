/* Refuses, unless --as-is, keys that are nearly known ones, and changes that make the file worse in
 * the eyes of gufo validate.  Faults that were there before do not count. */
#include "cli/change/edit.h"

#include "base/checked.h"
#include "cli/core/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_LINES = 10,
    /* Looking for the nearest key costs more than setting one: after this many unknown keys more
     * hints would not help the user. */
    MOST_GUESSES = 1000,
    SUGGESTION_SIZE = GUFO_KEY_NAME_SIZE + 32,
};

typedef struct guard {
    const edit_options *options;
    gufo_str architecture; /* that of the result */
    uint64_t refused, guesses;
    char *warnings[MOST_LINES]; /* for an edit that is not refused */
    size_t warned;
} guard;

/* One line for each reason; the suggestion may be NULL. */
static void refuse_for(guard *g, const char *reason, const char *suggestion)
{
    bool known = suggestion != NULL;

    if (g->refused++ < MOST_LINES)
        report_message(g->options->path, "%s%s%s (or use --as-is)", reason, known ? "; " : "",
                       known ? suggestion : "");
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* "llama.NAME" for "qwen2.NAME", a known key of another architecture than the file's. */
static bool name_here(const guard *g, gufo_str key, char out[GUFO_KEY_NAME_SIZE])
{
    const char *dot = memchr(key.data, '.', key.len);
    size_t front = dot != NULL ? (size_t)(dot - key.data) : key.len;
    gufo_str first = {key.data, front};
    size_t room = GUFO_KEY_NAME_SIZE;

    if (g->architecture.len == 0 || g->architecture.len + key.len >= room ||
        gufo_arch_find(first) == NULL || gufo_key_find(key, first) == NULL)
        return false;
    snprintf(out, room, "%.*s%.*s", (int)g->architecture.len, g->architecture.data,
             (int)(key.len - front), key.data + front);
    return gufo_key_find(gufo_str_of(out), g->architecture) != NULL;
}

static void judge_key(void *context, const gufo_change *change)
{
    guard *g = context;
    gufo_str key = change->new_name;
    char name[GUFO_KEY_NAME_SIZE], reason[GUFO_KEY_NAME_SIZE], suggestion[SUGGESTION_SIZE];
    bool foreign;

    if ((change->kind != GUFO_CHANGE_ADDED && change->kind != GUFO_CHANGE_RENAMED) ||
        gufo_key_find(key, g->architecture) != NULL || g->guesses++ >= MOST_GUESSES)
        return;
    foreign = name_here(g, key, name);
    if (!foreign && gufo_key_nearest(key, g->architecture, name) == NULL)
        return;
    snprintf(reason, sizeof reason, "key '%.*s' is %s", (int)smaller(key.len, 128), key.data,
             foreign ? "one of another architecture than the file's" : "not known");
    snprintf(suggestion, sizeof suggestion, "did you mean '%s'?", name);
    refuse_for(g, reason, suggestion);
}

/* ---- findings ------------------------------------------------------------------------------- */

/* Suggests the right answer, where it is known: then a warning is about a slip.  Otherwise the
 * hint, or NULL. */
static const char *suggestion_of(const gufo_finding *finding, char room[SUGGESTION_SIZE],
                                 bool *is_answer)
{
    const gufo_value *right = &finding->fix.value;

    *is_answer = finding->fix.kind == GUFO_FIX_SET || finding->fix.kind == GUFO_FIX_RENAME ||
                 finding->fix.kind == GUFO_FIX_RENAME_TENSOR;
    if (*is_answer && right->type == GUFO_VALUE_STRING)
        snprintf(room, SUGGESTION_SIZE, "did you mean '%.*s'?", (int)right->as.str.len,
                 right->as.str.data);
    else if (*is_answer && right->type == GUFO_VALUE_UINT32)
        snprintf(room, SUGGESTION_SIZE, "did you mean %ju?", (uintmax_t)right->as.u);
    else if (*is_answer)
        snprintf(room, SUGGESTION_SIZE, "it is a %s", gufo_value_type_name(right->type));
    return *is_answer ? room : finding->hint;
}

static void judge_finding(void *context, const gufo_finding *finding)
{
    gufo_severity severity = finding->rule->severity;
    char room[SUGGESTION_SIZE];
    bool is_answer;
    const char *suggestion = suggestion_of(finding, room, &is_answer);
    guard *g = context;

    if (severity == GUFO_ERROR || (severity == GUFO_WARNING && is_answer))
        refuse_for(g, finding->message, suggestion);
    else if (severity == GUFO_WARNING && g->warned < MOST_LINES)
        g->warnings[g->warned++] = strdup(finding->message);
}

/* ---- the guard ------------------------------------------------------------------------------ */

static void finish(guard *g)
{
    if (g->refused > MOST_LINES)
        report_message(g->options->path, "there are %ju more reasons like these",
                       (uintmax_t)(g->refused - MOST_LINES));
    for (size_t i = 0; i < g->warned; i++) {
        if (g->refused == 0 && g->warnings[i] != NULL)
            report_warning(g->options->path, "%s", g->warnings[i]);
        free(g->warnings[i]);
    }
}

int edit_guard(gufo_edit *edit, const edit_options *options, bool is_shard)
{
    const gufo_check_options how = {.single = is_shard, .judge = template_judge};
    guard g = {.options = options, .architecture = key_type_architecture(gufo_edit_document(edit))};
    gufo_error error = {0};
    gufo_status status;

    status = gufo_document_changes(gufo_edit_document(edit), judge_key, &g, &error);
    if (status == GUFO_OK && g.refused == 0)
        status = gufo_edit_check(edit, &how, judge_finding, &g, &error);
    finish(&g);
    if (status != GUFO_OK)
        return report_refusal(options->path, &error);
    return g.refused == 0 ? CODE_OK : CODE_USAGE;
}
