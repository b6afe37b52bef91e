/* Whole pipelines of a tokenizer.json: ids, spans and texts as Hugging Face's library gives them. */
#include <dirent.h>
#include <jansson.h>

#include "support/shared.h"

#include "gufo/print.h"
#include "text/pipeline_file.h"

/* ---- one text ------------------------------------------------------------------------------- */

/* What is expected of a text. */
typedef struct pipeline_case {
    gufo_str text;
    const json_t *ids, *plain, *offsets; /* lists; offsets may be NULL */
    gufo_str decoded;                    /* no data: not known */
} pipeline_case;

static gufo_ids encode(const gufo_vocab *v, gufo_str text, uint32_t flags, const char *label)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL | flags};
    gufo_error error = no_error();
    gufo_ids ids = {0};

    check_ok(gufo_tokenize(v, text, &options, &ids, &error), &error, "%s", label);
    return ids;
}

static void check_ids(const gufo_ids *ids, const json_t *expected, const char *label)
{
    for (size_t i = 0; i < ids->count && i < json_array_size(expected); i++)
        check_u64(ids->ids[i], json_integer_value(json_array_get(expected, i)), "%s: id %zu", label,
                  i);
    check_u64(ids->count, json_array_size(expected), "%s: ids", label);
}

/* The byte where a character begins; the text's length behind its last one. */
static uint64_t byte_of(gufo_str text, const json_t *character)
{
    json_int_t left = json_integer_value(character);
    size_t at = 0;

    for (; left > 0 && at < text.len; left--) {
        uint32_t code_point;

        at += gufo_utf8_decode((gufo_str){text.data + at, text.len - at}, &code_point);
    }
    return at;
}

static void check_spans(const gufo_ids *ids, const pipeline_case *expected, const char *label)
{
    for (size_t i = 0; i < ids->count; i++) {
        const json_t *offsets = json_array_get(expected->offsets, i);

        check_u64(ids->spans[i].begin, byte_of(expected->text, json_array_get(offsets, 0)),
                  "%s: begin of token %zu", label, i);
        check_u64(ids->spans[i].end, byte_of(expected->text, json_array_get(offsets, 1)),
                  "%s: end of token %zu", label, i);
    }
}

static void check_decoded(const gufo_vocab *v, const gufo_ids *ids, gufo_str expected,
                          const char *label)
{
    gufo_error error = no_error();
    gufo_text text = {0};

    check_ok(gufo_detokenize(v, ids->ids, ids->count, 0, &text, &error), &error, "%s", label);
    check_view(((gufo_str){text.data, text.len}), expected, "%s: decoded", label);
    gufo_text_free(&text);
}

/* Ids that are added without spans to a list that had some have empty ones. */
static void check_empty_spans(const gufo_vocab *v, gufo_str text, gufo_ids *ids, const char *label)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL |
                                                    GUFO_TOKENIZE_ADD_SPECIAL};
    gufo_error error = no_error();

    ids->count = 0;
    check_ok(gufo_tokenize(v, text, &options, ids, &error), &error, "%s", label);
    for (size_t i = 0; i < ids->count && ids->spans != NULL; i++)
        check(ids->spans[i].begin == 0 && ids->spans[i].end == 0, "%s: span %zu", label, i);
}

static void check_case(const gufo_vocab *v, const pipeline_case *expected, const char *label)
{
    gufo_ids ids = encode(v, expected->text, GUFO_TOKENIZE_ADD_SPECIAL, label);
    gufo_ids plain = encode(v, expected->text, 0, label);
    gufo_ids spans =
        encode(v, expected->text, GUFO_TOKENIZE_ADD_SPECIAL | GUFO_TOKENIZE_SPANS, label);

    check_ids(&ids, expected->ids, label);
    check_ids(&plain, expected->plain, label);
    check_ids(&spans, expected->ids, label);
    if (expected->offsets != NULL)
        check_spans(&spans, expected, label);
    if (expected->decoded.data != NULL)
        check_decoded(v, &ids, expected->decoded, label);
    check_empty_spans(v, expected->text, &spans, label);
    gufo_ids_free(&ids);
    gufo_ids_free(&plain);
    gufo_ids_free(&spans);
}

static gufo_vocab *open_text(gufo_str json, const char *label)
{
    gufo_error error = no_error();
    gufo_vocab *v = gufo_vocab_open_json(json, (gufo_str){"", 0}, NULL, &error);

    if (v == NULL)
        fail_msg("%s: %s", label, error.message);
    return v;
}

/* ---- pipelines in files ---------------------------------------------------------------------- */

static gufo_str text_of(const json_t *value)
{
    return (gufo_str){json_string_value(value), json_string_length(value)};
}

static void check_line(const gufo_vocab *v, const char *line, size_t len, const char *label)
{
    json_t *row = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
    pipeline_case expected = {text_of(json_object_get(row, "text")), json_object_get(row, "ids"),
                              json_object_get(row, "ids_plain"), json_object_get(row, "offsets"),
                              text_of(json_object_get(row, "decoded"))};

    assert_non_null(row);
    check_case(v, &expected, label);
    json_decref(row);
}

static void check_pipeline(const char *parent, const char *name)
{
    path_text path = path_join(parent, name);
    size_t json_len, len, number = 0;
    uint8_t *json = read_file(path_join(path.text, "tokenizer.json").text, &json_len);
    uint8_t *cases = read_file(path_join(path.text, "cases.jsonl").text, &len);
    gufo_vocab *v;
    char label[300];

    assert_true(json != NULL && cases != NULL);
    v = open_text((gufo_str){(char *)json, json_len}, name);
    for (size_t at = 0, end; at < len; at = end + 1) {
        const uint8_t *newline = memchr(cases + at, '\n', len - at);

        end = newline != NULL ? (size_t)(newline - cases) : len;
        snprintf(label, sizeof label, "%s, line %zu", name, ++number);
        check_line(v, (const char *)cases + at, end - at, label);
    }
    gufo_vocab_free(v);
    free(json);
    free(cases);
}

static void check_pipelines(path_text path, size_t least)
{
    DIR *list = opendir(path.text);
    const struct dirent *entry;
    size_t count = 0;

    check(list != NULL, "%s does not open", path.text);
    while ((entry = readdir(list)) != NULL) {
        if (strchr(entry->d_name, '.') != NULL)
            continue;
        check_pipeline(path.text, entry->d_name);
        count++;
    }
    closedir(list);
    check(count >= least, "%s: %zu pipelines", path.text, count);
}

/* Small vocabularies (pipelines/make.js). */
static void test_small(void **state)
{
    const char *source = getenv("GUFO_SOURCE");

    (void)state;
    check_pipelines(path_join(source != NULL ? source : ".", "tests/text/pipelines"), 4);
}

static void test_delivered(void **state)
{
    (void)state;
    check_pipelines(need_shared("data/tokenizer-json"), 75);
}

/* ---- pipelines of our own ------------------------------------------------------------------- */

typedef struct own_case {
    const char *json; /* of the file but for "version"; NULL: that of the row before */
    const char *text, *ids, *plain, *offsets, *decoded;
} own_case;

#define WORDS(more)                                                                         \
    "'model':{'type':'WordLevel','unk_token':'?','vocab':{'?':0,'a':1,'b':2,'ab':3,'_a':4," \
    "'\xc3\xa9':5,'-':6,'_b':7,'e\xcc\x81':8}}" more

static const own_case own_cases[] = {
    /* every part */
    {WORDS(",'normalizer':{'type':'Lowercase'},'pre_tokenizer':{'type':'WhitespaceSplit'},"
           "'post_processor':{'type':'BertProcessing','cls':['x',4],'sep':['y',6]},"
           "'decoder':{'type':'WordPiece','prefix':'##','cleanup':true}"),
     "A  ab c", "[4,1,3,0,6]", "[1,3,0]", "[[0,0],[0,1],[3,5],[6,7],[0,0]]", "_a a ab? -"},
    {NULL, "", "[4,6]", "[]", "[[0,0],[0,0]]", "_a -"},
    /* normalized text has the range of what it comes from */
    {WORDS(",'normalizer':{'type':'Sequence','normalizers':[{'type':'NFC'},{'type':'Prepend',"
           "'prepend':'_'},{'type':'Replace','pattern':{'String':' '},'content':'_'}]},"
           "'pre_tokenizer':{'type':'Split','pattern':{'Regex':'_?.'},'behavior':'Isolated',"
           "'invert':false},'decoder':{'type':'Replace','pattern':{'String':'_'},'content':' '}"),
     "a b", "[4,7]", "[4,7]", "[[0,1],[1,3]]", " a b"},
    {WORDS(",'normalizer':{'type':'NFC'}"), "e\xcc\x81", "[5]", "[5]", "[[0,1]]", "\xc3\xa9"},
    {WORDS(",'normalizer':{'type':'NFD'}"), "\xc3\xa9", "[8]", "[8]", "[[0,1]]", "e\xcc\x81"},
    /* pre-tokenizers */
    {WORDS(",'pre_tokenizer':{'type':'Metaspace','replacement':'_','prepend_scheme':'always'}"),
     "a b", "[4,7]", "[4,7]", "[[0,1],[1,3]]", "_a _b"},
    {WORDS(",'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'Punctuation'},"
           "{'type':'Digits','individual_digits':true},{'type':'CharDelimiterSplit',"
           "'delimiter':'x'}]}"),
     "a-b7xab", "[1,6,2,0,3]", "[1,6,2,0,3]", "[[0,1],[1,2],[2,3],[3,4],[5,7]]", "a - b ? ab"},
    /* added tokens */
    {WORDS(",'normalizer':{'type':'Lowercase'},'added_tokens':["
           "{'id':0,'content':'<S>','single_word':false,'lstrip':true,'rstrip':false,"
           "'normalized':false,'special':true},"
           "{'id':0,'content':'B','single_word':false,'lstrip':false,'rstrip':false,"
           "'normalized':true,'special':false}]"),
     "a <S>aB", "[1,9,1,10]", "[1,9,1,10]", "[[0,1],[1,5],[5,6],[6,7]]", "a <S> a b"},
    /* scores are read with two roundings: else "aa" comes first here */
    {"'model':{'type':'Unigram','unk_id':0,'vocab':[['?',0],['aaaa',-13.300446510314941],"
     "['aa',-10.654454231262207],['_',-2.1889710426330566]]}",
     "_aaaaaaaaaaaaaa", "[3,1,1,1,2]", "[3,1,1,1,2]", "[[0,1],[1,5],[5,9],[9,13],[13,15]]",
     "_ aaaa aaaa aaaa aa"},
    /* the type of ByteLevel counts, that of others does not */
    {WORDS(",'post_processor':{'type':'TemplateProcessing','add_prefix_space':true,"
           "'trim_offsets':false,'single':[{'SpecialToken':{'id':'x','type_id':0}},{'Sequence':"
           "{'id':'A','type_id':0}}],'pair':[],'special_tokens':{'x':{'id':'x','ids':[4],"
           "'tokens':['x']}}}"),
     "ab", "[4,3]", "[3]", "[[0,0],[0,2]]", "_a ab"},
    /* the text of what is unknown to Unigram is its own, of an added token the normalized one */
    {"'model':{'type':'Unigram','unk_id':0,'vocab':[['?',0],['a',-1]]},'post_processor':{"
     "'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true},'normalizer':{'type':"
     "'Replace','pattern':{'String':'z'},'content':' '},'added_tokens':[{'id':2,'content':'xz',"
     "'single_word':false,'lstrip':false,'rstrip':false,'normalized':true,'special':false}]",
     "a axz", "[1,0,1,2]", "[1,0,1,2]", "[[0,1],[2,2],[2,3],[3,4]]", NULL},
    /* a token takes all white space, and what else is found in there is nothing */
    {WORDS(
         ",'added_tokens':[{'id':0,'content':'  ','single_word':false,'lstrip':true,'rstrip':true,"
         "'normalized':false,'special':true}]"),
     "a      b", "[1,9,2]", "[1,9,2]", "[[0,1],[1,7],[7,8]]", "a    b"},
    /* bytes */
    {"'model':{'type':'BPE','vocab':{'\xc3\x83':0,'\xc2\xa9':1,'\xc4\xa0':2,'a':3,'\xc4\xa0"
     "a':4},'merges':['\xc4\xa0 a']},'pre_tokenizer':{'type':'ByteLevel','add_prefix_space':true,"
     "'trim_offsets':true},'post_processor':{'type':'ByteLevel','add_prefix_space':true,"
     "'trim_offsets':true},'decoder':{'type':'ByteLevel','add_prefix_space':true,"
     "'trim_offsets':true}",
     "a a\xc3\xa9", "[4,4,0,1]", "[4,4,0,1]", "[[0,1],[2,3],[3,4],[3,4]]", " a a\xc3\xa9"},
};

static void test_own(void **state)
{
    gufo_vocab *v = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(own_cases); i++) {
        const own_case *row = &own_cases[i];
        char text[2000], label[40];
        json_t *ids = pipeline_part(row->ids), *plain = pipeline_part(row->plain);
        json_t *offsets = pipeline_part(row->offsets);
        pipeline_case expected = {gufo_str_of(row->text), ids, plain, offsets,
                                  row->decoded != NULL ? gufo_str_of(row->decoded)
                                                       : (gufo_str){NULL, 0}};

        snprintf(label, sizeof label, "row %zu", i);
        if (row->json != NULL) {
            char *json;

            snprintf(text, sizeof text, "{'version':'1.0',%s}", row->json);
            json = pipeline_json(text);
            gufo_vocab_free(v);
            v = open_text(gufo_str_of(json), label);
            free(json);
        }
        check_case(v, &expected, label);
        json_decref(ids);
        json_decref(plain);
        json_decref(offsets);
    }
    gufo_vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_delivered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
