/* Comparing the bytes of two tensors of one element type.
 *
 * Both are read in chunks of whole blocks, side by side on many threads.  Where the byte orders of
 * the files differ, the blocks of the big-endian one are swapped first.  After the first chunk with
 * a difference nothing more is read. */
#include "edit/compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/run.h"
#include "codec/coding.h"

/* ---- what comparing bytes and comparing numbers share: threads, progress, reading --------------- */

enum { WORK_BYTES = 24 << 20 }; /* of all threads together */

gufo_status compare_progress(comparing *c, uint64_t part, gufo_error *error)
{
    if (c->done + part > c->shown)
        c->shown = c->done + part;
    return run_progress(c->run, c->shown, c->total, error);
}

gufo_status compare_run(const comparing *c, parallel_loop *loop, size_t bytes, void **memory,
                        gufo_error *error)
{
    uint64_t threads = thread_count(c->run->threads);
    gufo_status status;

    loop->threads = (unsigned)smaller(smaller(threads, WORK_BYTES / bytes), loop->end);
    *memory = mem_alloc(c->allocator, loop->threads * bytes);
    if (*memory == NULL)
        return fail_memory(error);
    status = parallel_run(loop, c->allocator, error);
    mem_free(c->allocator, *memory);
    return status;
}

gufo_status compare_side(unsigned number, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK && error != NULL && number > 0 && error->role == GUFO_FILE_INPUT)
        error->role = GUFO_FILE_SECOND_INPUT;
    return status;
}

/* Reads bytes of a tensor; a failure names the side. */
static gufo_status compare_read(const compared_side *side, uint64_t offset, void *buffer,
                                uint64_t size, gufo_error *error)
{
    gufo_status status =
        gufo_tensor_read_raw(side->model, side->tensor, offset, buffer, (size_t)size, error);

    return compare_side(side->number, status, error);
}

enum { CHUNK_BYTES = 256 * 1024 };

typedef struct byte_walk {
    comparing *c;
    const compared_side *sides;
    uint64_t size;  /* bytes to compare */
    uint64_t chunk; /* bytes of a chunk: whole groups of blocks */
    void *memory;   /* two chunks for each thread */
    bool turn;
    gufo_tensor_difference *difference;
} byte_walk;

/* The result of a chunk. */
typedef struct byte_result {
    bool differs;
    uint64_t first;
} byte_result;

static uint64_t size_of_chunk(const byte_walk *w, uint64_t index)
{
    uint64_t rest = w->size - index * w->chunk;

    return rest < w->chunk ? rest : w->chunk;
}

static gufo_status read_side(const byte_walk *w, size_t side, uint64_t index, uint8_t *to,
                             gufo_error *error)
{
    const compared_side *s = &w->sides[side];
    uint64_t size = size_of_chunk(w, index);
    gufo_status status = compare_read(s, index * w->chunk, to, size, error);

    if (status != GUFO_OK || !w->turn || !s->big)
        return status;
    return gufo_swap_blocks(s->type, to, size / s->type->block_bytes, error);
}

static gufo_status compare_chunk(void *context, unsigned thread, uint64_t index, void *result,
                                 gufo_error *error)
{
    byte_walk *w = context;
    byte_result *out = result;
    uint8_t *a = (uint8_t *)w->memory + (size_t)(2 * thread * w->chunk), *b = a + w->chunk;
    uint64_t size = size_of_chunk(w, index), at = 0;
    gufo_status status = read_side(w, 0, index, a, error);

    if (status == GUFO_OK)
        status = read_side(w, 1, index, b, error);
    if (status != GUFO_OK || memcmp(a, b, (size_t)size) == 0)
        return status;
    while (a[at] == b[at])
        at++;
    *out = (byte_result){.differs = true, .first = index * w->chunk + at};
    return GUFO_OK;
}

/* A difference ends the loop as a failure would. */
static gufo_status take_chunk(void *context, uint64_t index, const void *result, gufo_error *error)
{
    byte_walk *w = context;
    const byte_result *chunk = result;

    if (!chunk->differs)
        return compare_progress(w->c, index * w->chunk + size_of_chunk(w, index), error);
    w->difference->data = true;
    w->difference->first = chunk->first;
    return refuse(error, GUFO_E_STOPPED, "a difference was found");
}

static gufo_status walk(byte_walk *w, gufo_error *error)
{
    parallel_loop loop = {.end = (w->size - 1) / w->chunk + 1,
                          .result_size = sizeof(byte_result),
                          .context = w,
                          .work = compare_chunk,
                          .hand_over = take_chunk};
    gufo_status status = compare_run(w->c, &loop, 2 * (size_t)w->chunk, &w->memory, error);

    return w->difference->data ? GUFO_OK : status;
}

/* The bytes that are compared.  The size of an unknown type reaches to the next tensor, and may be
 * more by padding than it is in another file. */
static bool common_size(const compared_side sides[2], uint64_t *size)
{
    const gufo_tensor *a = sides[0].tensor, *b = sides[1].tensor;
    uint64_t more = a->size > b->size ? a->size - b->size : b->size - a->size;
    const gufo_model *longer = sides[a->size > b->size ? 0 : 1].model;

    *size = a->size < b->size ? a->size : b->size;
    return more == 0 ||
           (!a->size_known && !b->size_known && more < gufo_model_facts(longer).alignment);
}

gufo_status compare_tensor_bytes(comparing *c, const compared_side sides[2],
                                 gufo_tensor_difference *difference, gufo_error *error)
{
    byte_walk w = {.c = c,
                   .sides = sides,
                   .chunk = CHUNK_BYTES,
                   .turn = sides[0].big != sides[1].big,
                   .difference = difference};
    bool has_blocks = sides[0].type != NULL && sides[0].type->block_bytes > 0;

    if (!common_size(sides, &w.size)) {
        difference->data = true;
        difference->first = w.size;
        return GUFO_OK;
    }
    if (w.turn && !has_blocks) {
        difference->data = difference->unordered = true;
        return GUFO_OK;
    }
    if (has_blocks)
        w.chunk -= w.chunk % ((uint64_t)sides[0].rows * sides[0].type->block_bytes);
    return w.size > 0 ? walk(&w, error) : GUFO_OK;
}

/* Measuring how far apart the numbers of a tensor and of others of the same shape are.
 *
 * The elements are cut into tiles: some columns of a band of rows.  A band is one row that holds
 * the whole tensor, unless a type interleaves rows: then it is 4 or 8 rows of the tensor.
 *
 *     a, Q4_0_8_8    | 8 rows interleaved: groups of blocks |   decoded in one go
 *     b, Q6_K        | 8 rows, one after the other          |   decoded row by row
 *
 * Columns of a tile are a multiple of every block's.  Sums are made element by element in a tile,
 * and tile by tile: they do not depend on the threads.
 *
 * A tile of the first tensor is decoded once for all others with bands of the same height.  Those
 * with others are walked apart, so that the sums of a pair do not depend on which other pairs are
 * measured. */

enum { TILE_ELEMENTS = 32 * 1024, WIDEST_NUMBER = 8, HIGHEST_BAND = 8 };

/* What a thread works with. */
typedef struct value_worker {
    uint8_t blocks[TILE_ELEMENTS * WIDEST_NUMBER];
    float floats[TILE_ELEMENTS];
    double values[2][TILE_ELEMENTS]; /* of the first tensor, and of one of the others */
} value_worker;

typedef struct value_walk {
    comparing *c;
    const compared_side *a;
    const compared_other *others[GUFO_COMPARE_CANDIDATES];
    size_t count;           /* of them */
    uint64_t rows, columns; /* of a band */
    uint64_t tile_columns, tiles_per_band, tiles;
    void *workers; /* of value_worker: one for each thread */
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

static gufo_status decode_tile(const value_walk *w, const compared_side *s, const tile *t,
                               value_worker *worker, double *values, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t row = 0; row < w->rows && status == GUFO_OK; row += s->rows)
        status = decode_rows(w, s, t, row, worker, values + row * t->columns, error);
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* The index in the tensor of value `at` of a tile. */
static uint64_t index_of(const value_walk *w, const tile *t, uint64_t at)
{
    uint64_t row = t->band * w->rows + at / t->columns;

    return row * w->columns + t->column + at % t->columns;
}

/* The sums are kept in a copy, which a compiler can hold in registers. */
static void measure_tile(const value_walk *w, const tile *t, const value_worker *worker,
                         gufo_value_difference *out)
{
    gufo_value_difference sum = {0};
    uint64_t largest_at = 0, count = w->rows * t->columns;

    for (uint64_t i = 0; i < count; i++) {
        double a = worker->values[0][i], b = worker->values[1][i], difference = fabs(a - b);

        sum.unequal += !(a == b || (isnan(a) && isnan(b)));
        if (!isfinite(a) || !isfinite(b)) {
            sum.nonfinite++;
            continue;
        }
        sum.square_difference += difference * difference;
        sum.square_a += a * a;
        sum.square_b += b * b;
        sum.product += a * b;
        if (difference > sum.largest) {
            sum.largest = difference;
            largest_at = i;
        }
    }
    sum.compared = count - sum.nonfinite;
    if (sum.largest > 0)
        sum.largest_at = index_of(w, t, largest_at);
    *out = sum;
}

static gufo_status look_at_tile(void *context, unsigned thread, uint64_t index, void *result,
                                gufo_error *error)
{
    value_walk *w = context;
    value_worker *worker = (value_worker *)w->workers + thread;
    gufo_value_difference *measured = result;
    tile t = {.band = index / w->tiles_per_band,
              .column = index % w->tiles_per_band * w->tile_columns};
    gufo_status status;

    t.columns = w->columns - t.column < w->tile_columns ? w->columns - t.column : w->tile_columns;
    status = decode_tile(w, w->a, &t, worker, worker->values[0], error);
    for (size_t i = 0; i < w->count && status == GUFO_OK; i++) {
        status = decode_tile(w, &w->others[i]->side, &t, worker, worker->values[1], error);
        if (status == GUFO_OK)
            measure_tile(w, &t, worker, &measured[i]);
    }
    return status;
}

static void add_tile(gufo_value_difference *sum, const gufo_value_difference *more)
{
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
}

static gufo_status take_tile(void *context, uint64_t index, const void *result, gufo_error *error)
{
    value_walk *w = context;
    const gufo_value_difference *more = result;
    double part = (double)(index + 1) / (double)w->tiles * (double)w->count;

    for (size_t i = 0; i < w->count; i++)
        add_tile(&w->others[i]->difference->values, &more[i]);
    return compare_progress(w->c, (uint64_t)(part * (double)w->a->tensor->size), error);
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
                          .result_size = w->count * sizeof(gufo_value_difference),
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

/* ---- bands of each height ------------------------------------------------------------------- */

/* Finds the others with bands of so many rows. */
static void find_others(value_walk *w, const compared_other *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (can_decode(&others[i].side) && larger(w->a->rows, others[i].side.rows) == w->rows)
            w->others[w->count++] = &others[i];
}

static gufo_status walk_bands(value_walk *w, gufo_error *error)
{
    const gufo_tensor *tensor = w->a->tensor;
    gufo_status status;

    w->columns = w->rows > 1 ? tensor->dims[0] : tensor->elements;
    w->tile_columns = TILE_ELEMENTS / w->rows;
    w->tiles_per_band = (w->columns - 1) / w->tile_columns + 1;
    w->tiles = tensor->elements / (w->rows * w->columns) * w->tiles_per_band;
    status = run(w, error);
    for (size_t i = 0; i < w->count && status == GUFO_OK; i++) {
        w->others[i]->difference->has_values = true;
        compare_conclude(&w->others[i]->difference->values);
    }
    w->c->done += w->count * tensor->size;
    return status;
}

gufo_status compare_tensor_values(comparing *c, const compared_side *a,
                                  const compared_other *others, size_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (a->tensor->elements == 0 || !can_decode(a))
        return GUFO_OK;
    for (uint64_t rows = 1; rows <= HIGHEST_BAND && status == GUFO_OK; rows *= 2) {
        value_walk w = {.c = c, .a = a, .rows = rows};

        find_others(&w, others, count);
        if (w.count > 0)
            status = walk_bands(&w, error);
    }
    return status;
}
