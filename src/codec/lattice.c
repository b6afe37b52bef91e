/* Which grid rows are nearest to the code vectors that are not in the grid.
 *
 * The candidates of a vector are all rows whose distance to it (the sum of squared differences of
 * codes) is one of the n least that occur.  All vectors are visited with the highest element
 * outermost, and the distances of all rows are summed up on the way down:
 *
 *     sums[7][r] = (c7 - row r's c7)^2
 *     sums[6][r] = sums[7][r] + (c6 - row r's c6)^2     ...     sums[0][r] is the distance
 *
 * so that most vectors cost one addition per row.  Distances are less than 256: bytes do. */
#include "codec/lattice.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { MOST_LEVELS = 8, MOST_ELEMENTS = 8, MOST_DISTANCE = 255 };

/* How a type's code vectors come from its grid. */
typedef struct grid {
    uint32_t type;
    const uint64_t *rows8; /* of 8 elements, or NULL: */
    const uint32_t *rows4; /* of 4 */
    uint32_t row_count;
    uint32_t bits, levels;
    uint8_t level[MOST_LEVELS]; /* the bytes of the grid, by code */
    uint32_t distances;         /* how many different ones make candidates */
} grid;

static const grid grids[] = {
    {GUFO_TYPE_IQ1_S, grid_iq1, NULL, GRID_IQ1_ROWS, 2, 3, {0xff, 0, 1}, 3},
    {GUFO_TYPE_IQ1_M, grid_iq1, NULL, GRID_IQ1_ROWS, 2, 3, {0xff, 0, 1}, 3},
    {GUFO_TYPE_IQ2_XXS, grid_iq2_xxs, NULL, GRID_IQ2_XXS_ROWS, 2, 3, {8, 25, 43}, 2},
    {GUFO_TYPE_IQ2_XS, grid_iq2_xs, NULL, GRID_IQ2_XS_ROWS, 2, 3, {8, 25, 43}, 2},
    {GUFO_TYPE_IQ2_S, grid_iq2_s, NULL, GRID_IQ2_S_ROWS, 2, 3, {8, 25, 43}, 1},
    {GUFO_TYPE_IQ3_XXS,
     NULL,
     grid_iq3_xxs,
     GRID_IQ3_XXS_ROWS,
     3,
     8,
     {4, 12, 20, 28, 36, 44, 52, 62},
     2},
    {GUFO_TYPE_IQ3_S, NULL, grid_iq3_s, GRID_IQ3_S_ROWS, 3, 8, {1, 3, 5, 7, 9, 11, 13, 15}, 3},
};

static const grid *find_grid(uint32_t type)
{
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (grids[i].type == type)
            return &grids[i];
    return NULL;
}

static uint32_t element_count(const grid *g)
{
    return g->rows8 != NULL ? 8 : 4;
}

static uint16_t row_codes(const grid *g, uint32_t row)
{
    uint64_t word = g->rows8 != NULL ? g->rows8[row] : g->rows4[row];
    uint32_t codes = 0;

    for (uint32_t e = 0; e < element_count(g); e++) {
        uint32_t code = 0;
        while (g->level[code] != (uint8_t)(word >> 8 * e))
            code++;
        codes |= code << g->bits * e;
    }
    return (uint16_t)codes;
}

/* ---- building ------------------------------------------------------------------------------- */

typedef struct builder {
    const grid *grid;
    const gufo_allocator *allocator;
    lattice *lattice;
    size_t used, room;                                          /* candidates */
    uint8_t sums[MOST_ELEMENTS + 1][GRID_IQ1_ROWS];             /* [e]: of the elements from e on */
    uint8_t squares[MOST_ELEMENTS][MOST_LEVELS][GRID_IQ1_ROWS]; /* (code - row's code)^2 */
} builder;

static void fill_squares(builder *b)
{
    const lattice *l = b->lattice;

    for (uint32_t e = 0; e < element_count(b->grid); e++) {
        for (uint32_t r = 0; r < l->row_count; r++) {
            int code = l->rows[r] >> l->bits * e & ((1 << l->bits) - 1);
            for (int c = 0; c < (int)b->grid->levels; c++)
                b->squares[e][c][r] = (uint8_t)((code - c) * (code - c));
        }
    }
}

/* Room for all rows as candidates. */
static bool reserve(builder *b)
{
    lattice *l = b->lattice;
    size_t room = b->room == 0 ? (size_t)1 << 15 : 2 * b->room;

    if (b->room - b->used >= l->row_count)
        return true;
    uint16_t *larger = mem_resize(b->allocator, l->candidates, room * sizeof *larger);
    if (larger == NULL)
        return false;
    l->candidates = larger;
    b->room = room;
    return true;
}

/* Appends the rows of one distance, in order; returns their number. */
static uint32_t add_rows_at(builder *b, int distance)
{
    const lattice *l = b->lattice;
    const uint8_t *distances = b->sums[0], *end = distances + l->row_count, *at = distances;
    size_t before = b->used;

    while ((at = memchr(at, distance, (size_t)(end - at))) != NULL)
        l->candidates[b->used++] = l->rows[at++ - distances];
    return (uint32_t)(b->used - before);
}

/* Lists the candidates of a vector whose distances to all rows are in sums[0]. */
static bool list_candidates(builder *b, uint32_t codes)
{
    const lattice *l = b->lattice;
    size_t first = b->used;
    uint32_t count = 0, found = 0;

    if (!reserve(b))
        return false;
    for (int distance = 1; found < b->grid->distances && distance <= MOST_DISTANCE; distance++) {
        uint32_t rows = add_rows_at(b, distance);
        found += rows > 0;
        count += rows;
    }
    while (b->used % LATTICE_LANES != 0)
        l->candidates[b->used++] = l->candidates[first];
    l->places[codes] =
        LATTICE_OFF_GRID | (uint32_t)(first / LATTICE_LANES) << LATTICE_COUNT_BITS | count;
    return true;
}

/* Parts of a fixed size, so that compilers use vector instructions. */
enum { PART = 64 };

static void add_part(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict sums)
{
    for (size_t i = 0; i < PART; i++)
        sums[i] = (uint8_t)(a[i] + b[i]);
}

/* Visits all vectors that end in `codes`, the elements from e on. */
static bool visit(builder *b, uint32_t e, uint32_t codes)
{
    const lattice *l = b->lattice;

    if (e == 0)
        return l->places[codes] != LATTICE_OFF_GRID || list_candidates(b, codes);
    e--;
    for (uint32_t c = 0; c < b->grid->levels; c++) {
        for (uint32_t r = 0; r < l->row_count; r += PART)
            add_part(b->sums[e + 1] + r, b->squares[e][c] + r, b->sums[e] + r);
        if (!visit(b, e, codes | c << l->bits * e))
            return false;
    }
    return true;
}

/* Until it has a list, a vector that is not in the grid is off it. */
static void place_rows(const grid *g, lattice *l, size_t vectors)
{
    for (size_t i = 0; i < vectors; i++)
        l->places[i] = LATTICE_OFF_GRID;
    for (uint32_t r = 0; r < g->row_count; r++) {
        l->rows[r] = row_codes(g, r);
        l->places[l->rows[r]] = r;
    }
}

static bool build(const grid *g, const gufo_allocator *allocator, lattice *l)
{
    size_t vectors = (size_t)1 << g->bits * element_count(g);
    builder *b = mem_zero(allocator, sizeof *b);
    bool built = false;

    l->bits = g->bits;
    l->row_count = g->row_count;
    l->places = mem_alloc(allocator, vectors * sizeof *l->places);
    l->rows = mem_alloc(allocator, g->row_count * sizeof *l->rows);
    if (b != NULL && l->places != NULL && l->rows != NULL) {
        *b = (builder){.grid = g, .allocator = allocator, .lattice = l};
        place_rows(g, l, vectors);
        fill_squares(b);
        built = visit(b, element_count(g), 0);
    }
    mem_free(allocator, b);
    return built;
}

gufo_status lattice_new(uint32_t type, const gufo_allocator *allocator, lattice **out,
                        gufo_error *error)
{
    const grid *g = find_grid(type);

    *out = NULL;
    if (g == NULL)
        return GUFO_OK;
    lattice *made = mem_zero(allocator, sizeof *made);
    if (made != NULL && build(g, allocator, made)) {
        *out = made;
        return GUFO_OK;
    }
    lattice_free(made, allocator);
    return fail_memory(error);
}

void lattice_free(lattice *l, const gufo_allocator *allocator)
{
    if (l == NULL)
        return;
    mem_free(allocator, l->places);
    mem_free(allocator, l->candidates);
    mem_free(allocator, l->rows);
    mem_free(allocator, l);
}

/* ---- the rows are facts of the format ----------------------------------------------------------- */

const uint64_t grid_iq1[GRID_IQ1_ROWS] = {
#include "codec/tables/iq1s.inc"
};

const uint64_t grid_iq2_xxs[GRID_IQ2_XXS_ROWS] = {
#include "codec/tables/iq2xxs.inc"
};

const uint64_t grid_iq2_xs[GRID_IQ2_XS_ROWS] = {
#include "codec/tables/iq2xs.inc"
};

const uint64_t grid_iq2_s[GRID_IQ2_S_ROWS] = {
#include "codec/tables/iq2s.inc"
};

const uint32_t grid_iq3_xxs[GRID_IQ3_XXS_ROWS] = {
#include "codec/tables/iq3xxs.inc"
};

const uint32_t grid_iq3_s[GRID_IQ3_S_ROWS] = {
#include "codec/tables/iq3s.inc"
};
