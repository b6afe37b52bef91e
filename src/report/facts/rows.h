/* Which roles are the rows of pictures of layers, and in which order. */
#ifndef GUFO_REPORT_ROWS_H
#define GUFO_REPORT_ROWS_H

#include "report/facts/facts.h"

enum { MOST_ROWS = 48 };

typedef struct layer_rows {
    size_t roles[MOST_ROWS]; /* in the table of layers */
    size_t count;
    size_t skipped; /* roles of norms and biases, and those that do not fit */
} layer_rows;

/* What a layer does, by the roles that it has. */
typedef enum layer_kind {
    LAYER_EMPTY,
    LAYER_OTHER, /* feeds forward, and nothing else */
    LAYER_ATTENTION,
    LAYER_RECURRENT, /* also with attention beside it */
    LAYER_KINDS,
} layer_kind;

layer_kind rows_layer_kind(const model_facts *facts, const layer_rows *rows, uint64_t layer);

/* Matrices, or everything where a model has none: attention first, then what feeds forward. */
layer_rows rows_of(const model_facts *facts);

#endif
