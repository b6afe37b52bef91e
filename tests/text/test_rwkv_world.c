/* RWKV World vocabularies into keys, alone and as the vocabulary of a model. */
#include "support/allocator.h"
#include "support/builder.h"
#include "support/check.h"

#include "text/formats/rwkv_world.h"
#include "text/formats/source.h"

typedef struct outcome {
    gufo_document *document;
    gufo_status status;
    gufo_error error;
} outcome;

static outcome read_sized(gufo_str text, uint32_t size, const gufo_allocator *allocator)
{
    outcome o = {.document = gufo_document_new(NULL, NULL), .error = no_error()};

    assert_non_null(o.document);
    o.status = rwkv_world_document(text, size, allocator, o.document, &o.error);
    return o;
}

static outcome read_world(const char *text)
{
    return read_sized(gufo_str_of(text), 0, NULL);
}

static void check_token(const outcome *o, uint64_t id, const char *text, int64_t type)
{
    gufo_document_entry tokens, types;
    gufo_value value;

    check(gufo_document_find(o->document, "tokenizer.ggml.tokens", &tokens), "tokens");
    check(gufo_document_find(o->document, "tokenizer.ggml.token_type", &types), "types");
    check_ok(gufo_array_at(&tokens.value.as.array, id, &value, NULL), NULL, "token %" PRIu64, id);
    check_str(value.as.str, text, "token %" PRIu64, id);
    check_ok(gufo_array_at(&types.value.as.array, id, &value, NULL), NULL, "type %" PRIu64, id);
    check(value.as.i == type, "token %" PRIu64 " has type %" PRId64, id, value.as.i);
}

/* Literals of all kinds, as GGUF has them. */
static void test_literals(void **state)
{
    outcome o = read_world("1 'a' 1\n"
                           "2 b'\\xe0\\n' 2\r\n"
                           "3 '\\u4e2d\\U0001f600' 7\n"
                           "4 \"it's\" 4\n"
                           "5 'it\\'s \"q\"' 8\n"
                           "6 '\\x80\\xff' 4\n"
                           "7 '\\t\\r\\\\' 3\n"
                           "8 '\\0\\101\\q' 4\n"
                           "9 '\xe4\xb8\xad' 3\n"
                           "12 '\\x7f ' 2");

    (void)state;
    check_ok(o.status, &o.error, "literals");
    check_token(&o, 0, "<s>", 3);
    check_token(&o, 1, "a", 1);
    check_token(&o, 2, "\\xe0\\n", 1);
    check_token(&o, 3, "\\xe4\\xb8\\xad\\xf0\\x9f\\x98\\x80", 1);
    check_token(&o, 4, "it's", 1);
    check_token(&o, 5, "it\\'s \"q\"", 1);
    check_token(&o, 6, "\\xc2\\x80\\xc3\\xbf", 1);
    check_token(&o, 7, "\\t\\r\\\\", 1);
    check_token(&o, 8, "\\x00A\\\\q", 1);
    check_token(&o, 9, "\\xe4\\xb8\\xad", 1);
    check_token(&o, 11, "[PAD11]", 5);
    check_token(&o, 12, "\\x7f ", 1);
    gufo_document_free(o.document);
}

static void test_sizes(void **state)
{
    outcome padded = read_sized(gufo_str_of("1 'a' 1\n"), 4, NULL),
            first = read_world("0 'z' 1\n261 '\\n\\n' 2\n");
    gufo_document_entry entry;

    (void)state;
    check_ok(padded.status, &padded.error, "padded");
    check_token(&padded, 3, "[PAD3]", 5);
    check_ok(first.status, &first.error, "first");
    check_token(&first, 0, "z", 1);
    check(!gufo_document_find(first.document, "tokenizer.ggml.bos_token_id", NULL), "bos");
    check(gufo_document_find(first.document, "tokenizer.ggml.eot_token_id", &entry), "eot");
    check_u64(entry.value.as.u, 261, "eot");
    gufo_document_free(padded.document);
    gufo_document_free(first.document);
}

static const struct {
    const char *text;
    uint32_t size;
    gufo_status status;
} damaged[] = {
    {"", 0, GUFO_E_MALFORMED},
    {"\n", 0, GUFO_E_MALFORMED},
    {"a", 0, GUFO_E_MALFORMED},
    {"1", 0, GUFO_E_MALFORMED},
    {"1 ", 0, GUFO_E_MALFORMED},
    {"1 a 1", 0, GUFO_E_MALFORMED},
    {"1 'a 1", 0, GUFO_E_MALFORMED},
    {"1 'a'", 0, GUFO_E_MALFORMED},
    {"1 'a' ", 0, GUFO_E_MALFORMED},
    {"1 'a' 2", 0, GUFO_E_MALFORMED},
    {"1 'a' 1x", 0, GUFO_E_MALFORMED},
    {"1 '' 0", 0, GUFO_E_MALFORMED},
    {"1 '\\", 0, GUFO_E_MALFORMED},
    {"1 '\\x4' 1", 0, GUFO_E_MALFORMED},
    {"1 '\\ud800' 3", 0, GUFO_E_MALFORMED},
    {"1 '\\U00110000' 4", 0, GUFO_E_MALFORMED},
    {"1 b'\\777' 1", 0, GUFO_E_MALFORMED},
    {"1 b'\xe4' 1", 0, GUFO_E_MALFORMED},
    {"1 'a' 1\n1 'b' 1\n", 0, GUFO_E_MALFORMED},
    {"18446744073709551616 'a' 1", 0, GUFO_E_LIMIT},
    {"18446744073709551615 'a' 1", 0, GUFO_E_LIMIT},
    {"99999999 'a' 1", 0, GUFO_E_LIMIT},
    {"4 'a' 1", 4, GUFO_E_RANGE},
};

static void test_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        outcome o = read_sized(gufo_str_of(damaged[i].text), damaged[i].size, NULL);

        check_status(o.status, damaged[i].status, &o.error, "%s", damaged[i].text);
        check_error_shape(&o.error, damaged[i].status, damaged[i].text);
        gufo_document_free(o.document);
    }
}

/* Which id, and where. */
static void test_id_twice(void **state)
{
    outcome o = read_world("1 'a' 1\n2 'b' 1\n1 'c' 1\n");

    (void)state;
    check_status(o.status, GUFO_E_MALFORMED, &o.error, "an id twice");
    check(strstr(o.error.message, "line 3, at byte 16, has id 1, as line 1 has") != NULL, "%s",
          o.error.message);
    gufo_document_free(o.document);
}

static void test_memory(void **state)
{
    gufo_status status = GUFO_E_MEMORY;
    gufo_allocator allocator;
    counter c;

    (void)state;
    for (size_t at = 1; status == GUFO_E_MEMORY; at++) {
        outcome o;

        counter_init(&c);
        c.fail_at = at;
        allocator = counter_allocator(&c);
        o = read_sized(gufo_str_of("1 'a' 1\n"), 0, &allocator);
        status = o.status;
        check_u64(c.in_use, 0, "left");
        gufo_document_free(o.document);
        assert_true(at < 100);
    }
    check_status(status, GUFO_OK, NULL, "memory");
}

/* ---- models --------------------------------------------------------------------------------- */

static gufo_model *model_with(const char *key, const char *text, builder *b)
{
    gufo_model *model;

    *b = builder_new((encoding){3, false});
    builder_header(b, 0, 1);
    builder_kv_str(b, key, text);
    model = gufo_model_open_memory(b->data, b->len, NULL, NULL);
    assert_non_null(model);
    return model;
}

static void check_source(const char *key, const char *text, gufo_status expected)
{
    gufo_error error = no_error();
    gufo_model *made = NULL, *model;
    gufo_str found;
    builder b;

    model = model_with(key, text, &b);
    check_status(source_world(model, NULL, &made, &error), expected, &error, "%s", key);
    check((made != NULL) == (expected == GUFO_OK), "%s", key);
    if (made != NULL) {
        check_ok(gufo_model_get_str(made, "tokenizer.ggml.model", &found, &error), &error, "%s",
                 key);
        check_str(found, "rwkv", "%s", key);
    }
    gufo_model_free(made);
    gufo_model_free(model);
    builder_free(&b);
}

static void test_sources(void **state)
{
    (void)state;
    check_source("tokenizer.rwkv.world", "1 'a' 1\n", GUFO_OK);
    check_source("tokenizer.rwkv.world", "1 'a' 2\n", GUFO_E_MALFORMED);
    check_source("general.name", "x", GUFO_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_damage),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_sources),  cmocka_unit_test(test_id_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
