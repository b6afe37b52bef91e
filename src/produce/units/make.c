/* How one unit passes from its sources to its targets:
 *
 *     sources --read--> blocks --unpack, decode--> values --operate--> values --encode--> blocks --write
 *                          |                                             |                  |
 *                          |                                             |               decode
 *                          v                                             v                  v
 *                        pass (swapped, repacked)                       error
 *
 * Reading and writing are done for the whole unit, everything else in steps that fit into the
 * processor's cache. */
#include "base/checked.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/threads.h"
#include "codec/kernels.h"
#include "codec/coding.h"
#include "produce/units/work.h"

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

enum { TILE_ROWS = 64 };

/* ---- cells
 * -------------------------------------------------------------------------------------- */

static const uint8_t *transpose_row(const work *w, uint64_t row)
{
    plain_piece room;
    const piece *p = job_piece_at(w->job, w->band.piece, &room);

    return w->band.cells + (row - w->band.first) * p->columns * w->band.cell;
}

/* Rows of the band as numbers. */
static gufo_status transpose_decode(const work *w, const piece *p, uint64_t row, uint64_t count,
                                    float *out, gufo_error *error)
{
    const gufo_element_type *type = cell_type(p);
    const uint8_t *cells = transpose_row(w, row);

    if (type != NULL)
        return coding_decode(type, cells, 1, count * p->columns, out, w->cpu, error);
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
        status = coding_decode(r->type, raw, 1, w->band.count, (float *)(void *)to, w->cpu, error);
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
static uint64_t band_rows(const work *w, const piece *p, uint64_t first, uint64_t units)
{
    uint64_t row = p->columns * w->band.cell, count = w->band.capacity / row;

    while (count > p->unit_rows && cell_part_room(p, count) > w->workers[0].source_size)
        count /= 2;
    count -= count % p->unit_rows;
    if (count == 0)
        count = p->unit_rows;
    if (count / p->unit_rows > units)
        count = units * p->unit_rows;
    return count < p->slice_rows - first ? count : p->slice_rows - first;
}

gufo_status transpose_fill(work *w, uint64_t number, uint64_t slice, uint64_t first, uint64_t units,
                           gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(w->job, number, &room);
    parallel_loop loop = {.threads = w->threads, .context = w, .work = fill_tile};

    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].source != NULL)
            source_expect(p->sources[i].source, p->sources[i].offset,
                          p->sources[i].count * p->sources[i].row_bytes);
    w->band.piece = number;
    w->band.slice = slice;
    w->band.first = first;
    w->band.cell = cell_size(p);
    w->band.count = band_rows(w, p, first, units);
    loop.end = divide_up(p->columns, tile_rows(w, p));
    return parallel_run(&loop, &w->allocator, error);
}

/* ---- results -------------------------------------------------------------------------------- */

uint8_t *make_bytes(const worker *t, const unit *u, uint32_t number)
{
    const piece *p = u->piece;
    uint64_t count = smaller(p->unit_rows, p->slice_rows), at = 0;

    for (uint32_t i = 0; i < number; i++)
        at += count * p->made[i].row_bytes;
    return t->coded + at;
}

gufo_status make_write(work *w, const worker *t, const unit *u, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; w->files != NULL && i < u->piece->n_made && status == GUFO_OK; i++) {
        const made *m = &u->piece->made[i];

        if (m->target != NO_TARGET)
            status = work_write(w, m->target, m->place + u->row * m->row_bytes, make_bytes(t, u, i),
                                u->rows * m->row_bytes, error);
    }
    return status;
}

/* ---- blocks that pass ----------------------------------------------------------------------- */

static gufo_status pass_run(const made *m, const row_run *run, const uint8_t *from, uint8_t *to,
                            gufo_error *error)
{
    const rows *r = run->rows;

    if (m->type != r->type)
        return gufo_repack(r->type, from, run->count, r->columns, to, NULL, error);
    memcpy(to, from, (size_t)(run->count * r->row_bytes));
    return GUFO_OK;
}

/* Turns blocks that are big-endian, or are to be. */
static gufo_status swap(const gufo_element_type *type, uint8_t *blocks, uint64_t size,
                        gufo_error *error)
{
    return gufo_swap_blocks(type, blocks, size / type->block_bytes, error);
}

/* Repacking wants blocks in little-endian order; else two swaps are none. */
static gufo_status pass_rows(worker *t, const unit *u, uint32_t number, gufo_error *error)
{
    const piece *p = u->piece;
    const made *m = &p->made[number];
    uint8_t *from = t->source, *to = make_bytes(t, u, number);
    gufo_status status = GUFO_OK;

    for (uint64_t done = 0; done < u->rows && status == GUFO_OK;) {
        row_run run = rows_find(p, u->row + done, u->rows - done);
        uint64_t size = run.count * run.rows->row_bytes;
        bool repacks = m->type != run.rows->type;
        bool first_swap = run.rows->swapped && repacks;
        bool last_swap = repacks ? m->swap : m->swap != run.rows->swapped;

        if (first_swap)
            status = swap(run.rows->type, from, size, error);
        if (status == GUFO_OK)
            status = pass_run(m, &run, from, to, error);
        if (status == GUFO_OK && last_swap)
            status = swap(m->type, to, run.count * m->row_bytes, error);
        if (status == GUFO_OK && first_swap) /* other results begin with the same bytes */
            status = swap(run.rows->type, from, size, error);
        from += size;
        to += run.count * m->row_bytes;
        done += run.count;
    }
    return status;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Some rows of a unit. */
typedef struct step {
    const unit *unit;
    uint64_t done, rows; /* in the unit */
    uint8_t *from;       /* their bytes before */
} step;

/* Decodes the rows of a step, and moves `from` behind them. */
static gufo_status decode_step(const work *w, const worker *t, step *s, gufo_error *error)
{
    const piece *p = s->unit->piece;
    const side_tables *tables = side_of_piece(&w->sides, s->unit->number);
    uint64_t row = s->unit->row + s->done;
    gufo_status status = GUFO_OK;

    if (p->transpose)
        return transpose_decode(w, p, row - s->unit->slice * p->slice_rows, s->rows, t->values,
                                error);
    for (uint64_t done = 0; done < s->rows && status == GUFO_OK;) {
        row_run run = rows_find(p, row + done, s->rows - done);

        status = rows_decode(w->job, &run, side_of_source(tables, p, run.rows), s->from,
                             t->values + done * p->columns, w->cpu, error);
        s->from += run.count * run.rows->row_bytes;
        done += run.count;
    }
    return status;
}

static void apply(const row_op *op, const float *const *sides, const op_rows *all)
{
    if (op->kind->apply_rows != NULL) {
        op->kind->apply_rows(op, sides, all);
        return;
    }
    for (uint64_t i = 0; i < all->count; i++)
        op->kind->apply(op, sides,
                        &(op_row){.values = all->values + i * all->columns,
                                  .columns = all->columns,
                                  .row = all->first + i});
}

/* All operations on the rows of a step. */
static void operate(const work *w, const worker *t, const step *s)
{
    const piece *p = s->unit->piece;
    const side_tables *tables = side_of_piece(&w->sides, s->unit->number);
    const op_rows all = {.values = t->operated,
                         .columns = p->columns,
                         .first = s->unit->row + s->done,
                         .count = s->rows,
                         .cpu = w->cpu};

    if (row_op_merges(p)) {
        row_op_merge(p, side_of_op(tables, p, 0), all.first, all.count, t->values, w->cpu);
        return;
    }
    cpu_doubles(w->cpu)->widen(t->values, s->rows * p->columns, t->operated);
    for (uint32_t i = 0; i < p->n_ops; i++)
        apply(&p->ops[i], side_of_op(tables, p, i), &all);
    cpu_doubles(w->cpu)->narrow(t->operated, s->rows * p->columns, t->values);
}

static gufo_status encode_step(const work *w, const worker *t, const step *s, uint32_t number,
                               void *result, gufo_error *error)
{
    const piece *p = s->unit->piece;
    const made *m = &p->made[number];
    const job_hooks *hooks = &w->job->hooks;
    const measured_rows seen = {.piece = s->unit->number,
                                .made = number,
                                .row = s->unit->row + s->done,
                                .count = s->rows,
                                .columns = p->columns,
                                .values = t->values,
                                .decoded = t->decoded,
                                .importance = m->weighted ? t->importance : NULL};
    uint8_t *to = make_bytes(t, s->unit, number) + s->done * m->row_bytes;
    gufo_status status = coding_encode(w->encoders[m->type->id], t->values, s->rows, p->columns,
                                       m->weighs ? t->importance : NULL, to, error);

    if (status == GUFO_OK && m->measure)
        status = coding_decode(m->type, to, 1, s->rows * p->columns, t->decoded, w->cpu, error);
    if (status == GUFO_OK && m->measure)
        status = hooks->measure(hooks->context, &seen, result, error);
    if (status == GUFO_OK && m->swap)
        status = swap(m->type, to, s->rows * m->row_bytes, error);
    return status;
}

static gufo_status make_step(const work *w, const worker *t, step *s, void *result,
                             gufo_error *error)
{
    const piece *p = s->unit->piece;
    gufo_status status = decode_step(w, t, s, error);

    if (p->n_ops > 0 && status == GUFO_OK)
        operate(w, t, s);
    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++)
        if (p->made[i].encode && (s->unit->skipped >> i & 1) == 0)
            status = encode_step(w, t, s, i, result, error);
    return status;
}

static gufo_status make_numbers(work *w, worker *t, const unit *u, void *result, gufo_error *error)
{
    step s = {.unit = u, .from = t->source};
    gufo_status status = GUFO_OK;

    for (; s.done < u->rows && status == GUFO_OK; s.done += s.rows) {
        uint64_t rest = u->rows - s.done;

        s.rows = rest < u->piece->step_rows ? rest : u->piece->step_rows;
        status = make_step(w, t, &s, result, error);
    }
    return status;
}

/* ---- a unit --------------------------------------------------------------------------------- */

/* The importance of the unit's slice, if any result wants it. */
static gufo_status load_importance(work *w, worker *t, const unit *u, gufo_error *error)
{
    const job_hooks *hooks = &w->job->hooks;
    gufo_status status;

    if (!u->piece->weighs || (t->importance_piece == u->number && t->importance_slice == u->slice))
        return GUFO_OK;
    t->importance_piece = UINT64_MAX;
    status = hooks->importance(hooks->context, u->number, u->slice, t->importance, error);
    if (status != GUFO_OK)
        return status;
    t->importance_piece = u->number;
    t->importance_slice = u->slice;
    return GUFO_OK;
}

/* Cells of a band that keep their type are rows already. */
static gufo_status pass_band(const work *w, worker *t, const unit *u, uint32_t number,
                             gufo_error *error)
{
    const piece *p = u->piece;
    const made *m = &p->made[number];
    uint64_t size = u->rows * m->row_bytes;
    uint8_t *to = make_bytes(t, u, number);

    memcpy(to, transpose_row(w, u->row - u->slice * p->slice_rows), (size_t)size);
    return m->swap ? swap(m->type, to, size, error) : GUFO_OK;
}

gufo_status make_unit(work *w, worker *t, const unit *u, void *result, gufo_error *error)
{
    const piece *p = u->piece;
    gufo_status status = GUFO_OK;

    if (!p->transpose) {
        rows_expect(p, u->row, u->rows);
        status = rows_gather(w->job, p, u->row, u->rows, t->source, error);
    }
    if (status == GUFO_OK)
        status = load_importance(w, t, u, error);
    /* Decoding changes the bytes, passing does not. */
    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++)
        if (!p->made[i].encode)
            status = p->transpose ? pass_band(w, t, u, i, error) : pass_rows(t, u, i, error);
    if (status == GUFO_OK && p->encodes)
        status = make_numbers(w, t, u, result, error);
    /* Whatever does not name a file is about what was read. */
    return rows_fail(w->job, &p->sources[0], status, error);
}
