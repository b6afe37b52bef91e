/* What gufo migrate reports.  docs/json.md describes the JSON; for people:
 *
 *     old.bin: llama, GGJT version 1, 117.9 KiB, 259 tokens
 *     Assumed (2)
 *       llama.context_length    2048   LLaMA 1 was trained with 2048 tokens
 *       ...
 *     Tensors (21)
 *       from   to     tensors   exact   largest error
 *       Q4_0   Q4_0        14      14               0
 *       ...
 *     Tiny-v1.0-Q4_0.gguf: 118.2 KiB, 21 tensors */
#include "cli/core/values/str.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"
#include "cli/import/migrate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- settings ------------------------------------------------------------------------------- */

/* The setting of a key; false if it is none that files of this family lack. */
static bool find_setting(const migration *m, gufo_str key, gufo_import_setting *out)
{
    for (uint64_t i = 0; gufo_import_setting_at(m->import, i, out); i++)
        if (gufo_str_equal(out->key, key))
            return true;
    return false;
}

/* Whether the quantizer writes another value. */
static bool is_replaced(const migration *m, gufo_str key)
{
    return m->quantizer != NULL &&
           (gufo_str_equal(key, gufo_str_of("general.file_type")) ||
            gufo_str_equal(key, gufo_str_of("general.quantization_version")));
}

/* The old file has every key that is not a setting, unless options or --known give it. */
static gufo_import_setting fact_of(const migration *m, const gufo_entry *entry)
{
    bool given = gufo_document_find_str(m->given, entry->key, NULL) ||
                 (m->vocabulary != NULL && begins_with(entry->key, "tokenizer."));

    return (gufo_import_setting){.key = entry->key,
                                 .value = entry->value,
                                 .origin = given ? GUFO_SETTING_KNOWN : GUFO_SETTING_FILE,
                                 .why = given ? "given" : NULL};
}

/* The next key of the result that is not assumed: what the old file or the user says. */
static bool next_known(const migration *m, uint64_t *at, gufo_import_setting *out)
{
    gufo_entry entry;

    while (gufo_model_entry_at(gufo_import_model(m->import), (*at)++, &entry)) {
        bool found = find_setting(m, entry.key, out);

        if ((found && out->origin == GUFO_SETTING_ASSUMED) || is_replaced(m, entry.key))
            continue;
        if (!found)
            *out = fact_of(m, &entry);
        return true;
    }
    return false;
}

static bool next_setting(const migration *m, gufo_setting_origin origin, uint64_t *at,
                         gufo_import_setting *out)
{
    if (origin == GUFO_SETTING_KNOWN)
        return next_known(m, at, out);
    while (gufo_import_setting_at(m->import, (*at)++, out))
        if (out->origin == origin)
            return true;
    return false;
}

/* The type that the value of a missing key has. */
static const char *type_name(const gufo_import_setting *setting)
{
    const gufo_key_info *info = gufo_key_find_str(setting->key, (gufo_str){"", 0});

    return info != NULL ? info->type : gufo_value_type_name(setting->value.type);
}

enum {
    VALUE_TEXT = 80,
    WHY_TEXT = 1024,
    MOST_ELEMENTS = 8, /* of an array in JSON: a vocabulary is not what is asked for */
};

/* A value in one line; of a missing one its type. */
static void put_value(const gufo_import_setting *setting, char out[VALUE_TEXT])
{
    const value_style style = {
        .limit = 2, .columns = 40, .array_columns = 30, .string_columns = 12};
    FILE *stream;

    out[0] = '\0';
    if (setting->origin == GUFO_SETTING_MISSING) {
        snprintf(out, VALUE_TEXT, "(%s)", type_name(setting));
        return;
    }
    stream = fmemopen(out, VALUE_TEXT, "w");
    if (stream != NULL) {
        (void)value_put_line(stream, &setting->value, &style);
        (void)fclose(stream);
    }
    out[VALUE_TEXT - 1] = '\0';
}

enum { KNOWN = 1, ASSUMED = 2, MISSING = 4 }; /* parts: which settings are listed */

typedef struct setting_row {
    gufo_import_setting setting;
    record_value value;
    const char *from, *type;
    char text[VALUE_TEXT], why[WHY_TEXT];
} setting_row;

/* What is known has no reason for people, but an origin; its values, of any text, come last. */
static const record_field setting_fields[] = {
    {"key", "key", RECORD_STR, RECORD_AT(setting_row, setting.key), .width = -3},
    {NULL, "from", RECORD_TEXT, RECORD_AT(setting_row, from), .part = KNOWN, .width = -5,
     .drop = 1},
    {NULL, "value", RECORD_CHARS, RECORD_AT(setting_row, text), .width = -5, .instead = ""},
    {NULL, "why", RECORD_CHARS, RECORD_AT(setting_row, why), .part = ASSUMED | MISSING, .width = -3,
     .instead = ""},
    {"type", NULL, RECORD_TEXT, RECORD_AT(setting_row, type), .part = MISSING},
    {"required", NULL, RECORD_FLAG, RECORD_AT(setting_row, setting.required), .part = MISSING},
    {"value", NULL, RECORD_VALUE, RECORD_AT(setting_row, value), .part = KNOWN | ASSUMED},
    {"why", NULL, RECORD_TEXT, RECORD_AT(setting_row, setting.why)},
};
static const record_type known_type = RECORD_OF(setting_row, setting_fields, KNOWN),
                         assumed_type = RECORD_OF(setting_row, setting_fields, ASSUMED),
                         missing_type = RECORD_OF(setting_row, setting_fields, MISSING);

typedef struct setting_rows {
    const migration *m;
    gufo_setting_origin origin;
    uint64_t *next; /* where the search for the next row begins */
} setting_rows;

static bool make_setting(const void *context, uint64_t index, void *record)
{
    const setting_rows *rows = context;
    setting_row *row = record;
    gufo_import_setting *setting = &row->setting;

    *rows->next = index > 0 ? *rows->next : 0;
    if (!next_setting(rows->m, rows->origin, rows->next, setting))
        return false;
    row->value = (record_value){setting->value, MOST_ELEMENTS};
    row->type = type_name(setting);
    row->from = setting->origin == GUFO_SETTING_KNOWN ? "given" : "OLD";
    put_value(setting, row->text);
    snprintf(row->why, sizeof row->why, "%s%s", setting->why != NULL ? setting->why : "",
             setting->required && rows->origin == GUFO_SETTING_MISSING ? " (needed)" : "");
    return true;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* A tensor as it is written. */
typedef struct tensor_row {
    gufo_str source, name;
    const char *from, *to; /* types; NULL: not known */
    bool measured, exact;
    double max_abs_err;
} tensor_row;

static const record_field tensor_fields[] = {
    {"source", NULL, RECORD_STR, RECORD_AT(tensor_row, source)},
    {"name", NULL, RECORD_STR, RECORD_AT(tensor_row, name)},
    {"from", NULL, RECORD_TEXT, RECORD_AT(tensor_row, from)},
    {"to", NULL, RECORD_TEXT, RECORD_AT(tensor_row, to)},
    {"exact", NULL, RECORD_FLAG, RECORD_AT(tensor_row, exact), RECORD_KNOWN(tensor_row, measured)},
    {"max_abs_err", NULL, RECORD_REAL, RECORD_AT(tensor_row, max_abs_err),
     RECORD_KNOWN(tensor_row, measured)},
};
static const record_type tensor_type = RECORD_OF(tensor_row, tensor_fields, 0);

static bool make_tensor(const void *context, uint64_t index, void *record)
{
    const migration *m = context;
    const gufo_element_type *to;
    gufo_import_tensor old;
    gufo_quantizer_tensor made;
    tensor_row *row = record;

    if (!gufo_import_tensor_at(m->import, index, &old))
        return false;
    to = old.to;
    *row = (tensor_row){.source = old.source,
                        .name = old.name,
                        .from = old.from,
                        .measured = old.measured,
                        .exact = old.exact,
                        .max_abs_err = old.max_abs_err};
    if (m->quantizer != NULL && gufo_quantizer_tensor_at(m->quantizer, index, &made) &&
        (made.choice.flags & GUFO_RECIPE_CONVERTS) != 0) {
        to = gufo_element_type_by_id(made.choice.type);
        row->measured = made.loss.count > 0;
        row->max_abs_err = (double)made.loss.largest_error;
        row->exact = row->measured && made.loss.square_error == 0;
    }
    row->to = to != NULL ? to->name : NULL;
    return true;
}

/* What became of the tensors of an old type. */
typedef struct way {
    const char *from, *to;
    uint64_t tensors, exact;
    bool measured;
    double max_abs_err;
} way;

static const record_field way_fields[] = {
    {NULL, "from", RECORD_TEXT, RECORD_AT(way, from), .width = -4},
    {NULL, "to", RECORD_TEXT, RECORD_AT(way, to), .width = -4},
    {NULL, "tensors", RECORD_COUNT, RECORD_AT(way, tensors), .width = 7},
    {NULL, "exact", RECORD_COUNT, RECORD_AT(way, exact), RECORD_KNOWN(way, measured), .width = 5,
     .drop = 2},
    {NULL, "largest error", RECORD_REAL, RECORD_AT(way, max_abs_err), RECORD_KNOWN(way, measured),
     .width = 13, .drop = 1},
};
static const record_type way_type = RECORD_OF(way, way_fields, 0);

enum {
    MOST_WAYS = 64
}; /* more than there are pairs of types; what is beyond is counted in the last */

static way *find_way(way ways[MOST_WAYS], uint64_t *count, const tensor_row *tensor)
{
    uint64_t i = 0;

    while (i < *count && (ways[i].to != tensor->to || strcmp(ways[i].from, tensor->from) != 0))
        i++;
    if (i == MOST_WAYS)
        return &ways[MOST_WAYS - 1];
    if (i == *count)
        ways[(*count)++] = (way){.from = tensor->from, .to = tensor->to, .measured = true};
    return &ways[i];
}

static void print_tensors(const migration *m)
{
    table t = record_table(&way_type, 2);
    way ways[MOST_WAYS];
    tensor_row tensor;
    uint64_t tensors = 0, count = 0;

    for (; make_tensor(m, tensors, &tensor); tensors++) {
        way *w = find_way(ways, &count, &tensor);

        w->tensors++;
        w->exact += tensor.exact;
        w->measured = w->measured && tensor.measured;
        w->max_abs_err = fmax(w->max_abs_err, tensor.max_abs_err);
    }
    table_title(options_color(m->options->base.shared), "Tensors", tensors, tensors);
    record_print(&t, &way_type, &(record_list){.items = ways, .count = count});
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { SCHEMA_VERSION = 1 };

typedef struct output_row {
    const char *path;
    gufo_job_output made;
    migrate_verdict verdict;
} output_row;

static const record_field output_fields[] = {
    {"path", NULL, RECORD_TEXT, RECORD_AT(output_row, path)},
    {"size", NULL, RECORD_COUNT, RECORD_AT(output_row, made.size)},
    {"tensors", NULL, RECORD_COUNT, RECORD_AT(output_row, made.tensor_count)},
    {"valid", NULL, RECORD_FLAG, RECORD_AT(output_row, verdict.valid),
     RECORD_GIVEN(output_row, verdict.checked)},
    {"errors", NULL, RECORD_COUNT, RECORD_AT(output_row, verdict.errors),
     RECORD_GIVEN(output_row, verdict.checked)},
    {"warnings", NULL, RECORD_COUNT, RECORD_AT(output_row, verdict.warnings),
     RECORD_GIVEN(output_row, verdict.checked)},
};
static const record_type output_type = RECORD_OF(output_row, output_fields, 0);

typedef struct result {
    bool dry_run;
    gufo_import_facts facts;
    record_list parts, known, assumed, missing, warnings, tensors;
    output_row output;
} result;

static const record_field result_fields[] = {
    {"schema_version", NULL, RECORD_FIXED, .at = SCHEMA_VERSION},
    {"dry_run", NULL, RECORD_FLAG, RECORD_AT(result, dry_run)},
    {"family", NULL, RECORD_TEXT, RECORD_AT(result, facts.family)},
    {"container", NULL, RECORD_TEXT, RECORD_AT(result, facts.container)},
    {"version", NULL, RECORD_PLAIN, RECORD_AT(result, facts.version)},
    {"generation", NULL, RECORD_PLAIN, RECORD_AT(result, facts.generation)},
    {"parts", NULL, RECORD_LIST, RECORD_AT(result, parts), .of = &record_texts},
    {"tokens", NULL, RECORD_COUNT, RECORD_AT(result, facts.vocabulary)},
    {"doubt", NULL, RECORD_TEXT, RECORD_AT(result, facts.doubt)},
    {"known", NULL, RECORD_LIST, RECORD_AT(result, known), .of = &known_type},
    {"assumed", NULL, RECORD_LIST, RECORD_AT(result, assumed), .of = &assumed_type},
    {"missing", NULL, RECORD_LIST, RECORD_AT(result, missing), .of = &missing_type},
    {"warnings", NULL, RECORD_LIST, RECORD_AT(result, warnings), .of = &record_texts},
    {"tensors", NULL, RECORD_LIST, RECORD_AT(result, tensors), .of = &tensor_type},
    {"output", NULL, RECORD_RECORD, RECORD_AT(result, output), .of = &output_type},
};
static const record_type result_type = RECORD_OF(result, result_fields, 0);

static bool make_part(const void *context, uint64_t index, void *record)
{
    const char **path = record;

    *path = gufo_import_part_at(context, (uint32_t)index);
    return *path != NULL;
}

static bool make_warning(const void *context, uint64_t index, void *record)
{
    const char **warning = record;

    *warning = gufo_import_warning_at(context, index);
    return *warning != NULL;
}

/* What only warnings say, and what --yes takes. */
void migrate_warn(const migration *m)
{
    const char *path = m->options->input, *warning;
    const char *doubt = gufo_import_describe(m->import).doubt;
    gufo_import_setting setting;
    char value[VALUE_TEXT];

    if (doubt != NULL)
        report_warning(path, "%s", doubt);
    for (uint64_t i = 0; (warning = gufo_import_warning_at(m->import, i)) != NULL; i++)
        report_warning(path, "%s", warning);
    for (uint64_t i = 0; gufo_import_setting_at(m->import, i, &setting); i++) {
        put_value(&setting, value);
        if (setting.origin == GUFO_SETTING_ASSUMED && m->options->yes)
            report_warning(path, "assumed: %.*s = %s (%s)", (int)setting.key.len, setting.key.data,
                           value, setting.why);
        else if (setting.origin == GUFO_SETTING_MISSING && setting.required)
            report_warning(path, "missing: %.*s (%s)", (int)setting.key.len, setting.key.data,
                           setting.why);
    }
}

/* Begins a line about a file. */
static void begin_line(line *l, const char *path)
{
    line_begin(l);
    text_put(l->out, gufo_str_of(path), TEXT_PLAIN);
    fputs(": ", l->out);
}

static void print_facts(const char *path, const gufo_import_facts *facts)
{
    line l;

    begin_line(&l, path);
    fprintf(l.out, "%s, %s", facts->family, facts->container);
    if (facts->version > 0)
        fprintf(l.out, " version %" PRIu32, facts->version);
    fprintf(l.out, ", %s", human_file_size(facts->size).text);
    if (facts->parts > 1)
        fprintf(l.out, " in %" PRIu32 " files", facts->parts);
    if (facts->vocabulary > 0)
        fprintf(l.out, ", %s tokens", human_grouped(facts->vocabulary).text);
    line_end(&l);
}

static void print_settings(bool color, const char *title, const record_type *type,
                           const record_list *list)
{
    table t = record_table(type, 2);
    uint64_t count = record_fit(&t, type, list);

    if (count == 0)
        return;
    table_title(color, title, count, count);
    table_heads(&t);
    record_put_all(&t, type, list);
}

static void print_output(const output_row *output)
{
    line l;

    begin_line(&l, output->path);
    fprintf(l.out, "%s, %s", human_file_size(output->made.size).text,
            human_counted(output->made.tensor_count, "tensor", "tensors").text);
    line_end(&l);
    if (!output->verdict.checked)
        return;
    begin_line(&l, output->path);
    fprintf(l.out, "%s: %s, %s", output->verdict.valid ? "valid" : "invalid",
            human_counted(output->verdict.errors, "error", "errors").text,
            human_counted(output->verdict.warnings, "warning", "warnings").text);
    line_end(&l);
}

void migrate_report(const migration *m)
{
    const shared_options *shared = m->options->base.shared;
    uint64_t next = 0;
    const setting_rows known = {m, GUFO_SETTING_KNOWN, &next},
                       assumed = {m, GUFO_SETTING_ASSUMED, &next},
                       missing = {m, GUFO_SETTING_MISSING, &next};
    result r = {.dry_run = m->options->dry_run,
                .facts = gufo_import_describe(m->import),
                .parts = {.make = make_part, .context = m->import},
                .known = {.make = make_setting, .context = &known},
                .assumed = {.make = make_setting, .context = &assumed},
                .missing = {.make = make_setting, .context = &missing},
                .warnings = {.make = make_warning, .context = m->import},
                .tensors = {.make = make_tensor, .context = m},
                .output = {.path = m->output, .verdict = m->verdict}};
    bool color = options_color(shared);

    (void)gufo_job_output_at(m->job, 0, &r.output.made);
    if (shared->json) {
        record_write_document(m->options->input, &result_type, &r);
    } else if (!shared->quiet) {
        print_facts(m->options->input, &r.facts);
        print_settings(color, "Known", &known_type, &r.known);
        print_settings(color, "Assumed", &assumed_type, &r.assumed);
        print_settings(color, "Missing", &missing_type, &r.missing);
        print_tensors(m);
        print_output(&r.output);
    }
}
