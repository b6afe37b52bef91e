/* The report of gufo migrate as JSON: docs/json.md describes it. */
#include "cli/core/values/json.h"
#include "cli/core/values/value.h"
#include "cli/import/migrate.h"

enum { SCHEMA_VERSION = 1 };

enum { MOST_ELEMENTS = 8 }; /* of an array: a vocabulary is not what is asked for */

/* {"key","type","value","why"}; of a missing one {"key","type","required","why"}. */
static void write_setting(json_writer *j, const gufo_import_setting *setting)
{
    json_begin_object(j, NULL);
    json_write_str(j, "key", setting->key);
    if (setting->origin == GUFO_SETTING_MISSING) {
        json_write_text(j, "type", migrate_type_name(setting));
        json_write_bool(j, "required", setting->required);
    } else {
        value_write_members(j, &setting->value, MOST_ELEMENTS);
    }
    json_write_text(j, "why", setting->why);
    json_end_object(j);
}

static void write_settings(json_writer *j, const migration *m, const char *name,
                           gufo_setting_origin origin)
{
    gufo_import_setting setting;

    json_begin_array(j, name);
    for (uint64_t at = 0; migrate_next_setting(m, origin, &at, &setting);)
        write_setting(j, &setting);
    json_end_array(j);
}

static void write_facts(json_writer *j, const migration *m)
{
    const gufo_import_facts facts = gufo_import_describe(m->import);
    const char *path;

    json_write_text(j, "family", facts.family);
    json_write_text(j, "container", facts.container);
    json_write_u64(j, "version", facts.version);
    json_write_u64(j, "generation", facts.generation);
    json_begin_array(j, "parts");
    for (uint32_t i = 0; (path = gufo_import_part_at(m->import, i)) != NULL; i++)
        json_write_text(j, NULL, path);
    json_end_array(j);
    json_write_u64(j, "tokens", facts.vocabulary);
    json_write_text(j, "doubt", facts.doubt);
}

static void write_tensor(json_writer *j, const migrate_tensor *tensor)
{
    json_begin_object(j, NULL);
    json_write_str(j, "source", tensor->old.source);
    json_write_str(j, "name", tensor->old.name);
    json_write_text(j, "from", tensor->old.from);
    json_write_text(j, "to", tensor->to != NULL ? tensor->to->name : NULL);
    if (tensor->measured) {
        json_write_bool(j, "exact", tensor->exact);
        json_write_f64(j, "max_abs_err", tensor->max_abs_err);
    } else {
        json_write_null(j, "exact");
        json_write_null(j, "max_abs_err");
    }
    json_end_object(j);
}

static void write_output(json_writer *j, const migration *m)
{
    gufo_job_output made = {0};

    (void)gufo_job_output_at(m->job, 0, &made);
    json_begin_object(j, "output");
    json_write_text(j, "path", m->output);
    json_write_u64(j, "size", made.size);
    json_write_u64(j, "tensors", made.tensor_count);
    if (m->verdict.checked) {
        json_write_bool(j, "valid", m->verdict.valid);
        json_write_u64(j, "errors", m->verdict.errors);
        json_write_u64(j, "warnings", m->verdict.warnings);
    }
    json_end_object(j);
}

void migrate_write_json(const migration *m)
{
    json_writer j = json_begin_document(m->options->input);
    migrate_tensor tensor;
    const char *warning;

    json_write_u64(&j, "schema_version", SCHEMA_VERSION);
    json_write_bool(&j, "dry_run", m->options->dry_run);
    write_facts(&j, m);
    write_settings(&j, m, "known", GUFO_SETTING_KNOWN);
    write_settings(&j, m, "assumed", GUFO_SETTING_ASSUMED);
    write_settings(&j, m, "missing", GUFO_SETTING_MISSING);
    json_begin_array(&j, "warnings");
    for (uint64_t i = 0; (warning = gufo_import_warning_at(m->import, i)) != NULL; i++)
        json_write_text(&j, NULL, warning);
    json_end_array(&j);
    json_begin_array(&j, "tensors");
    for (uint64_t i = 0; migrate_tensor_at(m, i, &tensor); i++)
        write_tensor(&j, &tensor);
    json_end_array(&j);
    write_output(&j, m);
    json_end_document(&j);
}
