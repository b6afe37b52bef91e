/* The head of a model: what it is, and whether it is sound. */
#include "report/sections/sections.h"

#include "report/page/numbers.h"

#include "gufo/schema.h"

/* ---- verdict ------------------------------------------------------------------------------------ */

static void put_badge(const report *r, const char *classes, const char *sign, number_text counted)
{
    html(r->page,
         "<a class=\"badge %s\" href=\"#%sfindings\"><span aria-hidden=\"true\">%s</span> %s</a>",
         classes, r->page->prefix, sign, counted.text);
}

static void put_verdict(const report *r)
{
    const uint64_t *found = r->facts->found;

    html(r->page, "<p class=\"badges\">");
    if (found[GUFO_ERROR] > 0)
        put_badge(r, "err", "✕", as_counted(found[GUFO_ERROR], "error", "errors"));
    else if (r->model->is_checked)
        put_badge(r, "ok", "✓", (number_text){"valid"});
    else
        html(r->page, "<span class=\"badge\">not checked</span>");
    if (found[GUFO_WARNING] > 0)
        put_badge(r, "warn", "▲", as_counted(found[GUFO_WARNING], "warning", "warnings"));
    if (found[GUFO_INFO] > 0)
        put_badge(r, "inf", "●", as_counted(found[GUFO_INFO], "remark", "remarks"));
    html(r->page, "</p>\n");
}

/* ---- key facts ---------------------------------------------------------------------------------- */

static void begin_fact(page *p, const char *label)
{
    html(p, "<div><dt>%s</dt><dd>", label);
}

static void end_fact(page *p)
{
    html(p, "</dd></div>");
}

static void put_fact(page *p, const char *label, const char *value)
{
    begin_fact(p, label);
    html(p, "%s", value);
    end_fact(p);
}

static void put_text_fact(page *p, const char *label, gufo_str value)
{
    if (value.len == 0)
        return;
    begin_fact(p, label);
    html_text(p, value, HTML_LABEL);
    end_fact(p);
}

static void put_number_fact(const report *r, const char *label, const char *key)
{
    uint64_t value;

    if (facts_number(r->facts, key, &value) && value > 0)
        put_fact(r->page, label, as_grouped(value).text);
}

static void put_sums(const report *r)
{
    const gufo_summary *o = &r->facts->summary;

    if (o->tensors > 0 && o->parameters < UINT64_MAX)
        put_fact(r->page, "Parameters", as_short(o->parameters).text);
    if (r->facts->active > 0 && r->facts->active < 1e18)
        put_fact(r->page, "Active", as_short(whole_of(r->facts->active)).text);
    if (!o->facts.is_made)
        put_fact(r->page, "Size", as_memory(o->facts.size).text);
    if (o->bits_per_weight > 0)
        put_fact(r->page, "Bits per weight", as_fixed(o->bits_per_weight, 2).text);
    if (o->quantization != NULL)
        put_text_fact(r->page, "Quantization", gufo_str_of(o->quantization));
}

static void put_facts(const report *r)
{
    const gufo_model *model = r->facts->model;
    gufo_entry tokens;
    gufo_str license = {0};

    html(r->page, "<dl class=\"facts\">");
    put_sums(r);
    put_number_fact(r, "Context", "{arch}.context_length");
    if (gufo_model_key_entry(model, "tokenizer.ggml.tokens", &tokens) &&
        tokens.value.type == GUFO_VALUE_ARRAY)
        put_fact(r->page, "Vocabulary", as_grouped(tokens.value.as.array.count).text);
    put_number_fact(r, "Layers", "{arch}.block_count");
    put_number_fact(r, "Experts", "{arch}.expert_count");
    put_number_fact(r, "Experts used", "{arch}.expert_used_count");
    (void)gufo_model_key_str(model, "general.license", &license, NULL);
    put_text_fact(r->page, "License", license);
    html(r->page, "</dl>\n");
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static void put_file(const report *r)
{
    const gufo_facts *f = &r->facts->summary.facts;
    page *p = r->page;

    html(p, "<p class=\"file\"><code>");
    html_text(p, r->model->name, HTML_NAME);
    html(p, "</code>");
    if (r->facts->model != NULL && !f->is_made)
        html(p, " · GGUF v%u, %s-endian · %s", (unsigned)f->version,
             f->byte_order == GUFO_BIG_ENDIAN ? "big" : "little", as_bytes(f->size).text);
    if (r->facts->model != NULL && gufo_model_shard_count(r->facts->model) > 1)
        html(p, " in %s",
             as_counted(gufo_model_shard_count(r->facts->model), "shard", "shards").text);
    html(p, "</p>\n");
}

void section_head(const report *r)
{
    put_file(r);
    put_verdict(r);
    if (r->facts->model != NULL)
        put_facts(r);
}
