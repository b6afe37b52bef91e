/* Some rows of a weight of whole numbers, in memory: a byte for each number. */
#ifndef IMPORT_PACKED_BAND_H
#define IMPORT_PACKED_BAND_H

#include "import/packed/integers.h"

typedef struct band {
    const packed_weight *w;
    uint64_t first, count;
    uint64_t groups, group; /* of a row; columns of one */
    uint8_t *codes;         /* w->columns for each row; NULL where scales are enough */
    float *scales;          /* `groups` for each row */
    uint16_t *zeros;
    uint32_t *order; /* the group of each column; NULL: column / group */
    void *block;     /* what the band has allocated for them */
} band;

/* The bytes of a band of so many rows; UINT64_MAX: more than can be counted. */
uint64_t band_size(const packed_weight *w, uint64_t rows, bool has_codes);

/* Makes room for at most `most` rows, and reads the order of columns.  `room` has band_size bytes, or
 * is NULL: the band allocates them.  Closed also after a failure. */
gufo_status band_open(band *b, const packed_weight *w, uint64_t most, bool has_codes, void *room,
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
