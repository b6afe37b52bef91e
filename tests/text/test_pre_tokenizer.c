/* Pre-tokenizers of a tokenizer.json: the pieces of texts. */
#include "step_cases.h"

#include "text/pipeline/steps/pre_tokenizer.h"

/* Runs steps on a text; writes the pieces with "|" behind each. */
static void cut(const char *json, const char *text, bool keeps_origins, char *out)
{
    gufo_error error = {0};
    json_t *part = step_json(json);
    pre_tokenizer *p = pre_tokenizer_new(part, NULL, &default_allocator, &error);
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);
    text_pieces pieces = {.text = step_text_of(text, keeps_origins, &default_allocator)};
    text_pieces spare = {.text = {.allocator = &default_allocator, .keeps_origins = keeps_origins}};

    check(p != NULL && s != NULL, "%s: %s", json, error.message);
    check(text_pieces_add(&pieces, 0, pieces.text.len), "no memory");
    check(pre_tokenizer_run(p, s, &pieces, &spare, &error) == GUFO_OK, "%s: %s", json,
          error.message);
    for (uint64_t i = 0; i < pieces.count; i++)
        out += sprintf(out, "%.*s|", (int)(pieces.list[i].end - pieces.list[i].begin),
                       pieces.text.data + pieces.list[i].begin);
    *out = '\0';
    text_pieces_free(&pieces);
    text_pieces_free(&spare);
    expression_scratch_free(s);
    pre_tokenizer_free(p);
    json_decref(part);
}

#define SPLIT(behavior, invert) \
    "{'type':'Split','pattern':{'String':'-'},'behavior':'" behavior "','invert':" invert "}"
#define REGEX(pattern) \
    "{'type':'Split','pattern':{'Regex':'" pattern "'},'behavior':'Isolated','invert':false}"
#define METASPACE(rest) "{'type':'Metaspace','replacement':'_'" rest "}"
#define BYTES(prefix, regex) \
    "{'type':'ByteLevel','add_prefix_space':" prefix ",'trim_offsets':true,'use_regex':" regex "}"
#define SEQUENCE(a, b) "{'type':'Sequence','pretokenizers':[" a "," b "]}"
#define G "\xc4\xa0"

/* Seen in the library. */
static const struct {
    const char *json, *text, *expected;
} cases[] = {
    {"null", "a b", "a b|"},
    {SPLIT("Removed", "false"), "-the-final--count-", "the|final|count|"},
    {SPLIT("Isolated", "false"), "-the-final--count-", "-|the|-|final|-|-|count|-|"},
    {SPLIT("MergedWithPrevious", "false"), "-the-final--count-", "-|the-|final-|-|count-|"},
    {SPLIT("MergedWithNext", "false"), "-the-final--count-", "-the|-final|-|-count|-|"},
    {SPLIT("Contiguous", "false"), "-the-final--count-", "-|the|-|final|--|count|-|"},
    {SPLIT("Removed", "true"), "a--b", "-|-|"},
    {SPLIT("MergedWithPrevious", "true"), "a--b", "a|-|-b|"},
    {SPLIT("MergedWithNext", "true"), "a--b", "a-|-|b|"},
    {REGEX(""), "ab", "a|b|"},
    {REGEX("\\\\p{N}{1,3}"), "a1234", "a|123|4|"},
    {"{'type':'Whitespace'}", "a_1 b!?\xe2\x80\x8d", "a_1|b|!?|\xe2\x80\x8d|"},
    {"{'type':'WhitespaceSplit'}",
     " a\xc2\xa0"
     "b! ",
     "a|b!|"},
    {"{'type':'Punctuation'}", "a,.$b\xe2\x82\xac", "a|,|.|$|b\xe2\x82\xac|"},
    {"{'type':'Punctuation','behavior':'Contiguous'}", "a,.b", "a|,.|b|"},
    {"{'type':'Digits','individual_digits':true}", "a12b\xc2\xbd", "a|1|2|b|\xc2\xbd|"},
    {"{'type':'Digits','individual_digits':false}", "a12b", "a|12|b|"},
    {"{'type':'BertPreTokenizer'}",
     "it's\xc2\xa0"
     "a..",
     "it|'|s|a|.|.|"},
    {"{'type':'CharDelimiterSplit','delimiter':'\xc3\xa9'}",
     "a\xc3\xa9\xc3\xa9"
     "b",
     "a|b|"},
    {"{'type':'UnicodeScripts'}", "  ab \xd0\xb0.1", "ab |\xd0\xb0|.1|"},
    {"{'type':'UnicodeScripts'}",
     "\xe3\x81\x82\xe4\xb8\x80\xe3\x83\xbc"
     "a",
     "\xe3\x81\x82\xe4\xb8\x80\xe3\x83\xbc|a|"},
    {"{'type':'FixedLength','length':2}",
     "a\xc3\xa9"
     "b",
     "a\xc3\xa9|b|"},
    {"{'type':'FixedLength'}", "abcdef", "abcde|f|"},
    {BYTES("false", "true"), "it's  a \xc3\xa9!", "it|'s|" G "|" G "a|" G "\xc3\x83\xc2\xa9|!|"},
    {BYTES("true", "false"), "a b", G "a" G "b|"},
    {BYTES("true", "false"), " a", G "a|"},
    {BYTES("true", "false"), "\n", G "\xc4\x8a|"},
    {METASPACE(""), "a  b_c", "_a|_|_b|_c|"},
    {METASPACE(",'split':false"), "a b", "_a_b|"},
    {METASPACE(",'prepend_scheme':'never','add_prefix_space':false"), "a b", "a|_b|"},
    {METASPACE(",'prepend_scheme':'first'"), "a b", "_a|_b|"},
    {METASPACE(",'prepend_scheme':'first'"), " a", "_a|"},
    {SEQUENCE("{'type':'WhitespaceSplit'}", METASPACE(",'prepend_scheme':'first'")), "a b",
     "_a|b|"},
    {SEQUENCE("{'type':'WhitespaceSplit'}", METASPACE(",'prepend_scheme':'first'")), " a b",
     "a|b|"},
    {SEQUENCE("{'type':'WhitespaceSplit'}", METASPACE("")), "a b", "_a|_b|"},
    {SEQUENCE("{'type':'Digits','individual_digits':true}", BYTES("false", "true")), "a 1",
     "a|" G "|1|"},
};

static void pieces_are_those_of_the_library(void **state)
{
    char found[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int keeps_origins = 0; keeps_origins < 2; keeps_origins++) {
            cut(cases[i].json, cases[i].text, keeps_origins != 0, found);
            check(strcmp(found, cases[i].expected) == 0, "%s of %s: %s, not %s", cases[i].json,
                  cases[i].text, found, cases[i].expected);
        }
}

static const struct {
    const char *json;
    gufo_status status;
    const char *reason;
} refused[] = {
    {"{'type':'Splat'}", GUFO_E_TYPE, "Splat"},
    {"{'type':'Split','pattern':{'String':'-'},'behavior':'Removed'}", GUFO_E_MALFORMED, "invert"},
    {SPLIT("Merged", "false"), GUFO_E_MALFORMED, "Merged"},
    {REGEX("(?~a)"), GUFO_E_TYPE, "group"},
    {"{'type':'ByteLevel','add_prefix_space':true}", GUFO_E_MALFORMED, "trim_offsets"},
    {"{'type':'Metaspace'}", GUFO_E_MALFORMED, "replacement"},
    {"{'type':'Metaspace','replacement':'ab'}", GUFO_E_MALFORMED, "replacement"},
    {METASPACE(",'prepend_scheme':'last'"), GUFO_E_MALFORMED, "last"},
    {METASPACE(",'add_prefix_space':false"), GUFO_E_MALFORMED, "add_prefix_space"},
    {"{'type':'Digits'}", GUFO_E_MALFORMED, "individual_digits"},
    {"{'type':'CharDelimiterSplit','delimiter':''}", GUFO_E_MALFORMED, "delimiter"},
    {"{'type':'FixedLength','length':0}", GUFO_E_MALFORMED, "length"},
    {"{'type':'Sequence','pretokenizers':{}}", GUFO_E_MALFORMED, "pretokenizers"},
};

static void wrong_steps_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        gufo_error error = {0};
        json_t *part = step_json(refused[i].json);

        check(pre_tokenizer_new(part, NULL, &default_allocator, &error) == NULL, "%s",
              refused[i].json);
        check(error.code == refused[i].status && strstr(error.message, refused[i].reason) != NULL,
              "%s: %d, %s", refused[i].json, (int)error.code, error.message);
        json_decref(part);
    }
}

static void origins_are_needed_behind_a_cut(void **state)
{
    static const struct {
        const char *json;
        bool needed;
    } parts[] = {
        {METASPACE(",'prepend_scheme':'first'"), false},
        {SEQUENCE("{'type':'WhitespaceSplit'}", METASPACE("")), false},
        {SEQUENCE("{'type':'WhitespaceSplit'}", METASPACE(",'prepend_scheme':'first'")), true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        gufo_error error = {0};
        json_t *part = step_json(parts[i].json);
        pre_tokenizer *p = pre_tokenizer_new(part, NULL, &default_allocator, &error);

        check(p != NULL, "%s", error.message);
        assert_int_equal(pre_tokenizer_needs_origins(p), parts[i].needed);
        pre_tokenizer_free(p);
        json_decref(part);
    }
}

/* Cuts a text with memory that fails at one call, or at all from there on.  False: it was not reached. */
static bool run_out(const char *json, const char *text, size_t fail_at)
{
    counter c;
    gufo_allocator allocator;
    gufo_error error = {0};
    json_t *part = step_json(json);
    pre_tokenizer *p;
    expression_scratch *s;
    gufo_status status = GUFO_E_MEMORY;

    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = fail_at;
    p = pre_tokenizer_new(part, NULL, &allocator, &error);
    s = p != NULL ? expression_scratch_new(&allocator, &error) : NULL;
    if (s != NULL) {
        text_pieces pieces = {.text = step_text_of(text, true, &default_allocator)};
        text_pieces spare = {.text = {.allocator = &allocator, .keeps_origins = true}};

        check(text_pieces_add(&pieces, 0, pieces.text.len), "no memory");
        pieces.text.allocator = spare.text.allocator = &default_allocator;
        status = pre_tokenizer_run(p, s, &pieces, &spare, &error);
        text_pieces_free(&pieces);
        text_pieces_free(&spare);
    }
    check(c.denied == 0 || status == GUFO_E_MEMORY || status == GUFO_OK, "%s: %d", json,
          (int)status);
    check(status == GUFO_OK || error.code == GUFO_E_MEMORY, "%s: %s", json, error.message);
    expression_scratch_free(s);
    pre_tokenizer_free(p);
    check(c.in_use == 0, "%s: %zu bytes are left", json, c.in_use);
    json_decref(part);
    return c.denied > 0;
}

static void memory_may_run_out_at_any_call(void **state)
{
    static const char *const parts[] = {SPLIT("Removed", "false"),
                                        REGEX("(?i:[k\xc3\x9f])|[^\\\\s]|[a-z&&[^a]]|\\\\p{Greek}"),
                                        "{'type':'BertPreTokenizer'}",
                                        "{'type':'Whitespace'}",
                                        "{'type':'UnicodeScripts'}",
                                        BYTES("true", "false"),
                                        METASPACE(""),
                                        "{'type':'FixedLength'}",
                                        "{'type':'CharDelimiterSplit','delimiter':'a'}"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (size_t fail_at = 1; run_out(parts[i], "a \xc3\xa9-b", fail_at);)
            fail_at += 1 + fail_at / 8;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_those_of_the_library),
        cmocka_unit_test(wrong_steps_are_refused),
        cmocka_unit_test(memory_may_run_out_at_any_call),
        cmocka_unit_test(origins_are_needed_behind_a_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
