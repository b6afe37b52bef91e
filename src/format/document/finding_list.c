/* Findings that outlive the check which found them: copies, the worst first. */
#include "gufo/findings.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "format/rules/rules.h"

struct gufo_finding_list {
    gufo_allocator allocator;
    gufo_finding *list; /* texts in them are owned */
    uint64_t count, room;
    uint64_t found[RULE_COUNT];
    bool every;
    bool failed; /* out of memory */
};

gufo_finding_list *gufo_finding_list_new(const gufo_finding_list_options *options,
                                         gufo_error *error)
{
    gufo_finding_list *f;

    if (options != NULL &&
        reserved_check(options->reserved, "gufo_finding_list_options", error) != GUFO_OK)
        return NULL;
    f = mem_object(options != NULL ? options->allocator : NULL, sizeof *f, error);
    if (f != NULL)
        f->every = options != NULL && options->every;
    return f;
}

/* ---- copies --------------------------------------------------------------------------------- */

static bool copy_str(const gufo_finding_list *f, gufo_str *text)
{
    const char *copy = mem_text(&f->allocator, *text);

    *text = (gufo_str){copy, copy != NULL ? text->len : 0};
    return copy != NULL;
}

static bool copy_text(const gufo_finding_list *f, const char **text)
{
    if (*text != NULL)
        *text = mem_text(&f->allocator, gufo_str_of(*text));
    return *text != NULL;
}

/* All texts are copied, even if memory ends with the first: free_finding frees them all. */
static bool copy_texts(const gufo_finding_list *f, gufo_finding *finding)
{
    bool has_hint = finding->hint != NULL;
    bool good = copy_str(f, &finding->subject);

    good = copy_text(f, &finding->message) && good;
    good = (copy_text(f, &finding->hint) || !has_hint) && good;
    good = copy_str(f, &finding->fix.key) && good;
    if (finding->fix.value.type == GUFO_VALUE_STRING)
        good = copy_str(f, &finding->fix.value.as.str) && good;
    return good;
}

static void free_finding(const gufo_finding_list *f, const gufo_finding *finding)
{
    mem_free(&f->allocator, (char *)finding->subject.data);
    mem_free(&f->allocator, (char *)finding->message);
    mem_free(&f->allocator, (char *)finding->hint);
    mem_free(&f->allocator, (char *)finding->fix.key.data);
    if (finding->fix.value.type == GUFO_VALUE_STRING)
        mem_free(&f->allocator, (char *)finding->fix.value.as.str.data);
}

/* ---- adding --------------------------------------------------------------------------------- */

static void keep(gufo_finding_list *f, const gufo_finding *finding)
{
    gufo_finding *list = mem_grow(&f->allocator, f->list, f->count, &f->room, sizeof *list);

    if (list == NULL) {
        f->failed = true;
        return;
    }
    f->list = list;
    list[f->count] = *finding;
    f->failed = !copy_texts(f, &list[f->count++]);
}

/* Checks of what a file means count by themselves. */
static bool is_counted(const gufo_finding_list *f, const gufo_rule *rule)
{
    return !f->every && rule->level == GUFO_LEVEL_STRUCTURE;
}

void gufo_finding_list_add(void *list, const gufo_finding *finding)
{
    gufo_finding_list *f = list;
    uint64_t *found = &f->found[finding->rule - gufo_rule_at(0)];

    if (!f->failed && (!is_counted(f, finding->rule) || (*found)++ < GUFO_FINDINGS_OF_A_RULE))
        keep(f, finding);
}

/* ---- the order ------------------------------------------------------------------------------ */

static void add_rests(gufo_finding_list *f)
{
    char message[GUFO_FINDINGS_REST_SIZE];

    for (size_t i = 0; i < RULE_COUNT && !f->failed; i++)
        if (gufo_findings_rest(f->found[i], message))
            keep(f, &(gufo_finding){.rule = gufo_rule_at(i),
                                    .offset = GUFO_NO_OFFSET,
                                    .subject = {"", 0},
                                    .message = message});
    memset(f->found, 0, sizeof f->found);
}

gufo_status gufo_finding_list_sort(gufo_finding_list *f, gufo_error *error)
{
    gufo_finding *sorted;
    uint64_t count = 0;

    add_rests(f);
    sorted = f->failed ? NULL : mem_array(&f->allocator, f->count, sizeof *sorted);
    if (sorted == NULL)
        return fail_memory(error);
    for (int severity = GUFO_ERROR; severity >= GUFO_INFO; severity--)
        for (uint64_t i = 0; i < f->count; i++)
            if ((int)f->list[i].rule->severity == severity)
                sorted[count++] = f->list[i];
    mem_free(&f->allocator, f->list);
    f->list = sorted;
    f->room = f->count;
    return GUFO_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

uint64_t gufo_finding_list_count(const gufo_finding_list *f)
{
    return f->count;
}

bool gufo_finding_list_at(const gufo_finding_list *f, uint64_t index, gufo_finding *out)
{
    if (index < f->count)
        *out = f->list[index];
    return index < f->count;
}

void gufo_finding_list_free(gufo_finding_list *f)
{
    if (f == NULL)
        return;
    for (uint64_t i = 0; i < f->count; i++)
        free_finding(f, &f->list[i]);
    mem_free(&f->allocator, f->list);
    (void)f->allocator.resize(f->allocator.context, f, 0);
}
