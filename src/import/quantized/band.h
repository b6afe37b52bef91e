/* Some rows of a weight of whole numbers, in memory: a byte for each number. */
#ifndef IMPORT_QUANTIZED_BAND_H
#define IMPORT_QUANTIZED_BAND_H

#include "import/quantized/integers.h"

typedef struct band {
    const packed_weight *w;
    uint64_t first, count;
    uint64_t groups, group; /* of a row; columns of one */
    uint8_t *codes;         /* w->columns for each row; NULL where scales are enough */
    float *scales;          /* `groups` for each row */
    uint16_t *zeros;
    uint32_t *order; /* the group of each column; NULL: column / group */
} band;

/* Room for at most `most` rows, and the order of columns.  Closed also after a failure. */
gufo_status band_open(band *b, const packed_weight *w, uint64_t most, bool has_codes,
                      gufo_error *error);
void band_close(band *b);

/* Scales and zeros of rows b->first and more, b->count of them, which are finite; some columns of their
 * codes. */
gufo_status band_scales(band *b, gufo_error *error);
gufo_status band_codes(band *b, uint64_t column, uint64_t columns, gufo_error *error);

/* Refuses a row some of whose numbers have a scale of zero, but are not zero themselves. */
gufo_status band_check_row(const band *b, uint64_t row, gufo_error *error);

static inline uint64_t band_group(const band *b, uint64_t column)
{
    return b->order != NULL ? b->order[column] : column / b->group;
}

#endif
