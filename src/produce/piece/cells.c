/* The numbers of a transposed piece while they wait in a band, or, before that, in parts of source
 * rows.
 *
 * A cell holds one number.  Where all sources have one type of plain numbers, a cell has that type;
 * blocks are decoded first, and a cell holds a float. */
#include "produce/units/work.h"

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

uint64_t cell_least_room(const piece *p)
{
    return cell_part_room(p, p->unit_rows < p->slice_rows ? p->unit_rows : p->slice_rows);
}
