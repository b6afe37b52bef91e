/* Operations that compute with the numbers of tensors, or look at them or at the vocabulary. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "gufo/document.h"
#include "import/architectures/operations/operation.h"
#include "import/architectures/plan/plan.h"
#include "import/packed/packed.h"

/* Arithmetic on the numbers of tensors: the engine does it, in double.  Results of F16 numbers are F16
 * numbers again, whatever type they are stored in; all others are F32. */

static bool is_half(const view *v)
{
    for (uint64_t i = 0; i < v->count; i++)
        if (v->chunks[i].number->type != GUFO_TYPE_F16)
            return false;
    return v->count > 0;
}

/* Every operation but the last rounds, too. */
static gufo_status operate_with(const operation_call *c, const row_op *op, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    const row_op between = {.kind = &row_op_round_f32}, rounding = {.kind = &row_op_round_f16};
    gufo_status status = GUFO_OK;

    if (v->n_ops > 0 && !is_half(v))
        status = view_operate(v, &between, error);
    if (status == GUFO_OK)
        status = view_operate(v, op, error);
    return status == GUFO_OK && is_half(v) ? view_operate(v, &rounding, error) : status;
}

static gufo_status operate(const operation_call *c, const row_op_kind *kind, double number,
                           gufo_error *error)
{
    return operate_with(c, &(row_op){.kind = kind, .number = number}, error);
}

/* Numbers of a configuration are F32, as those of tensors. */
gufo_status values_add(const operation_call *c, gufo_error *error)
{
    return operate(c, &row_op_add, (double)(float)c->reals[0], error);
}

gufo_status values_neg_exp(const operation_call *c, gufo_error *error)
{
    return operate(c, &row_op_neg_exp, 0, error);
}

/* As many times as the argument says. */
gufo_status values_halve(const operation_call *c, gufo_error *error)
{
    uint64_t times = c->numbers[0] < 1000 ? c->numbers[0] : 1000;

    return times == 0 ? GUFO_OK : operate(c, &row_op_scale, ldexp(1, -(int)times), error);
}

gufo_status values_multiply(const operation_call *c, gufo_error *error)
{
    return operate(c, &row_op_scale, (double)(float)c->reals[0], error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* How many rows argument `index` is about; -1 is all that are left. */
static gufo_status count_rows(const operation_call *c, uint32_t index, uint64_t left, uint64_t *out,
                              gufo_error *error)
{
    *out = c->numbers[index] == SIZE_OF_REST ? left : c->numbers[index];
    return *out <= left
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "it has fewer rows than the configuration says");
}

/* The factor of each row, into `factors`. */
static gufo_status fill_factors(const operation_call *c, uint64_t all, float *factors,
                                gufo_error *error)
{
    uint64_t at = 0, count = 0;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 1; i < c->n_arguments && status == GUFO_OK; i++) {
        char expression[128];
        double factor;

        (void)snprintf(expression, sizeof expression, "at(%.*s, %u)", (int)c->texts[0].len,
                       c->texts[0].data, (unsigned)(i - 1));
        status = config_real(c->planner->config, expression, &factor, error);
        if (status == GUFO_OK)
            status = count_rows(c, i, all - at, &count, error);
        for (; status == GUFO_OK && count > 0; count--)
            factors[at++] = (float)factor;
    }
    if (status == GUFO_OK && at != all)
        return refuse(error, GUFO_E_ARGUMENT, "it has more rows than the configuration says");
    return status;
}

/* A table of one number for each row; the plan frees it. */
static gufo_status make_table(tensor_plan *plan, const float *factors, uint64_t count,
                              const rows **out, gufo_error *error)
{
    rows *table = mem_zero(plan->allocator, sizeof *table);
    gufo_status status = plan_keep(plan, table, error);

    if (table == NULL || status != GUFO_OK)
        return table == NULL ? fail_memory(error) : status;
    *table = (rows){.row_bytes = sizeof(float),
                    .count = count,
                    .columns = 1,
                    .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
    *out = table;
    return plan_numbers(plan, factors, count, &table->source, error);
}

/* Arguments: a list of factors, and for how many rows each of them is. */
gufo_status values_multiply_rows(const operation_call *c, gufo_error *error)
{
    tensor_plan *plan = c->planner->plan;
    const view *v = &c->item->views[c->view];
    row_op op = {.kind = &row_op_scale_rows, .number = 1};
    float *factors;
    gufo_status status;

    if (v->n_dims != 2)
        return refuse(error, GUFO_E_ARGUMENT, "it has %" PRIu32 " dimensions instead of 2",
                      v->n_dims);
    factors = mem_array(plan->allocator, v->shape[0], sizeof *factors);
    if (factors == NULL)
        return fail_memory(error);
    status = fill_factors(c, v->shape[0], factors, error);
    if (status == GUFO_OK)
        status = make_table(plan, factors, v->shape[0], &op.side[0], error);
    mem_free(plan->allocator, factors);
    return status == GUFO_OK ? operate_with(c, &op, error) : status;
}

/* ---- ternary weights -------------------------------------------------------------------------- */

/* The mean of the absolute values. */
static gufo_status mean_size(const view *v, double *out, gufo_error *error)
{
    float *values = mem_array(v->allocator, NUMBERS_AT_ONCE, sizeof *values);
    number_reader r = {0};
    double sum = 0;
    gufo_status status = values == NULL ? fail_memory(error) : numbers_open(&r, v, error);

    for (uint64_t first = 0; first < r.numbers && status == GUFO_OK; first += NUMBERS_AT_ONCE) {
        uint64_t count = smaller(r.numbers - first, NUMBERS_AT_ONCE);

        status = numbers_floats(&r, first, count, values, error);
        for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
            sum += fabs((double)values[i]);
    }
    *out = sum / (double)larger(v->numbers, 1);
    numbers_close(&r);
    mem_free(v->allocator, values);
    return status;
}

/* BitNet: weights are the mean of their sizes, with a sign, or 0.  Those that are packed are of this
 * kind already. */
gufo_status values_ternary(const operation_call *c, gufo_error *error)
{
    const view *v = &c->item->views[c->view];
    double mean = 1;
    gufo_status status = GUFO_OK;

    if (v->count > 0 && v->chunks[0].packed != NULL && v->chunks[0].packed->kind == &packed_ternary)
        return GUFO_OK;
    if (!c->planner->plan->checkpoint->made_up)
        status = mean_size(v, &mean, error);

    if (status == GUFO_OK && !isfinite(mean))
        return refuse(error, GUFO_E_ARGUMENT, "some of its numbers are not finite");
    return status == GUFO_OK
               ? operate(c, &row_op_ternary, (double)(1.0f / fmaxf((float)mean, 1e-5f)), error)
               : status;
}

/* Operations that look at the numbers of tensors, a part at a time, or at the vocabulary. */

/* ---- zeros ---------------------------------------------------------------------------------- */

static gufo_status check_zeros(const number_reader *r, float *values, gufo_error *error)
{
    for (uint64_t first = 0, count; first < r->numbers; first += count) {
        gufo_status status;

        count = smaller(r->numbers - first, NUMBERS_AT_ONCE);
        status = numbers_floats(r, first, count, values, error);
        if (status != GUFO_OK)
            return status;
        for (uint64_t i = 0; i < count; i++)
            if (!(values[i] == 0.0f))
                return refuse(error, GUFO_E_ARGUMENT,
                              "all its numbers must be 0, but number %" PRIu64
                              " is not: readers have no place for it",
                              first + i);
    }
    return GUFO_OK;
}

static gufo_status all_zeros(const operation_call *c, const view *v, gufo_error *error)
{
    const planner *p = c->planner;
    const gufo_allocator *a = p->plan->allocator;
    float *values = mem_array(a, NUMBERS_AT_ONCE, sizeof *values);
    number_reader r = {0};
    gufo_status status = values == NULL ? fail_memory(error) : numbers_open(&r, v, error);

    if (status == GUFO_OK)
        status = check_zeros(&r, values, error);
    numbers_close(&r);
    mem_free(a, values);
    return status;
}

gufo_status data_zero(const operation_call *c, gufo_error *error)
{
    c->item->fate = ITEM_DROPPED;
    return all_zeros(c, &c->item->views[0], error);
}

/* The rows of part `row` of each head, in the columns of part `column`; to be freed. */
static gufo_status cut_block(view *out, const view *whole, const operation_call *c, uint64_t row,
                             uint64_t column, gufo_error *error)
{
    const uint32_t parts = c->n_arguments - 1;
    const uint64_t *part_rows = c->numbers + 1, columns = whole->shape[2] / parts;
    const uint64_t shape[] = {c->numbers[0] * part_rows[row], columns};
    uint64_t first = 0;
    gufo_status status = view_copy(out, whole, error);

    for (uint64_t i = 0; i < row; i++)
        first += part_rows[i];
    if (status == GUFO_OK)
        status = view_slice(out, 1, first, part_rows[row], 1, error);
    if (status == GUFO_OK)
        status = view_slice(out, 2, column * columns, columns, 1, error);
    return status == GUFO_OK ? view_reshape(out, 2, shape, error) : status;
}

/* Two heads of a + b rows, and what is left of them:
 *
 *     a a 0 0        a a    b b
 *     0 0 b b        a a    b b
 *     a a 0 0
 *     0 0 b b */
gufo_status data_diagonal(const operation_call *c, gufo_error *error)
{
    item *it = c->item;
    const uint32_t parts = c->n_arguments - 1;
    view whole = it->views[0];
    uint64_t shape[] = {c->numbers[0], 0, 0};
    gufo_status status;

    for (uint32_t i = 0; i < parts; i++)
        if (!checked_add(shape[1], c->numbers[i + 1], &shape[1]))
            return refuse(error, GUFO_E_ARGUMENT, "its parts are larger than any tensor");
    if (it->n_views != 1 || parts == 0 || parts > ITEM_VIEWS || whole.n_dims != 2 ||
        whole.shape[1] % parts != 0)
        return refuse(error, GUFO_E_ARGUMENT, "its columns do not divide into %s", GROUPED(parts));
    shape[2] = whole.shape[1];
    status = view_reshape(&whole, 3, shape, error);
    it->n_views = 0;
    for (uint32_t i = 0; i < parts * parts && status == GUFO_OK; i++) {
        view block = {0};

        status = cut_block(&block, &whole, c, i / parts, i % parts, error);
        if (i / parts == i % parts) {
            it->views[it->n_views++] = block;
            continue;
        }
        if (status == GUFO_OK && !c->planner->plan->checkpoint->made_up)
            status = all_zeros(c, &block, error);
        view_free(&block);
    }
    view_free(&whole);
    return status;
}

/* ---- equal tensors -------------------------------------------------------------------------- */

static gufo_status compare(const number_reader *a, const number_reader *b, bool *equal,
                           gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *equal = true;
    for (uint64_t first = 0, count; first < a->numbers && *equal && status == GUFO_OK;
         first += count) {
        count = smaller(a->numbers - first, NUMBERS_AT_ONCE);
        status = numbers_bytes(a, first, count, error);
        if (status == GUFO_OK)
            status = numbers_bytes(b, first, count, error);
        *equal = status == GUFO_OK &&
                 memcmp(a->bytes, b->bytes, (size_t)(count * a->rows.row_bytes)) == 0;
    }
    return status;
}

static bool same_shape(const checkpoint_tensor *a, const checkpoint_tensor *b)
{
    return a->number == b->number && a->swapped == b->swapped && a->n_dims == b->n_dims &&
           a->shape == b->shape; /* of one checkpoint */
}

/* Argument: the name in GGUF of a tensor that was planned before. */
gufo_status data_drop_if_equal(const operation_call *c, gufo_error *error)
{
    planner *p = c->planner;
    const planned_tensor *other = plan_find(p->plan, c->texts[0]);
    const checkpoint_tensor *from =
        other != NULL ? checkpoint_find(p->plan->checkpoint, planned_source(other)) : NULL;
    view v = {0};
    number_reader a = {0}, b = {0};
    bool equal = false;
    gufo_status status;

    if (from == NULL || p->plan->checkpoint->made_up || !same_shape(from, c->item->from))
        return GUFO_OK;
    status = view_open(&v, p->plan->checkpoint, from, p->plan->allocator, error);
    if (status == GUFO_OK)
        status = numbers_open(&a, &v, error);
    if (status == GUFO_OK)
        status = numbers_open(&b, &c->item->views[0], error);
    if (status == GUFO_OK)
        status = compare(&a, &b, &equal, error);
    numbers_close(&a);
    numbers_close(&b);
    view_free(&v);
    if (equal)
        c->item->fate = ITEM_DROPPED;
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* The number of a token in the vocabulary of the document. */
static gufo_status find_token(const planner *p, gufo_str token, uint64_t *out, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_array tokens;
    gufo_array_iter walk = {0};
    gufo_value text;

    if (gufo_document_find(p->document, "tokenizer.ggml.tokens", &entry) &&
        gufo_value_array(&entry.value, GUFO_VALUE_STRING, &tokens, NULL) == GUFO_OK)
        walk = gufo_array_start(&tokens);
    for (*out = 0; gufo_array_next(&walk, &text); ++*out)
        if (gufo_str_equal(text.as.str, token))
            return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT, "the vocabulary has no token %s, which a reranker needs",
                  QUOTED(token));
}

/* The rows of some tokens, in the order of the arguments. */
gufo_status data_token_rows(const operation_call *c, gufo_error *error)
{
    item *it = c->item;
    view all = it->views[0], joined = {0};
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < c->n_arguments && status == GUFO_OK; i++) {
        view row = {0};
        uint64_t token;

        status = find_token(c->planner, c->texts[i], &token, error);
        if (status == GUFO_OK)
            status = view_copy(&row, &all, error);
        if (status == GUFO_OK)
            status = view_slice(&row, 0, token, 1, 1, error);
        if (status == GUFO_OK && i > 0)
            status = view_append(&joined, &row, 0, error);
        if (status == GUFO_OK && i == 0)
            joined = row;
        else
            view_free(&row);
    }
    view_free(&all);
    it->views[0] = joined;
    return status;
}

/* ---- numbers that are keys ------------------------------------------------------------------- */

enum { MOST_BLOCKS = 4096 };

/* The numbers that a key has so far; those of blocks that did not come yet are 0. */
static void copy_numbers(const gufo_document *document, gufo_str key, float *out, uint64_t *count)
{
    gufo_document_entry entry;
    gufo_array array;
    gufo_array_iter iter;
    gufo_value number;

    if (!gufo_document_find_str(document, key, &entry) ||
        gufo_value_array(&entry.value, GUFO_VALUE_FLOAT32, &array, NULL) != GUFO_OK)
        return;
    iter = gufo_array_start(&array);
    for (uint64_t i = 0; i < MOST_BLOCKS && gufo_array_next(&iter, &number); i++)
        out[i] = (float)number.as.f;
    if (array.count > *count)
        *count = array.count;
}

/* The only number of a tensor becomes that of its block in a key. */
gufo_status data_key(const operation_call *c, gufo_error *error)
{
    const planner *p = c->planner;
    const item *it = c->item;
    float numbers[MOST_BLOCKS] = {0}, own;
    gufo_items items = {.type = GUFO_VALUE_FLOAT32, .items = numbers};
    number_reader r = {0};
    char key[128];
    gufo_status status;

    if (p->plan->checkpoint->made_up) {
        c->item->fate = ITEM_DROPPED;
        return GUFO_OK;
    }
    if (it->views[0].numbers != 1 || it->block >= MOST_BLOCKS)
        return refuse(error, GUFO_E_ARGUMENT, "it is not one number of one of %s blocks",
                      GROUPED(MOST_BLOCKS));
    status = numbers_open(&r, &it->views[0], error);
    if (status == GUFO_OK)
        status = numbers_floats(&r, 0, 1, &own, error);
    numbers_close(&r);
    if (status != GUFO_OK)
        return status;
    items.count = it->block + 1;
    copy_numbers(p->document, c->texts[0], numbers, &items.count);
    numbers[it->block] = own;
    c->item->fate = ITEM_DROPPED;
    (void)snprintf(key, sizeof key, "%.*s", (int)c->texts[0].len, c->texts[0].data);
    return gufo_document_set_array(p->document, key, &items, error);
}
