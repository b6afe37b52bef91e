/* Reading the numbers of a view. */
#ifndef IMPORT_ARCHITECTURES_PLAN_GATHER_H
#define IMPORT_ARCHITECTURES_PLAN_GATHER_H

#include "import/architectures/plan/views.h"

/* ---- rows whose numbers are anywhere: for orders that segments do not describe ----------------- */

/* What the elements of a view are, that are gathered. */
typedef enum gather_form {
    GATHER_NUMBERS,
    GATHER_ROWS,   /* whole rows of packed weights, as F32 */
    GATHER_BLOCKS, /* the same, as blocks */
} gather_form;

/* Rows of a view; their context, one block of memory. */
typedef struct gathering {
    const gufo_allocator *allocator;
    const checkpoint *checkpoint;
    chunk *chunks;
    uint64_t *begins; /* the first element of each chunk in the view */
    uint64_t count;
    uint64_t columns; /* elements in a row */
    uint64_t width;   /* bytes of an element */
    gather_form form;
} gathering;

/* Makes what `rows.read` reads from: one block of memory.  NULL without it. */
gathering *gather_new(const view *v, const checkpoint *c, uint64_t columns);
/* The same for a view whose elements are rows of packed weights, of `width` bytes each. */
gathering *gather_new_rows(const view *v, const checkpoint *c, uint64_t width, gather_form form);

/* rows.read, with a gathering as context.  Any thread. */
gufo_status gather_rows(const struct rows *r, uint64_t first, uint64_t count, void *out,
                        gufo_error *error);
/* rows.read of rows that are zeros. */
gufo_status gather_zeros(const struct rows *r, uint64_t first, uint64_t count, void *out,
                         gufo_error *error);

/* ---- numbers, a part at a time: what has to be known while a model is planned ------------------ */

enum { NUMBERS_AT_ONCE = 1 << 16 };

typedef struct number_reader {
    const gufo_allocator *allocator;
    const number_type *number;
    struct gathering *gathering;
    rows rows;      /* of one number */
    uint8_t *bytes; /* of NUMBERS_AT_ONCE numbers */
    uint64_t numbers;
} number_reader;

/* All numbers of a view have one type here. */
gufo_status numbers_open(number_reader *r, const view *v, const checkpoint *c, gufo_error *error);
void numbers_close(number_reader *r);

/* Bytes of numbers [first, first + count), at most NUMBERS_AT_ONCE of them, into r->bytes; or the numbers
 * as floats. */
gufo_status numbers_bytes(const number_reader *r, uint64_t first, uint64_t count,
                          gufo_error *error);
gufo_status numbers_floats(const number_reader *r, uint64_t first, uint64_t count, float *out,
                           gufo_error *error);

/* ---- factors of packed weights that blocks do not have: tensors of their own ------------------- */

enum { FACTORS = 2 };

/* The factors of every matrix of a view. */
typedef struct factor_lists {
    uint64_t entries;     /* matrices */
    float *list[FACTORS]; /* the second is part of the first's memory */
} factor_lists;

/* What is behind the stem of a name: ".scale". */
extern const char *const factor_names[FACTORS];

/* Reads the factors of a view whose chunks are all packed, by a kind that has factors.  *fit: whether all
 * rows of each matrix have the same ones, so that blocks can hold them.  Freed with factors_free, also
 * after a failure. */
gufo_status factors_read(const view *v, factor_lists *l, bool *fit, gufo_error *error);
void factors_free(const view *v, const factor_lists *l);
/* Whether factors change nothing. */
bool factors_are_one(const float *list, uint64_t count);

#endif
