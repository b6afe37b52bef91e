/* Arithmetic on the numbers of tensors: the engine does it, in double.  Results of F16 numbers are F16
 * numbers again, whatever type they are stored in; all others are F32. */
#include "import/architectures/operations/operations_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/plan/numbers.h"
#include "import/packed/packed.h"

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
    tensor_plan *plan = c->planner->grown.plan;
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
static gufo_status mean_size(const view *v, const checkpoint *c, double *out, gufo_error *error)
{
    float *values = mem_array(v->allocator, NUMBERS_AT_ONCE, sizeof *values);
    number_reader r = {0};
    double sum = 0;
    gufo_status status = values == NULL ? fail_memory(error) : numbers_open(&r, v, c, error);

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
    if (!c->planner->checkpoint->made_up)
        status = mean_size(v, c->planner->checkpoint, &mean, error);

    if (status == GUFO_OK && !isfinite(mean))
        return refuse(error, GUFO_E_ARGUMENT, "some of its numbers are not finite");
    return status == GUFO_OK
               ? operate(c, &row_op_ternary, (double)(1.0f / fmaxf((float)mean, 1e-5f)), error)
               : status;
}
