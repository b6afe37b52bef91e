/* A squarified treemap: items go into a row along the shorter side of what is left, as long as that makes
 * the worst of the row more like a square; then the next row begins.
 *
 *     +-------+-----+      6, 6 in a row on the left, as high as the box;
 *     |   6   |  4  |      4, 3 in a row at the top of what is left;
 *     +-------+--+--+      2, 1 below
 *     |   6   |..|..|
 *     +-------+--+--+
 *
 * (M. Bruls, K. Huizing, J. van Wijk: Squarified Treemaps, 2000.) */
#include "report/pictures/squares.h"

#include <math.h>

/* In pixels. */
typedef struct area {
    double x, y, width, height;
} area;

/* How far the worst item of a row is from a square: items from `least` to `most`, `sum` together, beside a
 * side of this length. */
static double worst_of(double least, double most, double sum, double side)
{
    const double square = side * side, sums = sum * sum;

    return fmax(square * most / sums, sums / (square * least));
}

/* How many of the items, whose sizes are areas, belong into the next row. */
static size_t row_length(const square_item *items, size_t count, double side, double *sum)
{
    double worst = INFINITY, together = 0;
    size_t len = 0;

    *sum = 0;
    while (len < count) {
        together = *sum + items[len].size;
        double with = worst_of(items[len].size, items[0].size, together, side);

        if (with > worst)
            break;
        worst = with;
        *sum = together;
        len++;
    }
    return len;
}

/* Takes a strip for a row from what is left, and places its items in it. */
static void place_row(square_item *items, size_t count, double sum, area *left, double percent)
{
    bool upright = left->width >= left->height;
    double thick = sum / (upright ? left->height : left->width), at = 0;

    for (size_t i = 0; i < count; i++) {
        double along = items[i].size / thick;

        items[i].box = upright
                           ? (svg_box){left->x / percent, thick / percent, left->y + at, along}
                           : (svg_box){(left->x + at) / percent, along / percent, left->y, thick};
        at += along;
    }
    if (upright) {
        left->x += thick;
        left->width -= thick;
    } else {
        left->y += thick;
        left->height -= thick;
    }
}

void squares_place(square_item *items, size_t count, svg_box box, double percent)
{
    area left = {box.x * percent, box.y, box.width * percent, box.height};
    double total = 0, scale;

    for (size_t i = 0; i < count; i++)
        total += items[i].size;
    if (!(total > 0) || !isfinite(total))
        return;
    scale = left.width * left.height / total;
    for (size_t i = 0; i < count; i++)
        items[i].size *= scale;
    for (size_t begin = 0, len; begin < count; begin += len) {
        double side = fmin(left.width, left.height), sum;

        if (!(side > 0)) /* rounding has used it up */
            return;
        len = row_length(items + begin, count - begin, side, &sum);
        place_row(items + begin, len, sum, &left, percent);
    }
}
