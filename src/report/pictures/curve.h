/* Lines and areas over an axis: places are parts of the picture, from 0 (left, bottom) to 1. */
#ifndef GUFO_REPORT_PICTURES_CURVE_H
#define GUFO_REPORT_PICTURES_CURVE_H

#include "report/page/html.h"

typedef struct curve_point {
    double x, y;
} curve_point;

/* Inside of svg_stretched_begin: an area between two lines with the same places across, and a line. */
void curve_area(page *p, const curve_point *lower, const curve_point *upper, size_t count,
                const char *classes);
void curve_line(page *p, const curve_point *points, size_t count, const char *classes);

#endif
