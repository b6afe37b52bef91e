/* Whether tables fit a piece: what operations and those that undo them have in common. */
#ifndef GUFO_PRODUCE_ROW_OP_FITS_H
#define GUFO_PRODUCE_ROW_OP_FITS_H

#include "produce/produce.h"

/* Without tables. */
static inline bool fits_any(const row_op *op, uint64_t piece_rows, uint64_t columns)
{
    (void)op, (void)piece_rows, (void)columns;
    return true;
}

/* A number for each row. */
static inline bool fits_rows(const row_op *op, uint64_t piece_rows, uint64_t columns)
{
    (void)columns;
    return op->side[0]->columns == 1 && op->side[0]->count == piece_rows;
}

#endif
