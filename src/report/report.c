/* The page: its head, then section after section, in the order of the tables below.
 *
 *     one model                    several
 *
 *     h1 the model                 h1 "3 models"
 *        h2 section                   sections that compare them
 *        h2 ...                       h2 the first model
 *                                        h3 section
 *                                     h2 ...
 *
 * A section is a row: one more picture of a model needs no change elsewhere. */
#include "report/page/html.h"
#include "report/page/numbers.h"
#include "report/sections/sections.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/embedded.h"

/* ---- sections ----------------------------------------------------------------------------------- */

typedef struct section {
    const char *id, *nav, *title;
    section_there_fn *is_there; /* NULL: always */
    section_fn *put, *beside;   /* `beside` the heading; may be NULL */
} section;

static const section model_sections[] = {
    {"bytes", "Bytes", "Where the bytes are", section_bytes_is_there, section_bytes, NULL},
    {"types", "Types", "Types per layer", section_types_is_there, section_types, NULL},
    {"bits", "Bits", "Bits per weight", section_types_is_there, section_bits, NULL},
    {"weights", "Weights", "Weights", section_weights_is_there, section_weights, NULL},
    {"losses", "Losses", "What is lost", section_losses_is_there, section_losses, NULL},
    {"sizes", "Sizes", "Loss over size", section_sizes_is_there, section_sizes, NULL},
    {"scales", "Scales", "Scales of blocks", section_scales_is_there, section_scales, NULL},
    {"memory", "Memory", "Memory over the context", section_memory_is_there, section_memory, NULL},
    {"file", "File", "File", section_file_is_there, section_file, NULL},
    {"tokenizer", "Tokenizer", "Tokenizer", section_tokenizer_is_there, section_tokenizer, NULL},
    {"template", "Template", "Chat template", section_template_is_there, section_template, NULL},
    {"findings", "Findings", "Findings", NULL, section_findings, section_findings_count},
    {"metadata", "Metadata", "Metadata", section_metadata_is_there, section_metadata,
     section_metadata_count},
    {"tensors", "Tensors", "Tensors", section_tensors_is_there, section_tensors,
     section_tensors_count},
    {.id = NULL},
};

/* Of several models: what compares them, by the tensors of the first. */
static const section page_sections[] = {
    {"losses", "Losses", "What is lost", section_losses_is_there, section_losses, NULL},
    {"sizes", "Sizes", "Loss over size", section_sizes_is_there, section_sizes, NULL},
    {.id = NULL},
};

static bool is_there(const section *s, const report *r)
{
    return s->is_there == NULL || s->is_there(r);
}

/* The number of a model on a page of several, from 1; 0 on a page of one. */
static size_t model_number(const report *r)
{
    return r->content->model_count > 1 && r->model != NULL
               ? (size_t)(r->model - r->content->models) + 1
               : 0;
}

static void put_nav(const section *sections, const report *r)
{
    page *p = r->page;

    html(p, "<nav aria-label=\"Sections");
    if (model_number(r) > 0) { /* each needs a name of its own */
        html(p, " of model %zu: ", model_number(r));
        html_text(p, r->model->name, HTML_NAME);
    }
    html(p, "\">");
    for (const section *s = sections; s->id != NULL; s++)
        if (is_there(s, r))
            html(p, "<a href=\"#%s%s\">%s</a>", p->prefix, s->id, s->nav);
    html(p, "</nav>\n");
}

/* A section with a name is a landmark: of several models they would have the same names. */
static void begin_section(const section *s, const report *r)
{
    page *p = r->page;

    if (model_number(r) > 0)
        html(p, "<section>");
    else
        html(p, "<section aria-labelledby=\"%s%s\">", p->prefix, s->id);
    html(p, "<h%u id=\"%s%s\">%s", p->heading, p->prefix, s->id, s->title);
    if (s->beside != NULL)
        s->beside(r);
    html(p, "</h%u>\n", p->heading);
}

static void put_sections(const section *sections, const report *r)
{
    page *p = r->page;

    for (const section *s = sections; s->id != NULL; s++) {
        if (!is_there(s, r))
            continue;
        begin_section(s, r);
        s->put(r);
        html(p, "</section>\n");
    }
}

/* ---- document ----------------------------------------------------------------------------------- */

static gufo_str embedded(const unsigned char *bytes, size_t size)
{
    return (gufo_str){(const char *)bytes, size};
}

/* The page allows its own script by the hash, in base64, and nothing else: no request can leave it. */
static void put_policy(page *p)
{
    const char *hex = REPORT_SCRIPT_SHA256;
    uint8_t bytes[33] = {0};
    char letters[4];

    for (size_t i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(16 * hex_digit(hex[2 * i]) + hex_digit(hex[2 * i + 1]));
    html(p, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-");
    for (size_t i = 0; i < 32; i += 3) {
        base64_group(bytes + i, i + 3 <= 32 ? 3 : 32 - i, letters);
        html(p, "%.4s", letters);
    }
    html(p, "'\">\n");
}

static void put_title(const report *r, const gufo_str title)
{
    if (r->content->title.len > 0)
        html_text(r->page, r->content->title, HTML_NAME);
    else if (r->content->model_count != 1)
        html(r->page, "%zu models", r->content->model_count);
    else
        html_text(r->page, title, HTML_NAME);
}

static void put_beginning(const report *r, gufo_str title)
{
    page *p = r->page;

    html(p, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n");
    put_policy(p);
    html(p, "<title>");
    put_title(r, title);
    html(p, " · gufo report</title>\n<style>");
    html_raw(p, embedded(report_style, sizeof report_style));
    html(p, "</style></head>\n<body>\n"
            "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs><pattern "
            "id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" class=\"hb\"/><rect "
            "width=\"2\" height=\"6\" class=\"hs\"/></pattern></defs></svg>\n"
            "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n");
}

static void put_end(page *p)
{
    html(p, "<footer><p>Made by gufo " GUFO_VERSION_STRING
            ". This page loads nothing and sends nothing. Sizes are binary: 1 GiB is "
            "1,073,741,824 bytes.</p></footer>\n<script>");
    html_raw(p, embedded(report_script, sizeof report_script));
    html(p, "</script>\n</body></html>\n");
}

static void put_kicker(const report *r)
{
    html(r->page, "<p class=\"kick\">gufo report");
    if (r->content->note.len > 0) {
        html(r->page, " · ");
        html_text(r->page, r->content->note, HTML_NAME);
    }
    html(r->page, "</p>\n");
}

/* What follows the name: "llama, Q4_K_M". */
static void put_subtitle(const report *r)
{
    const char *quantization = r->facts->model != NULL ? r->facts->summary.quantization : NULL;
    page *p = r->page;

    if (r->facts->architecture.len == 0 && quantization == NULL)
        return;
    html(p, " <span>");
    html_text(p, r->facts->architecture, HTML_LABEL);
    if (quantization != NULL)
        html(p, "%s%s", r->facts->architecture.len > 0 ? ", " : "", quantization);
    html(p, "</span>");
}

static void put_single(report *r)
{
    page *p = r->page;

    put_beginning(r, r->facts->title);
    html(p, "<header>");
    put_kicker(r);
    html(p, "<h1>");
    put_title(r, r->facts->title);
    put_subtitle(r);
    html(p, "</h1>\n");
    section_head(r);
    put_nav(model_sections, r);
    html(p, "</header>\n<main id=\"main\">\n");
    put_sections(model_sections, r);
    html(p, "</main>\n");
    put_end(p);
}

static void put_model(report *r, size_t index)
{
    char prefix[24] = "m";
    size_t len = 1 + gufo_number_u64(prefix + 1, index + 1);
    page *p = r->page;

    prefix[len++] = '-';
    prefix[len] = '\0';
    p->prefix = prefix;
    html(p, "<article aria-labelledby=\"%smodel\"><header><h2 class=\"model\" id=\"%smodel\">",
         prefix, prefix);
    html_text(p, r->facts->title, HTML_NAME);
    put_subtitle(r);
    html(p, "</h2>\n");
    section_head(r);
    p->heading = 3;
    put_nav(model_sections, r);
    html(p, "</header>\n");
    put_sections(model_sections, r);
    html(p, "</article>\n");
    p->prefix = "";
    p->heading = 2;
}

static void put_comparison(report *r, model_facts *facts)
{
    page *p = r->page;

    if (!facts_gather(facts, r->content->models, r->content->allocator))
        p->failed = true;
    r->facts = facts;
    if (!p->failed)
        put_sections(page_sections, r);
    facts_free(facts);
}

static void put_several(report *r, model_facts *facts)
{
    page *p = r->page;

    put_beginning(r, (gufo_str){0});
    html(p, "<header>");
    put_kicker(r);
    html(p, "<h1>");
    put_title(r, (gufo_str){0});
    html(p, "</h1>\n<nav aria-label=\"Models\">");
    for (size_t i = 0; i < r->content->model_count; i++) {
        html(p, "<a href=\"#m%zu-model\">", i + 1);
        html_text(p, r->content->models[i].name, HTML_NAME);
        html(p, "</a>");
    }
    html(p, "</nav></header>\n<main id=\"main\">\n");
    if (r->content->candidate_count + r->content->size_count > 0 && r->content->model_count > 0)
        put_comparison(r, facts);
    for (size_t i = 0; i < r->content->model_count && !p->failed; i++) {
        r->model = &r->content->models[i];
        p->failed = !facts_gather(facts, r->model, r->content->allocator);
        r->facts = facts;
        if (!p->failed)
            put_model(r, i);
        facts_free(facts);
    }
    html(p, "</main>\n");
    put_end(p);
}

static void put_page(page *p, const gufo_report_content *content, model_facts *facts)
{
    report r = {.page = p, .content = content};

    if (content->model_count != 1) {
        put_several(&r, facts);
        return;
    }
    p->failed = !facts_gather(facts, content->models, content->allocator);
    r.model = content->models;
    r.facts = facts;
    if (!p->failed)
        put_single(&r);
    facts_free(facts);
}

gufo_status gufo_report_write(const gufo_report_content *content, gufo_text *out, gufo_error *error)
{
    const gufo_allocator *allocator = mem_allocator(content->allocator);
    page p = {.out = out, .prefix = "", .heading = 2};
    size_t before = out->len;
    model_facts *facts;

    for (size_t i = 0; i < 16; i++)
        if (content->reserved[i] != 0)
            return refuse(error, GUFO_E_ARGUMENT,
                          "reserved fields of gufo_report_content are not zero");
    facts = mem_zero(allocator, sizeof *facts);
    p.failed = facts == NULL;
    if (!p.failed)
        put_page(&p, content, facts);
    mem_free(allocator, facts);
    if (!p.failed)
        return GUFO_OK;
    out->len = before;
    return fail_memory(error);
}
