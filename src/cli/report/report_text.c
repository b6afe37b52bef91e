/* Tokenizer and chat templates of a model. */
#include "cli/report/report_facts.h"

#include "gufo/summary.h"
#include "gufo/text.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_TOKENS = 10, MOST_TEMPLATES = 16, MOST_FINDINGS = 64, MOST_TEXT = 1 << 20 };

typedef struct text_work {
    report_store *store;
    gufo_report_model *shown;
    gufo_vocab *vocab; /* NULL: none */
    gufo_vocab_facts facts;
    bool failed; /* without memory, after a report */
} text_work;

/* ---- tokens ------------------------------------------------------------------------------------- */

/* What a token gives, or, if that is nothing, its text. */
static gufo_report_token token_of(text_work *w, uint32_t id, const char *role)
{
    gufo_token token = {.text = {"", 0}};
    gufo_text piece = {0};
    gufo_report_token shown = {.id = id, .role = gufo_str_of(role)};

    (void)gufo_vocab_token(w->vocab, id, &token);
    if (gufo_token_piece(w->vocab, id, &piece, NULL) == GUFO_OK && piece.len > 0)
        token.text = (gufo_str){piece.data, piece.len};
    shown.text = report_store_text(w->store, token.text);
    w->failed = w->failed || shown.text.data == NULL;
    gufo_text_free(&piece);
    return shown;
}

static const gufo_report_token *tokens_of(text_work *w, const uint32_t *ids, size_t count)
{
    gufo_report_token *tokens = report_store_room(w->store, count, sizeof *tokens);

    for (size_t i = 0; tokens != NULL && i < count; i++)
        tokens[i] = token_of(w, ids[i], "");
    w->failed = w->failed || tokens == NULL;
    return tokens;
}

static const gufo_report_token *range_of(text_work *w, uint32_t first, size_t count)
{
    uint32_t ids[SHOWN_TOKENS] = {0};

    for (size_t i = 0; i < count; i++)
        ids[i] = first + (uint32_t)i;
    return tokens_of(w, ids, count);
}

static void add_special(text_work *w, gufo_report_tokenizer *t)
{
    gufo_report_token *tokens = report_store_room(w->store, GUFO_SPECIAL_COUNT, sizeof *tokens);

    w->failed = w->failed || tokens == NULL;
    for (unsigned i = 0; tokens != NULL && i < GUFO_SPECIAL_COUNT; i++)
        if (w->facts.special[i] != GUFO_NO_TOKEN)
            tokens[t->special_count++] =
                token_of(w, w->facts.special[i], gufo_special_name((gufo_special)i));
    t->special = tokens;
}

static void add_longest(text_work *w, gufo_report_tokenizer *t)
{
    gufo_ids ids = {0};

    if (gufo_vocab_longest(w->vocab, SHOWN_TOKENS, &ids, NULL) == GUFO_OK) {
        t->longest = tokens_of(w, ids.ids, ids.count);
        t->longest_count = ids.count;
    }
    gufo_ids_free(&ids);
}

static void add_ends(text_work *w, gufo_report_tokenizer *t)
{
    uint32_t size = w->facts.size;
    size_t count = size < SHOWN_TOKENS ? size : SHOWN_TOKENS;

    t->first = range_of(w, 0, count);
    t->last = range_of(w, size - (uint32_t)count, count);
    t->first_count = t->last_count = count;
}

static void add_tokenizer(text_work *w)
{
    gufo_report_tokenizer *t = report_store_room(w->store, 1, sizeof *t);
    uint64_t kinds[GUFO_TOKEN_TYPE_COUNT];

    w->failed = t == NULL;
    if (t == NULL)
        return;
    t->model = report_store_text(w->store, gufo_str_of(w->facts.model));
    t->pre = report_store_text(w->store, gufo_str_of(w->facts.pre));
    t->tokens = w->facts.size;
    gufo_vocab_count_types(w->vocab, kinds);
    memcpy(t->kinds, kinds, sizeof kinds);
    if (gufo_vocab_count_lengths(w->vocab, t->lengths, NULL) != GUFO_OK)
        memset(t->lengths, 0, sizeof t->lengths);
    add_special(w, t);
    add_longest(w, t);
    add_ends(w, t);
    w->shown->tokenizer = t;
}

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

int report_add_text(report_store *store, gufo_report_model *shown)
{
    text_work w = {.store = store, .shown = shown};

    if (shown->model == NULL)
        return CODE_OK;
    w.vocab = gufo_vocab_open(shown->model, NULL, NULL);
    if (w.vocab != NULL) {
        w.facts = gufo_vocab_describe(w.vocab);
        add_tokenizer(&w);
    }
    add_templates(&w);
    gufo_vocab_free(w.vocab);
    return w.failed ? CODE_FAILED : CODE_OK;
}
