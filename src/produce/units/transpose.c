/* Columns that become rows, a band at a time.
 *
 *     source slice                  band: rows [first, first + count) of the result
 *     row 0    . . [a b c] . .          a d g j
 *     row 1    . . [d e f] . .   -->    b e h k
 *     row 2    . . [g h i] . .          c f i l
 *     row 3    . . [j k l] . .
 *
 * All threads together read the part of every source row between the brackets, once.  The band is
 * as large as memory allows; its rows then become units like any others, so the result does not
 * depend on its size.  In a band plain numbers keep their type, and blocks become floats. */
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/threads.h"
#include "produce/units/work.h"

enum { TILE_ROWS = 64 };

/* ---- cells
 * -------------------------------------------------------------------------------------- */

const uint8_t *transpose_row(const work *w, uint64_t row)
{
    plain_piece room;
    const piece *p = job_piece_at(w->job, w->band.piece, &room);

    return w->band.cells + (row - w->band.first) * p->columns * w->band.cell;
}

gufo_status transpose_decode(const work *w, const piece *p, uint64_t row, uint64_t count,
                             float *out, gufo_error *error)
{
    const gufo_element_type *type = cell_type(p);
    const uint8_t *cells = transpose_row(w, row);

    if (type != NULL)
        return gufo_decode(type, cells, 1, count * p->columns, out, w->cpu, error);
    memcpy(out, cells, (size_t)(count * p->columns * sizeof(float)));
    return GUFO_OK;
}

/* ---- a tile
 * ------------------------------------------------------------------------------------- */

/* Rows that are transposed at once: enough of them to write whole cache lines, if they fit. */
static uint64_t tile_rows(const work *w, const piece *p)
{
    uint64_t fit = w->workers[0].source_size / cell_part_room(p, w->band.count);

    return fit == 0 ? 1 : fit < TILE_ROWS ? fit : TILE_ROWS;
}

/* Reads the part of source row `row` of the piece: cells of the band, at `to`. */
static gufo_status read_part(const work *w, const piece *p, uint64_t row, uint8_t *to,
                             gufo_error *error)
{
    row_run run = rows_find(p, row, 1);
    const rows *r = run.rows;
    uint64_t from = cell_part_bytes(r, w->band.first), size = cell_part_bytes(r, w->band.count);
    bool plain = cell_type(p) != NULL;
    uint8_t *raw = plain ? to : to + w->band.count * sizeof(float);
    gufo_status status = rows_read_part(w->job, &run, from, (size_t)size, raw, error);

    if (status == GUFO_OK && r->swapped)
        status = gufo_swap_blocks(r->type, raw, size / r->type->block_bytes, error);
    if (status == GUFO_OK && !plain)
        status = gufo_decode(r->type, raw, 1, w->band.count, (float *)(void *)to, w->cpu, error);
    return rows_fail(w->job, r, status, error);
}

/* Spreads `count` parts, `stride` bytes apart, over the band: they become columns from `column`
 * on. */
static void spread(const work *w, uint64_t columns, uint64_t column, uint64_t count,
                   const uint8_t *parts, uint64_t stride)
{
    size_t cell = w->band.cell;

    for (uint64_t i = 0; i < w->band.count; i++) {
        uint8_t *to = w->band.cells + (i * columns + column) * cell;
        const uint8_t *from = parts + i * cell;

        for (uint64_t k = 0; k < count; k++, to += cell, from += stride)
            copy_number(to, from, cell);
    }
}

static gufo_status fill_tile(void *context, unsigned thread, uint64_t index, void *result,
                             gufo_error *error)
{
    work *w = context;
    const worker *t = &w->workers[thread];
    plain_piece room;
    const piece *p = job_piece_at(w->job, w->band.piece, &room);
    uint64_t tile = tile_rows(w, p), first = index * tile;
    uint64_t count = p->columns - first < tile ? p->columns - first : tile;
    uint64_t stride = cell_part_room(p, w->band.count);
    gufo_status status = GUFO_OK;

    (void)result;
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        status =
            read_part(w, p, w->band.slice * p->columns + first + i, t->source + i * stride, error);
    if (status == GUFO_OK)
        spread(w, p->columns, first, count, t->source, stride);
    return status;
}

/* ---- a band --------------------------------------------------------------------------------- */

/* Rows of the result that fit: whole units, of which one always does (work_begin). */
static uint64_t band_rows(const work *w, const piece *p, uint64_t first)
{
    uint64_t row = p->columns * w->band.cell, count = w->band.capacity / row;

    while (count > p->unit_rows && cell_part_room(p, count) > w->workers[0].source_size)
        count /= 2;
    count -= count % p->unit_rows;
    if (count == 0)
        count = p->unit_rows;
    return count < p->slice_rows - first ? count : p->slice_rows - first;
}

gufo_status transpose_fill(work *w, uint64_t number, uint64_t slice, uint64_t first,
                           gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(w->job, number, &room);
    parallel_loop loop = {.threads = w->threads, .context = w, .work = fill_tile};

    w->band.piece = number;
    w->band.slice = slice;
    w->band.first = first;
    w->band.cell = cell_size(p);
    w->band.count = band_rows(w, p, first);
    loop.end = divide_up(p->columns, tile_rows(w, p));
    return parallel_run(&loop, &w->allocator, error);
}
