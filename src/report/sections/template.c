/* Chat templates: their lines with numbers, open around findings and folded elsewhere, findings below
 * their line; and what an example becomes. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/sections/sections.h"

#include <inttypes.h>
#include <string.h>

enum {
    AROUND = 8,              /* lines that stay open before and behind a finding */
    FEW = 24,                /* lines that are never folded */
    MOST_BYTES = 128 * 1024, /* of a template, and */
    MOST_LINES = 2000,       /* its lines: more are counted */
    MOST_FINDINGS = 64,
};

typedef struct template_view {
    page *p;
    const gufo_chat_review *t;
    gufo_str shown; /* what is left to be written */
    size_t bytes;   /* of all that is shown */
    uint64_t lines; /* of what is shown */
    uint64_t line;  /* the next one, from 1 */
    size_t findings;
} template_view;

static gufo_str next_line(gufo_str *text)
{
    const char *end = text->len > 0 ? memchr(text->data, '\n', text->len) : NULL;
    size_t len = end != NULL ? (size_t)(end - text->data) : text->len;
    gufo_str line = {text->data, len};

    len += end != NULL;
    *text = (gufo_str){text->data + len, text->len - len};
    return line;
}

static uint64_t count_lines(gufo_str text)
{
    uint64_t lines = 0;

    for (; text.len > 0; lines++)
        (void)next_line(&text);
    return lines;
}

/* At most MOST_LINES lines and MOST_BYTES bytes of it, whole lines where there are some. */
static gufo_str beginning_of(gufo_str source)
{
    gufo_str rest = source;
    uint64_t lines = 0;

    while (rest.len > 0 && lines < MOST_LINES) {
        gufo_str before = rest;

        (void)next_line(&rest);
        if (source.len - rest.len > MOST_BYTES)
            return (gufo_str){source.data,
                              lines > 0 ? source.len - before.len : (size_t)MOST_BYTES};
        lines++;
    }
    return (gufo_str){source.data, source.len - rest.len};
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool is_near(const template_view *v, uint64_t line)
{
    if (v->lines <= FEW)
        return true;
    for (size_t i = 0; i < v->findings; i++) {
        uint64_t at = v->t->findings[i].line;

        if (at > 0 && line + AROUND >= at && line <= at + AROUND)
            return true;
    }
    return false;
}

static void put_finding(const template_view *v, const gufo_template_finding *f)
{
    html(v->p, "<p class=\"fnd\"><b>%s</b> ",
         f->dangerous ? "▲ unsafe without a sandbox:" : "▲ finding:");
    html_text(v->p, gufo_str_of(f->message), HTML_ALL);
    if (f->column > 0)
        html(v->p, " (column %s)", as_grouped(f->column).text);
    html(v->p, "</p>");
}

static void put_line(template_view *v)
{
    gufo_str line = next_line(&v->shown);
    bool bad = false;

    for (size_t i = 0; i < v->findings; i++)
        bad |= v->t->findings[i].line == v->line;
    html(v->p, "<li value=\"%" PRIu64 "\"%s><code>", v->line, bad ? " class=\"bad\"" : "");
    html_text(v->p, line, HTML_ALL);
    html(v->p, "</code>");
    for (size_t i = 0; bad && i < v->findings; i++)
        if (v->t->findings[i].line == v->line)
            put_finding(v, &v->t->findings[i]);
    html(v->p, "</li>\n");
    v->line++;
}

/* A run of lines that are all near findings, or all are not. */
static void put_run(template_view *v)
{
    bool near = is_near(v, v->line);
    uint64_t end = v->line;

    while (end <= v->lines && is_near(v, end) == near)
        end++;
    if (!near && end - v->line > 1)
        html(v->p, "<details><summary>Lines %" PRIu64 " to %" PRIu64 "</summary>", v->line,
             end - 1);
    else if (!near)
        html(v->p, "<details><summary>Line %" PRIu64 "</summary>", v->line);
    html(v->p, "<ol class=\"tpl\">");
    while (v->line < end)
        put_line(v);
    html(v->p, near ? "</ol>" : "</ol></details>");
}

/* ---- a template ----------------------------------------------------------------------------- */

static void put_caption(const template_view *v)
{
    const gufo_chat_review *t = v->t;
    size_t dangerous = 0;

    for (size_t i = 0; i < t->finding_count; i++)
        dangerous += t->findings[i].dangerous;
    html(v->p, "<p class=\"cap\"><b>");
    if (t->finding_count == 0)
        html(v->p, "Nothing is wrong with the %s of the template.",
             as_counted(count_lines(t->source), "line", "lines").text);
    else
        html(v->p, "The template has %s in %s.",
             as_counted(t->finding_count, "finding", "findings").text,
             as_counted(count_lines(t->source), "line", "lines").text);
    if (dangerous > 0)
        html(v->p, " Do not render it without a sandbox.");
    html(v->p, "</b> <span>%s%s</span></p>", as_bytes(t->source.len).text,
         v->lines > FEW && t->finding_count > 0 ? "; lines around findings are open" : "");
}

static void put_rest(const template_view *v)
{
    size_t left = v->t->source.len - v->bytes;

    if (left > 0)
        html(v->p, "<p class=\"note\">%s more are not shown.</p>", as_bytes(left).text);
}

static void put_example(const template_view *v)
{
    if (v->t->rendered.len == 0)
        return;
    html(v->p, "<details><summary>An example: what messages become</summary><p>Messages:</p><pre>");
    html_lines(v->p, v->t->messages);
    html(v->p, "</pre><p>The prompt:</p><pre>");
    html_lines(v->p, v->t->rendered);
    html(v->p, "</pre></details>");
}

static void draw_template(page *p, const gufo_chat_review *t)
{
    template_view v = {.p = p, .t = t, .shown = beginning_of(t->source), .line = 1};

    v.lines = count_lines(v.shown);
    v.bytes = v.shown.len;
    v.findings = t->finding_count < MOST_FINDINGS ? t->finding_count : MOST_FINDINGS;
    if (t->name.len > 0) {
        html(p, "<h%u>", p->heading + 1);
        html_text(p, t->name, HTML_NAME);
        html(p, "</h%u>", p->heading + 1);
    }
    put_caption(&v);
    for (size_t i = 0; i < v.findings; i++)
        if (t->findings[i].line == 0 || t->findings[i].line > v.lines)
            put_finding(&v, &t->findings[i]);
    while (v.line <= v.lines)
        put_run(&v);
    put_rest(&v);
    put_example(&v);
}

void section_template(const report *r)
{
    for (size_t i = 0; i < r->model->template_count; i++)
        draw_template(r->page, &r->model->templates[i]);
}

bool section_template_is_there(const report *r)
{
    return r->model->template_count > 0;
}
