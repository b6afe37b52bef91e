/* Rectangles with given areas that fill a rectangle, as near to squares as they can be. */
#ifndef GUFO_REPORT_SQUARES_H
#define GUFO_REPORT_SQUARES_H

#include "report/page/svg.h"

typedef struct square_item {
    double size; /* above 0 */
    svg_box box; /* where it is */
} square_item;

/* Places items, whose sizes descend, in a box.  A percent of the width counts as `percent` pixels. */
void squares_place(square_item *items, size_t count, svg_box box, double percent);

#endif
