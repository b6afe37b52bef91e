/* A heat map: a number of each tensor as a colour, a row for each role, a column for each layer. */
#ifndef GUFO_REPORT_HEAT_H
#define GUFO_REPORT_HEAT_H

#include "report/facts/rows.h"
#include "report/page/html.h"
#include "report/page/scale.h"

enum { HEAT_RINGS = 3 };

typedef struct heat_map {
    const char *title; /* ours */
    bool is_small;     /* one of several, side by side */
    const void *context;
    /* The number of a tensor; NaN: none. */
    double (*value)(const void *context, uint32_t item);
    heat_scale scale;
    uint32_t rings[HEAT_RINGS]; /* tensors with a ring */
    size_t ring_count;
} heat_map;

/* The least and the most of the numbers; false if there is none.  Where these are above 0 and far apart, the scale
 * is logarithmic. */
bool heat_range(const heat_map *map, const model_facts *facts, const layer_rows *rows,
                heat_scale *scale);
/* Makes a scale have the numbers of another, too. */
void heat_range_join(heat_scale *all, const heat_scale *more);
void picture_heat(page *p, const heat_map *map, const model_facts *facts, const layer_rows *rows);
/* The colours of a scale, with what it measures. */
void picture_heat_legend(page *p, const char *what, const heat_scale *scale);

#endif
