/* The page of `gufo report`, from the same C. */
#include "module.h"

#include "cli/core/terminal/text.h"
#include "gufo/report.h"
#include "gufo/text.h"

#include <stdlib.h>

/* What a page points to, beside the model. */
typedef struct page_facts {
    gufo_report_finding *findings;
    answer *advice; /* two of each finding: words, a command */
    size_t advice_count;
    answer commands[GUFO_REPORT_PARTS]; /* that read what the page does not */
    gufo_report_curves *curves;
    gufo_vocab_census *census;
    gufo_chat_reviews *reviews;
} page_facts;

static void free_facts(page_facts *f)
{
    gufo_chat_reviews_free(f->reviews);
    gufo_vocab_census_free(f->census);
    gufo_report_curves_free(f->curves);
    for (size_t i = 0; i < GUFO_REPORT_PARTS; i++)
        answer_free(&f->commands[i]);
    for (size_t i = 0; i < f->advice_count; i++)
        answer_free(&f->advice[i]);
    free(f->advice);
    free(f->findings);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static gufo_str text_of(const answer *a)
{
    return (gufo_str){a->text, a->len};
}

static gufo_status add_finding(page_facts *f, const viewer_model *m, const gufo_finding *finding,
                               gufo_report_finding *out, gufo_error *error)
{
    answer *words = &f->advice[f->advice_count++], *command = &f->advice[f->advice_count++];

    if (!findings_advise(m, finding, words, command))
        return viewer_refuse(error, GUFO_E_MEMORY, "no memory for a finding");
    *out = gufo_report_finding_of(finding, m->model);
    out->hint = text_of(words);
    out->command = text_of(command);
    return GUFO_OK;
}

static gufo_status add_findings(page_facts *f, const viewer_model *m, gufo_report_model *shown,
                                gufo_error *error)
{
    const gufo_finding_list *found = findings_list(m->findings);
    gufo_status status = GUFO_OK;
    gufo_finding finding;

    shown->is_checked = findings_are_complete(m->findings);
    shown->finding_count = (size_t)gufo_finding_list_count(found);
    shown->findings = f->findings = calloc(shown->finding_count + 1, sizeof *f->findings);
    f->advice = calloc(shown->finding_count + 1, 2 * sizeof *f->advice);
    if (f->findings == NULL || f->advice == NULL)
        return viewer_refuse(error, GUFO_E_MEMORY, "no memory for findings");
    for (uint64_t i = 0; status == GUFO_OK && gufo_finding_list_at(found, i, &finding); i++)
        status = add_finding(f, m, &finding, &f->findings[i], error);
    return status;
}

/* Names the command that gives a part; `options` are its own. */
static gufo_status add_hint(page_facts *f, const viewer_model *m, gufo_report_model *shown,
                            gufo_report_part part, const char *options, gufo_error *error)
{
    answer *command = &f->commands[part];

    if (!answer_begin(command))
        return viewer_refuse(error, GUFO_E_MEMORY, "no memory for a command");
    fprintf(command->out, "gufo report%s", options);
    shell_put_file(command->out, m->files[0].name);
    fputs(" -o OUT.html", command->out);
    if (!answer_end(command))
        return viewer_refuse(error, GUFO_E_MEMORY, "no memory for a command");
    shown->hints[part] = command->text;
    return GUFO_OK;
}

static gufo_status add_memory(page_facts *f, gufo_report_model *shown, gufo_error *error)
{
    f->curves = gufo_report_curves_new(shown->model, NULL, error);
    if (f->curves == NULL)
        return error->code;
    shown->memory = gufo_report_curves_list(f->curves, &shown->memory_count);
    return GUFO_OK;
}

static gufo_status describe_text(page_facts *f, const gufo_vocab *vocab, gufo_report_model *shown,
                                 gufo_error *error)
{
    if (vocab != NULL) {
        shown->tokenizer = f->census = gufo_vocab_census_new(vocab, NULL, error);
        if (f->census == NULL)
            return error->code;
    }
    f->reviews = gufo_chat_reviews_new(shown->model, vocab, NULL, error);
    if (f->reviews == NULL)
        return error->code;
    shown->templates = gufo_chat_reviews_list(f->reviews, &shown->template_count);
    return GUFO_OK;
}

/* The library that reads a tokenizer.json is not here. */
static bool has_json_alone(const gufo_model *model)
{
    return gufo_model_find(model, "tokenizer.huggingface.json", NULL) &&
           !gufo_model_find(model, "tokenizer.ggml.tokens", NULL);
}

/* A vocabulary that cannot be opened is not shown. */
static gufo_status add_text(page_facts *f, const viewer_model *m, gufo_report_model *shown,
                            gufo_error *error)
{
    bool has_json = has_json_alone(m->model);
    gufo_vocab *vocab = has_json ? NULL : gufo_vocab_open(m->model, NULL, NULL);
    gufo_status status = describe_text(f, vocab, shown, error);

    if (status == GUFO_OK && has_json)
        status = add_hint(f, m, shown, GUFO_REPORT_TOKENIZER, "", error);
    gufo_vocab_free(vocab);
    return status;
}

/* ---- the page ------------------------------------------------------------------------------- */

static gufo_status write_report(const gufo_report_content *content, FILE *out, gufo_error *error)
{
    gufo_text page = {0};
    gufo_status status = gufo_report_write(content, &page, error);

    if (status == GUFO_OK)
        (void)fwrite(page.data, 1, page.len, out);
    gufo_text_free(&page);
    return status;
}

/* The first page comes at once, and a vocabulary takes long: it is on the one with the findings. */
gufo_status page_write(const viewer_model *m, const viewer_model *other, FILE *out,
                       gufo_error *error)
{
    gufo_report_model shown = {.model = m->model, .name = gufo_str_of(m->files[0].name)};
    gufo_report_candidate candidate = {.name = shown.name};
    gufo_report_content content = {.models = &shown, .model_count = 1};
    page_facts facts = {0};
    gufo_status status = add_findings(&facts, m, &shown, error);

    if (status == GUFO_OK)
        status = add_hint(&facts, m, &shown, GUFO_REPORT_STATS, " --stats", error);
    if (status == GUFO_OK)
        status = add_memory(&facts, &shown, error);
    if (status == GUFO_OK && shown.is_checked)
        status = add_text(&facts, m, &shown, error);
    if (m->losses != NULL) {
        candidate.losses =
            losses_record(m->losses, m->model, other->files[0].name, &content.original);
        content.candidates = &candidate;
        content.candidate_count = 1;
    }
    if (status == GUFO_OK)
        status = write_report(&content, out, error);
    free_facts(&facts);
    return status;
}
