/* Values from text and JSON, the types of keys, elements of arrays, and tokens by their text. */
#include "../support/check.h"

#include <locale.h>
#include <math.h>

/* ---- text ------------------------------------------------------------------------------------- */

static void test_text(void **state)
{
    static const struct {
        gufo_value_type type;
        const char *text;
        bool good;
    } rows[] = {
        {GUFO_VALUE_UINT8, "255", true},     {GUFO_VALUE_UINT8, "256", false},
        {GUFO_VALUE_INT8, "-128", true},     {GUFO_VALUE_INT8, "-129", false},
        {GUFO_VALUE_UINT64, "-1", false},    {GUFO_VALUE_UINT64, "18446744073709551615", true},
        {GUFO_VALUE_FLOAT32, "1e39", false}, {GUFO_VALUE_FLOAT64, "1e39", true},
        {GUFO_VALUE_FLOAT32, "-inf", true},  {GUFO_VALUE_FLOAT32, "0x1p3", false},
        {GUFO_VALUE_BOOL, "true", true},     {GUFO_VALUE_BOOL, "1", false},
        {GUFO_VALUE_STRING, "", true},       {GUFO_VALUE_ARRAY, "[]", false},
        {GUFO_VALUE_UINT32, "7 ", false},    {GUFO_VALUE_INT64, "-9223372036854775808", true},
    };
    gufo_value value;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check(gufo_value_read(rows[i].type, rows[i].text, &value) == rows[i].good, "%s as %s",
              rows[i].text, gufo_value_type_name(rows[i].type));
    assert_true(gufo_value_read(GUFO_VALUE_INT16, "-2", &value));
    assert_int_equal(value.as.i, -2);
}

/* A text of more digits than real_read takes. */
static const char *long_half(void)
{
    static char text[512] = "0.5";

    memset(text + 3, '0', sizeof text - 4);
    return text;
}

static void test_floats(void **state)
{
    const char *locale = setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* its point is a comma */
    const struct {
        gufo_value_type type;
        const char *text;
        double value;
    } rows[] = {{GUFO_VALUE_FLOAT64, "1.5", 1.5},         {GUFO_VALUE_FLOAT64, "-.25", -0.25},
                {GUFO_VALUE_FLOAT64, "5.e-1", 0.5},       {GUFO_VALUE_FLOAT64, "0.1", 0.1},
                {GUFO_VALUE_FLOAT64, "inf", HUGE_VAL},    {GUFO_VALUE_FLOAT64, "1e-999", 0},
                {GUFO_VALUE_FLOAT64, long_half(), 0.5},   {GUFO_VALUE_FLOAT32, long_half(), 0.5},
                {GUFO_VALUE_FLOAT32, "0.1", (double)0.1f}};
    gufo_value value;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(gufo_value_read(rows[i].type, rows[i].text, &value), "%s", rows[i].text);
        check(value.as.f == rows[i].value, "%s is %.17g", rows[i].text, value.as.f);
    }
    assert_true(gufo_value_read(GUFO_VALUE_FLOAT32, "nan", &value));
    check(isnan(value.as.f), "nan is %.17g", value.as.f);
    check_u64(gufo_value_guess("0.5"), GUFO_VALUE_FLOAT32, "its type");
    (void)setlocale(LC_NUMERIC, "C");
    if (locale == NULL)
        skip();
}

static void test_guess(void **state)
{
    static const struct {
        const char *text;
        gufo_value_type type;
    } rows[] = {{"true", GUFO_VALUE_BOOL},         {"7", GUFO_VALUE_UINT32},
                {"-7", GUFO_VALUE_INT32},          {"4294967296", GUFO_VALUE_UINT64},
                {"-2147483649", GUFO_VALUE_INT64}, {"0.5", GUFO_VALUE_FLOAT32},
                {"1e999", GUFO_VALUE_STRING},      {"llama", GUFO_VALUE_STRING}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_u64(gufo_value_guess(rows[i].text), rows[i].type, "%s", rows[i].text);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void test_json(void **state)
{
    gufo_text bytes = {0};
    gufo_value value, element;
    gufo_error error;

    (void)state;
    check_ok(gufo_value_read_json(GUFO_VALUE_UINT64, " [1, \"18446744073709551615\"]", &value,
                                  &bytes, NULL, &error),
             &error, "large numbers are texts");
    check_u64(value.as.array.count, 2, "elements");
    check_ok(gufo_array_at(&value.as.array, 1, &element, &error), &error, "second");
    check_u64(element.as.u, UINT64_MAX, "exact");
    check_ok(gufo_value_read_json(GUFO_VALUE_STRING, "{\"base64\":\"/wA=\"}", &value, &bytes, NULL,
                                  &error),
             &error, "bytes");
    check_view(value.as.str, ((gufo_str){"\xff\0", 2}), "bytes");
    check_ok(gufo_value_read_json(GUFO_VALUE_STRING,
                                  " {\"n\": [{}, null], \"text\" : \"a\", \"b\": -1e5}", &value,
                                  &bytes, NULL, &error),
             &error, "other members");
    check_str(value.as.str, "a", "text");
    check_ok(gufo_value_read_json(GUFO_VALUE_STRING, "[[\"a\"],[]]", &value, &bytes, NULL, &error),
             &error, "nested");
    check_u64(value.as.array.type, GUFO_VALUE_ARRAY, "nested");
    check_ok(gufo_array_at(&value.as.array, 0, &element, &error), &error, "inner");
    check_u64(element.as.array.count, 1, "inner");
    check_ok(gufo_value_read_json(GUFO_VALUE_INT8, "[]", &value, &bytes, NULL, &error), &error,
             "empty");
    check_u64(value.as.array.count, 0, "empty");
    gufo_text_free(&bytes);
}

static void test_json_faults(void **state)
{
    static const struct {
        gufo_value_type type;
        const char *text;
        uint64_t offset;
        const char *message;
    } rows[] = {
        {GUFO_VALUE_UINT8, "[1,\n256]", 4, "line 2, character 1: expected a value of type uint8"},
        {GUFO_VALUE_UINT8, "[1,[2]]", 3,
         "character 4: an array holds either arrays or values, not both"},
        {GUFO_VALUE_STRING, "\"a", 2, "character 3: the string has no end"},
        {GUFO_VALUE_STRING, "\"a\" b", 4, "character 5: there is text after the value"},
        {GUFO_VALUE_STRING, "{\"base64\":\"?\"}", 13, "character 14: not base64"},
        {GUFO_VALUE_STRING, "{}", 1, "character 2: expected the name of a member"},
        {GUFO_VALUE_STRING, "{\"text\" 1", 8, "character 9: expected :"},
        {GUFO_VALUE_STRING, "{\"text\":1}", 8, "character 9: expected a string"},
        {GUFO_VALUE_STRING, "{\"a\":[}", 6, "character 7: expected a value"},
        {GUFO_VALUE_STRING, "{\"text\":\"a\"", 11, "character 12: expected , or }"},
        {GUFO_VALUE_STRING, "{\"text\":\"\",\"text\":\"\"}", 18,
         "character 19: the text is there twice"},
        {GUFO_VALUE_STRING, "{\"a\":1}", 7,
         "character 8: expected an object with \"text\" or \"base64\""},
        {GUFO_VALUE_UINT8, "[1", 2, "character 3: expected , or ]"},
        {GUFO_VALUE_UINT32, "[\"x\"]", 1, "character 2: expected a value of type uint32"},
    };
    gufo_text bytes = {0};
    gufo_value value;
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_status(gufo_value_read_json(rows[i].type, rows[i].text, &value, &bytes, NULL, &error),
                     GUFO_E_MALFORMED, &error, "%s", rows[i].text);
        check_u64(error.offset, rows[i].offset, "%s", rows[i].text);
        check_str(gufo_str_of(error.message), rows[i].message, "%s", rows[i].text);
    }
    gufo_text_free(&bytes);
}

static void test_json_texts(void **state)
{
    gufo_value_texts texts = {0};
    gufo_text bytes = {0};
    gufo_value value;
    gufo_error error;

    (void)state;
    check_ok(gufo_value_read_json(GUFO_VALUE_UINT32, "[1,\"</s>\",\"3\",\"<s>\"]", &value, &bytes,
                                  &texts, &error),
             &error, "texts");
    check_u64(value.as.array.count, 4, "all");
    check_u64(texts.count, 2, "a number in quotes is one");
    check_u64(texts.list[1].index, 3, "where");
    check_str(texts.list[1].text, "<s>", "what");
    gufo_value_texts_free(&texts);
    gufo_text_free(&bytes);
}

/* ---- types of keys ----------------------------------------------------------------------------- */

static void test_type_names(void **state)
{
    gufo_value_type type;

    (void)state;
    for (int i = 0; i < GUFO_VALUE_TYPE_COUNT; i++) {
        const char *name = gufo_value_type_name((gufo_value_type)i);

        check(gufo_value_type_by_name(name, &type) && (int)type == i, "%s", name);
    }
    assert_false(gufo_value_type_by_name("uint", &type));
    assert_false(gufo_value_type_by_name("", &type));
    assert_false(gufo_value_type_by_name("UINT8", &type));
    assert_true(gufo_value_type_by_name("gguf_type_int64", &type));
    check_u64(type, GUFO_VALUE_INT64, "the format's own name");
}

static void test_types(void **state)
{
    gufo_document *d = gufo_document_new(NULL, NULL);
    char name[GUFO_KEY_TYPES_SIZE];
    const char *text = "int8:7";
    gufo_key_types types;
    gufo_error error;

    (void)state;
    assert_non_null(d);
    check_ok(gufo_document_set_text(d, "general.architecture", "llama", &error), &error, "arch");
    check_str(gufo_document_architecture(d), "llama", "arch");
    assert_non_null(gufo_document_key_info(d, "llama.context_length"));
    types = gufo_key_types_of(d, "llama.feed_forward_length");
    check_str(gufo_str_of(gufo_key_types_name(&types, name)), "uint32 or array[int32]", "registry");
    types = gufo_key_types_of_shape(&types, true);
    check_u64(types.count, 1, "arrays");
    check_ok(gufo_document_set_u64(d, "llama.feed_forward_length", 1, &error), &error, "uint64");
    types = gufo_key_types_of(d, "llama.feed_forward_length");
    check_u64(types.list[0].type, GUFO_VALUE_UINT64, "that of the value comes first");
    types = gufo_key_types_read(d, "llama.feed_forward_length", &text);
    check_u64(types.list[0].type, GUFO_VALUE_INT8, "what is given");
    check_u64(gufo_key_types_read(d, "x", &(const char *){"GGUF_TYPE_BOOL:true"}).list[0].type,
              GUFO_VALUE_BOOL, "by the format's own name");
    check_str(gufo_str_of(text), "7", "behind the type");
    check_u64(gufo_key_types_of(d, "no.such.key").count, 0, "unknown");
    gufo_document_free(d);
}

/* ---- elements ---------------------------------------------------------------------------------- */

static void test_elements(void **state)
{
    static const uint16_t numbers[] = {1, 2, 3};
    static const gufo_items items = {GUFO_VALUE_UINT16, COUNT_OF(numbers), numbers};
    gufo_element_change changes[] = {
        {.index = 2, .value = {GUFO_VALUE_UINT16, .as.u = 30}},
        {.index = 0, .value = {GUFO_VALUE_UINT16, .as.u = 9}},
        {.index = 0, .value = {GUFO_VALUE_UINT16, .as.u = 10}},
    };
    gufo_document *d = gufo_document_new(NULL, NULL);
    gufo_document_entry entry;
    uint16_t out[3];
    gufo_error error;

    (void)state;
    assert_non_null(d);
    check_status(gufo_document_set_elements(d, "a", changes, 3, &error), GUFO_E_NOT_FOUND, &error,
                 "no key");
    check_ok(gufo_document_set_array(d, "a", &items, &error), &error, "set");
    check_ok(gufo_document_set_elements(d, "a", changes, 3, &error), &error, "change");
    assert_true(gufo_document_find(d, "a", &entry));
    check_ok(gufo_array_read(&entry.value.as.array, 0, 3, out, &error), &error, "read");
    check(out[0] == 10 && out[1] == 2 && out[2] == 30, "%u %u %u", out[0], out[1], out[2]);
    changes[0].index = 3;
    check_status(gufo_document_set_elements(d, "a", changes, 3, &error), GUFO_E_RANGE, &error,
                 "past the end");
    changes[0] = (gufo_element_change){.value = {GUFO_VALUE_UINT16, .as.u = 65536}};
    check_status(gufo_document_set_elements(d, "a", changes, 1, &error), GUFO_E_TYPE, &error,
                 "does not fit");
    changes[0].value.type = GUFO_VALUE_UINT32;
    check_status(gufo_document_set_elements(d, "a", changes, 1, &error), GUFO_E_TYPE, &error,
                 "another type");
    gufo_document_free(d);
}

static void test_tokens(void **state)
{
    static const gufo_str texts[] = {{"<s>", 3}, {"a", 1}, {"a", 1}};
    static const gufo_items items = {GUFO_VALUE_STRING, COUNT_OF(texts), texts};
    gufo_token_search tokens[] = {{.text = {"a", 1}, .id = 7, .times = 7},
                                  {.text = {"b", 1}, .id = 7, .times = 7},
                                  {.text = {"a", 1}, .id = 7, .times = 7}};
    gufo_document *d = gufo_document_new(NULL, NULL);
    gufo_error error;

    (void)state;
    assert_non_null(d);
    check_status(gufo_document_find_tokens(d, tokens, 3, &error), GUFO_E_NOT_FOUND, &error, "none");
    check_ok(gufo_document_set_array(d, "tokenizer.ggml.tokens", &items, &error), &error, "set");
    check_ok(gufo_document_find_tokens(d, tokens, 3, &error), &error, "find");
    check(tokens[0].id == 1 && tokens[0].times == 2, "the first of two");
    check_u64(tokens[1].times, 0, "not there");
    check(tokens[2].id == 1 && tokens[2].times == 2, "asked for again");
    gufo_document_free(d);
}

/* ---- JSON: the way back ------------------------------------------------------------------------ */

/* Each text is what the value that it is read as is written as. */
static void test_json_back(void **state)
{
    static const struct {
        gufo_value_type type;
        const char *text;
    } rows[] = {
        {GUFO_VALUE_UINT8, "255"},
        {GUFO_VALUE_UINT64, "\"18446744073709551615\""},
        {GUFO_VALUE_INT64, "\"-9223372036854775808\""},
        {GUFO_VALUE_INT64, "-9007199254740992"},
        {GUFO_VALUE_BOOL, "[true,false]"},
        {GUFO_VALUE_FLOAT32, "[0.1,\"nan\",\"-inf\",1.5e-7]"},
        {GUFO_VALUE_FLOAT64, "0.1"},
        {GUFO_VALUE_STRING, "\"a\\u0007\\n\\\"\\u202e\xc3\xa9\""},
        {GUFO_VALUE_STRING, "{\"base64\":\"/wA=\"}"},
        {GUFO_VALUE_STRING, "[[\"a\"],[]]"},
        {GUFO_VALUE_INT16, "[[[1,-2],[]],[[3]]]"},
        {GUFO_VALUE_INT8, "[]"},
    };
    gufo_text bytes = {0}, out = {0};
    gufo_error error = no_error();
    gufo_value value;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_ok(gufo_value_read_json(rows[i].type, rows[i].text, &value, &bytes, NULL, &error),
                 &error, "%s", rows[i].text);
        out.len = 0;
        check_ok(gufo_value_write_json(&value, &out, &error), &error, "%s", rows[i].text);
        check_str(((gufo_str){out.data, out.len}), rows[i].text, "row %zu", i);
    }
    gufo_text_free(&bytes);
    gufo_text_free(&out);
}

typedef struct taken {
    char text[256];
    size_t len, most;
} taken;

static bool take(void *context, const char *bytes, size_t count)
{
    taken *t = context;

    if (t->len + count > t->most)
        return false;
    memcpy(t->text + t->len, bytes, count);
    t->len += count;
    return true;
}

static void check_form(const gufo_value *value, gufo_value_json_form form, uint64_t limit,
                       const char *expected)
{
    taken t = {.most = sizeof t.text};
    gufo_error error = no_error();

    check_ok(gufo_value_put_json(value, form, limit, take, &t, &error), &error, "%s", expected);
    check_str(((gufo_str){t.text, t.len}), expected, "form %d", (int)form);
}

static void test_json_forms(void **state)
{
#define OF(type, count) \
    "\"type\":\"array\",\"element_type\":\"" type "\",\"count\":" count ",\"value\":"
    const gufo_value number = {.type = GUFO_VALUE_INT8, .as.i = -1};
    gufo_text bytes = {0};
    gufo_error error = no_error();
    taken t = {.most = 3};
    gufo_value value;

    (void)state;
    check_form(&number, GUFO_VALUE_JSON_TYPED, 0, "-1");
    check_form(&number, GUFO_VALUE_JSON_MEMBERS, 0, "\"type\":\"int8\",\"value\":-1");
    check_ok(
        gufo_value_read_json(GUFO_VALUE_INT8, "[[1,2,3],[4],[5]]", &value, &bytes, NULL, &error),
        &error, "nested");
    check_form(&value, GUFO_VALUE_JSON_BARE, 2, "[[1,2],[4]]");
    check_form(&value, GUFO_VALUE_JSON_PLAIN, 2,
               "[{" OF("int8", "3") "[1,2]},{" OF("int8", "1") "[4]}]");
    check_form(&value, GUFO_VALUE_JSON_TYPED, 1,
               "{" OF("array", "3") "[{" OF("int8", "3") "[1]}]}");
    check_form(&value, GUFO_VALUE_JSON_MEMBERS, 0, OF("array", "3") "[]");
    check_status(gufo_value_put_json(&value, GUFO_VALUE_JSON_BARE, 9, take, &t, &error),
                 GUFO_E_STOPPED, &error, "no more is wanted");
    check_u64(t.len, 3, "what was taken");
    gufo_text_free(&bytes);
}

static void test_plain_keys(void **state)
{
    static const struct {
        gufo_str key;
        bool plain;
        size_t at;
    } rows[] = {
        {{"general.name", 12}, true, 0}, {{"", 0}, true, 0},     {{"a]b", 3}, true, 0},
        {{"a=b", 3}, false, 1},          {{"[a", 2}, false, 0},  {{"a*", 2}, false, 1},
        {{"a?", 2}, false, 1},           {{"a\\", 2}, false, 1}, {{"ab\0", 3}, false, 2},
        {{"a b'\"$", 6}, true, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t at = 0;

        check_u64(gufo_key_is_plain(rows[i].key, &at), rows[i].plain, "row %zu", i);
        check_u64(at, rows[i].at, "row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),       cmocka_unit_test(test_floats),
        cmocka_unit_test(test_plain_keys), cmocka_unit_test(test_guess),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_json_faults),
        cmocka_unit_test(test_json_texts), cmocka_unit_test(test_types),
        cmocka_unit_test(test_type_names), cmocka_unit_test(test_elements),
        cmocka_unit_test(test_tokens),     cmocka_unit_test(test_json_back),
        cmocka_unit_test(test_json_forms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
