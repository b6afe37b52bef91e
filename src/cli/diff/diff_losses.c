/* gufo diff --values: what lost most.  Rows are kept until all are there, then written in another order,
 * added up by role and by layer, or drawn.
 *
 *     Role         Tensors  Loss 1   Share 1
 *     ffn_down          32  0.00412   31.2 %
 *     attn_v            32  0.00390   12.0 %
 *
 * The loss of several tensors is that of all their elements together: squares of differences by squares of
 * the original.  The share is the part of these squares of differences. */
#include "cli/core/terminal/line.h"
#include "cli/diff/diff_candidates.h"

#include "cli/core/records/layer_map.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "gufo/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool diff_wants_losses(const diff_options *o)
{
    return o->sort != DIFF_BY_FILE || o->top > 0 || o->sums || o->layers;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Out of memory for all rows, the rows stay unsorted; the report says so. */
static void diff_losses_keep(candidates_report *r, const gufo_tensor_difference *row)
{
    diff_kept *kept = array_add(&r->kept, &r->kept_count, sizeof *kept);
    double loss;

    if (kept != NULL)
        kept->row = malloc(r->count * sizeof *row);
    if (kept == NULL || kept->row == NULL) {
        r->kept_count -= kept != NULL;
        r->is_short = true;
        return;
    }
    memcpy(kept->row, row, r->count * sizeof *row);
    kept->order = r->kept_count;
    kept->loss = -1; /* not known: last */
    for (size_t k = 0; k < r->count; k++)
        if (row[k].kind == GUFO_DIFFERENCE_NONE)
            kept->loss = fmax(kept->loss, 0);
        else if (gufo_tensor_difference_loss(&row[k], &loss))
            kept->loss = fmax(kept->loss, loss);
}

void diff_losses_free(candidates_report *r)
{
    for (size_t i = 0; i < r->kept_count; i++)
        free(r->kept[i].row);
    free(r->kept);
}

static int by_order(const void *a, const void *b)
{
    const diff_kept *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

static int by_loss(const void *a, const void *b)
{
    const diff_kept *x = a, *y = b;

    return x->loss != y->loss ? (x->loss < y->loss) - (x->loss > y->loss) : by_order(a, b);
}

static void sort_kept(candidates_report *r, int (*order)(const void *a, const void *b))
{
    if (r->kept_count > 0)
        qsort(r->kept, r->kept_count, sizeof *r->kept, order);
}

static void put_rows(candidates_report *r)
{
    const diff_options *o = r->options;
    uint64_t count = o->top > 0 && o->top < r->kept_count ? o->top : r->kept_count;

    candidates_table.begin(r);
    for (size_t i = 0; i < count; i++)
        candidates_table.row(r, r->kept[i].row);
    if (count < r->kept_count)
        printf("(%s more)\n", human_counted(r->kept_count - count, "tensor", "tensors").text);
    sort_kept(r, by_order);
}

/* ---- sums ----------------------------------------------------------------------------------- */

typedef struct loss_sum {
    gufo_str role;  /* or "" and */
    uint64_t layer; /* the layer */
    uint64_t tensors;
    double difference[GUFO_COMPARE_CANDIDATES], original[GUFO_COMPARE_CANDIDATES], worst;
} loss_sum;

typedef struct loss_sums {
    const candidates_report *r;
    loss_sum *list;
    size_t count;
    double all[GUFO_COMPARE_CANDIDATES];
    bool by_layer;
} loss_sums;

static loss_sum *sum_of(loss_sums *s, gufo_str role, uint64_t layer)
{
    loss_sum *added;

    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].layer == layer && gufo_str_equal(s->list[i].role, role))
            return &s->list[i];
    added = array_add(&s->list, &s->count, sizeof *added);
    if (added != NULL)
        *added = (loss_sum){.role = role, .layer = layer};
    return added;
}

/* Tensors outside of layers have a row of their own in both tables. */
static void add_row(loss_sums *s, const gufo_tensor_difference *row)
{
    uint64_t layer;
    gufo_str role = gufo_tensor_role(diff_row_tensor(row, s->r->count)->name, &layer);
    bool is_layer = s->by_layer && layer != GUFO_NO_LAYER;
    loss_sum *sum = sum_of(s, is_layer ? (gufo_str){"", 0} : role, is_layer ? layer : 0);
    double loss;

    if (sum == NULL)
        return;
    sum->tensors++;
    for (size_t k = 0; k < s->r->count; k++) {
        if (row[k].kind == GUFO_DIFFERENCE_NONE || !gufo_tensor_difference_loss(&row[k], &loss))
            continue;
        sum->difference[k] += row[k].values.square_difference;
        sum->original[k] += row[k].values.square_a;
        s->all[k] += row[k].values.square_difference;
    }
}

static double loss_of(const loss_sum *sum, size_t k)
{
    return sum->original[k] > 0 ? sum->difference[k] / sum->original[k] : 0;
}

static int compare_sums(const void *a, const void *b)
{
    const loss_sum *x = a, *y = b;

    if (x->worst != y->worst)
        return (x->worst < y->worst) - (x->worst > y->worst);
    return (x->layer > y->layer) - (x->layer < y->layer);
}

static bool make_sum(const void *context, uint64_t index, table_row *row)
{
    const loss_sums *s = context;
    const loss_sum *sum = &s->list[index];

    if (index >= s->count)
        return false;
    if (sum->role.len > 0)
        row_str(row, sum->role);
    else
        row_text(row, "%" PRIu64, sum->layer);
    row_text(row, "%s", human_grouped(sum->tensors).text);
    for (size_t k = 0; k < s->r->count; k++) {
        row_text(row, "%.3g", loss_of(sum, k));
        row_text(row, "%.1f %%", s->all[k] > 0 ? 100 * sum->difference[k] / s->all[k] : 0.0);
    }
    return true;
}

static void put_sums(const candidates_report *r, bool by_layer)
{
    loss_sums s = {.r = r, .by_layer = by_layer};
    char heads[GUFO_COMPARE_CANDIDATES][2][32];
    table_column columns[2 + 2 * GUFO_COMPARE_CANDIDATES] = {{by_layer ? "Layer" : "Role", -5, 0},
                                                             {"Tensors", 7, 100}};
    table t;

    for (size_t i = 0; i < r->kept_count; i++)
        add_row(&s, r->kept[i].row);
    for (size_t i = 0; i < s.count; i++)
        for (size_t k = 0; k < r->count; k++)
            s.list[i].worst = fmax(s.list[i].worst, loss_of(&s.list[i], k));
    if (r->options->sort == DIFF_BY_LOSS && s.count > 0)
        qsort(s.list, s.count, sizeof *s.list, compare_sums);
    for (size_t k = 0; k < r->count; k++) {
        snprintf(heads[k][0], sizeof heads[k][0], "Loss %zu", k + 1);
        snprintf(heads[k][1], sizeof heads[k][1], "Share %zu", k + 1);
        columns[2 + 2 * k] = (table_column){heads[k][0], 9, k > 0 ? 10 + (unsigned)k : 0};
        columns[3 + 2 * k] = (table_column){heads[k][1], 7, 50 + (unsigned)k};
    }
    t = table_of(columns, 2 + 2 * r->count);
    t.indent = 0;
    table_print(&t, make_sum, &s);
    free(s.list);
}

/* ---- maps ----------------------------------------------------------------------------------- */

static void put_map(const candidates_report *r, size_t k)
{
    layer_map m = {.is_log = true};
    bool whole = true;

    for (size_t i = 0; i < r->kept_count && whole; i++) {
        const gufo_tensor_difference *d = &r->kept[i].row[k];
        bool is_same = d->kind == GUFO_DIFFERENCE_NONE;
        char text[LAYER_MAP_TEXT] = "-";
        double loss = NAN;

        if (is_same)
            loss = 0;
        if (is_same || gufo_tensor_difference_loss(d, &loss))
            snprintf(text, sizeof text, "%.1g", loss);
        whole = layer_map_add(&m, diff_row_tensor(r->kept[i].row, r->count)->name, loss, text);
    }
    if (r->count > 1)
        text_print("%s\n", r->paths[k + 1]);
    if (whole)
        layer_map_put(&m, options_color(r->options->base.shared), "loss, from");
    layer_map_free(&m);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void put_end(candidates_report *r, const gufo_error *failure)
{
    const diff_options *o = r->options;

    if (failure != NULL)
        return;
    if (r->is_short) {
        (void)report_memory(NULL);
        return;
    }
    if (o->sort == DIFF_BY_LOSS)
        sort_kept(r, by_loss);
    if (o->sort == DIFF_BY_LOSS || (!o->sums && !o->layers))
        put_rows(r);
    for (int by_layer = 0; o->sums && by_layer < 2; by_layer++) {
        if (by_layer > 0 || o->sort == DIFF_BY_LOSS)
            putchar('\n');
        put_sums(r, by_layer > 0);
    }
    for (size_t k = 0; o->layers && k < r->count; k++) {
        if (k > 0 || o->sums || o->sort == DIFF_BY_LOSS)
            putchar('\n');
        put_map(r, k);
    }
    candidates_table.end(r, NULL);
}

const candidates_form candidates_losses = {NULL, diff_losses_keep, put_end};
