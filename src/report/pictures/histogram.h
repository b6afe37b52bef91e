/* Bars side by side: how often each of some values occurs. */
#ifndef GUFO_REPORT_PICTURES_HISTOGRAM_H
#define GUFO_REPORT_PICTURES_HISTOGRAM_H

#include "report/page/html.h"

/* A dashed line at a place from 0 to 1 across all bars, with a label of ours on its outer side. */
typedef struct histogram_mark {
    double at;
    const char *label;
} histogram_mark;

enum { HISTOGRAM_MARKS = 2 };

typedef struct histogram {
    const char *title, *described; /* ours */
    const uint64_t *counts;
    size_t count;
    bool is_log; /* a bar of 1 is seen beside one of millions */
    const void *context;
    /* What the reader sees under the pointer; below a bar, or NULL where nothing is. */
    void (*describe)(page *p, const void *context, size_t bar);
    const char *(*label)(const void *context, size_t bar, char room[32]);
    /* Below the ends, in place of labels of bars; NULL: none. */
    const char *low, *high;
    histogram_mark marks[HISTOGRAM_MARKS];
    size_t mark_count;
} histogram;

void histogram_draw(page *p, const histogram *h);

#endif
