/* What is shown of chat templates: findings, an example, and what has neither. */
#include "support/allocator.h"
#include "support/vocab_maker.h"

#include "gufo/text.h"

#include <stdlib.h>
#include <string.h>

#define KEY "tokenizer.chat_template"

static const token_row rows[] = {{"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0}};

typedef struct reviewed {
    vocab_maker maker;
    gufo_model *model;
    gufo_vocab *vocab;
    gufo_chat_reviews *reviews;
    const gufo_chat_review *list;
    size_t count;
} reviewed;

static reviewed begin(void)
{
    reviewed r = {.maker = vocab_maker_new("llama")};

    vocab_maker_with_bytes(&r.maker, rows, COUNT_OF(rows));
    vocab_maker_id(&r.maker, "bos_token_id", 257);
    return r;
}

static void review(reviewed *r, const gufo_chat_reviews_options *options)
{
    gufo_error error = no_error();

    r->model = vocab_maker_model(&r->maker);
    r->vocab = gufo_vocab_open(r->model, NULL, &error);
    r->reviews = gufo_chat_reviews_new(r->model, r->vocab, options, &error);
    if (r->reviews == NULL)
        fail_msg("%s", error.message);
    r->list = gufo_chat_reviews_list(r->reviews, &r->count);
}

static void end(reviewed *r)
{
    gufo_chat_reviews_free(r->reviews);
    gufo_vocab_free(r->vocab);
    gufo_model_free(r->model);
    builder_free(&r->maker.b);
}

static void check_shown(gufo_str text, const char *expected)
{
    check(gufo_str_equal(text, gufo_str_of(expected)), "\"%.*s\", not \"%s\"", (int)text.len,
          text.len > 0 ? text.data : "", expected);
}

static void test_templates(void **state)
{
    const gufo_chat_reviews_options options = {
        .messages = gufo_str_of("[{\"role\": \"user\", \"content\": \"hi\"}]")};
    reviewed r = begin();

    (void)state;
    vocab_maker_key(&r.maker, KEY ".refuses", "{{ raise_exception('no') }}");
    vocab_maker_key(&r.maker, KEY, "{{ bos_token }}{{ messages[0].content }}");
    vocab_maker_key(&r.maker, KEY ".broken", "a\n{{ b");
    vocab_maker_key(&r.maker, KEY ".unsafe", "{{ ''.__class__ }}");
    review(&r, &options);
    check_u64(r.count, 4, "templates");
    check_shown(r.list[0].name, "refuses");
    check_u64(r.list[0].finding_count, 0, "one that refuses is not wrong");
    check_u64(r.list[0].rendered.len, 0, "but has no example");
    check_u64(r.list[0].messages.len, 0, "but has no example");
    check_shown(r.list[1].name, "");
    check_shown(r.list[1].source, "{{ bos_token }}{{ messages[0].content }}");
    check_shown(r.list[1].rendered, "<s>hi");
    check_shown(r.list[1].messages, "[{\"role\": \"user\", \"content\": \"hi\"}]");
    check(r.list[2].finding_count == 1, "broken");
    check_u64(r.list[2].findings[0].line, 2, "its line");
    check(!r.list[2].findings[0].dangerous && strlen(r.list[2].findings[0].message) > 0, "broken");
    check(r.list[3].finding_count > 0 && r.list[3].findings[0].dangerous, "unsafe");
    end(&r);
}

/* The usual example, limits, and more templates and findings than are kept. */
static void test_limits(void **state)
{
    enum { MANY = 100 };
    static char unsafe[MANY * 24], loop[] = "{% for i in range(100000) %}aaaaaaaaaa{% endfor %}";
    reviewed r = begin();

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        strcat(unsafe, "{{ ''.__class__ }}\n");
    vocab_maker_key(&r.maker, KEY, "{{ messages|length }}");
    vocab_maker_key(&r.maker, KEY ".long", loop);
    vocab_maker_key(&r.maker, KEY ".many", unsafe);
    for (size_t i = 0; i < MANY; i++) {
        char key[64];

        (void)snprintf(key, sizeof key, KEY ".n%zu", i);
        vocab_maker_key(&r.maker, key, "x");
    }
    review(&r, NULL);
    check_u64(r.count, GUFO_CHAT_REVIEWS, "templates");
    check_shown(r.list[0].rendered, "4");
    check_u64(r.list[1].rendered.len, 0, "more than 64 KiB");
    check_u64(r.list[2].finding_count, GUFO_CHAT_REVIEW_FINDINGS, "findings");
    end(&r);
}

static void test_without(void **state)
{
    const gufo_chat_reviews_options later = {.reserved = {1}};
    reviewed r = begin();
    gufo_error error;

    (void)state;
    review(&r, NULL);
    check_u64(r.count, 0, "no templates");
    assert_null(gufo_chat_reviews_new(r.model, NULL, &later, &error));
    check_u64(error.code, GUFO_E_ARGUMENT, "reserved");
    gufo_chat_reviews_free(NULL);
    end(&r);
}

/* Whatever request for memory fails, all is given back. */
static void test_memory(void **state)
{
    reviewed r = begin();
    gufo_chat_reviews *reviews = NULL;

    (void)state;
    vocab_maker_key(&r.maker, KEY, "{{ bos_token }}{{ ''.__class__ }}");
    vocab_maker_key(&r.maker, KEY ".other", "{{ messages[0].content }}");
    review(&r, NULL);
    for (size_t at = 1; reviews == NULL; at++) {
        gufo_error error = no_error();
        gufo_allocator allocator;
        counter c;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = at;
        reviews = gufo_chat_reviews_new(
            r.model, r.vocab, &(gufo_chat_reviews_options){.allocator = &allocator}, &error);
        if (reviews == NULL)
            check_u64(error.code, GUFO_E_MEMORY, "request %zu", at);
        else
            check(c.denied == 0, "request %zu was denied", at);
        gufo_chat_reviews_free(reviews);
        check_u64(c.in_use, 0, "request %zu", at);
    }
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
