/* Tokenizer and chat templates of a model. */
#include "cli/report/report_facts.h"

#include "gufo/summary.h"
#include "gufo/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEMPLATES = 16, MOST_FINDINGS = 64, MOST_TEXT = 1 << 20 };

typedef struct text_work {
    report_store *store;
    gufo_report_model *shown;
    gufo_vocab *vocab; /* NULL: none */
    bool failed;       /* without memory, after a report */
} text_work;

/* ---- templates ---------------------------------------------------------------------------------- */

static const char example[] =
    "[{\"role\": \"system\", \"content\": \"You are a helpful assistant.\"},\n"
    " {\"role\": \"user\", \"content\": \"Which planets have rings?\"},\n"
    " {\"role\": \"assistant\", \"content\": \"Jupiter, Saturn, Uranus and Neptune.\"},\n"
    " {\"role\": \"user\", \"content\": \"Which has the most?\"}]";

typedef struct findings_list {
    text_work *work;
    gufo_report_template_finding *items;
    size_t count;
} findings_list;

static bool keep_finding(void *context, const gufo_template_finding *found)
{
    findings_list *list = context;
    gufo_report_template_finding *f = &list->items[list->count];

    *f = (gufo_report_template_finding){
        .line = found->line,
        .column = found->column,
        .dangerous = found->dangerous,
        .message = report_store_text(list->work->store, gufo_str_of(found->message))};
    list->work->failed = list->work->failed || f->message.data == NULL;
    return ++list->count < MOST_FINDINGS;
}

static void lint(text_work *w, gufo_report_template *t)
{
    findings_list list = {w, report_store_room(w->store, MOST_FINDINGS, sizeof *list.items), 0};

    w->failed = w->failed || list.items == NULL;
    if (list.items != NULL)
        (void)gufo_template_lint(t->source, NULL, keep_finding, &list, NULL);
    t->findings = list.items;
    t->finding_count = list.count;
}

/* A template that refuses the example, or takes long, has none. */
static void render(text_work *w, gufo_report_template *t)
{
    const gufo_template_options limits = {.steps = 1000000, .output = 65536, .memory = 64 << 20};
    gufo_chat_options options = {.rendering = &limits};
    gufo_text out = {0};

    if (t->name.len > 0)
        options.name = report_store_text(w->store, t->name).data; /* with a NUL behind it */
    if ((t->name.len == 0 || options.name != NULL) &&
        gufo_chat_render(w->shown->model, w->vocab, gufo_str_of(example), &options, &out, NULL) ==
            GUFO_OK &&
        out.len > 0) {
        t->messages = gufo_str_of(example);
        t->rendered = report_store_text(w->store, (gufo_str){out.data, out.len});
    }
    gufo_text_free(&out);
}

static void add_templates(text_work *w)
{
    gufo_report_template *list = report_store_room(w->store, MOST_TEMPLATES, sizeof *list);
    gufo_report_template *t = list;
    uint64_t place = 0;

    w->failed = w->failed || list == NULL;
    while (!w->failed && w->shown->template_count < MOST_TEMPLATES &&
           gufo_model_next_chat_template(w->shown->model, &place, &t->name, &t->source)) {
        lint(w, t);
        if (t->source.len <= MOST_TEXT)
            render(w, t);
        w->shown->template_count++;
        t++;
    }
    w->shown->templates = list;
}

/* ---- all ---------------------------------------------------------------------------------------- */

static void add_tokenizer(text_work *w)
{
    gufo_error error;

    if (w->vocab == NULL)
        return;
    w->shown->tokenizer = w->store->census = gufo_vocab_census_new(w->vocab, NULL, &error);
    w->failed = w->store->census == NULL;
    if (w->failed)
        (void)report_error(NULL, &error);
}

int report_add_text(report_store *store, gufo_report_model *shown)
{
    text_work w = {.store = store, .shown = shown};

    if (shown->model == NULL)
        return CODE_OK;
    w.vocab = gufo_vocab_open(shown->model, NULL, NULL);
    add_tokenizer(&w);
    if (!w.failed)
        add_templates(&w);
    gufo_vocab_free(w.vocab);
    return w.failed ? CODE_FAILED : CODE_OK;
}

void report_free_text(report_store *store)
{
    gufo_vocab_census_free(store->census);
}
