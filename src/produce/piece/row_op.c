/* Operations on the numbers of a row.  Numbers are doubles here; they are rounded to float once,
 * after the last operation. */
#include "base/checked.h"

#include <math.h>

#include "codec/kernels.h"
#include "produce/produce.h"
#include "produce/units/work.h"

/* A number for each row. */
static inline bool fits_rows(const row_op *op, uint64_t piece_rows, uint64_t columns)
{
    (void)columns;
    return op->side[0]->columns == 1 && op->side[0]->count == piece_rows;
}

/* The distance of numbers of F16 that have the exponent of this one, which is not 0. */
static inline double half_unit(double value)
{
    int exponent;

    (void)frexp(value, &exponent);
    return ldexp(1, exponent - 11 < -24 ? -24 : exponent - 11);
}

/* The nearest number of F16, ties to even.  Numbers of one exponent are multiples of 2^(exponent - 11),
 * the smallest ones of 2^-24. */
static inline double nearest_half(double value)
{
    if (!isfinite(value) || value == 0)
        return value;
    value = rint(value / half_unit(value)) * half_unit(value);
    return fabs(value) > 65504 ? copysign(HUGE_VAL, value) : value;
}

/* A table of one row applies to every row, any other has one row for each. */
static bool fits_each(const row_op *op, uint64_t piece_rows, uint64_t columns)
{
    const rows *side = op->side[0];

    return side == NULL ||
           (side->columns == columns && (side->count == 1 || side->count == piece_rows));
}

static const float *row_of(const row_op *op, const float *const *sides, const op_row *row)
{
    uint64_t at = op->side[0]->count == 1 ? 0 : row->row;

    return sides[0] + at * row->columns;
}

static void add(const row_op *op, const float *const *sides, op_row *row)
{
    const float *side = op->side[0] != NULL ? row_of(op, sides, row) : NULL;

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] += side != NULL ? op->number * (double)side[i] : op->number;
}

static void scale(const row_op *op, const float *const *sides, op_row *row)
{
    const float *side = op->side[0] != NULL ? row_of(op, sides, row) : NULL;

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] *= side != NULL ? op->number * (double)side[i] : op->number;
}

static void scale_rows(const row_op *op, const float *const *sides, op_row *row)
{
    double factor = op->number * (double)sides[0][row->row];

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] *= factor;
}

static void neg_exp(const row_op *op, const float *const *sides, op_row *row)
{
    (void)op, (void)sides;
    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = -exp(row->values[i]);
}

static void round_f16(const row_op *op, const float *const *sides, op_row *row)
{
    (void)op, (void)sides;
    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = nearest_half(row->values[i]);
}

static void round_f32(const row_op *op, const float *const *sides, op_row *row)
{
    (void)op, (void)sides;
    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = (double)(float)row->values[i];
}

static void round_odd(const row_op *op, const float *const *sides, const op_rows *all)
{
    (void)op, (void)sides;
    cpu_doubles(all->cpu)->round_odd(all->values, all->count * all->columns);
}

static void ternary(const row_op *op, const float *const *sides, op_row *row)
{
    (void)sides;
    for (uint64_t i = 0; i < row->columns; i++) {
        double nearest = rint((double)(float)(row->values[i] * op->number));

        row->values[i] = fmin(fmax(nearest, -1), 1) / op->number;
    }
}

/* Matrices, each with its own rows of the right factor. */
static uint64_t matrices_of(const row_op *op)
{
    return op->side[1]->count / op->side[0]->columns;
}

static bool fits_product(const row_op *op, uint64_t piece_rows, uint64_t columns)
{
    const rows *left = op->side[0], *right = op->side[1];

    return left->count == piece_rows && right->columns == columns && left->columns > 0 &&
           right->count > 0 && right->count % left->columns == 0 &&
           piece_rows % matrices_of(op) == 0;
}

/* Rows of several matrices are several products: the one of row `first`, of `most` rows at most. */
static low_rank_product product_at(const row_op *op, const float *const *sides, uint64_t columns,
                                   uint64_t first, uint64_t most)
{
    uint64_t rank = op->side[0]->columns, each = op->side[0]->count / matrices_of(op);
    uint64_t matrix = first / each;

    return (low_rank_product){.rows = smaller(most, (matrix + 1) * each - first),
                              .columns = columns,
                              .left = sides[0] + first * rank,
                              .right = sides[1] + matrix * rank * columns,
                              .rank = rank,
                              .number = op->number};
}

static void product(const row_op *op, const float *const *sides, const op_rows *all)
{
    low_rank_product p;

    for (uint64_t done = 0; done < all->count; done += p.rows) {
        p = product_at(op, sides, all->columns, all->first + done, all->count - done);
        p.values = all->values + done * all->columns;
        cpu_doubles(all->cpu)->add_product(&p);
    }
}

const row_op_kind row_op_add = {"add", .fits = fits_each, .apply = add};
const row_op_kind row_op_scale = {"scale", .fits = fits_each, .apply = scale};
const row_op_kind row_op_scale_rows = {"scale rows", 1, .fits = fits_rows, .apply = scale_rows};
const row_op_kind row_op_neg_exp = {"negative exponential", .apply = neg_exp};
const row_op_kind row_op_round_f16 = {"round to F16", .apply = round_f16};
const row_op_kind row_op_round_f32 = {"round to F32", .apply = round_f32};
const row_op_kind row_op_round_odd = {"round to odd", .apply_rows = round_odd};
const row_op_kind row_op_ternary = {"ternary", .apply = ternary};
const row_op_kind row_op_product = {"low-rank product", 2, .fits = fits_product,
                                    .apply_rows = product};

/* ---- on floats ------------------------------------------------------------------------------ */

static bool rounds_to_odd(const piece *p)
{
    return p->n_ops == 2 && p->ops[1].kind == &row_op_round_odd;
}

bool row_op_merges(const piece *p)
{
    return (p->n_ops == 1 || rounds_to_odd(p)) && p->ops[0].kind == &row_op_product;
}

void row_op_merge(const piece *p, const float *const *sides, uint64_t row, uint64_t count,
                  float *values, gufo_cpu cpu)
{
    low_rank_product one;

    for (uint64_t done = 0; done < count; done += one.rows) {
        one = product_at(&p->ops[0], sides, p->columns, row + done, count - done);
        cpu_doubles(cpu)->merge_product(&one, values + done * p->columns, rounds_to_odd(p));
    }
}

/* Operations on the numbers of a row that undo others: the number that is wanted is the one from which the
 * operation makes what is there, rounded to F32 or to F16.  It is the nearest one to the exact result, or
 * a neighbour of that. */

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

static void subtract(const row_op *op, const float *const *sides, op_row *row)
{
    const undone u = {sum, op->number, op->kind->half};

    (void)sides;
    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = undo(&u, row->values[i] - u.factor, row->values[i]);
}

static void divide_by(const row_op *op, double factor, op_row *row)
{
    const undone u = {multiple, factor, op->kind->half};

    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = undo(&u, row->values[i] / factor, row->values[i]);
}

static void divide(const row_op *op, const float *const *sides, op_row *row)
{
    (void)sides;
    divide_by(op, op->number, row);
}

static void divide_rows(const row_op *op, const float *const *sides, op_row *row)
{
    divide_by(op, op->number * (double)sides[0][row->row], row);
}

static void log_neg(const row_op *op, const float *const *sides, op_row *row)
{
    const undone u = {negative_exponential, 0, op->kind->half};

    (void)sides;
    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = undo(&u, log(-row->values[i]), row->values[i]);
}

const row_op_kind row_op_subtract = {"subtract", .apply = subtract};
const row_op_kind row_op_subtract_f16 = {"subtract in F16", .half = true, .apply = subtract};
const row_op_kind row_op_divide = {"divide", .apply = divide};
const row_op_kind row_op_divide_f16 = {"divide in F16", .half = true, .apply = divide};
const row_op_kind row_op_divide_rows = {"divide rows", 1, .fits = fits_rows, .apply = divide_rows};
const row_op_kind row_op_log_neg = {"logarithm", .apply = log_neg};
const row_op_kind row_op_log_neg_f16 = {"logarithm in F16", .half = true, .apply = log_neg};
