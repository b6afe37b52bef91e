/* Decoders: texts of tokens become one text. */
#include "support/allocator.h"

#include "text/pipeline/steps/decoder.h"
#include "text/pipeline_file.h"

enum { MOST_TOKENS = 16 };

/* Runs a decoder; `tokens` has one token for each `|`, and one more; NULL: none. */
static gufo_status run(const char *part, const char *tokens, const gufo_allocator *allocator,
                       gufo_text *out, gufo_error *error)
{
    json_t *json = part != NULL ? pipeline_part(part) : NULL;
    decoder *d = decoder_new(json, NULL, allocator, error);
    expression_scratch *s = d != NULL ? expression_scratch_new(allocator, error) : NULL;
    gufo_str list[MOST_TOKENS];
    size_t count = 0;
    gufo_status status;

    for (const char *at = tokens, *end; at != NULL; at = end != NULL ? end + 1 : NULL) {
        end = strchr(at, '|');
        list[count++] = (gufo_str){at, end != NULL ? (size_t)(end - at) : strlen(at)};
    }
    out->allocator = allocator;
    status = s != NULL ? decoder_run(d, s, list, count, out, error) : error->code;
    expression_scratch_free(s);
    decoder_free(d);
    json_decref(json);
    return status;
}

typedef struct decoder_case {
    const char *part; /* NULL: no decoder */
    const char *tokens, *text;
} decoder_case;

#define SEQUENCE(steps) "{'type':'Sequence','decoders':[" steps "]}"
#define BYTE_LEVEL "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true}"
#define METASPACE(scheme) "{'type':'Metaspace','replacement':'_','prepend_scheme':'" scheme "'}"
#define WORDPIECE(clean) "{'type':'WordPiece','prefix':'##','cleanup':" clean "}"
#define STRIP(start, stop) "{'type':'Strip','content':' ','start':" start ",'stop':" stop "}"
#define CTC(clean) \
    "{'type':'CTC','pad_token':'<pad>','word_delimiter_token':'/','cleanup':" clean "}"
#define REPLACE(pattern, content) \
    "{'type':'Replace','pattern':{" pattern "},'content':'" content "'}"
#define BPE(suffix) "{'type':'BPEDecoder','suffix':'" suffix "'}"
#define FUSE "{'type':'Fuse'}"
#define FALLBACK "{'type':'ByteFallback'}"
#define BAD "\xef\xbf\xbd"

static const decoder_case cases[] = {
    {NULL, "a|b||c", "a b  c"},
    {NULL, NULL, ""},
    {SEQUENCE(""), "a|b", "ab"},
    /* ByteLevel */
    {BYTE_LEVEL,
     "\xc4\xa0"
     "a|\xc3\x83|\xc2\xa9|!",
     " a\xc3\xa9!"},
    {BYTE_LEVEL, "\xc3\xb1|a", BAD "a"},                 /* an added ñ is byte F1 */
    {BYTE_LEVEL, "a b|\xe4\xb8\xad", "a b\xe4\xb8\xad"}, /* not of the alphabet: as it is */
    {BYTE_LEVEL, "a b\xc4\xa0", "a b\xc4\xa0"},
    {BYTE_LEVEL, "\xc3\xa2|\xc4\xa4|a", BAD "a"}, /* E2 82: one broken sequence */
    {BYTE_LEVEL, "\xc3\xb0|\xc2\xbf|\xc3\xad|\xc3\xa0|\xc4\xa2", BAD BAD BAD BAD},
    {BYTE_LEVEL, NULL, ""},
    /* Metaspace */
    {METASPACE("always"), "__a_b|_c__|d", "ab c  d"},
    {METASPACE("first"), "_a|_b", "a b"},
    {METASPACE("never"), "_a|_b", " a b"},
    {"{'type':'Metaspace','replacement':'\xe2\x96\x81'}",
     "\xe2\x96\x81"
     "a|\xe2\x96\x81_",
     "a _"},
    {"{'type':'Metaspace','replacement':'_','add_prefix_space':true}", "_a", "a"},
    {"{'type':'Metaspace','replacement':'_','add_prefix_space':false,'prepend_scheme':'never'}",
     "_a", " a"},
    /* WordPiece */
    {WORDPIECE("false"), "##a|##b|c|####d|.", "##ab c##d ."},
    {WORDPIECE("true"), "a|.|?|b|!|,|it|'s|'m|'ve|'re|n't", "a.? b!, it's'm've'ren't"},
    {WORDPIECE("true"), "a|' b|do not|' |do| not", "a'b don't' do  not"},
    {"{'type':'WordPiece','prefix':'','cleanup':true}", "a|b|.", "ab."},
    /* ByteFallback */
    {FALLBACK, "<0xC3>|<0xa9>|x|<0xE2>|<0x82>|y|<0x41>", "\xc3\xa9x" BAD BAD "yA"},
    {FALLBACK, "<0xC3>|<0xA9>|<0xE2>", BAD BAD BAD},
    {FALLBACK, "<0x4>|<0x414>|<0xGG>|<0x+9>|<0x4+>", "<0x4><0x414><0xGG>\t<0x4+>"},
    /* BPEDecoder */
    {BPE("</w>"), "he|llo</w>|a</w>b</w>", "hello ab"},
    {BPE("</w>"), NULL, ""},
    {BPE(""), "ab|c", " a b c"},
    /* CTC */
    {CTC("false"), "<pad>|h|h|<pad>|h|/|e<pad>|.", "hh/e."},
    {CTC("true"), "h|/|/|e| .|/a/", "h e. a "},
    /* Replace */
    {REPLACE("'String':'_'", "-"), "a__b|_", "a--b-"},
    {REPLACE("'Regex':'_+'", "$0"), "a__b|_", "a$0b$0"},
    {REPLACE("'String':''", "-"), "ab||c", "-a-b--c-"},
    /* Strip */
    {STRIP("1", "0"), "  a  |b", " a  b"},
    {STRIP("0", "2"), "  a   |b ", "  a b"},
    {STRIP("1", "1"), " | a |", "a"}, /* shorter than what may be stripped */
    {STRIP("9", "9"), "  |a", "a"},
    {"{'type':'Strip','content':'\xc3\xa9','start':1,'stop':1}",
     "\xc3\xa9\xc3\xa9"
     "a\xc3\xa9",
     "\xc3\xa9"
     "a"},
    /* Fuse: what follows sees one token */
    {SEQUENCE(FUSE "," STRIP("1", "0")), " a| b", "a b"},
    {SEQUENCE(STRIP("1", "0") "," FUSE), " a| b", "ab"},
    {SEQUENCE(REPLACE("'String':'_'", " ") "," FALLBACK "," FUSE "," STRIP("1", "0")),
     "_|_a|<0xC3>|<0xA9>", " a\xc3\xa9"},
    {SEQUENCE(SEQUENCE(FALLBACK) "," METASPACE("always")), "<0x5F>|_b", " b"},
    {SEQUENCE(FUSE "," WORDPIECE("false")), NULL, ""},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gufo_error error = no_error();
        gufo_text out = {0};

        check_ok(run(cases[i].part, cases[i].tokens, NULL, &out, &error), &error, "row %zu: %s", i,
                 cases[i].part);
        check_str(((gufo_str){out.data, out.len}), cases[i].text, "row %zu: %s", i, cases[i].part);
        gufo_text_free(&out);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *part;
        gufo_status status;
        const char *words;
    } rows[] = {
        {"{'type':'Other'}", GUFO_E_TYPE, "decoder, step \"Other\": no decoder has this type"},
        {"{}", GUFO_E_MALFORMED, "a step has no type"},
        {"{'type':1}", GUFO_E_MALFORMED, "not a text"},
        {"[]", GUFO_E_MALFORMED, "not an object"},
        {"{'type':'Sequence'}", GUFO_E_MALFORMED, "\"decoders\" is missing"},
        {"{'type':'Sequence','decoders':{}}", GUFO_E_MALFORMED, "\"decoders\" is not a list"},
        {"{'type':'ByteLevel','add_prefix_space':true}", GUFO_E_MALFORMED,
         "\"trim_offsets\" is missing"},
        {"{'type':'Metaspace'}", GUFO_E_MALFORMED,
         "decoder, step \"Metaspace\": \"replacement\" is missing"},
        {"{'type':'Metaspace','replacement':'ab'}", GUFO_E_MALFORMED, "not one character"},
        {"{'type':'Metaspace','replacement':''}", GUFO_E_MALFORMED, "not one character"},
        {METASPACE("last"), GUFO_E_MALFORMED, "called \"last\""},
        {"{'type':'Metaspace','replacement':'_','add_prefix_space':false}", GUFO_E_MALFORMED,
         "\"add_prefix_space\""},
        {"{'type':'WordPiece','prefix':''}", GUFO_E_MALFORMED, "\"cleanup\" is missing"},
        {"{'type':'WordPiece','prefix':1,'cleanup':true}", GUFO_E_MALFORMED,
         "\"prefix\" is not a text"},
        {"{'type':'BPEDecoder'}", GUFO_E_MALFORMED, "\"suffix\" is missing"},
        {"{'type':'CTC','pad_token':'a','word_delimiter_token':'b'}", GUFO_E_MALFORMED,
         "\"cleanup\" is missing"},
        {"{'type':'Strip','content':' ','start':-1,'stop':0}", GUFO_E_MALFORMED, "\"start\""},
        {"{'type':'Strip','content':'  ','start':1,'stop':0}", GUFO_E_MALFORMED, "\"content\""},
        {"{'type':'Replace','pattern':'a','content':''}", GUFO_E_MALFORMED, "\"pattern\""},
        {"{'type':'Replace','pattern':{},'content':''}", GUFO_E_MALFORMED, "\"String\""},
        {REPLACE("'Regex':'('", ""), GUFO_E_MALFORMED, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        gufo_text out = {0};

        check_u64(run(rows[i].part, "a", NULL, &out, &error), rows[i].status, "%s: %s",
                  rows[i].part, error.message);
        check_error_shape(&error, rows[i].status, rows[i].part);
        check(strstr(error.message, rows[i].words) != NULL, "%s: %s", rows[i].part, error.message);
        gufo_text_free(&out);
    }
}

/* Whichever request for memory fails, all is given back. */
static void test_memory(void **state)
{
    static const char *const parts[] = {
        SEQUENCE(REPLACE("'Regex':'_+'", " ") "," FALLBACK "," STRIP("1", "1") "," FUSE
                                                                               "," BYTE_LEVEL),
        SEQUENCE(METASPACE("always") "," WORDPIECE("true") "," BPE("</w>") "," CTC("true")),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        bool done = false;

        for (size_t at = 1; !done; at++) {
            gufo_error error = no_error();
            gufo_text out = {0};
            counter c;

            counter_init(&c);
            c.fail_at = at;
            gufo_allocator allocator = counter_allocator(&c);
            done = run(parts[i], "_a .|<0xC3>|<0xA9>|b n't", &allocator, &out, &error) == GUFO_OK;
            if (!done)
                check_u64(error.code, GUFO_E_MEMORY, "%s", error.message);
            gufo_text_free(&out);
            check_u64(c.in_use, 0, "bytes left after request %zu", at);
            assert_true(at < 500);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
