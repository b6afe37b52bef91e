/* Figures with captions. */
#include "report/page/figure.h"

void figure_begin(page *p, const char *id)
{
    html(p, "<figure id=\"%s%s\"><figcaption><b>", p->prefix, id);
}

void figure_reading(page *p)
{
    html(p, "</b> <span>");
}

void figure_picture(page *p)
{
    html(p, "</span></figcaption>");
}

void figure_data(page *p, const char *what)
{
    html(p, "<details><summary>%s</summary>", what);
}

void figure_end(page *p, bool has_data)
{
    html(p, has_data ? "</details></figure>\n" : "</figure>\n");
}

void note_begin(page *p)
{
    html(p, "<p class=\"note\">");
}

void note_end(page *p)
{
    html(p, "</p>");
}
