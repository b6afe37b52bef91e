/* The numbers of a view, a part at a time: for what has to be known while a model is planned. */
#ifndef IMPORT_ARCHITECTURES_PLAN_NUMBERS_H
#define IMPORT_ARCHITECTURES_PLAN_NUMBERS_H

#include "import/architectures/plan/views.h"

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

#endif
