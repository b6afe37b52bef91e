/* Operations on the numbers of a row.  Numbers are doubles here; they are rounded to float once,
 * after the last operation. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "codec/doubles.h"
#include "produce/piece/nearest_half.h"
#include "produce/piece/row_op_fits.h"
#include "produce/units/work.h"

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

static bool fits_gather(const row_op *op, uint64_t piece_rows, uint64_t columns)
{
    (void)piece_rows;
    return op->side[0]->count == 1 && op->side[0]->columns == columns;
}

static bool usable_gather(const float *const *sides, uint64_t columns)
{
    for (uint64_t i = 0; i < columns; i++)
        if (!(sides[0][i] >= 0 && (double)sides[0][i] < (double)columns))
            return false;
    return true;
}

static void gather(const row_op *op, const float *const *sides, op_row *row)
{
    (void)op;
    memcpy(row->scratch, row->values, (size_t)row->columns * sizeof *row->values);
    for (uint64_t i = 0; i < row->columns; i++)
        row->values[i] = row->scratch[(uint64_t)sides[0][i]];
}

const row_op_kind row_op_add = {"add", 0, fits_each, NULL, add, NULL};
const row_op_kind row_op_scale = {"scale", 0, fits_each, NULL, scale, NULL};
const row_op_kind row_op_scale_rows = {"scale rows", 1, fits_rows, NULL, scale_rows, NULL};
const row_op_kind row_op_neg_exp = {"negative exponential", 0, fits_any, NULL, neg_exp, NULL};
const row_op_kind row_op_round_f16 = {"round to F16", 0, fits_any, NULL, round_f16, NULL};
const row_op_kind row_op_round_f32 = {"round to F32", 0, fits_any, NULL, round_f32, NULL};
const row_op_kind row_op_round_odd = {"round to odd", 0, fits_any, NULL, NULL, round_odd};
const row_op_kind row_op_ternary = {"ternary", 0, fits_any, NULL, ternary, NULL};
const row_op_kind row_op_product = {"low-rank product", 2, fits_product, NULL, NULL, product};
const row_op_kind row_op_gather = {"gather columns", 1, fits_gather, usable_gather, gather, NULL};

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
