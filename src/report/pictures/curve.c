/* Lines and areas, as paths in a drawing of 100 by 100 whose y axis points down. */
#include "report/pictures/curve.h"

#include "report/page/numbers.h"

static void put_point(page *p, char command, const curve_point *point)
{
    html(p, "%c%s %s", command, as_place(100 * point->x).text, as_place(100 - 100 * point->y).text);
}

void curve_line(page *p, const curve_point *points, size_t count, const char *classes)
{
    html(p, "<path class=\"%s\" d=\"", classes);
    for (size_t i = 0; i < count; i++)
        put_point(p, i == 0 ? 'M' : 'L', &points[i]);
    html(p, "\"/>");
}

void curve_area(page *p, const curve_point *lower, const curve_point *upper, size_t count,
                const char *classes)
{
    html(p, "<path class=\"%s\" d=\"", classes);
    for (size_t i = 0; i < count; i++)
        put_point(p, i == 0 ? 'M' : 'L', &upper[i]);
    for (size_t i = count; i-- > 0;)
        put_point(p, 'L', &lower[i]);
    html(p, "Z\"/>");
}
