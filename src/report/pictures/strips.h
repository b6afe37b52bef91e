/* Strips: a dot for each layer, one strip for each role, the same logarithmic scale in all of them. */
#ifndef GUFO_REPORT_STRIPS_H
#define GUFO_REPORT_STRIPS_H

#include "report/facts/rows.h"
#include "report/page/html.h"

enum { STRIPS_HOT = 6 };

typedef struct strips {
    const char *title, *described; /* ours */
    const void *context;
    double (*value)(const void *context, uint32_t item); /* above 0; NaN: none */
    double least, most;
    double reference;         /* a line in every strip; 0: none */
    uint32_t hot[STRIPS_HOT]; /* tensors with colour and label */
    size_t hot_count;
} strips;

void picture_strips(page *p, const strips *s, const model_facts *facts, const layer_rows *rows);

#endif
