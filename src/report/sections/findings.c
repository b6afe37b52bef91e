/* Findings, worst first, with what to do about each. */
#include "report/sections/sections.h"

#include "report/page/numbers.h"

enum { OF_A_RULE = 3 }; /* that are shown without a click */

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

/* How many findings from `begin` on are of its rule. */
static size_t run_length(const report *r, size_t begin, size_t end)
{
    size_t len = 1;

    while (begin + len < end &&
           r->facts->findings[begin + len]->rule == r->facts->findings[begin]->rule &&
           r->facts->findings[begin + len]->severity == r->facts->findings[begin]->severity)
        len++;
    return len;
}

/* Many of one rule say the same: what follows the first ones is behind a click. */
static void put_run(const report *r, size_t begin, size_t len)
{
    const size_t open = len > OF_A_RULE + 1 ? OF_A_RULE : len;
    const gufo_report_finding *const *list = &r->facts->findings[begin];
    const gufo_rule *rule = list[0]->rule;
    page *p = r->page;

    for (size_t i = 0; i < open; i++)
        put_finding(p, list[i]);
    if (open == len)
        return;
    html(p, "<li><details><summary>%s of %s %s</summary><ol class=\"findings\">\n",
         as_counted(len - open, "more finding", "more findings").text, rule != NULL ? rule->id : "",
         rule != NULL ? rule->name : "");
    for (size_t i = open; i < len; i++)
        put_finding(p, list[i]);
    html(p, "</ol></details></li>\n");
}

static void put_list(const report *r, size_t begin, size_t end)
{
    html(r->page, "<ol class=\"findings\">\n");
    for (size_t len; begin < end; begin += len) {
        len = run_length(r, begin, end);
        put_run(r, begin, len);
    }
    html(r->page, "</ol>");
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
    put_list(r, 0, r->model->finding_count);
}
