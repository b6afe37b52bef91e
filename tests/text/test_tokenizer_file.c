/* What a tokenizer.json says: parts in any order, any character, what is refused. */
#include "support/allocator.h"
#include "support/check.h"

#include "text/formats/tokenizer_file.h"
#include "text/pipeline_file.h"

#define FLAGS "'single_word':false,'lstrip':false,'rstrip':false,'normalized':true"

static tokenizer_file *read_json(const char *json)
{
    gufo_error error;
    tokenizer_file *f = pipeline_file_with(json, NULL, &error);

    check(f != NULL, "%s: byte %" PRIu64 ": %s", json, error.offset, error.message);
    return f;
}

static void check_entry(const tokenizer_file *f, gufo_str text, uint32_t id)
{
    const file_entry *entry = tokenizer_file_find(f, text);

    check(entry != NULL, "%.*s is a token", (int)text.len, text.data);
    check_u64(entry->id, id, "%.*s", (int)text.len, text.data);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void test_parts(void **state)
{
    tokenizer_file *f = read_json(
        "{'version':'1.0','added_tokens':[{'id':7,'content':'<s>','special':true," FLAGS
        ",'more':[{}]},{'content':'','id':1}],'normalizer':{'type':'NFC'},'decoder':null,"
        "'model':{'merges':['#version: 0.2','a b','ab c'],'vocab':{'a':0,'b':3,'\\u00e9':2,'':1},"
        "'unk_token':'a','dropout':null,'ignore_merges':true,'type':'BPE'}}");

    (void)state;
    check(f->has_vocab && !f->vocab_is_list && f->scores == NULL, "an object");
    check_u64(f->vocab_count, 4, "tokens");
    check_str(f->vocab[2].text, "\xc3\xa9", "a text");
    check_u64(f->vocab[1].id, 3, "id");
    check_entry(f, gufo_str_of("\xc3\xa9"), 2);
    check_entry(f, gufo_str_of(""), 1);
    check(tokenizer_file_find(f, gufo_str_of("c")) == NULL, "no token");

    check(f->has_merges, "merges");
    check_u64(f->merge_count, 2, "merges");
    check_str(f->merges[1].left, "ab", "a text");
    check_str(f->merges[1].right, "c", "a text");

    check_u64(f->added_count, 2, "added tokens");
    check_str(f->added[0].content, "<s>", "a text");
    check_u64(f->added[0].id, 7, "id");
    check(f->added[0].complete && f->added[0].special && f->added[0].normalized &&
              !f->added[0].lstrip,
          "flags");
    check(!f->added[1].complete && f->added[1].content.len == 0, "without flags");

    check(json_is_object(tokenizer_file_part(f, "normalizer")), "a part");
    check(tokenizer_file_part(f, "decoder") == NULL, "null");
    check(tokenizer_file_part(f, "added_tokens") == NULL, "a table, no value");
    check(json_is_true(tokenizer_file_flag(f, "ignore_merges")), "a flag");
    check(tokenizer_file_flag(f, "dropout") == NULL, "null");
    check(tokenizer_file_flag(f, "vocab") == NULL, "a table, no value");
    check(strcmp(json_string_value(tokenizer_file_flag(f, "type")), "BPE") == 0, "the last one");
    tokenizer_file_free(f);
}

static void test_scores(void **state)
{
    tokenizer_file *f =
        read_json("{'model':{'vocab':[['a',0],['b',-11.834823608398438],['a',1e2]],'unk_id':0}}");

    (void)state;
    check(f->vocab_is_list, "a list");
    check_u64(f->vocab_count, 3, "tokens");
    check(f->scores[1] == -11.834823608398438 && f->scores[2] == 100, "scores");
    check_entry(f, gufo_str_of("a"), 2);
    check_entry(f, gufo_str_of("b"), 1);
    check(!f->has_merges, "no merges");
    tokenizer_file_free(f);
}

static void test_pairs(void **state)
{
    tokenizer_file *f =
        read_json("{'model':{'merges':[['a b',' '],['#version','\\n'],['','']],'vocab':null}}");

    (void)state;
    check(!f->has_vocab, "no vocabulary");
    check_u64(f->merge_count, 3, "merges");
    check_str(f->merges[0].left, "a b", "a text");
    check_str(f->merges[0].right, " ", "a text");
    check_str(f->merges[1].right, "\n", "a text");
    tokenizer_file_free(f);
}

static void test_any_character(void **state)
{
    static const char nul[] = "\0";
    gufo_str text = {nul, 1};
    tokenizer_file *f = read_json(
        "{'added_tokens':[{'id':1,'content':'x\\u0000'}],'decoder':{'\\u0000':'\\u0000\\u0000'},"
        "'model':{'vocab':{'\\u0000':5,'\\ud83d\\ude00':6,'\\uffff':7},'merges':['\\u0000 a']}}");
    const json_t *inside = tokenizer_file_part(f, "decoder");

    (void)state;
    check_entry(f, text, 5);
    check_entry(f, gufo_str_of("\xf0\x9f\x98\x80"), 6);
    check_entry(f, gufo_str_of("\xef\xbf\xbf"), 7);
    check_u64(f->added[0].content.len, 2, "an added token");
    check_u64(f->merges[0].left.len, 1, "a merge");
    check_u64(json_string_length(json_object_getn(inside, nul, 1)), 2, "a value");
    tokenizer_file_free(f);
}

/* The last of several members counts, as in Hugging Face's library. */
static void test_repeated(void **state)
{
    tokenizer_file *f = read_json(
        "{'added_tokens':[{'id':1,'content':'x'}],'model':{'vocab':[['q',1]],'merges':['a b']},"
        "'added_tokens':[],'decoder':{'a':1,'a':2},"
        "'model':{'vocab':[['z',3]],'vocab':{'a':0,'b':1,'c':2,'b':9},'type':'A','type':'B'}}");

    (void)state;
    check(!f->vocab_is_list && f->scores == NULL, "an object");
    check_u64(f->vocab_count, 3, "tokens");
    check_u64(f->vocab[1].id, 9, "the last id");
    check_str(f->vocab[2].text, "c", "a text");
    check_entry(f, gufo_str_of("b"), 9);
    check_entry(f, gufo_str_of("c"), 2);
    check(!f->has_merges && f->merge_count == 0 && f->added_count == 0, "the last ones");
    check(json_integer_value(json_object_get(tokenizer_file_part(f, "decoder"), "a")) == 2, "2");
    check(strcmp(json_string_value(tokenizer_file_flag(f, "type")), "B") == 0, "B");
    tokenizer_file_free(f);

    f = read_json("{'model':{'vocab':{'a':0}},'model':null}");
    check(!f->has_vocab && tokenizer_file_part(f, "model") == NULL, "no model");
    check(tokenizer_file_find(f, gufo_str_of("a")) == NULL, "no token");
    tokenizer_file_free(f);
}

/* Small parts may be of any shape. */
static void test_values(void **state)
{
    tokenizer_file *f = read_json(
        "{'a':[1,-2,3.5,true,false,null,'x',{},[],99999999999999999999,-9223372036854775808]}");
    const json_t *list = tokenizer_file_part(f, "a");

    (void)state;
    check_u64(json_array_size(list), 11, "values");
    check(json_integer_value(json_array_get(list, 1)) == -2, "-2");
    check(json_real_value(json_array_get(list, 2)) == 3.5, "3.5");
    check(json_is_real(json_array_get(list, 9)), "beyond 64 bits");
    check(json_number_value(json_array_get(list, 10)) == -9223372036854775808.0, "the smallest");
    tokenizer_file_free(f);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void test_lists(void **state)
{
    gufo_error error = no_error();
    tokenizer_file *f = vocab_json_read(gufo_str_of("{\"a\":1,\"\\u0000\":0}"), NULL, &error);

    (void)state;
    check(f != NULL && f->vocab_count == 2, "vocab.json: %s", error.message);
    check_entry(f, gufo_str_of("a"), 1);
    check(tokenizer_file_part(f, "model") == NULL, "no JSON");
    tokenizer_file_free(f);

    f = vocab_txt_read(gufo_str_of("[UNK]\n\na b\r\n\"c"), NULL, &error);
    check(f != NULL && f->vocab_count == 3, "vocab.txt: %s", error.message);
    check_entry(f, gufo_str_of("a b"), 2);
    check_entry(f, gufo_str_of("\"c"), 3);
    tokenizer_file_free(f);

    f = merges_txt_read(gufo_str_of("#version: 0.2\na b\nx\n# b \r\na b c\n"), NULL, &error);
    check(f != NULL && f->merge_count == 2, "merges.txt: %s", error.message);
    check_str(f->merges[1].left, "#", "a text");
    check_str(f->merges[1].right, "b", "a text");
    tokenizer_file_free(f);
}

static void test_bad_lists(void **state)
{
    gufo_error error = no_error();

    (void)state;
    check(vocab_txt_read(gufo_str_of("a\nb\na\nc\n"), NULL, &error) == NULL, "twice");
    check(strstr(error.message, "line 3: token \"a\" occurs twice") != NULL, "%s", error.message);
    check(vocab_txt_read(gufo_str_of("x\n\na\na\nb\n"), NULL, &error) == NULL, "in a row");
    check(strstr(error.message, "line 4: token \"a\" occurs twice") != NULL, "%s", error.message);
    check(vocab_txt_read(gufo_str_of("a\n\xff\n"), NULL, &error) == NULL, "not UTF-8");
    check_u64(error.offset, 2, "not UTF-8");
    check(merges_txt_read(gufo_str_of("a b\n\xff b\n"), NULL, &error) == NULL, "not UTF-8");
    check_u64(error.offset, 4, "not UTF-8");
    check(vocab_json_read(gufo_str_of("{} x"), NULL, &error) == NULL, "more");
    check_u64(error.offset, 3, "more");
}

/* ---- failures ------------------------------------------------------------------------------- */

static void test_malformed(void **state)
{
    static const struct {
        const char *json;
        gufo_status status;
        uint64_t at;
    } rows[] = {
        {"", GUFO_E_TRUNCATED, 0},
        {"[]", GUFO_E_MALFORMED, 0},
        {"{} x", GUFO_E_MALFORMED, 3},
        {"{'model':[]}", GUFO_E_MALFORMED, 9},
        {"{'model':{'vocab':'x'}}", GUFO_E_MALFORMED, 18},
        {"{'model':{'vocab':{'a':'0'}}}", GUFO_E_MALFORMED, 23},
        {"{'model':{'vocab':{'a':-1}}}", GUFO_E_MALFORMED, 23},
        {"{'model':{'vocab':{'a':1.0}}}", GUFO_E_MALFORMED, 23},
        {"{'model':{'vocab':{'a':4294967296}}}", GUFO_E_RANGE, 23},
        {"{'model':{'vocab':{'\\ud800':1}}}", GUFO_E_MALFORMED, 20},
        {"{'model':{'vocab':[['a']]}}", GUFO_E_MALFORMED, 23},
        {"{'model':{'vocab':[['a',1,2]]}}", GUFO_E_MALFORMED, 25},
        {"{'model':{'vocab':[['a',1e999]]}}", GUFO_E_RANGE, 24},
        {"{'model':{'vocab':['a']}}", GUFO_E_MALFORMED, 19},
        {"{'model':{'merges':{}}}", GUFO_E_MALFORMED, 19},
        {"{'model':{'merges':['ab']}}", GUFO_E_MALFORMED, 20},
        {"{'model':{'merges':['a b c']}}", GUFO_E_MALFORMED, 20},
        {"{'model':{'merges':['a b',['a','b']]}}", GUFO_E_MALFORMED, 26},
        {"{'model':{'merges':[['a','b'],'a b']}}", GUFO_E_MALFORMED, 30},
        {"{'model':{'merges':[['a','b','c']]}}", GUFO_E_MALFORMED, 28},
        {"{'added_tokens':{}}", GUFO_E_MALFORMED, 16},
        {"{'added_tokens':[{'id':1}]}", GUFO_E_MALFORMED, 17},
        {"{'added_tokens':[{'content':'a'}]}", GUFO_E_MALFORMED, 17},
        {"{'added_tokens':[{'id':1,'content':'a','id':1}]}", GUFO_E_MALFORMED, 39},
        {"{'added_tokens':[{'id':1,'content':'a','special':1}]}", GUFO_E_MALFORMED, 49},
        {"{'x':nul}", GUFO_E_MALFORMED, 5},
    };
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        tokenizer_file *f = pipeline_file_with(rows[i].json, NULL, &error);

        check(f == NULL, "%s", rows[i].json);
        check(error.code == rows[i].status, "%s: %d: %s", rows[i].json, (int)error.code,
              error.message);
        check_u64(error.offset, rows[i].at, "%s: %s", rows[i].json, error.message);
    }
}

/* Two bytes of JSON would become a hundred of a tree. */
static void test_heavy(void **state)
{
    enum { PAIRS = 300000 };
    char *text = malloc(3 * PAIRS + 16), *at = text;
    gufo_error error = no_error();

    (void)state;
    assert_non_null(text);
    at += sprintf(at, "{\"x\":[{}");
    for (int i = 1; i < PAIRS; i++)
        at += sprintf(at, ",{}");
    at += sprintf(at, "]}");
    check(tokenizer_file_read((gufo_str){text, (size_t)(at - text)}, NULL, &error) == NULL,
          "empty objects");
    check_status(error.code, GUFO_E_LIMIT, &error, "empty objects");
    free(text);
}

static void test_memory(void **state)
{
    gufo_allocator allocator;
    gufo_error error;
    counter c;
    size_t read = 0;

    (void)state;
    for (size_t at = 1;; at++) {
        tokenizer_file *f;

        counter_init(&c);
        c.fail_at = at;
        allocator = counter_allocator(&c);
        f = pipeline_file_with(
            "{'added_tokens':[{'id':7,'content':'c'}],'model':{'vocab':[['a',1],['b',2]],"
            "'merges':['a b']}}",
            &allocator, &error);
        read += f != NULL;
        check(f != NULL || error.code == GUFO_E_MEMORY, "%s", error.message);
        tokenizer_file_free(f);
        check_u64(c.in_use, 0, "left");
        if (c.calls < at)
            break;
    }
    check(read > 0 && c.calls > 6, "%zu calls", c.calls);
}

/* ---- tokens for checks ---------------------------------------------------------------------- */

typedef struct tokens_seen {
    char text[64]; /* "0=a 1=b " */
    size_t count, wanted;
} tokens_seen;

static bool see_token(void *context, uint64_t id, gufo_str text)
{
    tokens_seen *seen = context;
    size_t len = strlen(seen->text);

    snprintf(seen->text + len, sizeof seen->text - len, "%d=%.*s ", (int)id, (int)text.len,
             text.data);
    return ++seen->count < seen->wanted;
}

static gufo_status see_tokens(const char *json, size_t wanted, tokens_seen *seen, gufo_error *error)
{
    char *text = pipeline_json(json);
    gufo_status status;

    *seen = (tokens_seen){.wanted = wanted};
    status = gufo_tokenizer_json_tokens(gufo_str_of(text), NULL, see_token, seen, error);
    free(text);
    return status;
}

static void test_tokens(void **state)
{
    static const char json[] = "{'added_tokens':[{'id':7,'content':'c'}],"
                               "'model':{'vocab':{'a':0,'\\u0062':1}}}";
    gufo_error error = no_error();
    gufo_status status;
    tokens_seen seen;

    (void)state;
    check_ok(see_tokens(json, 9, &seen, &error), &error, "all");
    assert_string_equal(seen.text, "0=a 1=b 7=c ");
    check_ok(see_tokens(json, 2, &seen, &error), &error, "two");
    assert_string_equal(seen.text, "0=a 1=b ");
    check_u64(see_tokens("{'model':{}}", 9, &seen, &error), GUFO_E_NOT_FOUND, "no vocabulary");
    status = see_tokens("{'model':{'vocab':{'a':-2}}}", 9, &seen, &error);
    check_u64(status, error.code, "code");
    check(status != GUFO_OK && status != GUFO_E_NOT_FOUND, "%s", error.message);
    check_u64(error.offset, 23, "%s", error.message);
    /* The reason is optional. */
    check_u64(see_tokens("{'model':{'vocab':{'a':-2}}}", 9, &seen, NULL), status, "code");
    check_u64(see_tokens("{'model':{}}", 9, &seen, NULL), GUFO_E_NOT_FOUND, "no vocabulary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_scores),
        cmocka_unit_test(test_pairs),     cmocka_unit_test(test_any_character),
        cmocka_unit_test(test_repeated),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_lists),     cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_heavy),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
