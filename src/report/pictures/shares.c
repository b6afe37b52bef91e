/* Parts of a whole, as one bar. */
#include "report/pictures/pictures.h"

#include "report/page/numbers.h"
#include "report/page/svg.h"

#include <stdio.h>

enum { HEIGHT = 24 };

static double sum_of(const bar_part *parts, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += parts[i].value;
    return sum;
}

static void put_part(page *p, const bar_part *part, double at, double whole)
{
    char classes[32];

    (void)snprintf(classes, sizeof classes, "%s tile", part->color);
    svg_rect_titled(p, (svg_box){100 * at / whole, 100 * part->value / whole, 0, HEIGHT}, classes);
    html_text(p, part->name, HTML_NAME);
    html(p, " %s", as_share(part->value, whole).text);
    svg_titled(p, "rect");
}

void picture_shares(page *p, const char *title, const bar_part *parts, size_t count)
{
    double whole = sum_of(parts, count), at = 0;

    svg_begin(p, &(svg_frame){.title = title, .height = HEIGHT, .top = 0, .bottom = 6});
    for (size_t i = 0; i < count; i++) {
        html(p, i > 0 ? ", " : "");
        html_text(p, parts[i].name, HTML_LABEL);
        html(p, " %s", as_share(parts[i].value, whole).text);
    }
    svg_described(p);
    for (size_t i = 0; i < count && whole > 0; i++) {
        put_part(p, &parts[i], at, whole);
        at += parts[i].value;
    }
    svg_end(p);
}
