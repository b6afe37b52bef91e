/* The tokenizer: lengths and kinds of its tokens, special ones, the longest, the first and the last. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/table.h"
#include "report/pictures/histogram.h"
#include "report/sections/sections.h"

#include <stdio.h>

enum { MOST_BARS = 33 };

/* Lengths in bars: the last one has all from there on, unless none is longer. */
typedef struct length_bars {
    uint64_t counts[MOST_BARS], all;
    size_t first, count; /* bytes of the first bar */
    bool has_rest;
} length_bars;

static length_bars bars_of(const uint64_t lengths[GUFO_TOKEN_LENGTHS])
{
    length_bars bars = {.first = lengths[0] > 0 ? 0 : 1};
    size_t last = bars.first;

    for (size_t i = bars.first; i < GUFO_TOKEN_LENGTHS; i++) {
        size_t bar = i - bars.first < MOST_BARS - 1 ? i - bars.first : MOST_BARS - 1;

        bars.counts[bar] += lengths[i];
        bars.all += lengths[i];
        last = lengths[i] > 0 ? i : last;
    }
    bars.has_rest = last - bars.first > MOST_BARS - 1 || last == GUFO_TOKEN_LENGTHS - 1;
    bars.count = last - bars.first < MOST_BARS ? last - bars.first + 1 : MOST_BARS;
    return bars;
}

/* The bytes that a share of the tokens does not exceed. */
static size_t bytes_within(const length_bars *bars, double share)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < bars->count; i++) {
        sum += bars->counts[i];
        if ((double)sum >= share * (double)bars->all)
            return bars->first + i;
    }
    return bars->first + bars->count - 1;
}

static bool is_rest(const length_bars *bars, size_t bar)
{
    return bars->has_rest && bar == bars->count - 1;
}

static void describe(page *p, const void *context, size_t bar)
{
    const length_bars *bars = context;
    size_t bytes = bars->first + bar;

    html(p, "%zu %s%s: %s", bytes, bytes == 1 ? "byte" : "bytes",
         is_rest(bars, bar) ? " and more" : "",
         as_counted(bars->counts[bar], "token", "tokens").text);
}

static const char *label(const void *context, size_t bar, char room[32])
{
    const length_bars *bars = context;
    size_t bytes = bars->first + bar;

    if (bytes != 1 && bytes % 5 != 0 && !is_rest(bars, bar))
        return NULL;
    if (bytes % 5 == 0 && bars->has_rest && bar + 3 > bars->count && !is_rest(bars, bar))
        return NULL; /* beside the last one */
    (void)snprintf(room, 32, "%zu%s", bytes, is_rest(bars, bar) ? "+" : "");
    return room;
}

/* ---- lengths -------------------------------------------------------------------------------- */

static void write_lengths(page *p, const length_bars *bars)
{
    static const html_column columns[] = {{"Bytes", false}, {"Tokens", true}, {NULL, false}};
    char text[32];

    html_table(p, "Lengths of tokens", columns);
    for (size_t i = 0; i < bars->count; i++) {
        (void)snprintf(text, sizeof text, "%zu%s", bars->first + i,
                       is_rest(bars, i) ? " and more" : "");
        html_row(p);
        html_cell_name(p, gufo_str_of(text));
        html_cell_quantity(p, as_grouped(bars->counts[i]).text, (double)bars->counts[i]);
        html_row_end(p);
    }
    html_table_end(p);
}

static void draw_lengths(page *p, const gufo_vocab_census *t)
{
    length_bars bars = bars_of(t->lengths);
    const histogram h = {.title = "Lengths of tokens",
                         .described = "Number of tokens by the bytes that they give.",
                         .counts = bars.counts,
                         .count = bars.count,
                         .context = &bars,
                         .describe = describe,
                         .label = label};

    if (bars.all == 0)
        return;
    figure_begin(p, "token-lengths");
    html(p, "Half of the tokens give %zu bytes or less, 90 %% of them %zu or less.",
         bytes_within(&bars, 0.5), bytes_within(&bars, 0.9));
    figure_reading(p);
    html(p,
         "Number of tokens by the bytes of text that they give; control tokens and single bytes do "
         "not count.");
    figure_picture(p);
    histogram_draw(p, &h);
    figure_data(p, "Lengths as a table");
    write_lengths(p, &bars);
    figure_end(p, true);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void write_kinds(page *p, const gufo_vocab_census *t)
{
    static const html_column columns[] = {
        {"Kind", false}, {"Tokens", true}, {"Share", true}, {NULL, false}};

    html(p, "<h%u>Kinds of tokens</h%u>", p->heading + 1, p->heading + 1);
    html_table(p, "Kinds of tokens", columns);
    for (size_t i = 0; i < t->kind_count && i < GUFO_TOKEN_KIND_ROOM; i++) {
        const gufo_census_kind *kind = &t->kinds[i];

        if (kind->tokens == 0)
            continue;
        html_row(p);
        html(p, "<th scope=\"row\">%s</th>", kind->name);
        html_cell_quantity(p, as_grouped(kind->tokens).text, (double)kind->tokens);
        html_cell_quantity(p, as_share((double)kind->tokens, (double)t->tokens).text,
                           (double)kind->tokens);
        html_row_end(p);
    }
    html_table_end(p);
}

static void write_tokens(page *p, const char *title, const gufo_census_token *tokens, size_t count)
{
    static const html_column columns[] = {
        {"Token", false}, {"Id", true}, {"Use", false}, {NULL, false}};

    html_table(p, title, columns);
    for (size_t i = 0; i < count; i++) {
        html_row(p);
        html_cell_name(p, tokens[i].text);
        html_cell_quantity(p, as_grouped(tokens[i].id).text, (double)tokens[i].id);
        html_cell_text(p, tokens[i].role);
        html_row_end(p);
    }
    html_table_end(p);
}

static void write_folded(page *p, const char *title, const gufo_census_token *tokens, size_t count)
{
    if (count == 0)
        return;
    html(p, "<details><summary>%s</summary>", title);
    write_tokens(p, title, tokens, count);
    html(p, "</details>");
}

static bool has_written_tokens(const gufo_vocab_census *t)
{
    uint64_t all = 0;

    for (size_t i = 0; i < GUFO_TOKEN_LENGTHS; i++)
        all |= t->lengths[i];
    return all > 0;
}

/* ---- the section ---------------------------------------------------------------------------- */

void section_tokenizer(const report *r)
{
    const gufo_vocab_census *t = r->model->tokenizer;
    page *p = r->page;

    if (t == NULL) {
        section_hint(r, GUFO_REPORT_TOKENIZER, "The tokenizer was not read; this reads it");
        return;
    }
    html(p, "<p class=\"lead\"><span>");
    html_text(p, t->model, HTML_NAME);
    if (t->pre.len > 0) {
        html(p, "</span><span>pre-tokenizer ");
        html_text(p, t->pre, HTML_NAME);
    }
    html(p, "</span><span>%s</span></p>", as_counted(t->tokens, "token", "tokens").text);
    html(p, has_written_tokens(t) ? "<div class=\"two\"><div>" : "<div><div>");
    draw_lengths(p, t);
    html(p, "</div><div class=\"side\">");
    write_kinds(p, t);
    if (t->special_count > 0) {
        html(p, "<h%u>Special tokens</h%u>", p->heading + 1, p->heading + 1);
        write_tokens(p, "Special tokens", t->special, t->special_count);
    }
    html(p, "</div></div>");
    write_folded(p, "The longest tokens", t->longest, t->longest_count);
    write_folded(p, "The first tokens", t->first, t->first_count);
    write_folded(p, "The last tokens", t->last, t->last_count);
}

bool section_tokenizer_is_there(const report *r)
{
    return r->model->tokenizer != NULL || r->model->hints[GUFO_REPORT_TOKENIZER] != NULL;
}
