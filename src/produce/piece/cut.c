/* Pieces cut into units of work.
 *
 *     piece    |--------- slice 0 ---------|--------- slice 1 ---------|
 *     unit     |    0    |    1    |   2   |    3    |    4    |   5   |     whole rows
 *     step     | | | | | | | | | | | | | | | | | | | | | | | | | | | | |     whole rows
 *
 * A unit is read and written at once; a step is decoded, encoded and measured at once.  A unit is
 * large enough for the disk, a step small enough for the processor's cache.  Their boundaries
 * depend on the shape alone, and so do sums over them. */
#include "base/checked.h"

#include "base/error.h"
#include "codec/interleaved.h"
#include "produce/units/work.h"

/* The numbers of a transposed piece while they wait in a band, or, before that, in parts of source
 * rows.
 *
 * A cell holds one number.  Where all sources have one type of plain numbers, a cell has that type;
 * blocks are decoded first, and a cell holds a float. */

enum { CELL_ALIGNMENT = 8 };

const gufo_element_type *cell_type(const piece *p)
{
    const gufo_element_type *type = p->sources[0].type;

    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != type || p->sources[i].type->block_elements != 1)
            return NULL;
    return type;
}

size_t cell_size(const piece *p)
{
    const gufo_element_type *type = cell_type(p);

    return type != NULL ? type->block_bytes : sizeof(float);
}

uint64_t cell_part_bytes(const rows *r, uint64_t numbers)
{
    return numbers / r->type->block_elements * r->type->block_bytes;
}

uint64_t cell_part_room(const piece *p, uint64_t numbers)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < p->n_sources; i++) {
        uint64_t size = cell_part_bytes(&p->sources[i], numbers);

        longest = size > longest ? size : longest;
    }
    if (cell_type(p) == NULL) /* floats before the blocks of each part: they have to be aligned */
        longest += numbers * sizeof(float);
    return (longest / CELL_ALIGNMENT + 1) * CELL_ALIGNMENT; /* never 0 */
}

/* Bytes of a worker's buffer that filling the smallest band takes. */
static uint64_t cell_least_room(const piece *p)
{
    return cell_part_room(p, p->unit_rows < p->slice_rows ? p->unit_rows : p->slice_rows);
}

enum {
    UNIT_ELEMENTS = 256 * 1024,
    STEP_ELEMENTS = 16 * 1024,
    MERGE_ELEMENTS =
        64 * 1024,            /* of a step that adds a product: what is made of its right factor */
    MERGE_ROWS = 8,           /* serves all of the rows, which are at least so many */
    PASS_BYTES = 1024 * 1024, /* of a unit whose blocks pass */
    MOVE_BYTES = 4 * 1024 * 1024, /* of one that is moved */
    MOVE_BUFFER = 1024 * 1024,    /* where the system cannot copy by itself */
    LARGEST_GROUP = 8,            /* rows that the interleaved types merge */
};

/* A row is read, decoded and encoded whole. */
#define MOST_ROW_BYTES (UINT64_C(1) << 40)

/* Rows of `each` that make up `all`, in whole groups; at least one group. */
static uint64_t rows_of(uint64_t all, uint64_t each, uint64_t group)
{
    uint64_t groups = all / larger(each, 1) / group;

    return larger(groups, 1) * group;
}

uint64_t cut_group(const piece *p)
{
    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != NULL && interleaved_find(p->sources[i].type->id) != NULL)
            return LARGEST_GROUP;
    return 1;
}

/* Columns of blocks can only be read by whole blocks. */
static uint64_t transposed_group(const piece *p)
{
    uint64_t group = 1;

    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != NULL)
            group = larger(group, p->sources[i].type->block_elements);
    return group;
}

static uint64_t longest_row(const piece *p)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < p->n_sources; i++)
        longest = larger(longest, p->sources[i].row_bytes);
    return longest;
}

/* The longest form in which a row is in memory: products of a few rows with it do not overflow. */
static uint64_t longest_form(const piece *p)
{
    uint64_t longest = larger(longest_row(p), p->columns);

    for (uint32_t i = 0; i < p->n_made; i++)
        longest = larger(longest, p->made[i].row_bytes);
    return longest;
}

static uint64_t longest_read(const piece *p)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].source == NULL)
            longest = larger(longest, p->sources[i].row_bytes);
    return longest;
}

static bool passes(const piece *p)
{
    return !p->encodes && p->n_ops == 0 && !p->transpose;
}

static uint64_t step_of(const piece *p, uint64_t group)
{
    if (passes(p))
        return p->unit_rows;
    if (row_op_merges(p) && MERGE_ROWS % group == 0)
        return smaller(rows_of(MERGE_ELEMENTS, p->columns, MERGE_ROWS), p->unit_rows);
    return rows_of(STEP_ELEMENTS, p->columns, group);
}

static void cut_rows(piece *p)
{
    uint64_t group = p->transpose ? transposed_group(p) : cut_group(p);

    if (p->how == PIECE_MOVE)
        p->unit_rows = rows_of(MOVE_BYTES, longest_row(p), 1);
    else if (passes(p))
        p->unit_rows = rows_of(PASS_BYTES, longest_row(p), LARGEST_GROUP);
    else
        p->unit_rows = rows_of(UNIT_ELEMENTS, p->columns, group);
    p->step_rows = step_of(p, group);
}

gufo_status cut_piece(piece *p, uint64_t first_unit, gufo_error *error)
{
    p->encodes = p->weighs = false;
    for (uint32_t i = 0; i < p->n_made; i++) {
        p->encodes = p->encodes || p->made[i].encode;
        p->weighs = p->weighs || p->made[i].weighs || p->made[i].weighted;
    }
    p->first_unit = first_unit;
    p->units = p->slice_units = 0;
    if (p->how == PIECE_GIVEN || p->slices == 0 || p->slice_rows == 0)
        return GUFO_OK;
    if (p->how == PIECE_MAKE && longest_form(p) > MOST_ROW_BYTES)
        return refuse(error, GUFO_E_LIMIT,
                      "a row of tensor %s has %s bytes, more than can be worked on",
                      QUOTED(p->name), GROUPED(longest_form(p)));
    cut_rows(p);
    p->slice_units = divide_up(p->slice_rows, p->unit_rows);
    if (!checked_mul(p->slices, p->slice_units, &p->units))
        return refuse(error, GUFO_E_LIMIT, "tensor %s is too large", QUOTED(p->name));
    return GUFO_OK;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

uint64_t cut_bytes(const unit *u)
{
    const piece *p = u->piece;
    uint64_t all = p->slices * p->slice_rows;

    /* Rows may have several lengths; what all units count adds up to what is read. */
    return p->bytes / all * u->rows + (u->row + u->rows == all ? p->bytes % all : 0);
}

/* ---- what a thread needs -------------------------------------------------------------------- */

unit_buffers cut_buffers(const piece *p, bool to_stream)
{
    uint64_t unit_rows = smaller(p->unit_rows, p->slice_rows);
    uint64_t step_rows = smaller(p->step_rows, p->slice_rows);
    unit_buffers need = {0};

    if (p->units == 0)
        return need;
    need.source = unit_rows * longest_row(p);
    if (p->how == PIECE_MOVE) {
        if (!to_stream) /* rows that the kernel cannot move have to fit */
            need.source = smaller(need.source, larger(MOVE_BUFFER, longest_read(p)));
        return need;
    }
    if (p->transpose) /* what fills the band: units/make.c */
        need.source = larger(MOVE_BUFFER, cell_least_room(p));
    for (uint32_t i = 0; i < p->n_made; i++)
        need.coded += unit_rows * p->made[i].row_bytes;
    if (!passes(p))
        need.values = step_rows * p->columns * sizeof(float);
    if (p->n_ops > 0 && !row_op_merges(p))
        need.operated = step_rows * p->columns * sizeof(double);
    if (p->weighs)
        need.importance = p->columns * sizeof(float);
    return need;
}
