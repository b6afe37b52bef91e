/* Which roles are the rows of pictures of layers, and in which order. */
#ifndef GUFO_REPORT_ROWS_H
#define GUFO_REPORT_ROWS_H

#include "report/facts/facts.h"

enum { MOST_ROWS = 48 };

typedef struct layer_rows {
    size_t roles[MOST_ROWS]; /* in the table of layers */
    size_t count;
    size_t skipped; /* roles of norms and biases, and those for which there is no room */
} layer_rows;

/* Matrices, or everything where a model has none: attention first, then what feeds forward. */
layer_rows rows_of(const model_facts *facts);

#endif
