/* Refuses, unless --as-is, keys that are nearly known ones, and changes that make the file worse in
 * the eyes of gufo validate.  Faults that were there before do not count. */
#include "cli/change/edit.h"

#include "cli/core/values/sums.h"
#include "cli/core/options/built_in.h"

#include <ctype.h>
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
        gufo_arch_find_str(first) == NULL || gufo_key_find_str(key, first) == NULL)
        return false;
    snprintf(out, room, "%.*s%.*s", (int)g->architecture.len, g->architecture.data,
             (int)(key.len - front), key.data + front);
    return gufo_key_find_str(gufo_str_of(out), g->architecture) != NULL;
}

/* The key as keys are spelt, with small letters and underscores: whether it is another one.  The name of
 * an architecture is as it is. */
static bool spell_key(const guard *g, gufo_str key, char out[GUFO_KEY_NAME_SIZE])
{
    size_t front = g->architecture.len, from = 0;
    bool changed = false;

    if (key.len >= GUFO_KEY_NAME_SIZE)
        return false;
    if (front > 0 && key.len > front && key.data[front] == '.' &&
        memcmp(key.data, g->architecture.data, front) == 0)
        from = front;
    for (size_t i = 0; i < key.len; i++) {
        out[i] = i < from             ? key.data[i]
                 : key.data[i] == '-' ? '_'
                                      : (char)tolower((unsigned char)key.data[i]);
        changed |= out[i] != key.data[i];
    }
    out[key.len] = '\0';
    return changed;
}

/* What is to be said against the name of a new key; NULL: nothing.  *known: `name` is what was meant. */
static const char *fault_of(guard *g, gufo_str key, char name[GUFO_KEY_NAME_SIZE], bool *known)
{
    *known = true;
    if (name_here(g, key, name))
        return "belongs to another architecture than the file's";
    if (gufo_key_nearest_str(key, g->architecture, name) != NULL)
        return memchr(key.data, '.', key.len) != NULL ? "is not known" : "has no namespace";
    if (spell_key(g, key, name))
        return "is not written in lower-case letters and underscores";
    *known = false;
    return memchr(key.data, '.', key.len) == NULL ? "has no namespace" : NULL;
}

static void judge_key(void *context, const gufo_change *change)
{
    guard *g = context;
    gufo_str key = change->new_name;
    char name[GUFO_KEY_NAME_SIZE], reason[GUFO_KEY_NAME_SIZE], suggestion[SUGGESTION_SIZE];
    const char *fault;
    bool known;

    if ((change->kind != GUFO_CHANGE_ADDED && change->kind != GUFO_CHANGE_RENAMED) ||
        key.len == 0 || gufo_key_find_str(key, g->architecture) != NULL ||
        g->guesses++ >= MOST_GUESSES)
        return;
    fault = fault_of(g, key, name, &known);
    if (fault == NULL)
        return;
    snprintf(reason, sizeof reason, "key '%.*s' %s", (int)smaller(key.len, 128), key.data, fault);
    if (known)
        snprintf(suggestion, sizeof suggestion, "did you mean '%s'?", name);
    else
        snprintf(suggestion, sizeof suggestion,
                 "begin it with the name of its owner, as in 'my_team.%.*s'",
                 (int)smaller(key.len, 64), key.data);
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
    const gufo_check_options how = {
        .single = is_shard, .judge = template_judge, .tokenizer_json = tokenizer_json_reader};
    guard g = {.options = options,
               .architecture = gufo_document_architecture(gufo_edit_document(edit))};
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
