/* The models of a tokenizer.json: ids of pieces, and what they stand for. */
#include "support/allocator.h"

#include "base/error.h"
#include "text/pipeline/models/token_model.h"
#include "text/pipeline_file.h"

/* ---- encoding ------------------------------------------------------------------------------- */

/* "3:0-2 4:2-3"; the caller frees it. */
static char *spell(const piece_tokens *tokens)
{
    char *out = calloc(1, 40 * (size_t)tokens->count + 1), *at = out;

    assert_non_null(out);
    for (uint64_t i = 0; i < tokens->count; i++)
        at += sprintf(at, "%s%" PRIu32 ":%" PRIu32 "-%" PRIu32, i > 0 ? " " : "",
                      tokens->list[i].id, tokens->list[i].begin, tokens->list[i].end);
    return out;
}

/* Both ways, and each twice, with one scratch: they give the same. */
static gufo_status encode(const token_model *m, const char *piece, char **out, gufo_error *error)
{
    model_scratch *s = model_scratch_new(m, NULL, error);
    piece_tokens tokens = {0};
    gufo_ids ids = {0};
    gufo_status status = GUFO_OK;

    assert_non_null(s);
    for (unsigned pass = 0; pass < 2 && status == GUFO_OK; pass++) {
        tokens.count = ids.count = 0;
        status = token_model_encode(m, s, gufo_str_of(piece), &tokens, error);
        check_u64(token_model_ids(m, s, gufo_str_of(piece), &ids, error), status, "%s", piece);
    }
    check_u64(ids.count, status == GUFO_OK ? tokens.count : ids.count, "%s: ids", piece);
    for (size_t i = 0; status == GUFO_OK && i < ids.count; i++)
        check_u64(ids.ids[i], tokens.list[i].id, "%s: token %zu", piece, i);
    *out = spell(&tokens);
    piece_tokens_free(&tokens);
    gufo_ids_free(&ids);
    model_scratch_free(s);
    return status;
}

typedef struct model_case {
    const char *model; /* NULL: that of the row before */
    const char *piece, *tokens;
} model_case;

static token_model *make(const char *model)
{
    char *text = calloc(1, strlen(model) + 20);
    gufo_error error = no_error();
    tokenizer_file *f;
    token_model *m;

    sprintf(text, "{'model':%s}", model);
    f = pipeline_file(text);
    m = token_model_new(f, 2, NULL, &error);
    if (m == NULL)
        fail_msg("%s: %s", model, error.message);
    tokenizer_file_free(f);
    free(text);
    return m;
}

static void check_cases(const model_case *rows, size_t count)
{
    token_model *m = NULL;

    for (size_t i = 0; i < count; i++) {
        gufo_error error = no_error();
        char *tokens;

        if (rows[i].model != NULL) {
            token_model_free(m);
            m = make(rows[i].model);
        }
        check_ok(encode(m, rows[i].piece, &tokens, &error), &error, "row %zu: %s", i,
                 rows[i].piece);
        check_str(gufo_str_of(tokens), rows[i].tokens, "row %zu: %s", i, rows[i].piece);
        free(tokens);
    }
    token_model_free(m);
}

#define VOCAB "'vocab':{'a':0,'b':1,'c':2,'ab':3,'abc':4,'bc':5,'<unk>':6"

static void test_bpe(void **state)
{
    static const model_case rows[] = {
        {"{'type':'BPE'," VOCAB "},'merges':[['b','c'],['a','b'],['ab','c']]}", "abc",
         "0:0-1 5:1-3"},
        {NULL, "abab", "3:0-2 3:2-4"},
        {NULL, "xaybz", "3:0-2"}, /* unknown characters stand for nothing */
        {"{'type':'BPE'," VOCAB "},'merges':[['a','b'],['b','c'],['ab','c']]}", "abc", "4:0-3"},
        /* of equal pairs the last one */
        {"{'type':'BPE'," VOCAB "},'merges':[['a','b'],['b','c'],['a','b']]}", "abc",
         "0:0-1 5:1-3"},
        {"{'type':'BPE'," VOCAB "},'merges':[['a','b']],'unk_token':'<unk>'}", "xyab\xc3\xa9z",
         "6:0-1 6:1-2 3:2-4 6:4-6 6:6-7"},
        {"{'type':'BPE'," VOCAB "},'merges':[['a','b']],'unk_token':'<unk>','fuse_unk':true}",
         "xyab\xc3\xa9z", "6:0-2 3:2-4 6:4-7"},
        /* ids need not be in order */
        {"{'merges':[['a','b']],'vocab':{'b':70,'a':9,'ab':4000000000}}", "aba",
         "4000000000:0-2 9:2-3"},
        /* a piece that is a token */
        {"{'type':'BPE'," VOCAB "},'merges':[],'ignore_merges':true}", "abc", "4:0-3"},
        {NULL, "abca", "0:0-1 1:1-2 2:2-3 0:3-4"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_bpe_bytes(void **state)
{
    static const model_case rows[] = {
        {"{'type':'BPE','vocab':{'a':0,'<0xC3>':1,'<0xA9>':2,'<unk>':3},'merges':[],"
         "'byte_fallback':true,'unk_token':'<unk>'}",
         "\xc3\xa9\xc3\xa8", "1:0-1 2:1-2 3:2-4"},
        /* bytes overtake an unknown token */
        {NULL,
         "z\xc3\xa9"
         "a",
         "1:0-1 2:1-2 3:2-3 0:3-4"},
        {"{'type':'BPE','vocab':{'a':0,'<0xC3>':1,'<0xA9>':2,'<unk>':3,'<0xC3><0xA9>':4,"
         "'<unk>a':5},'merges':[['<0xC3>','<0xA9>'],['<unk>','a']],'byte_fallback':true,"
         "'unk_token':'<unk>','fuse_unk':true}",
         "zy\xc3\xa9"
         "a",
         "4:0-2 5:2-5"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_bpe_affixes(void **state)
{
    static const model_case rows[] = {
        {"{'type':'BPE','vocab':{'a':0,'##b':1,'##c':2,'##bc':3,'ab':4,'abc':5,'##a':6},"
         "'merges':[['##b','##c'],['a','##bc']],'continuing_subword_prefix':'##'}",
         "abca", "5:0-3 6:3-4"},
        {NULL, "ba", "6:0-1"},
        {"{'type':'BPE','vocab':{'a':0,'b':1,'b</w>':2,'ab</w>':3,'a</w>':4},"
         "'merges':[['a','b</w>']],'end_of_word_suffix':'</w>'}",
         "aab", "0:0-1 3:1-3"},
        {NULL, "a", "4:0-1"},
        {NULL, "abb", "0:0-1 1:1-2 2:2-3"},
        {"{'type':'BPE','vocab':{'a':0},'merges':[],'continuing_subword_prefix':'',"
         "'end_of_word_suffix':''}",
         "aa", "0:0-1 0:1-2"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_wordpiece(void **state)
{
    static const model_case rows[] = {
        {"{'type':'WordPiece','vocab':{'[UNK]':0,'un':1,'una':2,'##aff':3,'##able':4,'##ff':5,"
         "'\xc3\xa9':6},'unk_token':'[UNK]','continuing_subword_prefix':'##',"
         "'max_input_chars_per_word':10}",
         "unaffable", "2:0-3 5:3-5 4:5-9"},
        {NULL, "unaffablex", "0:0-10"},
        {NULL, "affable", "0:0-7"},
        {NULL, "unununun\xc3\xa9n", "0:0-11"}, /* ten characters, but no ##un */
        {NULL, "unaffffffff", "0:0-11"},       /* eleven */
        {NULL, "unaffffffff\xc3\xa9", "0:0-13"},
        {NULL, "unaffffff", "2:0-3 5:3-5 5:5-7 5:7-9"},
        {NULL, "##aff", "3:0-5"},
        {"{'vocab':{'a':0,'aa':1,'u':2},'unk_token':'u','continuing_subword_prefix':'',"
         "'max_input_chars_per_word':4}",
         "aaa", "1:0-2 0:2-3"},
        {NULL, "aaaaa", "2:0-5"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_unigram(void **state)
{
    static const model_case rows[] = {
        /* of equal sums, the one with the longer last token */
        {"{'type':'Unigram','unk_id':0,'vocab':[['<unk>',0],['a',-1],['aa',-2],['aaa',-3]]}",
         "aaaa", "1:0-1 3:1-4"},
        {NULL, "xyaz", "0:0-2 1:2-3 0:3-4"},
        /* the unknown token's own text is fused with unknown neighbours */
        {NULL, "x<unk>y", "0:0-7"},
        {"{'type':'Unigram','unk_id':0,'byte_fallback':true,'vocab':[['<unk>',0],['a',-1],"
         "['<0xC3>',-9],['<0xA9>',-9],['xy',-99]]}",
         "\xc3\xa9"
         "a\xc3\xa8",
         "2:0-2 3:0-2 1:2-3 0:3-5"},
        /* fused text is looked up: it is worth less than two unknown characters, but a token */
        {NULL, "axya", "1:0-1 4:1-3 1:3-4"},
        /* of equal texts the last one; without an unknown token too */
        {"{'vocab':[['a',-1],['b',-1],['a',-2],['ab',-3.5]]}", "aba", "2:0-1 1:1-2 2:2-3"},
        {NULL, "aab", "2:0-1 2:1-2 1:2-3"},
        /* no unknown token is needed where another way is better; nor are sums that are finite */
        {"{'type':'Unigram','vocab':[['a',-1],['ab',-2],['c',-1]]}", "abcab", "1:0-2 2:2-3 1:3-5"},
        {"{'type':'Unigram','vocab':[['a',-1e308],['b',-1e308],['ab',-1.7e308]],'unk_id':0}",
         "aabb", "0:0-1 2:1-3 1:3-4"},
        {NULL, "ababab", "2:0-2 2:2-4 2:4-6"},
        {NULL, "xx", "0:0-2"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_word_level(void **state)
{
    static const model_case rows[] = {
        {"{'type':'WordLevel','vocab':{'[UNK]':5,'hello':7},'unk_token':'[UNK]'}", "hello",
         "7:0-5"},
        {NULL, "hell", "5:0-4"},
        {"{'vocab':{'hello':7},'unk_token':'[UNK]'}", "hello", "7:0-5"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

/* ---- long pieces ---------------------------------------------------------------------------- */

/* Long pieces give what their words give, one by one. */
static void check_long(const char *model, const char *const *words, size_t count)
{
    enum { LENGTH = 30000 };
    token_model *m = make(model);
    gufo_error error = no_error();
    model_scratch *s = model_scratch_new(m, NULL, &error);
    piece_tokens tokens = {0};
    gufo_ids expected = {0}, ids = {0};
    char *piece = calloc(1, LENGTH + 100);
    size_t len = 0;
    uint64_t random = 17;

    while (len < LENGTH) {
        const char *word = words[(random >> 33) % count];

        random = random * 6364136223846793005u + 1442695040888963407u;
        memcpy(piece + len, word, strlen(word));
        len += strlen(word);
        check_ok(token_model_ids(m, s, gufo_str_of(word), &expected, &error), &error, "%s", word);
    }
    check_ok(token_model_ids(m, s, (gufo_str){piece, len}, &ids, &error), &error, "%s", model);
    check_ok(token_model_encode(m, s, (gufo_str){piece, len}, &tokens, &error), &error, "%s",
             model);
    check_u64(ids.count, expected.count, "%s", model);
    check_u64(tokens.count, expected.count, "%s", model);
    for (size_t i = 0; i < ids.count; i++) {
        check_u64(ids.ids[i], expected.ids[i], "token %zu", i);
        check_u64(tokens.list[i].id, expected.ids[i], "token %zu", i);
        check_u64(tokens.list[i].begin, i == 0 ? 0 : tokens.list[i - 1].end, "token %zu", i);
    }
    check_u64(tokens.list[tokens.count - 1].end, len, "%s", model);
    gufo_ids_free(&expected);
    gufo_ids_free(&ids);
    piece_tokens_free(&tokens);
    model_scratch_free(s);
    token_model_free(m);
    free(piece);
}

static void test_long(void **state)
{
    static const char *const words[] = {
        "_abab",          "_b", "_aaaaaaaaaaaaaaaaaaaaaaaaaaa", "_\xc3\xa9", "_z\xf0\x9f\x98\x80",
        "_ba\xe4\xb8\xad"};

    (void)state;
    check_long("{'type':'BPE','vocab':{'_':0,'a':1,'b':2,'ab':3,'abab':4,'_b':5,'<unk>':6,'aa':7},"
               "'merges':[['a','b'],['ab','ab'],['_','b'],['a','a']],'unk_token':'<unk>'}",
               words, COUNT_OF(words));
    check_long("{'type':'Unigram','unk_id':0,'vocab':[['<unk>',0],['_',-1],['a',-2],['b',-3],"
               "['ab',-4],['_b',-3.5],['aaaa',-1],['_abab',-5]]}",
               words, COUNT_OF(words));
}

/* ---- what is refused ------------------------------------------------------------------------ */

typedef struct refused_model {
    const char *model;
    gufo_status status;
    const char *words; /* in the sentence */
} refused_model;

static void test_refused(void **state)
{
    static const refused_model rows[] = {
        {"{'type':'Bpe','vocab':{},'merges':[]}", GUFO_E_TYPE, "no model is called \"Bpe\""},
        {"{'type':7}", GUFO_E_MALFORMED, "\"type\" of the model"},
        {"{}", GUFO_E_MALFORMED, "no \"type\""},
        {"{'type':'BPE','merges':[]}", GUFO_E_MALFORMED, "\"vocab\" of the model \"BPE\""},
        {"{'type':'BPE','vocab':{}}", GUFO_E_MALFORMED, "\"merges\""},
        {"{'type':'BPE','vocab':[],'merges':[]}", GUFO_E_MALFORMED, "not an object of ids"},
        {"{'type':'BPE','vocab':{'a':0,'b':1},'merges':[['a','b']]}", GUFO_E_MALFORMED,
         "merge 0 of the model gives what is not a token: \"ab\""},
        {"{'type':'BPE','vocab':{'a':0,'b':1},'merges':[['a','c']]}", GUFO_E_MALFORMED,
         "second part that is not a token"},
        {"{'type':'BPE','vocab':{'a':0},'merges':[['a','a']],'continuing_subword_prefix':'##'}",
         GUFO_E_MALFORMED,
         "merge 0 of the model has a second part that is shorter than the prefix"},
        {"{'type':'BPE','vocab':{'a':0,'##b':1,'ab':2},'merges':[['a','##b'],['c','##b'],['a','a']]"
         ","
         "'continuing_subword_prefix':'##'}",
         GUFO_E_MALFORMED, "merge 1 of the model has a first part that is not a token: \"c\""},
        {"{'type':'BPE','vocab':{},'merges':[],'fuse_unk':1}", GUFO_E_MALFORMED, "\"fuse_unk\""},
        {"{'type':'BPE','vocab':{},'merges':[],'unk_token':1}", GUFO_E_MALFORMED, "\"unk_token\""},
        {"{'type':'WordPiece','vocab':{},'unk_token':'u','max_input_chars_per_word':1}",
         GUFO_E_MALFORMED, "\"continuing_subword_prefix\" of the model \"WordPiece\" is missing"},
        {"{'type':'WordPiece','vocab':{},'unk_token':'u','continuing_subword_prefix':''}",
         GUFO_E_MALFORMED, "\"max_input_chars_per_word\" of the model \"WordPiece\" is missing"},
        {"{'type':'WordPiece','vocab':{},'unk_token':'u','continuing_subword_prefix':'',"
         "'max_input_chars_per_word':-1}",
         GUFO_E_MALFORMED, "\"max_input_chars_per_word\""},
        {"{'type':'Unigram','vocab':{}}", GUFO_E_MALFORMED, "not a list of scores"},
        {"{'type':'Unigram','vocab':[['a',0]],'unk_id':1}", GUFO_E_MALFORMED, "\"unk_id\""},
        {"{'type':'WordLevel','vocab':{}}", GUFO_E_MALFORMED, "\"unk_token\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[300];
        gufo_error error = no_error();
        tokenizer_file *f;

        snprintf(text, sizeof text, "{'model':%s}", rows[i].model);
        f = pipeline_file(text);
        assert_null(token_model_new(f, 2, NULL, &error));
        check_error_shape(&error, rows[i].status, rows[i].model);
        check(strstr(error.message, rows[i].words) != NULL, "%s: %s", rows[i].model, error.message);
        tokenizer_file_free(f);
    }
}

/* Unknown characters are an error only when they come. */
static void test_no_token(void **state)
{
    static const model_case rows[] = {
        {"{'type':'BPE','vocab':{'a':0},'merges':[],'unk_token':'<unk>'}", "a", "ab"},
        {"{'type':'WordPiece','vocab':{'a':0},'unk_token':'u','continuing_subword_prefix':'##',"
         "'max_input_chars_per_word':10}",
         "a", "ab"},
        {"{'type':'Unigram','vocab':[['a',0]]}", "a", "ab"},
        {"{'type':'WordLevel','vocab':{'a':0},'unk_token':'u'}", "a", "ab"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        token_model *m = make(rows[i].model);
        gufo_error error = no_error();
        char *tokens;

        check_ok(encode(m, rows[i].piece, &tokens, &error), &error, "%s", rows[i].model);
        free(tokens);
        check_u64(encode(m, rows[i].tokens, &tokens, &error), GUFO_E_MALFORMED, "%s",
                  rows[i].model);
        check_error_shape(&error, GUFO_E_MALFORMED, rows[i].model);
        free(tokens);
        token_model_free(m);
    }
}

/* ---- many merges ---------------------------------------------------------------------------- */

enum { LETTERS = 60, PAIRS = LETTERS * LETTERS };

/* From '@' on, without the backslash. */
static char letter_at(unsigned i)
{
    return (char)('@' + i + (i >= '\\' - '@'));
}

/* Letters, and all pairs of them, each with a merge; without the tokens of pairs from `missing` on. */
static tokenizer_file *file_of_pairs(unsigned missing)
{
    char *text = calloc(1, 80 + 40 * (size_t)PAIRS), *at = text;
    tokenizer_file *f;

    assert_non_null(text);
    at += sprintf(at, "{'model':{'type':'BPE','vocab':{");
    for (unsigned i = 0; i < LETTERS; i++)
        at += sprintf(at, "'%c':%u,", letter_at(i), i);
    for (unsigned i = 0; i < missing; i++)
        at += sprintf(at, "'%c%c':%u%s", letter_at(i / LETTERS), letter_at(i % LETTERS),
                      LETTERS + i, i + 1 < missing ? "," : "");
    at += sprintf(at, "},'merges':[");
    for (unsigned i = 0; i < PAIRS; i++)
        at += sprintf(at, "%s['%c','%c']", i > 0 ? "," : "", letter_at(i / LETTERS),
                      letter_at(i % LETTERS));
    (void)sprintf(at, "]}}");
    f = pipeline_file(text);
    free(text);
    return f;
}

/* Threads look merges up; what comes of them is the same. */
static void test_threads(void **state)
{
    enum { MISSING = PAIRS - 2000 }; /* in the second part, and in those behind it */
    tokenizer_file *f = file_of_pairs(PAIRS), *bad = file_of_pairs(MISSING);
    char expected[40];

    (void)state;
    (void)snprintf(expected, sizeof expected, "merge %d of the model gives", MISSING);
    for (unsigned threads = 1; threads <= 3; threads++) {
        gufo_error error = no_error();
        token_model *m = token_model_new(f, threads, NULL, &error);
        model_scratch *s = model_scratch_new(m, NULL, &error);
        gufo_ids ids = {0};

        for (unsigned i = 0; i < PAIRS; i++) {
            const char pair[] = {letter_at(i / LETTERS), letter_at(i % LETTERS)};

            ids.count = 0;
            check_ok(token_model_ids(m, s, (gufo_str){pair, 2}, &ids, &error), &error, "pair %u",
                     i);
            check(ids.count == 1 && ids.ids[0] == LETTERS + i, "pair %u, %u threads", i, threads);
        }
        gufo_ids_free(&ids);
        model_scratch_free(s);
        token_model_free(m);
        assert_null(token_model_new(bad, threads, NULL, &error));
        check(strstr(error.message, expected) != NULL, "%u threads: %s", threads, error.message);
    }
    tokenizer_file_free(f);
    tokenizer_file_free(bad);
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool open_and_encode(const tokenizer_file *f, const gufo_allocator *allocator, gufo_str text)
{
    gufo_error error = no_error();
    token_model *m = token_model_new(f, 2, allocator, &error);
    model_scratch *s = m != NULL ? model_scratch_new(m, allocator, &error) : NULL;
    piece_tokens tokens = {.allocator = allocator};
    gufo_ids ids = {.allocator = allocator};
    bool done = s != NULL && token_model_ids(m, s, text, &ids, &error) == GUFO_OK &&
                token_model_encode(m, s, text, &tokens, &error) == GUFO_OK;

    if (!done)
        check_u64(error.code, GUFO_E_MEMORY, "%s", error.message);
    piece_tokens_free(&tokens);
    gufo_ids_free(&ids);
    model_scratch_free(s);
    token_model_free(m);
    return done;
}

static void test_memory(void **state)
{
    static const char *const models[] = {
        "{'model':{'type':'BPE','vocab':{'a':0,'##b':1,'ab':2},'merges':[['a','##b']],"
        "'continuing_subword_prefix':'##'}}",
        "{'model':{'type':'WordPiece','vocab':{'a':3,'##b':0},'unk_token':'a',"
        "'continuing_subword_prefix':'##','max_input_chars_per_word':9}}",
        "{'model':{'type':'Unigram','vocab':[['a',0],['b',0]],'unk_id':0}}",
        "{'model':{'type':'WordLevel','vocab':{'a':0},'unk_token':'a'}}",
    };
    char text[200];

    (void)state;
    memset(text, 'b', sizeof text);
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        tokenizer_file *f = pipeline_file(models[i]);
        bool reached = true;
        size_t failed = 0;

        for (; reached; failed++) {
            counter c;

            counter_init(&c);
            c.fail_at = failed + 1;
            gufo_allocator allocator = counter_allocator(&c);
            bool done = open_and_encode(f, &allocator, (gufo_str){text, sizeof text});
            reached = c.calls >= c.fail_at;
            check(done || reached, "%s: %zu", models[i], failed);
            check_u64(c.in_use, 0, "%s: bytes left after request %zu", models[i], failed + 1);
        }
        check(failed > 5, "%s: %zu requests", models[i], failed);
        tokenizer_file_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpe),         cmocka_unit_test(test_bpe_bytes),
        cmocka_unit_test(test_bpe_affixes), cmocka_unit_test(test_wordpiece),
        cmocka_unit_test(test_unigram),     cmocka_unit_test(test_word_level),
        cmocka_unit_test(test_long),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_token),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
