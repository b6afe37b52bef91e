/* gufo diff with several candidates: a table of tensors with columns for each candidate, one of candidates, and
 * where bytes were spent best.
 *
 *     Candidate 1: q4.gguf
 *     Candidate 2: q8.gguf
 *
 *     Tensor         Shape  Type  Bytes  Type 1  Bytes 1   Loss 1   RMSE 1  Type 2 ...
 *     output.weight     64  F16     128  Q4_0         36  0.00404  0.00464  Q8_0
 *
 * The same with --json is one object,
 *
 *     {"original":PATH,"candidates":[{"path":PATH},...],"tensors":[{"name":...,"candidates":[...]},
 *      ...],"totals":[...],"steps":[...],"same":false}
 *
 * and in the file of --report a row for every tensor, with five columns for every candidate.  Rows are written as
 * they come, in columns of the table that were made wide enough before. */
#include "cli/diff/diff_candidates.h"

#include "cli/core/records/model_json.h"
#include "cli/core/records/quoting.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/line.h"
#include "cli/core/values/number.h"

#include <stdio.h>
#include <string.h>

/* ---- tensors -------------------------------------------------------------------------------- */

/* What a candidate makes of a tensor. */
typedef struct candidate_row {
    gufo_tensor_difference d;
    bool is_there, has_tensor, has_loss, has_rmse;
    double loss, rmse;
    char shown[24]; /* the loss, or a word where it is not known */
    const char *note;
    diff_values values;
} candidate_row;

static const record_field candidate_fields[] = {
    {"difference", NULL, RECORD_CHOICE, RECORD_AT(candidate_row, d.kind), .words = diff_kind_names},
    {NULL, NULL, RECORD_RECORD, RECORD_AT(candidate_row, d.b),
     RECORD_GIVEN(candidate_row, has_tensor), .of = &diff_tensor_type},
    {"loss", NULL, RECORD_REAL, RECORD_AT(candidate_row, loss),
     RECORD_KNOWN(candidate_row, has_loss), .column = "relative_squared_error"},
    {NULL, "Loss", RECORD_CHARS, RECORD_AT(candidate_row, shown), .width = 7},
    {NULL, "RMSE", RECORD_REAL, RECORD_AT(candidate_row, rmse),
     RECORD_KNOWN(candidate_row, has_rmse), .width = 7, .format = "%.4g", .column = "rmse"},
    {NULL, NULL, RECORD_WORD, RECORD_AT(candidate_row, note), .column = "note"},
    {"values", NULL, RECORD_RECORD, RECORD_AT(candidate_row, values),
     RECORD_GIVEN(candidate_row, d.has_values), .of = &diff_values_type},
};
static const record_type candidate_type = RECORD_OF(candidate_row, candidate_fields, 0);

/* null, where neither the original nor the candidate has the tensor. */
static const record_field listed_fields[] = {
    {NULL, NULL, RECORD_RECORD, .bytes = sizeof(candidate_row),
     RECORD_KNOWN(candidate_row, is_there), .of = &candidate_type}};
static const record_type listed_type = RECORD_BARE(candidate_row, listed_fields);

typedef struct original_row {
    gufo_tensor tensor; /* that of the original, or of a candidate */
    bool has_original;
    record_list candidates;
} original_row;

static const record_field original_fields[] = {
    {"name", "Tensor", RECORD_STR, RECORD_AT(original_row, tensor.name), .width = -6,
     .column = "tensor"},
    {NULL, "Shape", RECORD_SHAPE, RECORD_AT(original_row, tensor), .width = -5, .column = "shape"},
    {NULL, NULL, RECORD_RECORD, RECORD_AT(original_row, tensor),
     RECORD_GIVEN(original_row, has_original), .of = &diff_tensor_type},
    {"candidates", NULL, RECORD_LIST, RECORD_AT(original_row, candidates), .of = &listed_type},
};
static const record_type original_type = RECORD_OF(original_row, original_fields, 0);

const gufo_tensor *diff_row_tensor(const gufo_tensor_difference *row, size_t count)
{
    size_t k = 0;

    if (row[0].a.name.data != NULL)
        return &row[0].a;
    while (k + 1 < count && row[k].b.name.data == NULL)
        k++;
    return &row[k].b;
}

/* A word for a candidate without a loss, and for one whose loss says too little; "" for others. */
static const char *note_of(const gufo_tensor_difference *d)
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

/* The root mean square of the differences; false where it is not known. */
static bool find_rmse(const gufo_tensor_difference *d, double *rmse)
{
    *rmse = d->values.rmse;
    return (d->has_values && d->values.compared > 0) ||
           (d->kind == GUFO_DIFFERENCE_NONE && d->a.name.data != NULL);
}

static candidate_row candidate_of(const gufo_tensor_difference *d)
{
    candidate_row c = {.d = *d,
                       .is_there = d->a.name.data != NULL || d->b.name.data != NULL,
                       .has_tensor = d->b.name.data != NULL,
                       .note = note_of(d),
                       .values = diff_values_of(d)};

    c.has_loss = gufo_tensor_difference_loss(d, &c.loss);
    c.has_rmse = find_rmse(d, &c.rmse);
    if (d->kind != GUFO_DIFFERENCE_NONE && c.has_loss)
        snprintf(c.shown, sizeof c.shown, "%.3g%s", c.loss, d->values.nonfinite > 0 ? "*" : "");
    else
        snprintf(c.shown, sizeof c.shown, "%s", c.note);
    return c;
}

static original_row original_of(const gufo_tensor_difference *row, size_t count)
{
    return (original_row){.tensor = *diff_row_tensor(row, count),
                          .has_original = row[0].a.name.data != NULL};
}

/* ---- tensors in a table --------------------------------------------------------------------- */

enum { FIRST = 4, EACH = DIFF_COLUMNS }; /* columns of the original, of a candidate */

_Static_assert(FIRST + EACH * GUFO_COMPARE_CANDIDATES <= (int)TABLE_CELLS,
               "a table has room for every column");

static void make_table(candidates_report *r)
{
    /* A narrow terminal drops columns in this order: RMSE, bytes, the shape, types, losses; of each kind
     * the last candidate's first.  The first loss stays. */
    static const unsigned drops[FIRST + EACH] = {0, 200, 150, 250, 100, 300, 0, 400};
    table_column columns[TABLE_CELLS];
    size_t count = record_columns(&original_type, columns);

    for (size_t i = 0; i < count; i++)
        columns[i].drop = drops[i];
    for (size_t k = 0; k < r->count; k++) {
        table_column *added = columns + count;

        count += record_columns(&candidate_type, added);
        for (size_t i = 0; i < EACH; i++) {
            snprintf(r->heads[k][i], sizeof r->heads[k][i], "%s %zu", added[i].head, k + 1);
            added[i].head = r->heads[k][i];
            added[i].width += added[i].width < 0 ? -2 : 2;
            added[i].drop = drops[FIRST + i] + (unsigned)k;
        }
    }
    r->table = table_of(columns, count);
    r->table.indent = 0;
    r->table.most_name = SIZE_MAX;
}

/* The tensors of all models, those of the original first. */
static bool make_name(const void *context, uint64_t index, table_row *row)
{
    const candidates_report *r = context;
    gufo_tensor tensor;
    size_t k = 0;

    while (k < r->count && index >= gufo_model_tensor_count(r->models[k]))
        index -= gufo_model_tensor_count(r->models[k++]);
    if (!gufo_model_tensor_at(r->models[k], index, &tensor))
        return false;
    row_str(row, tensor.name);
    return true;
}

/* Makes the columns as wide as the tensors of all models need, without what is measured. */
static void fit_table(candidates_report *r)
{
    original_row original = {.has_original = true};

    for (size_t k = 0; k <= r->count; k++, original.has_original = false) {
        for (uint64_t i = 0; gufo_model_tensor_at(r->models[k], i, &original.tensor); i++) {
            const candidate_row candidate = {.d.b = original.tensor, .has_tensor = true};
            table_row row = {0};

            record_cells(&original_type, &original, &row);
            for (size_t n = 1; n <= k; n++)
                record_cells(&candidate_type, n < k ? NULL : &candidate, &row);
            table_fit(&r->table, &row);
        }
    }
    table_fit_names(&r->table, make_name, r);
}

static void begin_table(candidates_report *r)
{
    make_table(r);
    fit_table(r);
    for (size_t k = 1; k <= r->count; k++)
        text_print("Candidate %zu: %s\n", k, r->paths[k]);
    putchar('\n');
    table_heads(&r->table);
}

static void put_row(candidates_report *r, const gufo_tensor_difference *row)
{
    const original_row original = original_of(row, r->count);
    candidate_row candidates[GUFO_COMPARE_CANDIDATES]; /* cells point into them */
    table_row cells = {0};

    record_cells(&original_type, &original, &cells);
    for (size_t k = 0; k < r->count; k++) {
        candidates[k] = candidate_of(&row[k]);
        record_cells(&candidate_type, &candidates[k], &cells);
    }
    progress_end(&r->bar);
    table_put(&r->table, &cells);
}

/* ---- candidates ----------------------------------------------------------------------------- */

typedef struct sum_row {
    const char *path;
    uint64_t number;
    gufo_candidate sum;
    double bits;
} sum_row;

static const record_field sum_fields[] = {
    {NULL, "Candidate", RECORD_TEXT, RECORD_AT(sum_row, path), .width = -9},
    {NULL, "No.", RECORD_PLAIN, RECORD_AT(sum_row, number), .width = 3},
    {"size", "Size", RECORD_BYTES, RECORD_AT(sum_row, sum.bytes), .width = 10},
    {"bits_per_weight", "Bits/weight", RECORD_REAL, RECORD_AT(sum_row, bits), .width = 11,
     .drop = 5, .format = "%.2f"},
    {"loss", "Loss", RECORD_REAL, RECORD_AT(sum_row, sum.loss), .width = 9},
    {"tensor_counts", NULL, RECORD_RECORD, RECORD_AT(sum_row, sum.tensors),
     .of = &diff_counts_type},
    {"unmeasured", "Unmeasured", RECORD_COUNT, RECORD_AT(sum_row, sum.unmeasured), .width = 10,
     .drop = 3},
    {"nonfinite", NULL, RECORD_COUNT, RECORD_AT(sum_row, sum.nonfinite)},
    {"same", NULL, RECORD_FLAG, RECORD_AT(sum_row, sum.same)},
};
static const record_type sum_type = RECORD_OF(sum_row, sum_fields, 0);

static bool make_sum(const void *context, uint64_t index, void *record)
{
    const candidates_report *r = context;
    const gufo_candidate *sum = &r->sums[index];

    if (index < r->count)
        *(sum_row *)record =
            (sum_row){r->paths[index + 1], index + 1, *sum, tensor_bits(sum->bytes, sum->elements)};
    return index < r->count;
}

/* ---- where bytes were spent best ------------------------------------------------------------ */

/* Candidates are in the order of their sizes, and for each step from one to
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

static double rate_of(uint64_t bytes, double loss)
{
    return loss / (double)bytes * 1e6;
}

/* Keeps the gain if it is one of the best; of two that are equal, the first. */
static void keep(diff_step *step, const diff_gain *gain)
{
    size_t at = 0;

    while (at < step->count && step->best[at].rate >= gain->rate)
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
    gain.rate = rate_of(gain.bytes, gain.loss);
    keep(step, &gain);
}

void diff_steps_add(diff_steps *s, const gufo_tensor_difference *row)
{
    for (size_t i = 0; i < s->count; i++)
        add(&s->steps[i], &row[s->steps[i].from], &row[s->steps[i].to]);
}

static const record_field gain_fields[] = {
    {"name", "Tensor", RECORD_STR, RECORD_AT(diff_gain, name), .width = -6},
    {"from", "From", RECORD_TYPE, RECORD_AT(diff_gain, from), .width = -4, .drop = 3},
    {"to", "To", RECORD_TYPE, RECORD_AT(diff_gain, to), .width = -4, .drop = 2},
    {"bytes", "More bytes", RECORD_COUNT, RECORD_AT(diff_gain, bytes), .width = 10, .drop = 1},
    {"loss", "Less loss", RECORD_REAL, RECORD_AT(diff_gain, loss), .width = 9},
    {NULL, "Per MB", RECORD_REAL, RECORD_AT(diff_gain, rate), .width = 9},
};
static const record_type gain_type = RECORD_OF(diff_gain, gain_fields, 0);

/* Candidates by their places in the list. */
typedef struct step_row {
    diff_step step;
    record_list best;
} step_row;

static const record_field step_fields[] = {
    {"from", NULL, RECORD_PLAIN, RECORD_AT(step_row, step.from)},
    {"to", NULL, RECORD_PLAIN, RECORD_AT(step_row, step.to)},
    {"bytes", NULL, RECORD_COUNT, RECORD_AT(step_row, step.bytes)},
    {"loss", NULL, RECORD_REAL, RECORD_AT(step_row, step.loss)},
    {"best", NULL, RECORD_LIST, RECORD_AT(step_row, best), .of = &gain_type},
};
static const record_type step_type = RECORD_OF(step_row, step_fields, 0);

static record_list gains_of(const diff_step *step)
{
    return (record_list){.items = step->best, .count = step->count};
}

static bool make_step(const void *context, uint64_t index, void *record)
{
    const diff_steps *s = context;

    if (index < s->count)
        *(step_row *)record = (step_row){s->steps[index], gains_of(&s->steps[index])};
    return index < s->count;
}

static void put_step(const diff_step *step)
{
    const record_list gains = gains_of(step);
    table t = record_table(&gain_type, 2);
    line l;

    line_begin(&l);
    fprintf(l.out, "From %zu to %zu: %s more, loss %.3g %s", step->from + 1, step->to + 1,
            human_counted(step->bytes, "byte", "bytes").text,
            step->loss < 0 ? -step->loss : step->loss, step->loss < 0 ? "more" : "less");
    if (step->bytes > 0 && step->loss > 0)
        fprintf(l.out, ", %.3g per MB", rate_of(step->bytes, step->loss));
    line_end(&l);
    if (step->count > 0)
        record_print(&t, &gain_type, &gains);
}

static void end_table(candidates_report *r, const gufo_error *failure)
{
    const record_list sums = {.make = make_sum, .context = r};
    table t = record_table(&sum_type, 0);
    uint64_t nonfinite = 0;

    if (failure != NULL)
        return;
    for (size_t k = 0; k < r->count; k++)
        nonfinite += r->sums[k].nonfinite;
    if (nonfinite > 0)
        printf("(* without pairs in which a value is infinite or NaN)\n");
    putchar('\n');
    record_print(&t, &sum_type, &sums);
    for (size_t i = 0; i < r->steps.count; i++) {
        putchar('\n');
        put_step(&r->steps.steps[i]);
    }
}

const candidates_form candidates_table = {begin_table, put_row, end_table};

/* ---- JSON ----------------------------------------------------------------------------------- */

static void begin_json(candidates_report *r)
{
    json_writer *j = &r->j;

    json_begin_object(j, NULL);
    json_write_text(j, "original", r->paths[0]);
    model_json_shards(j, "shards", r->models[0]);
    json_begin_array(j, "candidates");
    for (size_t k = 1; k <= r->count; k++) {
        json_begin_object(j, NULL);
        json_write_text(j, "path", r->paths[k]);
        model_json_shards(j, "shards", r->models[k]);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "tensors");
}

typedef struct candidate_cells {
    const gufo_tensor_difference *row;
    size_t count;
} candidate_cells;

static bool make_candidate(const void *context, uint64_t index, void *record)
{
    const candidate_cells *cells = context;

    if (index < cells->count)
        *(candidate_row *)record = candidate_of(&cells->row[index]);
    return index < cells->count;
}

static void write_row(candidates_report *r, const gufo_tensor_difference *row)
{
    const candidate_cells cells = {row, r->count};
    original_row original = original_of(row, r->count);

    original.candidates = (record_list){.make = make_candidate, .context = &cells};
    progress_end(&r->bar);
    record_write(&r->j, NULL, &original_type, &original);
}

static void end_json(candidates_report *r, const gufo_error *failure)
{
    json_writer *j = &r->j;
    bool same = true;

    json_end_array(j);
    for (size_t k = 0; k < r->count; k++)
        same = same && r->sums[k].same;
    if (failure != NULL) {
        json_write_text(j, "error", failure->message);
    } else {
        record_write_list(j, "totals", &sum_type, &(record_list){.make = make_sum, .context = r});
        record_write_list(j, "steps", &step_type,
                          &(record_list){.make = make_step, .context = &r->steps});
        json_write_bool(j, "same", same);
    }
    json_end_document(j);
}

const candidates_form candidates_json = {begin_json, write_row, end_json};

/* ---- the file of --report ------------------------------------------------------------------- */

static void begin_csv(candidates_report *r)
{
    record_csv_heads(r->csv.out, &original_type, NULL, true);
    for (size_t k = 1; k <= r->count; k++)
        record_csv_heads(r->csv.out, &candidate_type, r->paths[k], false);
    fputs("\r\n", r->csv.out);
}

static void put_csv_row(candidates_report *r, const gufo_tensor_difference *row)
{
    const original_row original = original_of(row, r->count);

    record_csv_cells(r->csv.out, &original_type, &original, true);
    for (size_t k = 0; k < r->count; k++) {
        const candidate_row candidate = candidate_of(&row[k]);

        record_csv_cells(r->csv.out, &candidate_type, &candidate, false);
    }
    fputs("\r\n", r->csv.out);
}

const candidates_form candidates_csv = {begin_csv, put_csv_row, NULL};
