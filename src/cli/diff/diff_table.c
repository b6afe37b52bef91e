/* gufo diff with several candidates for people: a table of tensors with columns for each candidate,
 * one of candidates, and where bytes were spent best.
 *
 *     Candidate 1: q4.gguf
 *     Candidate 2: q8.gguf
 *
 *     Tensor         Shape  Type  Bytes  Type 1  Bytes 1   Loss 1   RMSE 1  Type 2 ...
 *     output.weight     64  F16     128  Q4_0         36  0.00404  0.00464  Q8_0
 *
 * Rows are written as they come, in columns that were made wide enough before. */
#include "cli/core/values/number.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/records/tensor_text.h"
#include "cli/diff/diff_candidates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where bytes were spent best: candidates in the order of their sizes, and for each step from one to
 * the next the tensors that lose less for their additional bytes.
 *
 *     candidate 2, 4 MB  ->  candidate 1, 6 MB
 *         blk.0.ffn_down.weight   Q4_K -> Q6_K   1 MB more, loss 0.004 less */

diff_steps diff_steps_of(const gufo_candidate *candidates, size_t count)
{
    size_t order[GUFO_COMPARE_CANDIDATES];
    diff_steps s = {.count = count - 1};

    for (size_t k = 0; k < count; k++) {
        size_t at = k;

        for (; at > 0 && candidates[order[at - 1]].bytes > candidates[k].bytes; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (size_t i = 0; i + 1 < count; i++)
        s.steps[i] =
            (diff_step){.from = order[i],
                        .to = order[i + 1],
                        .bytes = candidates[order[i + 1]].bytes - candidates[order[i]].bytes};
    return s;
}

/* The loss that a million bytes save. */
static double diff_gain_rate(uint64_t bytes, double loss)
{
    return loss / (double)bytes * 1e6;
}

/* Keeps the gain if it is one of the best; of two that are equal, the first. */
static void keep(diff_step *step, const diff_gain *gain)
{
    double rate = diff_gain_rate(gain->bytes, gain->loss);
    size_t at = 0;

    while (at < step->count && diff_gain_rate(step->best[at].bytes, step->best[at].loss) >= rate)
        at++;
    if (at == DIFF_BEST)
        return;
    step->count += step->count < DIFF_BEST;
    memmove(&step->best[at + 1], &step->best[at], (step->count - 1 - at) * sizeof *gain);
    step->best[at] = *gain;
}

static void add(diff_step *step, const gufo_tensor_difference *from,
                const gufo_tensor_difference *to)
{
    diff_gain gain = {.name = from->a.name, .from = from->b.type, .to = to->b.type};
    double before, after;

    if (!gufo_tensor_difference_loss(from, &before) || !gufo_tensor_difference_loss(to, &after))
        return;
    gain.loss = before - after;
    step->loss += gain.loss;
    if (gain.loss <= 0 || to->b.size <= from->b.size)
        return;
    gain.bytes = to->b.size - from->b.size;
    keep(step, &gain);
}

void diff_steps_add(diff_steps *s, const gufo_tensor_difference *row)
{
    for (size_t i = 0; i < s->count; i++)
        add(&s->steps[i], &row[s->steps[i].from], &row[s->steps[i].to]);
}

/* What a cell of a candidate says: a measure, or a word where it is not known. */

const gufo_tensor *diff_row_tensor(const gufo_tensor_difference *row, size_t count)
{
    size_t k = 0;

    if (row[0].a.name.data != NULL)
        return &row[0].a;
    while (k + 1 < count && row[k].b.name.data == NULL)
        k++;
    return &row[k].b;
}

const char *diff_note_word(const gufo_tensor_difference *d)
{
    static const char *const words[] = {[GUFO_DIFFERENCE_NONE] = "same",
                                        [GUFO_DIFFERENCE_ADDED] = "added",
                                        [GUFO_DIFFERENCE_REMOVED] = "missing"};
    double loss;

    if (d->a.name.data == NULL && d->b.name.data == NULL)
        return "";
    if (d->kind != GUFO_DIFFERENCE_CHANGED)
        return words[d->kind];
    if (d->shape)
        return "shape";
    if (!d->has_values)
        return "unknown";
    if (d->values.nonfinite > 0)
        return "nonfinite";
    return gufo_tensor_difference_loss(d, &loss) ? "" : "infinite";
}

bool diff_rmse(const gufo_tensor_difference *d, double *rmse)
{
    *rmse = d->values.rmse;
    return (d->has_values && d->values.compared > 0) ||
           (d->kind == GUFO_DIFFERENCE_NONE && d->a.name.data != NULL);
}

enum { FIRST = 4, EACH = DIFF_COLUMNS }; /* columns of the original, of a candidate */

_Static_assert(FIRST + EACH * GUFO_COMPARE_CANDIDATES <= (int)TABLE_CELLS,
               "a table has room for every column");

/* ---- tensors -------------------------------------------------------------------------------- */

/* A narrow terminal drops columns in this order: RMSE, bytes, the shape, types, losses; of each kind
 * the last candidate's first.  The first loss stays. */
static unsigned drop_of(size_t column, unsigned candidate)
{
    static const unsigned order[EACH] = {100, 300, 0, 400};

    return order[column] + candidate;
}

static void make_table(candidates_report *r)
{
    static const table_column kinds[EACH] = {
        {"Type", -6, 0}, {"Bytes", 7, 0}, {"Loss", 9, 0}, {"RMSE", 9, 0}};
    table_column columns[TABLE_CELLS] = {
        {"Tensor", -6, 0}, {"Shape", -5, 200}, {"Type", -4, 150}, {"Bytes", 5, 250}};

    for (size_t k = 0; k < r->count; k++) {
        for (size_t i = 0; i < EACH; i++) {
            char *head = r->heads[k][i];

            snprintf(head, sizeof r->heads[k][i], "%s %u", kinds[i].head, (unsigned)k + 1);
            columns[FIRST + EACH * k + i] =
                (table_column){head, kinds[i].width, drop_of(i, (unsigned)k)};
        }
    }
    r->table = table_of(columns, FIRST + EACH * r->count);
    r->table.indent = 0;
    r->table.most_name = SIZE_MAX;
}

static void add_tensor(table_row *row, const gufo_tensor *tensor)
{
    bool known = tensor->name.data != NULL;

    row_text(row, "%s", known ? tensor_type_text(tensor->type).text : "-");
    row_text(row, "%s", known ? human_grouped(tensor->size).text : "-");
}

/* The tensors of all models, those of the original first. */
static bool make_name(const void *context, uint64_t index, table_row *row)
{
    const candidates_report *r = context;
    gufo_tensor tensor;
    size_t k = 0;

    while (k < r->count && index >= gufo_tensor_count(r->models[k]))
        index -= gufo_tensor_count(r->models[k++]);
    if (!gufo_tensor_at(r->models[k], index, &tensor))
        return false;
    row_str(row, tensor.name);
    return true;
}

/* Makes the columns as wide as the tensors of all models need, without what is measured. */
static void fit(candidates_report *r)
{
    gufo_tensor tensor;

    for (size_t k = 0; k <= r->count; k++) {
        for (uint64_t i = 0; gufo_tensor_at(r->models[k], i, &tensor); i++) {
            table_row row = {0};

            row_str(&row, tensor.name);
            row_text(&row, "%s", tensor_shape_text(&tensor, " x ").text);
            while (k > 0 && row.count < FIRST + EACH * (k - 1))
                row_str(&row, (gufo_str){"", 0});
            add_tensor(&row, &tensor);
            table_fit(&r->table, &row);
        }
    }
    table_fit_names(&r->table, make_name, r);
}

static void begin(candidates_report *r)
{
    make_table(r);
    fit(r);
    for (size_t k = 1; k <= r->count; k++)
        text_print("Candidate %zu: %s\n", k, r->paths[k]);
    putchar('\n');
    table_heads(&r->table);
}

static void add_candidate(table_row *row, const gufo_tensor_difference *d)
{
    const char *word = diff_note_word(d);
    double number;

    add_tensor(row, &d->b);
    if (d->kind != GUFO_DIFFERENCE_NONE && gufo_tensor_difference_loss(d, &number))
        row_text(row, "%.3g%s", number, d->values.nonfinite > 0 ? "*" : "");
    else
        row_text(row, "%s", word[0] != '\0' ? word : "-");
    if (diff_rmse(d, &number))
        row_text(row, "%.4g", number);
    else
        row_text(row, "-");
}

static void put_row(candidates_report *r, const gufo_tensor_difference *row)
{
    const gufo_tensor *tensor = diff_row_tensor(row, r->count);
    table_row cells = {0};

    row_str(&cells, tensor->name);
    row_text(&cells, "%s", tensor_shape_text(tensor, " x ").text);
    add_tensor(&cells, &row[0].a);
    for (size_t k = 0; k < r->count; k++)
        add_candidate(&cells, &row[k]);
    progress_end(&r->bar);
    table_put(&r->table, &cells);
}

/* ---- candidates ----------------------------------------------------------------------------- */

static bool make_sum_row(const void *context, uint64_t index, table_row *row)
{
    const candidates_report *r = context;
    const gufo_candidate *sum = &r->sums[index];

    if (index >= r->count)
        return false;
    row_str(row, gufo_str_of(r->paths[index + 1]));
    row_text(row, "%" PRIu64, index + 1);
    row_text(row, "%s", human_file_size(sum->bytes).text);
    row_text(row, "%.2f", tensor_bits(sum->bytes, sum->elements));
    row_text(row, "%.3g", sum->loss);
    for (size_t i = 0; i < GUFO_DIFFERENCE_COUNT; i++)
        row_text(row, "%s", human_grouped(sum->tensors[i]).text);
    row_text(row, "%s", human_grouped(sum->unmeasured).text);
    return true;
}

static void put_sums(const candidates_report *r)
{
    static const table_column columns[] = {
        {"Candidate", -9, 0}, {"No.", 3, 0},        {"Size", 10, 0}, {"Bits/weight", 11, 5},
        {"Loss", 9, 0},       {"Same", 4, 4},       {"Added", 5, 2}, {"Removed", 7, 2},
        {"Changed", 7, 1},    {"Unmeasured", 10, 3}};
    table t = table_of(columns, sizeof columns / sizeof *columns);

    t.indent = 0;
    table_print(&t, make_sum_row, r);
}

/* ---- where bytes were spent best ------------------------------------------------------------ */

static bool make_gain_row(const void *context, uint64_t index, table_row *row)
{
    const diff_step *step = context;
    const diff_gain *gain = &step->best[index];

    if (index >= step->count)
        return false;
    row_str(row, gain->name);
    row_text(row, "%s", tensor_type_text(gain->from).text);
    row_text(row, "%s", tensor_type_text(gain->to).text);
    row_text(row, "%s", human_grouped(gain->bytes).text);
    row_text(row, "%.3g", gain->loss);
    row_text(row, "%.3g", diff_gain_rate(gain->bytes, gain->loss));
    return true;
}

static void put_step(const diff_step *step)
{
    static const table_column columns[] = {{"Tensor", -6, 0},   {"From", -4, 3},
                                           {"To", -4, 2},       {"More bytes", 10, 1},
                                           {"Less loss", 9, 0}, {"Per MB", 9, 0}};
    table t = table_of(columns, sizeof columns / sizeof *columns);
    line l;

    line_begin(&l);
    fprintf(l.out, "From %zu to %zu: %s more, loss %.3g %s", step->from + 1, step->to + 1,
            human_counted(step->bytes, "byte", "bytes").text,
            step->loss < 0 ? -step->loss : step->loss, step->loss < 0 ? "more" : "less");
    if (step->bytes > 0 && step->loss > 0)
        fprintf(l.out, ", %.3g per MB", diff_gain_rate(step->bytes, step->loss));
    line_end(&l);
    if (step->count > 0)
        table_print(&t, make_gain_row, step);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void put_end(candidates_report *r, const gufo_error *failure)
{
    uint64_t nonfinite = 0;

    if (failure != NULL)
        return;
    for (size_t k = 0; k < r->count; k++)
        nonfinite += r->sums[k].nonfinite;
    if (nonfinite > 0)
        printf("(* without pairs in which a value is infinite or NaN)\n");
    putchar('\n');
    put_sums(r);
    for (size_t i = 0; i < r->steps.count; i++) {
        putchar('\n');
        put_step(&r->steps.steps[i]);
    }
}

const candidates_form candidates_table = {begin, put_row, put_end};
