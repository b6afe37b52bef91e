/* Findings, with the members of `gufo validate --json`.
 *
 * Opening finds some; the rest is checked when somebody asks.  The page has no judge of chat templates and no reader
 * of tokenizer.json, which need libraries of others. */
#include "module.h"

#include <stdlib.h>

struct findings {
    gufo_finding_list *list;
    uint64_t counts[GUFO_ERROR + 1]; /* of all, also those that are not kept */
    bool complete;
};

/* ---- keeping -------------------------------------------------------------------------------- */

findings *findings_new(gufo_error *error)
{
    findings *f = calloc(1, sizeof(findings));

    if (f == NULL)
        (void)viewer_refuse(error, GUFO_E_MEMORY, "no memory for findings");
    else if ((f->list = gufo_finding_list_new(NULL, error)) == NULL) {
        free(f);
        f = NULL;
    }
    return f;
}

void findings_free(findings *f)
{
    if (f == NULL)
        return;
    gufo_finding_list_free(f->list);
    free(f);
}

void findings_add(void *context, const gufo_finding *finding)
{
    findings *f = context;

    f->counts[finding->rule->severity]++;
    gufo_finding_list_add(f->list, finding);
}

const gufo_finding_list *findings_list(const findings *f)
{
    return f->list;
}

bool findings_are_complete(const findings *f)
{
    return f->complete;
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
    return status == GUFO_OK ? gufo_finding_list_sort(m->findings->list, error) : status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_fix(json_writer *j, const gufo_fix *fix)
{
    gufo_fix_part part = gufo_fix_part_of(fix->kind);

    if (fix->kind == GUFO_FIX_NONE)
        return;
    json_begin_object(j, "fix");
    json_write_text(j, "action", gufo_fix_name(fix->kind));
    if (part != GUFO_FIX_PART_NONE)
        json_write_str(j, "key", fix->key);
    if (part == GUFO_FIX_PART_TYPE)
        json_write_text(j, "type", gufo_value_type_name(fix->value.type));
    if (part == GUFO_FIX_PART_VALUE)
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
    gufo_finding finding;

    if (status != GUFO_OK)
        return status;
    json_begin_object(j, NULL);
    json_write_text(j, "path", m->files[0].name);
    json_begin_array(j, "findings");
    for (uint64_t i = 0; gufo_finding_list_at(f->list, i, &finding); i++)
        write_finding(j, &finding);
    json_end_array(j);
    json_write_bool(j, "valid", f->counts[GUFO_ERROR] == 0);
    json_write_u64(j, "errors", f->counts[GUFO_ERROR]);
    json_write_u64(j, "warnings", f->counts[GUFO_WARNING]);
    json_end_object(j);
    return GUFO_OK;
}
