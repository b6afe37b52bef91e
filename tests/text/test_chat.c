/* From a conversation to ids: the templates of a model, their variables, one BOS, tokens that end. */
#include "encoding.h"

#include "base/memory.h"
#include "gufo/text.h"

static const token_row rows[] = {
    {"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0}, {"<|im_end|>", 3, 0},
    {"a", 1, -1},    {"u", 1, -1},  {">", 1, -1},   {"T", 1, -1},
};

#define KEY "tokenizer.chat_template"
#define LOOP "{% for m in messages %}{{ m.role }}{{ m.content }}{{ eos_token }}{% endfor %}"
#define ENDING "{% if tools %}T{% endif %}{% if add_generation_prompt %}>{% endif %}"

typedef struct chat_model {
    vocab_maker maker;
    gufo_model *model;
    gufo_vocab *vocab;
} chat_model;

static chat_model open_chat(bool with_template)
{
    chat_model c = {.maker = vocab_maker_new("llama")};
    gufo_error error = no_error();

    vocab_maker_with_bytes(&c.maker, rows, COUNT_OF(rows));
    vocab_maker_id(&c.maker, "bos_token_id", 257);
    vocab_maker_id(&c.maker, "eos_token_id", 258);
    vocab_maker_bool(&c.maker, "add_space_prefix", false);
    if (with_template) {
        vocab_maker_key(&c.maker, KEY ".bare", "{{ raise_exception('no ' + messages[0].role) }}");
        vocab_maker_key(&c.maker, KEY "s", "another key");
        vocab_maker_key(&c.maker, KEY, LOOP ENDING);
        vocab_maker_key(&c.maker, KEY ".bos", "{{ bos_token }}" LOOP "{{ extra }}");
    }
    c.model = vocab_maker_model(&c.maker);
    c.vocab = gufo_vocab_open(c.model, NULL, &error);
    assert_non_null(c.vocab);
    return c;
}

static void close_chat(chat_model *c)
{
    gufo_vocab_free(c->vocab);
    gufo_model_free(c->model);
    builder_free(&c->maker.b);
}

typedef struct noted_steps {
    uint64_t calls, last, total, stop_at;
} noted_steps;

static bool note(void *context, uint64_t done, uint64_t total)
{
    noted_steps *s = context;

    s->last = done;
    s->total = total;
    return ++s->calls != s->stop_at;
}

/* Opening a vocabulary says how far it is, and stops when its caller says so. */
static void test_progress(void **state)
{
    chat_model c = open_chat(false);

    (void)state;
    for (uint64_t stop_at = 0; stop_at <= 4; stop_at++) {
        noted_steps s = {.stop_at = stop_at};
        const gufo_run run = {.threads = 1, .progress = note, .progress_context = &s};
        const gufo_vocab_options options = {.run = &run};
        gufo_error error = no_error();
        gufo_vocab *vocab = gufo_vocab_open(c.model, &options, &error);

        check((vocab != NULL) == (stop_at == 0), "%" PRIu64 ": %s", stop_at, error.message);
        check_u64(error.code, stop_at == 0 ? GUFO_OK : GUFO_E_STOPPED, "%" PRIu64, stop_at);
        check_u64(s.calls, stop_at == 0 ? 4 : stop_at, "%" PRIu64, stop_at);
        check(stop_at != 0 || s.last == s.total, "%" PRIu64 " of %" PRIu64, s.last, s.total);
        gufo_vocab_free(vocab);
    }
    close_chat(&c);
}

static void check_chat(const chat_model *c, const char *messages, const gufo_chat_options *options,
                       const char *prompt, const char *tokens)
{
    gufo_error error = no_error();
    gufo_text text = {0}, got = {0};
    gufo_ids ids = {0};

    check_ok(gufo_chat_render(c->model, c->vocab, gufo_str_of(messages), options, &text, &error),
             &error, "%s", messages);
    check_str(((gufo_str){text.data, text.len}), prompt, "%s", messages);
    check_ok(gufo_chat_tokenize(c->model, c->vocab, gufo_str_of(messages), options, &ids, &error),
             &error, "%s", messages);
    for (size_t i = 0; i < ids.count; i++) {
        gufo_str token = vocab_text(c->vocab, ids.ids[i]);

        assert_true((i == 0 || text_add(&got, "|", 1)) && text_add(&got, token.data, token.len));
    }
    check_str(((gufo_str){got.data, got.len}), tokens, "%s", messages);
    gufo_text_free(&text);
    gufo_text_free(&got);
    gufo_ids_free(&ids);
}

static void test_chat(void **state)
{
    static const char one[] = "[{\"role\": \"u\", \"content\": \"a\"}]";
    static const char object[] =
        "{\"messages\": [{\"role\": \"u\", \"content\": \"a\"}], \"tools\": [1]}";
    const gufo_chat_options plain = {.flags = GUFO_CHAT_NO_PROMPT}, bos = {.name = "bos"},
                            tools = {.tools = {"[{}]", 4},
                                     .variables = gufo_str_of("{\"add_generation_prompt\": 0}")},
                            extra = {.name = "bos", .variables = gufo_str_of("{\"extra\": \"u\"}")};
    chat_model c = open_chat(true);

    (void)state;
    check_chat(&c, one, NULL, "ua</s>>", "<s>|u|a|</s>|>"); /* BOS is added */
    check_chat(&c, one, &plain, "ua</s>", "<s>|u|a|</s>");
    check_chat(&c, object, NULL, "ua</s>T>", "<s>|u|a|</s>|T|>");
    check_chat(&c, one, &tools, "ua</s>T", "<s>|u|a|</s>|T");
    check_chat(&c, one, &bos, "<s>ua</s>", "<s>|u|a|</s>"); /* and not twice */
    check_chat(&c, one, &extra, "<s>ua</s>u", "<s>|u|a|</s>|u");
    check_chat(&c, "[]", &plain, "", "<s>");
    close_chat(&c);
}

static void check_failure(const chat_model *c, const char *messages,
                          const gufo_chat_options *options, gufo_status expected, const char *words)
{
    gufo_error error = no_error();
    gufo_ids ids = {0};

    check_status(
        gufo_chat_tokenize(c->model, c->vocab, gufo_str_of(messages), options, &ids, &error),
        expected, &error, "%s", messages);
    check(strstr(error.message, words) != NULL, "%s", error.message);
    check_u64(ids.count, 0, "%s", messages);
    gufo_ids_free(&ids);
}

static void test_failures(void **state)
{
    const gufo_chat_options bare = {.name = "bare"}, other = {.name = "other"},
                            wrong = {.tools = {"[", 1}}, unknown = {.flags = 2},
                            steps = {.rendering = &(gufo_template_options){.steps = 1}};
    chat_model c = open_chat(true);

    (void)state;
    check_failure(&c, "[{\"role\": \"u\"}]", &bare, GUFO_E_STOPPED, "no u");
    check_failure(&c, "[]", &other, GUFO_E_NOT_FOUND, "other");
    check_failure(&c, "[]", &wrong, GUFO_E_MALFORMED, "line 1");
    check_failure(&c, "[]", &unknown, GUFO_E_ARGUMENT, "gufo_chat_options");
    check_failure(&c, "[{\"role\": \"u\", \"content\": \"a\"}]", &steps, GUFO_E_LIMIT, "steps");
    check_failure(&c, "[1]", NULL, GUFO_E_MALFORMED, "expected a message");
    check_failure(&c, "{\"m\": []}", NULL, GUFO_E_MALFORMED, "expected a list of messages");
    check_failure(&c, "", NULL, GUFO_E_MALFORMED, "not JSON");
    close_chat(&c);
}

/* Requests for as many bytes as the messages have. */
typedef struct noted_requests {
    size_t size, count;
} noted_requests;

static void *note_request(void *context, void *block, size_t size)
{
    noted_requests *n = context;

    n->count += block == NULL && size == n->size ? 1 : 0;
    return default_allocator.resize(default_allocator.context, block, size);
}

/* Messages are checked in a copy, which is from the allocator of the options. */
static void test_allocator(void **state)
{
    static const char messages[] = "[{\"role\": \"u\", \"content\": \"a\"}]             ";
    noted_requests noted = {.size = sizeof messages - 1};
    const gufo_allocator allocator = {.resize = note_request, .context = &noted};
    const gufo_chat_options options = {.rendering =
                                           &(gufo_template_options){.allocator = &allocator}};
    chat_model c = open_chat(true);

    (void)state;
    check_chat(&c, messages, &options, "ua</s>>", "<s>|u|a|</s>|>");
    check(noted.count > 0, "no copy is from it");
    close_chat(&c);
}

/* Without a vocabulary, special tokens are those of the keys; without a model, there are none. */
static void test_values(void **state)
{
    chat_model c = open_chat(true);
    gufo_error error = no_error();
    gufo_text text = {0};

    (void)state;
    check_ok(gufo_chat_render(c.model, NULL, gufo_str_of("[{\"role\": 1}]"), NULL, &text, &error),
             &error, "keys");
    check_str(((gufo_str){text.data, text.len}), "1</s>>", "keys");
    for (int vocab = 0; vocab < 3; vocab++) {
        gufo_template_values *values = gufo_template_values_new(NULL, &error);

        check_ok(gufo_chat_values_from(values, vocab < 2 ? c.model : NULL,
                                       vocab == 1 ? c.vocab : NULL, &error),
                 &error, "values");
        assert_int_equal(gufo_template_values_has(values, "bos_token"), vocab < 2);
        assert_true(gufo_template_values_has(values, "add_generation_prompt"));
        assert_false(gufo_template_values_has(values, "sep_token"));
        gufo_template_values_free(values);
    }
    gufo_text_free(&text);
    close_chat(&c);
}

static void test_stop_tokens(void **state)
{
    chat_model c = open_chat(false);
    uint32_t ids[4] = {0};

    (void)state;
    check_u64(gufo_vocab_stop_tokens(c.vocab, NULL, 0), 2, "EOS and EOT");
    check_u64(gufo_vocab_stop_tokens(c.vocab, ids, 1), 2, "room for one");
    check_u64(ids[0], 258, "EOS");
    check_u64(ids[1], 0, "no more than there is room for");
    check_u64(gufo_vocab_stop_tokens(c.vocab, ids, 4), 2, "all");
    check_u64(ids[1], 259, "EOT");
    close_chat(&c);
}

static void test_count(void **state)
{
    const gufo_tokenize_options with_bos = {.flags = GUFO_TOKENIZE_ADD_SPECIAL},
                                wrong = {.flags = 1u << 20};
    chat_model c = open_chat(false);
    gufo_error error = no_error();
    gufo_ids ids = {0};
    uint64_t count = 7;

    (void)state;
    check_ok(gufo_count_tokens(c.vocab, gufo_str_of(""), NULL, &count, &error), &error, "none");
    check_u64(count, 0, "none");
    check_ok(gufo_count_tokens(c.vocab, gufo_str_of("aub"), &with_bos, &count, &error), &error,
             "with BOS");
    check_u64(count, 4, "with BOS");
    check_status(gufo_count_tokens(c.vocab, gufo_str_of("a"), &wrong, &count, &error),
                 GUFO_E_ARGUMENT, &error, "flags");
    check_u64(gufo_tokenize(c.vocab, gufo_str_of("a"), &wrong, &ids, NULL), GUFO_E_ARGUMENT,
              "without an error");
    close_chat(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress),    cmocka_unit_test(test_chat),
        cmocka_unit_test(test_failures),    cmocka_unit_test(test_values),
        cmocka_unit_test(test_stop_tokens), cmocka_unit_test(test_count),
        cmocka_unit_test(test_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
