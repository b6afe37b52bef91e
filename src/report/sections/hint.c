/* What a section lacks. */
#include "report/sections/sections.h"

void section_hint(const report *r, gufo_report_part part, const char *what)
{
    page *p = r->page;

    if (r->model->hints[part] == NULL)
        return;
    html(p, "<p class=\"hint\">%s: <code>", what);
    html_text(p, gufo_str_of(r->model->hints[part]), HTML_ALL);
    html(p, "</code></p>");
}
