/* Normalizers of a tokenizer.json: what texts become, and where their characters come from. */
#include "step_cases.h"

#include "text/pipeline/steps/normalizer.h"

/* Runs a step on a text; gives what it became. */
static work_text run(const char *json, const char *text, bool keeps_origins)
{
    gufo_error error = {0};
    json_t *part = step_json(json);
    normalizer *n = normalizer_new(part, NULL, &default_allocator, &error);
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);
    work_text t = step_text_of(text, keeps_origins, &default_allocator);
    work_text spare = {.allocator = &default_allocator, .keeps_origins = keeps_origins};

    check(n != NULL && s != NULL, "%s: %s", json, error.message);
    check(normalizer_run(n, s, &t, &spare, &error) == GUFO_OK, "%s: %s", json, error.message);
    work_text_free(&spare);
    expression_scratch_free(s);
    normalizer_free(n);
    json_decref(part);
    return t;
}

static void check_text(const char *json, const char *text, const char *expected)
{
    for (int keeps_origins = 0; keeps_origins < 2; keeps_origins++) {
        work_text t = run(json, text, keeps_origins != 0);

        check(t.len == strlen(expected) && (t.len == 0 || memcmp(t.data, expected, t.len) == 0),
              "%s of %s: %.*s, not %s", json, text, (int)t.len, t.len > 0 ? t.data : "", expected);
        work_text_free(&t);
    }
}

#define BERT(clean, chinese, accents, lower)                                          \
    "{'type':'BertNormalizer','clean_text':" clean ",'handle_chinese_chars':" chinese \
    ",'strip_accents':" accents ",'lowercase':" lower "}"

/* Seen in the library. */
static const struct {
    const char *json, *text, *expected;
} cases[] = {
    {"null", "a", "a"},
    {"{'type':'NFC'}", "e\xcc\x81 \xc3\xa9 a", "\xc3\xa9 \xc3\xa9 a"},
    {"{'type':'NFC'}", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", "\xea\xb0\x81"},
    {"{'type':'NFC'}", "\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc"},
    {"{'type':'NFC'}", "a\xcc\x81\xcc\xa3", "\xe1\xba\xa1\xcc\x81"},
    {"{'type':'NFD'}", "\xc3\xa9\xea\xb0\x81", "e\xcc\x81\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8"},
    {"{'type':'NFD'}", "\xef\xac\x81", "\xef\xac\x81"},
    {"{'type':'NFKC'}", "\xef\xac\x81\xc2\xb2\xe3\x8e\x8f", "fi2kg"},
    {"{'type':'NFKD'}", "\xc2\xbd\xc3\xa9",
     "1\xe2\x81\x84"
     "2e\xcc\x81"},
    {"{'type':'NFKC'}", "\xe3\x8b\xbf", "\xe3\x8b\xbf"}, /* of Unicode 12 */
    {"{'type':'Lowercase'}", "A\xc4\xb0\xce\xa3\xc3\x89z", "ai\xcc\x87\xcf\x83\xc3\xa9z"},
    {"{'type':'StripAccents'}", "e\xcc\x81\xc3\xa9\xe2\x83\x9d", "e\xc3\xa9"},
    {"{'type':'Strip','strip_left':true,'strip_right':true}",
     " \xc2\xa0"
     "a b\t",
     "a b"},
    {"{'type':'Strip','strip_left':false,'strip_right':true}", " a ", " a"},
    {"{'type':'Strip','strip_left':true,'strip_right':true}", "  ", ""},
    {"{'type':'Replace','pattern':{'String':'aa'},'content':'$1'}", "aaab", "$1ab"},
    {"{'type':'Replace','pattern':{'String':'a'},'content':''}", "aba", "b"},
    {"{'type':'Replace','pattern':{'Regex':'x*'},'content':'-'}", "axb", "-a-b-"},
    {"{'type':'Prepend','prepend':'_'}", "_a", "__a"},
    {"{'type':'Prepend','prepend':'_'}", "", ""},
    {"{'type':'Nmt'}",
     "a\x01\xe2\x80\x8b"
     "b",
     "a b"},
    {"{'type':'ByteLevel'}", "a \xc3\xa9", "a\xc4\xa0\xc3\x83\xc2\xa9"},
    {BERT("true", "false", "false", "false"), "a\tb\x01\xef\xbf\xbd\xc2\x85", "a b"},
    {BERT("false", "true", "false", "false"),
     "a\xe4\xb8\x80"
     "b",
     "a \xe4\xb8\x80 b"},
    {BERT("false", "false", "null", "true"), "\xc3\x89", "e"},
    {BERT("false", "false", "null", "false"), "\xc3\x89", "\xc3\x89"},
    {BERT("false", "false", "true", "false"), "\xc3\x89\xea\xb0\x80", "E\xe1\x84\x80\xe1\x85\xa1"},
    {"{'type':'Sequence','normalizers':[{'type':'NFD'},{'type':'Sequence','normalizers':["
     "{'type':'StripAccents'}]},{'type':'Lowercase'}]}",
     "\xc3\x89", "e"},
};

static void texts_become_what_the_library_makes_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_text(cases[i].json, cases[i].text, cases[i].expected);
}

/* Origins: bytes of the text, of each byte of the result. */
static const struct {
    const char *json, *text, *expected;
} origin_cases[] = {
    {"{'type':'NFC'}",
     "ae\xcc\x81"
     "b",
     "0-1 1-2 1-2 4-5 "},
    {"{'type':'NFD'}",
     "\xc3\xa9"
     "b",
     "0-2 0-2 0-2 2-3 "},
    {"{'type':'Replace','pattern':{'String':'ab'},'content':'xyz'}", "cab", "0-1 2-3 2-3 2-3 "},
    {"{'type':'Replace','pattern':{'String':''},'content':'-'}", "a", "0-0 0-1 0-1 "},
    {"{'type':'Prepend','prepend':'_'}", "\xc3\xa9", "0-2 0-2 0-2 "},
    {"{'type':'Lowercase'}", "\xc4\xb0", "0-2 0-2 0-2 "},
    {"{'type':'Strip','strip_left':true,'strip_right':true}", " a ", "1-2 "},
};

static void origins_are_those_of_the_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(origin_cases); i++) {
        work_text t = run(origin_cases[i].json, origin_cases[i].text, true);
        char found[256] = "";

        for (size_t k = 0; k < t.len; k++)
            (void)snprintf(found + strlen(found), sizeof found - strlen(found), "%u-%u ",
                           (unsigned)t.origins[k].begin, (unsigned)t.origins[k].end);
        check(strcmp(found, origin_cases[i].expected) == 0, "%s: %s, not %s", origin_cases[i].json,
              found, origin_cases[i].expected);
        work_text_free(&t);
    }
}

static const struct {
    const char *json;
    gufo_status status;
    const char *reason;
} refused[] = {
    {"{'type':'Uppercase'}", GUFO_E_TYPE, "Uppercase"},
    {"{'typ':'NFC'}", GUFO_E_MALFORMED, "type"},
    {"[]", GUFO_E_MALFORMED, "object"},
    {"{'type':'Strip','strip_left':1,'strip_right':true}", GUFO_E_MALFORMED, "strip_left"},
    {"{'type':'Strip','strip_left':true}", GUFO_E_MALFORMED, "strip_right"},
    {"{'type':'Prepend'}", GUFO_E_MALFORMED, "prepend"},
    {"{'type':'Replace','pattern':{},'content':''}", GUFO_E_MALFORMED, "pattern"},
    {"{'type':'Replace','pattern':{'String':'a','Regex':'a'},'content':''}", GUFO_E_MALFORMED,
     "one member"},
    {"{'type':'Replace','pattern':{'Regex':'('},'content':''}", GUFO_E_MALFORMED, "group"},
    {"{'type':'Replace','pattern':{'String':'a'}}", GUFO_E_MALFORMED, "content"},
    {"{'type':'Sequence'}", GUFO_E_MALFORMED, "normalizers"},
    {"{'type':'Precompiled','precompiled_charsmap':'!'}", GUFO_E_MALFORMED, "base64"},
    {"{'type':'Precompiled','precompiled_charsmap':'AAAA'}", GUFO_E_MALFORMED, "charsmap"},
};

static void wrong_steps_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        gufo_error error = {0};
        json_t *part = step_json(refused[i].json);

        check(normalizer_new(part, NULL, &default_allocator, &error) == NULL, "%s",
              refused[i].json);
        check(error.code == refused[i].status && strstr(error.message, refused[i].reason) != NULL,
              "%s: %d, %s", refused[i].json, (int)error.code, error.message);
        json_decref(part);
    }
}

static void deep_sequences_are_refused(void **state)
{
    gufo_error error = {0};
    json_t *part = step_json("{'type':'NFC'}");

    (void)state;
    for (int i = 0; i < 100; i++)
        part = json_pack("{s:s,s:[o]}", "type", "Sequence", "normalizers", part);
    assert_null(normalizer_new(part, NULL, &default_allocator, &error));
    assert_int_equal(error.code, GUFO_E_LIMIT);
    json_decref(part);
}

/* Four steps, each of which makes a text 60 times as long. */
static void growth_is_limited(void **state)
{
    gufo_error error = {0};
    char content[61], json[1024];
    work_text t = step_text_of("aaaaaaaaaaaaaaaa", false, &default_allocator);
    work_text spare = {.allocator = &default_allocator};
    json_t *part;
    normalizer *n;
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);

    (void)state;
    memset(content, 'a', 60);
    content[60] = '\0';
    (void)snprintf(json, sizeof json,
                   "{'type':'Sequence','normalizers':["
                   "{'type':'Replace','pattern':{'String':'a'},'content':'%s'},"
                   "{'type':'Replace','pattern':{'String':'a'},'content':'%s'},"
                   "{'type':'Replace','pattern':{'String':'a'},'content':'%s'},"
                   "{'type':'Replace','pattern':{'Regex':'a'},'content':'%s%s%s'}]}",
                   content, content, content, content, content, content);
    part = step_json(json);
    n = normalizer_new(part, NULL, &default_allocator, &error);
    check(n != NULL && s != NULL, "%s", error.message);
    assert_int_equal(normalizer_run(n, s, &t, &spare, &error), GUFO_E_LIMIT);
    work_text_free(&t);
    work_text_free(&spare);
    expression_scratch_free(s);
    normalizer_free(n);
    json_decref(part);
}

/* As a step is made with memory that fails at one call.  False: it was not reached. */
static bool run_out(const char *json, size_t fail_at)
{
    counter c;
    gufo_allocator allocator;
    gufo_error error = {0};
    json_t *part = step_json(json);
    normalizer *n;

    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = fail_at;
    n = normalizer_new(part, NULL, &allocator, &error);
    check(n != NULL || error.code == GUFO_E_MEMORY, "%s: %s", json, error.message);
    normalizer_free(n);
    check(c.in_use == 0, "%s: %zu bytes are left", json, c.in_use);
    json_decref(part);
    return c.denied > 0;
}

static void memory_may_run_out_at_any_call(void **state)
{
    static const char *const parts[] = {
        "{'type':'NFKC'}",
        "{'type':'Strip','strip_left':true,'strip_right':true}",
        "{'type':'Replace','pattern':{'String':'a'},'content':''}",
        "{'type':'Prepend','prepend':'_'}",
        "{'type':'ByteLevel'}",
        "{'type':'Precompiled','precompiled_charsmap':'CAAAAAAAAAAAAAAAAAA='}",
        BERT("true", "true", "true", "true"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (size_t fail_at = 1; run_out(parts[i], fail_at);)
            fail_at += 1 + fail_at / 8;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_what_the_library_makes_of_them),
        cmocka_unit_test(origins_are_those_of_the_library),
        cmocka_unit_test(wrong_steps_are_refused),
        cmocka_unit_test(deep_sequences_are_refused),
        cmocka_unit_test(memory_may_run_out_at_any_call),
        cmocka_unit_test(growth_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
