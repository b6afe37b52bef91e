/* Fuzz target: the page of any file.  Whatever the file says, the page has the markup of ours and nothing else: one
 * script, no control characters, every tag that opens closes.  It is the same twice. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include <gufo/findings.h>
#include <gufo/report.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- findings ----------------------------------------------------------------------------------- */

enum { MOST = 64 };

typedef struct found_list {
    gufo_report_finding items[MOST];
    char texts[MOST][160]; /* copies of subjects */
    size_t count;
} found_list;

static void keep(void *context, const gufo_finding *finding)
{
    found_list *l = context;
    gufo_str subject = finding->subject;

    if (l->count == MOST)
        return;
    if (subject.len > sizeof l->texts[0])
        subject.len = sizeof l->texts[0];
    if (subject.len > 0)
        memcpy(l->texts[l->count], subject.data, subject.len);
    l->items[l->count] = (gufo_report_finding){.rule = finding->rule,
                                               .severity = finding->rule->severity,
                                               .offset = finding->offset,
                                               .subject = {l->texts[l->count], subject.len},
                                               .message = gufo_str_of(finding->rule->summary)};
    l->count++;
}

/* ---- the page ------------------------------------------------------------------------------------ */

static size_t count_of(const gufo_text *page, const char *part)
{
    size_t count = 0, len = strlen(part);

    for (size_t i = 0; i + len <= page->len; i++)
        count += memcmp(page->data + i, part, len) == 0;
    return count;
}

static void check_page(const gufo_text *page)
{
    static const char *const pairs[][2] = {
        {"<svg ", "</svg>"},        {"<section", "</section>"}, {"<table>", "</table>"},
        {"<details", "</details>"}, {"<figure", "</figure>"},   {"<div", "</div>"},
        {"<title", "</title>"},     {"<tr>", "</tr>"},          {"<article", "</article>"},
        {"<code>", "</code>"},      {"<text ", "</text>"},      {"<ol", "</ol>"},
        {"<script>", "</script>"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        require(count_of(page, pairs[i][0]) == count_of(page, pairs[i][1]));
    require(count_of(page, "<script") == 1);
    for (size_t i = 0; i < page->len; i++)
        require((unsigned char)page->data[i] >= ' ' || page->data[i] == '\n');
    require(gufo_utf8_valid_prefix((gufo_str){page->data, page->len}) == page->len);
}

static void write_page(const gufo_report_model *models, size_t count)
{
    const gufo_report_content content = {.models = models, .model_count = count};
    gufo_text page = {0}, again = {0};

    if (gufo_report_write(&content, &page, NULL) == GUFO_OK) {
        check_page(&page);
        if (gufo_report_write(&content, &again, NULL) == GUFO_OK)
            require(page.len == again.len && memcmp(page.data, again.data, page.len) == 0);
    }
    gufo_text_free(&page);
    gufo_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static found_list found;
    const gufo_open_options options = {.flags = GUFO_OPEN_LENIENT | GUFO_OPEN_INCOMPLETE};
    const gufo_input input = gufo_input_memory(data, size);
    gufo_report_model models[2] = {{.name = {"a <b>.gguf", 10}, .is_checked = true}};

    found.count = 0;
    (void)gufo_validate(&input, NULL, keep, &found, NULL);
    models[0].model = gufo_model_open_memory(data, size, &options, NULL);
    models[0].findings = found.items;
    models[0].finding_count = found.count;
    models[1] = models[0];
    write_page(models, 1 + size % 2);
    gufo_model_free((gufo_model *)models[0].model);
    return 0;
}
