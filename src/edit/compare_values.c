/* Measuring how far apart the numbers of two tensors of the same shape are.
 *
 * The elements are cut into tiles: some columns of a band of rows.  A band is one row that holds
 * the whole tensor, unless a type interleaves rows: then it is 4 or 8 rows of the tensor.
 *
 *     a, Q4_0_8_8    | 8 rows interleaved: groups of blocks |   decoded in one go
 *     b, Q6_K        | 8 rows, one after the other          |   decoded row by row
 *
 * Columns of a tile are a multiple of every block's.  Sums are made element by element in a tile,
 * and tile by tile: they do not depend on the threads. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "codec/wide.h"
#include "edit/compare.h"

enum { TILE_ELEMENTS = 32 * 1024, WIDEST_NUMBER = 8 };

/* What a thread works with. */
typedef struct value_worker {
    uint8_t blocks[TILE_ELEMENTS * WIDEST_NUMBER];
    float floats[TILE_ELEMENTS];
    double values[2][TILE_ELEMENTS];
} value_worker;

typedef struct value_walk {
    comparing *c;
    const compared_side *sides;
    uint64_t rows, columns; /* of a band */
    uint64_t tile_columns, tiles_per_band, tiles;
    void *workers; /* of value_worker: one for each thread */
    gufo_value_difference *sum;
} value_walk;

typedef struct tile {
    uint64_t band, column; /* the first ones */
    uint64_t columns;
} tile;

/* ---- decoding ------------------------------------------------------------------------------- */

/* Rows of a tile that are contiguous, from row `row` of its band on. */
static gufo_status decode_rows(const value_walk *w, const compared_side *s, const tile *t,
                               uint64_t row, value_worker *worker, double *values,
                               gufo_error *error)
{
    const gufo_element_type *type = s->type;
    uint64_t group_bytes = (uint64_t)s->rows * type->block_bytes;
    uint64_t blocks = t->columns / type->block_elements;
    uint64_t before = (t->band * w->rows + row) / s->rows * (w->columns / type->block_elements) +
                      t->column / type->block_elements;
    gufo_status status =
        compare_read(s, before * group_bytes, worker->blocks, blocks * group_bytes, error);

    if (status == GUFO_OK && s->big)
        status = gufo_swap_blocks(type, worker->blocks, blocks * s->rows, error);
    return status != GUFO_OK ? status
                             : decode_wide(type, worker->blocks, s->rows, t->columns,
                                           worker->floats, values, w->c->run->cpu, error);
}

static gufo_status decode_tile(const value_walk *w, size_t side, const tile *t,
                               value_worker *worker, gufo_error *error)
{
    const compared_side *s = &w->sides[side];
    gufo_status status = GUFO_OK;

    for (uint64_t row = 0; row < w->rows && status == GUFO_OK; row += s->rows)
        status = decode_rows(w, s, t, row, worker, worker->values[side] + row * t->columns, error);
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* The index in the tensor of value `at` of a tile. */
static uint64_t index_of(const value_walk *w, const tile *t, uint64_t at)
{
    uint64_t row = t->band * w->rows + at / t->columns;

    return row * w->columns + t->column + at % t->columns;
}

static void measure_tile(const value_walk *w, const tile *t, const value_worker *worker,
                         gufo_value_difference *out)
{
    for (uint64_t i = 0; i < w->rows * t->columns; i++) {
        double a = worker->values[0][i], b = worker->values[1][i], difference = fabs(a - b);

        out->unequal += a != b && !(isnan(a) && isnan(b));
        if (!isfinite(a) || !isfinite(b)) {
            out->nonfinite++;
            continue;
        }
        out->compared++;
        out->square_difference += difference * difference;
        out->square_a += a * a;
        out->square_b += b * b;
        out->product += a * b;
        if (difference > out->largest) {
            out->largest = difference;
            out->largest_at = index_of(w, t, i);
        }
    }
}

static gufo_status look_at_tile(void *context, unsigned thread, uint64_t index, void *result,
                                gufo_error *error)
{
    value_walk *w = context;
    value_worker *worker = (value_worker *)w->workers + thread;
    tile t = {.band = index / w->tiles_per_band,
              .column = index % w->tiles_per_band * w->tile_columns};
    gufo_status status;

    t.columns = w->columns - t.column < w->tile_columns ? w->columns - t.column : w->tile_columns;
    status = decode_tile(w, 0, &t, worker, error);
    if (status == GUFO_OK)
        status = decode_tile(w, 1, &t, worker, error);
    if (status == GUFO_OK)
        measure_tile(w, &t, worker, result);
    return status;
}

static gufo_status take_tile(void *context, uint64_t index, const void *result, gufo_error *error)
{
    value_walk *w = context;
    gufo_value_difference *sum = w->sum;
    const gufo_value_difference *more = result;
    double part = (double)(index + 1) / (double)w->tiles;

    sum->compared += more->compared;
    sum->unequal += more->unequal;
    sum->nonfinite += more->nonfinite;
    sum->square_difference += more->square_difference;
    sum->square_a += more->square_a;
    sum->square_b += more->square_b;
    sum->product += more->product;
    if (more->largest > sum->largest) {
        sum->largest = more->largest;
        sum->largest_at = more->largest_at;
    }
    return compare_progress(w->c, (uint64_t)(part * (double)w->sides[0].tensor->size), error);
}

/* ---- the walk ------------------------------------------------------------------------------- */

static bool can_decode(const compared_side *s)
{
    const gufo_tensor *t = s->tensor;

    return s->type != NULL && (s->type->flags & GUFO_ELEMENT_DECODES) != 0 &&
           t->dims[0] % s->type->block_elements == 0 && t->elements / t->dims[0] % s->rows == 0;
}

static gufo_status run(value_walk *w, gufo_error *error)
{
    parallel_loop loop = {.end = w->tiles,
                          .result_size = sizeof(gufo_value_difference),
                          .context = w,
                          .work = look_at_tile,
                          .hand_over = take_tile};

    return compare_run(w->c, &loop, sizeof(value_worker), &w->workers, error);
}

/* ---- what sums come to ---------------------------------------------------------------------- */

static double relative_of(const gufo_value_difference *d)
{
    if (d->square_difference == 0)
        return 0;
    if (isinf(d->square_a))
        return NAN;
    return sqrt(d->square_difference / d->square_a);
}

static double cosine_of(const gufo_value_difference *d)
{
    if (d->square_a == 0 || d->square_b == 0)
        return d->square_a == d->square_b ? 1 : 0;
    if (isinf(d->square_a) || isinf(d->square_b))
        return NAN;
    return d->product / (sqrt(d->square_a) * sqrt(d->square_b));
}

void compare_conclude(gufo_value_difference *d)
{
    d->rmse = d->compared > 0 ? sqrt(d->square_difference / (double)d->compared) : 0;
    d->relative = relative_of(d);
    d->cosine = cosine_of(d);
}

gufo_status compare_tensor_values(comparing *c, const compared_side sides[2],
                                  gufo_tensor_difference *difference, gufo_error *error)
{
    const gufo_tensor *tensor = sides[0].tensor;
    value_walk w = {.c = c, .sides = sides, .sum = &difference->values};

    if (tensor->elements == 0 || !can_decode(&sides[0]) || !can_decode(&sides[1]))
        return GUFO_OK;
    w.rows = sides[0].rows > sides[1].rows ? sides[0].rows : sides[1].rows;
    w.columns = w.rows > 1 ? tensor->dims[0] : tensor->elements;
    w.tile_columns = TILE_ELEMENTS / w.rows;
    w.tiles_per_band = (w.columns - 1) / w.tile_columns + 1;
    w.tiles = tensor->elements / (w.rows * w.columns) * w.tiles_per_band;
    difference->has_values = true;
    gufo_status status = run(&w, error);

    compare_conclude(&difference->values);
    return status;
}
