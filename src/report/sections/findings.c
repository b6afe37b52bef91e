/* Findings, worst first, with what to do about each. */
#include "report/sections/sections.h"

#include "report/page/numbers.h"

static const struct {
    const char *classes, *sign, *word;
} severities[SEVERITIES] = {
    [GUFO_INFO] = {"inf", "●", "remark"},
    [GUFO_WARNING] = {"warn", "▲", "warning"},
    [GUFO_ERROR] = {"err", "✕", "error"},
};

static void put_place(page *p, const gufo_report_finding *f)
{
    html(p, " <span class=\"at\">");
    html_text(p, f->subject, HTML_NAME);
    if (f->shard > 0)
        html(p, ", shard %zu", f->shard);
    if (f->offset != GUFO_NO_OFFSET)
        html(p, ", byte %s", as_grouped(f->offset).text);
    html(p, "</span>");
}

static void put_finding(page *p, const gufo_report_finding *f)
{
    unsigned severity = (unsigned)f->severity < SEVERITIES ? (unsigned)f->severity : GUFO_ERROR;

    html(p,
         "<li class=\"%s\"><p><span class=\"sev\"><span aria-hidden=\"true\">%s</span> %s</span> ",
         severities[severity].classes, severities[severity].sign, severities[severity].word);
    if (f->rule != NULL)
        html(p, "<code>%s</code> %s", f->rule->id, f->rule->name);
    put_place(p, f);
    html(p, "</p><p>");
    html_text(p, f->message, HTML_ALL);
    html(p, "</p>");
    if (f->hint.len > 0) {
        html(p, "<p class=\"advice\">");
        html_text(p, f->hint, HTML_ALL);
        html(p, "</p>");
    }
    if (f->command.len > 0) {
        html(p, "<pre><code>");
        html_lines(p, f->command);
        html(p, "</code></pre>");
    }
    html(p, "</li>\n");
}

void section_findings_count(const report *r)
{
    const uint64_t *found = r->facts->found;

    html(r->page, " <small>%s, %s, %s</small>",
         as_counted(found[GUFO_ERROR], "error", "errors").text,
         as_counted(found[GUFO_WARNING], "warning", "warnings").text,
         as_counted(found[GUFO_INFO], "remark", "remarks").text);
}

void section_findings(const report *r)
{
    page *p = r->page;

    if (r->model->finding_count == 0) {
        html(p, r->model->is_checked ? "<p>No rule of the format is broken, and the content agrees "
                                       "with what the standard says.</p>"
                                     : "<p>The file was not checked.</p>");
        section_hint(r, GUFO_REPORT_FINDINGS, "To check it");
        return;
    }
    html(p, "<ol class=\"findings\">\n");
    for (size_t i = 0; i < r->model->finding_count; i++)
        put_finding(p, &r->model->findings[i]);
    html(p, "</ol>");
}
