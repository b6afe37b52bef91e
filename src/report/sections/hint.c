/* What a section lacks. */
#include "report/page/numbers.h"
#include "report/sections/sections.h"

void section_rest(page *p, uint64_t found)
{
    if (found > MOST_LISTED)
        html(p, "<p class=\"note\">%s more are not listed.</p>",
             as_counted(found - MOST_LISTED, "tensor", "tensors").text);
}

void section_hint(const report *r, gufo_report_part part, const char *what)
{
    page *p = r->page;

    if (r->model->hints[part] == NULL)
        return;
    html(p, "<p class=\"hint\">%s: <code>", what);
    html_text(p, gufo_str_of(r->model->hints[part]), HTML_ALL);
    html(p, "</code></p>");
}
