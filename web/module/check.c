/* Findings, with the members of `gufo validate --json`.
 *
 * Opening finds some; the rest is checked when somebody asks.  The page has no judge of chat templates and no reader
 * of tokenizer.json, which need libraries of others. */
#include "module.h"

#include "gufo/findings.h"

#include <stdlib.h>
#include <string.h>

typedef struct kept_finding {
    gufo_finding finding; /* with texts of its own */
} kept_finding;

struct findings {
    kept_finding *list;
    uint64_t count, room;
    uint64_t listed[VIEWER_FINDINGS]; /* of the format, by rule */
    uint64_t counts[GUFO_ERROR + 1];
    bool complete, failed;
};

/* ---- keeping -------------------------------------------------------------------------------- */

static gufo_str copy_str(gufo_str text)
{
    char *copy = malloc(text.len + 1);

    if (copy == NULL)
        return (gufo_str){NULL, 0};
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return (gufo_str){copy, text.len};
}

static void keep(findings *f, const gufo_finding *finding)
{
    gufo_finding *kept;

    if (f->count == f->room) {
        uint64_t room = 2 * f->room + 16;
        kept_finding *longer = realloc(f->list, (size_t)room * sizeof *longer);

        f->failed = f->failed || longer == NULL;
        if (longer == NULL)
            return;
        f->list = longer;
        f->room = room;
    }
    kept = &f->list[f->count++].finding;
    *kept = *finding;
    kept->subject = copy_str(finding->subject);
    kept->message = copy_str(gufo_str_of(finding->message)).data;
    if (finding->hint != NULL)
        kept->hint = copy_str(gufo_str_of(finding->hint)).data;
    kept->fix.key = copy_str(finding->fix.key);
    if (finding->fix.value.type == GUFO_VALUE_STRING)
        kept->fix.value.as.str = copy_str(finding->fix.value.as.str);
    f->failed = f->failed || kept->message == NULL || kept->subject.data == NULL;
}

/* Checks of what a file means count by themselves. */
void findings_add(void *context, const gufo_finding *finding)
{
    findings *f = context;
    uint64_t *listed = &f->listed[finding->rule - gufo_rule_at(0)];

    f->counts[finding->rule->severity]++;
    if (finding->rule->id[0] != 'G' || (*listed)++ < GUFO_FINDINGS_OF_A_RULE)
        keep(f, finding);
}

static void add_rest(findings *f)
{
    char message[GUFO_FINDINGS_REST_SIZE];

    for (size_t i = 0; i < VIEWER_FINDINGS; i++)
        if (gufo_findings_rest(f->listed[i], message))
            keep(f, &(gufo_finding){.rule = gufo_rule_at(i),
                                    .offset = GUFO_NO_OFFSET,
                                    .subject = {"", 0},
                                    .message = message});
}

findings *findings_new(void)
{
    return calloc(1, sizeof(findings));
}

void findings_free(findings *f)
{
    if (f == NULL)
        return;
    for (uint64_t i = 0; i < f->count; i++) {
        gufo_finding *kept = &f->list[i].finding;

        free((char *)kept->subject.data);
        free((char *)kept->message);
        free((char *)kept->hint);
        free((char *)kept->fix.key.data);
        if (kept->fix.value.type == GUFO_VALUE_STRING)
            free((char *)kept->fix.value.as.str.data);
    }
    free(f->list);
    free(f);
}

/* ---- checking ------------------------------------------------------------------------------- */

static bool is_whole(const gufo_model *model)
{
    for (size_t i = 0; i < gufo_model_shard_count(model); i++) {
        const gufo_model *file = gufo_model_shard(model, i);
        gufo_facts facts = gufo_model_facts(file);

        if (gufo_model_entry_count(file) != facts.claimed_metadata ||
            gufo_model_tensor_count(file) != facts.claimed_tensors)
            return false;
    }
    return true;
}

/* A file of a set that is looked at alone. */
static bool is_part(const gufo_model *model)
{
    uint64_t count;

    return gufo_model_shard_count(model) == 1 &&
           gufo_model_get_u64(model, "split.count", &count, NULL) == GUFO_OK && count > 1;
}

gufo_status findings_check(viewer_model *m, gufo_error *error)
{
    gufo_check_options options = {.path = m->files[0].name, .single = is_part(m->model)};
    gufo_status status;

    if (m->findings->complete)
        return GUFO_OK;
    m->findings->complete = true;
    status = gufo_model_check(m->model, findings_add, m->findings, error);
    if (status == GUFO_OK && is_whole(m->model))
        status = gufo_model_check_content(m->model, &options, findings_add, m->findings, error);
    add_rest(m->findings);
    if (status == GUFO_OK && m->findings->failed)
        status = viewer_refuse(error, GUFO_E_MEMORY, "no memory for findings");
    return status;
}

bool findings_are_complete(const findings *f)
{
    return f->complete;
}

uint64_t findings_count(const findings *f)
{
    return f->count;
}

const gufo_finding *findings_at(const findings *f, uint64_t index)
{
    return index < f->count ? &f->list[index].finding : NULL;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static const struct {
    const char *action;
    bool key, value, type;
} fixes[] = {
    [GUFO_FIX_REWRITE] = {"rewrite", false, false, false},
    [GUFO_FIX_SET] = {"set", true, true, false},
    [GUFO_FIX_RENAME] = {"rename", true, true, false},
    [GUFO_FIX_SHORTEN] = {"shorten", true, true, false},
    [GUFO_FIX_RETYPE] = {"retype", true, false, true},
    [GUFO_FIX_REMOVE] = {"remove", true, false, false},
    [GUFO_FIX_SUPPLY] = {"supply", true, false, true},
    [GUFO_FIX_RENAME_TENSOR] = {"rename_tensor", true, true, false},
};

static void write_fix(json_writer *j, const gufo_fix *fix)
{
    if (fix->kind == GUFO_FIX_NONE)
        return;
    json_begin_object(j, "fix");
    json_write_text(j, "action", fixes[fix->kind].action);
    if (fixes[fix->kind].key)
        json_write_str(j, "key", fix->key);
    if (fixes[fix->kind].type)
        json_write_text(j, "type", gufo_value_type_name(fix->value.type));
    if (fixes[fix->kind].value)
        json_write_value(j, "value", &fix->value, GUFO_VALUE_JSON_PLAIN, UINT64_MAX);
    json_write_bool(j, "certain", fix->certain);
    json_end_object(j);
}

static void write_finding(json_writer *j, const gufo_finding *finding)
{
    json_begin_object(j, NULL);
    json_write_text(j, "rule", finding->rule->id);
    json_write_text(j, "name", finding->rule->name);
    json_write_text(j, "severity", gufo_severity_name(finding->rule->severity));
    json_write_offset(j, finding->offset);
    json_write_str(j, "subject", finding->subject);
    json_write_text(j, "message", finding->message);
    json_write_text(j, "clause", finding->rule->clause);
    if (finding->hint != NULL)
        json_write_text(j, "hint", finding->hint);
    write_fix(j, &finding->fix);
    json_end_object(j);
}

gufo_status findings_write(viewer_model *m, json_writer *j, gufo_error *error)
{
    const findings *f = m->findings;
    gufo_status status = findings_check(m, error);

    if (status != GUFO_OK)
        return status;
    json_begin_object(j, NULL);
    json_write_text(j, "path", m->files[0].name);
    json_begin_array(j, "findings");
    for (uint64_t i = 0; i < f->count; i++)
        write_finding(j, &f->list[i].finding);
    json_end_array(j);
    json_write_bool(j, "valid", f->counts[GUFO_ERROR] == 0);
    json_write_u64(j, "errors", f->counts[GUFO_ERROR]);
    json_write_u64(j, "warnings", f->counts[GUFO_WARNING]);
    json_end_object(j);
    return GUFO_OK;
}
