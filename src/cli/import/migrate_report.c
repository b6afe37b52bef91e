/* The report of gufo migrate, for people:
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
#include "cli/core/values/number.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/records/table.h"
#include "cli/core/values/value.h"
#include "cli/import/migrate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tensors -------------------------------------------------------------------------------- */

/* What became of the tensors of an old type. */
typedef struct way {
    const char *from;
    const gufo_element_type *to;
    uint64_t tensors, exact;
    bool measured;
    double max_abs_err;
} way;

enum {
    MOST_WAYS = 64
}; /* more than there are pairs of types; what is beyond is counted in the last */

typedef struct ways {
    way list[MOST_WAYS];
    size_t count;
    uint64_t tensors;
} ways;

static way *find_way(ways *all, const migrate_tensor *tensor)
{
    size_t i = 0;

    while (i < all->count &&
           (all->list[i].to != tensor->to || strcmp(all->list[i].from, tensor->old.from) != 0))
        i++;
    if (i == MOST_WAYS)
        return &all->list[MOST_WAYS - 1];
    if (i == all->count)
        all->list[all->count++] =
            (way){.from = tensor->old.from, .to = tensor->to, .measured = true};
    return &all->list[i];
}

static void count_ways(const migration *m, ways *all)
{
    migrate_tensor tensor;

    *all = (ways){.count = 0};
    for (; migrate_tensor_at(m, all->tensors, &tensor); all->tensors++) {
        way *w = find_way(all, &tensor);

        w->tensors++;
        w->exact += tensor.exact;
        w->measured = w->measured && tensor.measured;
        w->max_abs_err = fmax(w->max_abs_err, tensor.max_abs_err);
    }
}

static bool make_way_row(const void *context, uint64_t index, table_row *row)
{
    const ways *all = context;
    const way *w = &all->list[index];

    if (index >= all->count)
        return false;
    row_text(row, "%s", w->from);
    row_text(row, "%s", w->to != NULL ? w->to->name : "-");
    row_text(row, "%s", human_grouped(w->tensors).text);
    if (w->measured) {
        row_text(row, "%s", human_grouped(w->exact).text);
        row_text(row, "%.3g", w->max_abs_err);
    } else {
        row_text(row, "-");
        row_text(row, "-");
    }
    return true;
}

static void put_tensors(const migration *m, bool color)
{
    static const table_column columns[] = {{"from", -4, 0},
                                           {"to", -4, 0},
                                           {"tensors", 7, 0},
                                           {"exact", 5, 2},
                                           {"largest error", 13, 1}};
    table t = table_of(columns, sizeof columns / sizeof *columns);
    ways all;

    count_ways(m, &all);
    table_title(color, "Tensors", all.tensors, all.tensors);
    table_print(&t, make_way_row, &all);
}

/* ---- settings ------------------------------------------------------------------------------- */

/* A value in one line; of a missing one its type. */
typedef struct value_text {
    char text[80];
} value_text;

static value_text text_of(const gufo_import_setting *setting)
{
    const value_style style = {
        .limit = 2, .columns = 40, .array_columns = 30, .string_columns = 12};
    value_text value = {""};
    FILE *out;

    if (setting->origin == GUFO_SETTING_MISSING) {
        snprintf(value.text, sizeof value.text, "(%s)", migrate_type_name(setting));
        return value;
    }
    out = fmemopen(value.text, sizeof value.text, "w");
    if (out != NULL) {
        (void)value_put_line(out, &setting->value, &style);
        (void)fclose(out);
    }
    value.text[sizeof value.text - 1] = '\0';
    return value;
}

typedef struct setting_rows {
    const migration *m;
    gufo_setting_origin origin;
    uint64_t *next; /* where the search for the next row begins */
} setting_rows;

/* What is known has no reason, but an origin; its values, of any text, come last. */
static bool make_setting_row(const void *context, uint64_t index, table_row *row)
{
    const setting_rows *rows = context;
    gufo_import_setting setting;

    *rows->next = index > 0 ? *rows->next : 0;
    if (!migrate_next_setting(rows->m, rows->origin, rows->next, &setting))
        return false;
    row_str(row, setting.key);
    if (rows->origin == GUFO_SETTING_KNOWN)
        row_text(row, "%s", setting.origin == GUFO_SETTING_KNOWN ? "given" : "OLD");
    row_text(row, "%s", text_of(&setting).text);
    if (rows->origin != GUFO_SETTING_KNOWN)
        row_text(row, "%s%s", setting.why != NULL ? setting.why : "",
                 setting.required && rows->origin == GUFO_SETTING_MISSING ? " (needed)" : "");
    return true;
}

static void put_settings(const migration *m, const char *title, gufo_setting_origin origin)
{
    static const table_column known[] = {{"key", -3, 0}, {"from", -5, 1}, {"value", -5, 0}},
                              others[] = {{"key", -3, 0}, {"value", -5, 0}, {"why", -3, 0}};
    table t = table_of(origin == GUFO_SETTING_KNOWN ? known : others, 3);
    uint64_t next = 0;
    const setting_rows rows = {m, origin, &next};
    uint64_t count = table_fit_all(&t, make_setting_row, &rows);

    if (count == 0)
        return;
    table_title(options_color(m->options->base.shared), title, count, count);
    table_heads(&t);
    table_put_all(&t, make_setting_row, &rows);
}

/* ---- the whole ------------------------------------------------------------------------------ */

void migrate_warn(const migration *m)
{
    const char *path = m->options->input, *warning;
    const char *doubt = gufo_import_describe(m->import).doubt;
    gufo_import_setting setting;

    if (doubt != NULL)
        report_warning(path, "%s", doubt);
    for (uint64_t i = 0; (warning = gufo_import_warning_at(m->import, i)) != NULL; i++)
        report_warning(path, "%s", warning);
    for (uint64_t i = 0; gufo_import_setting_at(m->import, i, &setting); i++) {
        if (setting.origin == GUFO_SETTING_ASSUMED && m->options->yes)
            report_warning(path, "assumed: %.*s = %s (%s)", (int)setting.key.len, setting.key.data,
                           text_of(&setting).text, setting.why);
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

static void put_facts(const migration *m)
{
    const gufo_import_facts facts = gufo_import_describe(m->import);
    line l;

    begin_line(&l, m->options->input);
    fprintf(l.out, "%s, %s", facts.family, facts.container);
    if (facts.version > 0)
        fprintf(l.out, " version %" PRIu32, facts.version);
    fprintf(l.out, ", %s", human_file_size(facts.size).text);
    if (facts.parts > 1)
        fprintf(l.out, " in %" PRIu32 " files", facts.parts);
    if (facts.vocabulary > 0)
        fprintf(l.out, ", %s tokens", human_grouped(facts.vocabulary).text);
    line_end(&l);
}

static void put_output(const migration *m)
{
    const migrate_verdict *verdict = &m->verdict;
    gufo_job_output made = {0};
    line l;

    (void)gufo_job_output_at(m->job, 0, &made);
    begin_line(&l, m->output);
    fprintf(l.out, "%s, %s", human_file_size(made.size).text,
            human_counted(made.tensor_count, "tensor", "tensors").text);
    line_end(&l);
    if (!verdict->checked)
        return;
    begin_line(&l, m->output);
    fprintf(l.out, "%s: %s, %s", verdict->valid ? "valid" : "invalid",
            human_counted(verdict->errors, "error", "errors").text,
            human_counted(verdict->warnings, "warning", "warnings").text);
    line_end(&l);
}

void migrate_report(const migration *m)
{
    put_facts(m);
    put_settings(m, "Known", GUFO_SETTING_KNOWN);
    put_settings(m, "Assumed", GUFO_SETTING_ASSUMED);
    put_settings(m, "Missing", GUFO_SETTING_MISSING);
    put_tensors(m, options_color(m->options->base.shared));
    put_output(m);
}
