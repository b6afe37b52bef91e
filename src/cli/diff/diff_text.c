/* gufo diff for people: a line for each difference, as programs that compare text write them.
 *
 *     Metadata
 *     - general.url       string  "..."
 *     + general.tags      string[]  [2] "a", "b"
 *     ! llama.rope.scale  float32  1 -> float32  2
 *
 *     Tensors
 *     ! output.weight  Q6_K  2048 x 128256 -> Q4_K  2048 x 128256
 *         largest 0.012 at matrix 0, row 17, column 4, RMSE ..., relative RMSE ..., cosine ... */
#include "cli/diff/diff.h"

#include "cli/core/records/table.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"

#include "gufo/quant.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_SHOWN 200 /* columns */

static const char marks[] = {[GUFO_DIFFERENCE_NONE] = ' ',
                             [GUFO_DIFFERENCE_ADDED] = '+',
                             [GUFO_DIFFERENCE_REMOVED] = '-',
                             [GUFO_DIFFERENCE_CHANGED] = '!'};

static const value_style whole_style = {
    .limit = 4, .columns = 48, .array_columns = 48, .string_columns = 20};

/* As programs that compare text colour lines. */
static const char *const colors[] = {[GUFO_DIFFERENCE_NONE] = "",
                                     [GUFO_DIFFERENCE_ADDED] = "\033[32m",
                                     [GUFO_DIFFERENCE_REMOVED] = "\033[31m",
                                     [GUFO_DIFFERENCE_CHANGED] = "\033[33m"};

/* The heading, before the first line. */
static void begin(diff_report *r, bool *begun, bool apart, const char *heading)
{
    progress_end(&r->bar);
    if (!*begun) {
        fputs(apart ? "\n" : "", stdout);
        table_name(options_color(r->options->base.shared), heading);
        putchar('\n');
    }
    *begun = true;
}

static void start_color(const diff_report *r, gufo_difference kind)
{
    fputs(options_color(r->options->base.shared) ? colors[kind] : "", stdout);
}

static void end_color(const diff_report *r)
{
    fputs(options_color(r->options->base.shared) ? "\033[0m" : "", stdout);
}

static void put_name(FILE *out, gufo_difference kind, gufo_str name)
{
    fprintf(out, "%c ", marks[kind]);
    (void)text_put_cut(out, name, TEXT_PLAIN, KEY_SHOWN);
    fputs("  ", out);
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void put_value(FILE *out, const gufo_value *value)
{
    fprintf(out, "%s  ", value_type_name(value).text);
    (void)value_put_line(out, value, &whole_style);
}

static void put_element(FILE *out, const gufo_array *array, uint64_t index)
{
    gufo_value value;

    if (index < array->count && gufo_array_at(array, index, &value, NULL) == GUFO_OK)
        (void)value_put_line(out, &value, &whole_style);
    else
        fputs("none", out);
}

/* Arrays have much in common: only the first difference is reported. */
static void put_arrays(FILE *out, const gufo_entry_difference *d)
{
    const gufo_array *a = &d->a.value.as.array, *b = &d->b.value.as.array;

    fprintf(out, "%s  ", value_type_name(&d->a.value).text);
    if (a->count == b->count)
        fprintf(out, "[%s]", human_grouped(a->count).text);
    else
        fprintf(out, "[%s] -> [%s]", human_grouped(a->count).text, human_grouped(b->count).text);
    fprintf(out, "  from element %" PRIu64 " on: ", d->first);
    put_element(out, a, d->first);
    fputs(" -> ", out);
    put_element(out, b, d->first);
}

static void put_entry_difference(void *report, const gufo_entry_difference *d)
{
    diff_report *r = report;
    const gufo_entry *there = d->kind == GUFO_DIFFERENCE_ADDED ? &d->b : &d->a;
    line l;

    begin(r, &r->metadata_begun, false, "Metadata");
    start_color(r, d->kind);
    line_begin(&l);
    put_name(l.out, d->kind, there->key);
    if (d->has_first) {
        put_arrays(l.out, d);
    } else {
        put_value(l.out, &there->value);
        if (d->kind == GUFO_DIFFERENCE_CHANGED) {
            fputs(" -> ", l.out);
            put_value(l.out, &d->b.value);
        }
    }
    line_end(&l);
    end_color(r);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void put_tensor(FILE *out, const gufo_tensor *tensor)
{
    fprintf(out, "%s  %s", tensor_type_text(tensor->type).text,
            tensor_shape_text(tensor, " x ").text);
}

static void put_values(const gufo_tensor *tensor, const gufo_value_difference *v)
{
    gufo_stats_place place = gufo_stats_place_of(tensor, v->largest_at);
    line l;

    line_begin(&l);
    fprintf(l.out, "    values: largest difference %.4g", v->largest);
    if (v->largest > 0) {
        fputs(" in ", l.out);
        if (tensor->dims[2] > 1 || tensor->dims[3] > 1)
            fprintf(l.out, "matrix %" PRIu64 ", ", place.matrix);
        fprintf(l.out, "row %" PRIu64 ", column %" PRIu64, place.row, place.column);
    }
    fprintf(l.out, "; RMSE %.4g, relative RMSE %.4g, cosine %.7g", v->rmse, v->relative, v->cosine);
    line_end(&l);
    if (v->nonfinite == 0)
        return;
    line_begin(&l);
    fprintf(l.out, "    left out: %s with a value that is infinite or NaN",
            human_counted(v->nonfinite, "pair", "pairs").text);
    line_end(&l);
}

static void put_note(const char *text)
{
    line l;

    line_begin(&l);
    fprintf(l.out, "    %s", text);
    line_end(&l);
}

static void put_tensor_difference(void *report, const gufo_tensor_difference *d)
{
    diff_report *r = report;
    const gufo_tensor *there = d->kind == GUFO_DIFFERENCE_ADDED ? &d->b : &d->a;
    line l;

    begin(r, &r->tensors_begun, r->metadata_begun, "Tensors");
    start_color(r, d->kind);
    line_begin(&l);
    put_name(l.out, d->kind, there->name);
    put_tensor(l.out, there);
    if (d->type || d->shape) {
        fputs(" -> ", l.out);
        put_tensor(l.out, &d->b);
    }
    if (d->unordered)
        fputs("  the byte orders differ, and gufo cannot swap this type", l.out);
    else if (d->data)
        fprintf(l.out, "  data differs from byte %" PRIu64 " on", d->first);
    line_end(&l);
    end_color(r);
    if (d->has_values)
        put_values(&d->a, &d->values);
    else if (r->options->values && d->kind == GUFO_DIFFERENCE_CHANGED)
        put_note(d->shape ? "values: not compared, because the shapes differ"
                          : "values: not compared, because one of them cannot be decoded");
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void put_counts(const char *title, const uint64_t *counts)
{
    line l;

    line_begin(&l);
    fprintf(l.out, "%s: %s same, %s added, %s removed, %s changed", title,
            human_grouped(counts[GUFO_DIFFERENCE_NONE]).text,
            human_grouped(counts[GUFO_DIFFERENCE_ADDED]).text,
            human_grouped(counts[GUFO_DIFFERENCE_REMOVED]).text,
            human_grouped(counts[GUFO_DIFFERENCE_CHANGED]).text);
    line_end(&l);
}

static void put_end(diff_report *r, const gufo_comparison *c, const gufo_error *failure)
{
    if (failure != NULL)
        return;
    if (!c->same)
        putc('\n', stdout);
    text_print("%s and %s %s\n", r->paths[0], r->paths[1], c->same ? "are the same" : "differ");
    if (!c->same) {
        put_counts("keys", c->entries);
        put_counts("tensors", c->tensors);
    }
    for (size_t i = 0; i < DIFF_NOTES; i++)
        if ((c->notes & diff_notes[i].note) != 0)
            printf("(%s)\n", diff_notes[i].text);
}

const diff_form diff_text = {NULL, put_entry_difference, put_tensor_difference, put_end};
