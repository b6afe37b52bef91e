/* What is shown of the chat templates of a model: what is wrong with each, and what an example becomes. */
#include "gufo/text.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gufo/summary.h"

enum { MOST_TEXT = 1 << 20 }; /* of a template that is rendered */

static const char usual_messages[] =
    "[{\"role\": \"system\", \"content\": \"You are a helpful assistant.\"},\n"
    " {\"role\": \"user\", \"content\": \"Which planets have rings?\"},\n"
    " {\"role\": \"assistant\", \"content\": \"Jupiter, Saturn, Uranus and Neptune.\"},\n"
    " {\"role\": \"user\", \"content\": \"Which has the most?\"}]";
static const gufo_template_options usual_limits = {
    .steps = 1000000, .output = 65536, .memory = 64 << 20};

struct gufo_chat_reviews {
    gufo_allocator allocator;
    gufo_chat_review list[GUFO_CHAT_REVIEWS];
    size_t count;
    char *messages; /* of the example */
};

typedef struct review_work {
    gufo_chat_reviews *reviews;
    const gufo_model *model;
    const gufo_vocab *vocab; /* NULL: none */
    gufo_template_options limits;
    gufo_chat_review *now; /* the one that is made */
} review_work;

/* ---- findings ------------------------------------------------------------------------------- */

typedef struct finding_list {
    const gufo_allocator *allocator;
    gufo_template_finding *items;
    size_t count;
    bool no_memory;
} finding_list;

static bool keep_finding(void *context, const gufo_template_finding *found)
{
    finding_list *list = context;
    gufo_template_finding *kept = &list->items[list->count];

    *kept = *found;
    kept->message = mem_text(list->allocator, gufo_str_of(found->message));
    list->no_memory = kept->message == NULL;
    list->count += !list->no_memory;
    return !list->no_memory && list->count < GUFO_CHAT_REVIEW_FINDINGS;
}

static gufo_status judge(review_work *w, gufo_error *error)
{
    const gufo_allocator *allocator = &w->reviews->allocator;
    const gufo_parse_options options = {.allocator = allocator};
    finding_list list = {.allocator = allocator};
    gufo_status status;

    list.items = mem_array(allocator, GUFO_CHAT_REVIEW_FINDINGS, sizeof *list.items);
    if (list.items == NULL)
        return fail_memory(error);
    w->now->findings = list.items;
    status = gufo_template_lint(w->now->source, &options, keep_finding, &list, error);
    w->now->finding_count = list.count;
    if (list.no_memory)
        return fail_memory(error);
    return status == GUFO_E_MEMORY ? status : GUFO_OK;
}

/* ---- the example ---------------------------------------------------------------------------- */

/* A template that refuses the example, or reaches a limit, has none. */
static gufo_status render(review_work *w, gufo_error *error)
{
    const gufo_allocator *allocator = &w->reviews->allocator;
    char *name = mem_text(allocator, w->now->name);
    const gufo_chat_options options = {.name = w->now->name.len > 0 ? name : NULL,
                                       .rendering = &w->limits};
    gufo_text out = {.allocator = allocator};
    gufo_status status;

    if (name == NULL)
        return fail_memory(error);
    status = gufo_chat_render(w->model, w->vocab, gufo_str_of(w->reviews->messages), &options, &out,
                              error);
    mem_free(allocator, name);
    if (status != GUFO_OK || out.len == 0) {
        gufo_text_free(&out);
        return status == GUFO_E_MEMORY || status == GUFO_E_ARGUMENT ? status : GUFO_OK;
    }
    w->now->messages = gufo_str_of(w->reviews->messages);
    w->now->rendered = (gufo_str){out.data, out.len}; /* it is the review's now */
    return GUFO_OK;
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status review(review_work *w, gufo_error *error)
{
    gufo_chat_reviews *r = w->reviews;
    gufo_status status = GUFO_OK;
    gufo_str name, source;
    uint64_t place = 0;

    while (status == GUFO_OK && r->count < GUFO_CHAT_REVIEWS &&
           gufo_model_next_chat_template(w->model, &place, &name, &source)) {
        w->now = &r->list[r->count++];
        *w->now = (gufo_chat_review){.name = name, .source = source};
        status = judge(w, error);
        if (status == GUFO_OK && source.len <= MOST_TEXT)
            status = render(w, error);
    }
    return status;
}

gufo_chat_reviews *gufo_chat_reviews_new(const gufo_model *model, const gufo_vocab *vocab,
                                         const gufo_chat_reviews_options *options,
                                         gufo_error *error)
{
    const gufo_chat_reviews_options none = {0}, *o = options != NULL ? options : &none;
    gufo_str messages = o->messages.len > 0 ? o->messages : gufo_str_of(usual_messages);
    review_work w = {.model = model, .vocab = vocab};

    if (reserved_check(o->reserved, "gufo_chat_reviews_options", error) != GUFO_OK)
        return NULL;
    w.reviews = mem_object(o->allocator, sizeof *w.reviews, error);
    if (w.reviews == NULL)
        return NULL;
    w.limits = o->rendering != NULL ? *o->rendering : usual_limits;
    w.limits.allocator = &w.reviews->allocator;
    w.reviews->messages = mem_text(&w.reviews->allocator, messages);
    if (w.reviews->messages == NULL)
        (void)fail_memory(error);
    else if (review(&w, error) == GUFO_OK)
        return w.reviews;
    gufo_chat_reviews_free(w.reviews);
    return NULL;
}

const gufo_chat_review *gufo_chat_reviews_list(const gufo_chat_reviews *reviews, size_t *count)
{
    *count = reviews->count;
    return reviews->list;
}

void gufo_chat_reviews_free(gufo_chat_reviews *reviews)
{
    gufo_allocator allocator;

    if (reviews == NULL)
        return;
    allocator = reviews->allocator;
    for (size_t i = 0; i < reviews->count; i++) {
        gufo_chat_review *r = &reviews->list[i];

        for (size_t k = 0; k < r->finding_count; k++)
            mem_free(&allocator, (char *)r->findings[k].message);
        mem_free(&allocator, (void *)r->findings);
        mem_free(&allocator, (char *)r->rendered.data);
    }
    mem_free(&allocator, reviews->messages);
    mem_free(&allocator, reviews);
}
