/* Pictures in percent and pixels. */
#include "report/page/svg.h"

#include "report/page/numbers.h"

#define AT(value) as_place(value).text

void svg_begin(page *p, const svg_frame *frame)
{
    unsigned id = ++p->pictures;

    if (frame->least_width > 0)
        html(p, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"%s, scrolls\">",
             frame->title);
    html(p,
         "<svg class=\"p\" role=\"img\" aria-labelledby=\"%sp%ut %sp%ud\" "
         "style=\"height:%upx;--l:%upx;--r:%upx;--t:%upx;--b:%upx",
         p->prefix, id, p->prefix, id, frame->height, frame->left, frame->right, frame->top,
         frame->bottom);
    if (frame->least_width > 0)
        html(p, ";--mw:%upx", frame->least_width);
    html(p, "\"><title id=\"%sp%ut\">%s</title><desc id=\"%sp%ud\">", p->prefix, id, frame->title,
         p->prefix, id);
    p->scrolls = frame->least_width > 0;
}

void svg_described(page *p)
{
    html(p, "</desc>");
}

void svg_end(page *p)
{
    html(p, p->scrolls ? "</svg></div>" : "</svg>");
    p->scrolls = false;
}

static void begin_rect(page *p, svg_box box, const char *classes)
{
    html(p, "<rect x=\"%s%%\" y=\"%s\" width=\"%s%%\" height=\"%s\"", AT(box.x), AT(box.y),
         AT(box.width), AT(box.height));
    if (classes[0] != '\0')
        html(p, " class=\"%s\"", classes);
}

void svg_rect(page *p, svg_box box, const char *classes)
{
    begin_rect(p, box, classes);
    html(p, "/>");
}

void svg_rect_titled(page *p, svg_box box, const char *classes)
{
    begin_rect(p, box, classes);
    html(p, "><title>");
}

void svg_titled(page *p, const char *element)
{
    html(p, "</title></%s>", element);
}

void svg_line(page *p, double x1, double y1, double x2, double y2, const char *classes)
{
    html(p, "<line x1=\"%s%%\" y1=\"%s\" x2=\"%s%%\" y2=\"%s\" class=\"%s\"/>", AT(x1), AT(y1),
         AT(x2), AT(y2), classes);
}

void svg_circle_titled(page *p, double x, double y, double radius, const char *classes)
{
    html(p, "<circle cx=\"%s%%\" cy=\"%s\" r=\"%s\" class=\"%s\"><title>", AT(x), AT(y), AT(radius),
         classes);
}

void svg_text_begin(page *p, double x, double y, int dx, const char *classes)
{
    html(p, "<text x=\"%s%%\" y=\"%s\"", AT(x), AT(y));
    if (dx != 0)
        html(p, " dx=\"%d\"", dx);
    if (classes[0] != '\0')
        html(p, " class=\"%s\"", classes);
    html(p, ">");
}

void svg_text_end(page *p)
{
    html(p, "</text>");
}

void svg_label(page *p, double x, double y, int dx, const char *classes, const char *text)
{
    svg_text_begin(p, x, y, dx, classes);
    html(p, "%s", text);
    svg_text_end(p);
}

void svg_stretched_begin(page *p, svg_box box)
{
    html(p,
         "<svg x=\"%s%%\" y=\"%s\" width=\"%s%%\" height=\"%s\" viewBox=\"0 0 100 100\" "
         "preserveAspectRatio=\"none\">",
         AT(box.x), AT(box.y), AT(box.width), AT(box.height));
}

void svg_stretched_end(page *p)
{
    html(p, "</svg>");
}

const char *svg_room(double pixels, double percent)
{
    static const struct {
        double width;
        const char *name;
    } steps[] = {{280, ""},      {420, " c420"}, {540, " c540"},
                 {660, " c660"}, {780, " c780"}, {1080, " c1080"}};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (pixels <= steps[i].width * percent / 100)
            return steps[i].name;
    return NULL;
}
