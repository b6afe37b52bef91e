/* Operations on the numbers of a row that undo others: the number that is wanted is the one from which the
 * operation makes what is there, rounded to F32 or to F16.  It is the nearest one to the exact result, or
 * a neighbour of that. */
#include <math.h>

#include "produce/piece/nearest_half.h"
#include "produce/piece/row_op_fits.h"

/* An operation that is undone: in F32, or in F16. */
typedef struct undone {
    double (*forward)(double value, double factor);
    double factor;
    bool half;
} undone;

static double rounded(const undone *u, double value)
{
    return u->half ? nearest_half(value) : (double)(float)value;
}

/* The next number up or down. */
static double neighbour(const undone *u, double value, double direction)
{
    if (!u->half)
        return (double)nextafterf((float)value, (float)direction);
    return value + copysign(half_unit(value), direction);
}

/* The number from which `wanted` is made: `near`, or a neighbour. */
static double undo(const undone *u, double near, double wanted)
{
    double first = rounded(u, near);

    for (int i = 0; i < 3; i++) {
        double one = i == 0 ? first : neighbour(u, first, i == 1 ? HUGE_VAL : -HUGE_VAL);

        if (rounded(u, u->forward(one, u->factor)) == wanted)
            return one;
    }
    return first;
}

static double sum(double value, double factor)
{
    return value + factor;
}

static double multiple(double value, double factor)
{
    return value * factor;
}

static double negative_exponential(double value, double factor)
{
    (void)factor;
    return -exp(value);
}

static void subtract_from(op_row *row, double factor, bool half)
{
    const undone u = {sum, factor, half};

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = undo(&u, row->values[i] - factor, row->values[i]);
}

static void divide_by(op_row *row, double factor, bool half)
{
    const undone u = {multiple, factor, half};

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = undo(&u, row->values[i] / factor, row->values[i]);
}

static void take_logarithm(op_row *row, bool half)
{
    const undone u = {negative_exponential, 0, half};

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = undo(&u, log(-row->values[i]), row->values[i]);
}

static void subtract(const row_op *op, const float *const *sides, op_row *row)
{
    (void)sides;
    subtract_from(row, op->number, false);
}

static void subtract_f16(const row_op *op, const float *const *sides, op_row *row)
{
    (void)sides;
    subtract_from(row, op->number, true);
}

static void divide(const row_op *op, const float *const *sides, op_row *row)
{
    (void)sides;
    divide_by(row, op->number, false);
}

static void divide_f16(const row_op *op, const float *const *sides, op_row *row)
{
    (void)sides;
    divide_by(row, op->number, true);
}

static void divide_rows(const row_op *op, const float *const *sides, op_row *row)
{
    divide_by(row, op->number * (double)sides[0][row->row], false);
}

static void log_neg(const row_op *op, const float *const *sides, op_row *row)
{
    (void)op, (void)sides;
    take_logarithm(row, false);
}

static void log_neg_f16(const row_op *op, const float *const *sides, op_row *row)
{
    (void)op, (void)sides;
    take_logarithm(row, true);
}

const row_op_kind row_op_subtract = {"subtract", 0, fits_any, NULL, subtract, NULL};
const row_op_kind row_op_subtract_f16 = {"subtract in F16", 0, fits_any, NULL, subtract_f16, NULL};
const row_op_kind row_op_divide = {"divide", 0, fits_any, NULL, divide, NULL};
const row_op_kind row_op_divide_f16 = {"divide in F16", 0, fits_any, NULL, divide_f16, NULL};
const row_op_kind row_op_divide_rows = {"divide rows", 1, fits_rows, NULL, divide_rows, NULL};
const row_op_kind row_op_log_neg = {"logarithm", 0, fits_any, NULL, log_neg, NULL};
const row_op_kind row_op_log_neg_f16 = {"logarithm in F16", 0, fits_any, NULL, log_neg_f16, NULL};
