/* Byte-pair encoding: its rules on vocabularies that are made for them, and compared with their
 * definition. */
#include "support/pace.h"
#include "support/json.h"
#include "support/shared.h"
#include "support/vocab_maker.h"

#include <stdlib.h>
#include <string.h>

#include "text/tokenizers/algorithm.h"

/* ---- small vocabularies --------------------------------------------------------------------- */

/* Lists of texts with | between; ids count from 0. */
typedef struct small_vocabulary {
    const char *model, *pre, *tokens, *merges;
} small_vocabulary;

/* Splits a list in place. */
static size_t split(char *list, const char **out, size_t room)
{
    size_t count = 0;

    for (char *at = list; at != NULL && *list != 0; count++) {
        assert_true(count < room);
        out[count] = at;
        at = strchr(at, '|');
        if (at != NULL)
            *at++ = 0;
    }
    return count;
}

static void fill(vocab_maker *m, const small_vocabulary *small)
{
    char tokens[4096], merges[4096];
    const char *texts[256];
    token_row rows[256];
    size_t count;

    *m = vocab_maker_new(small->model);
    (void)snprintf(tokens, sizeof tokens, "%s", small->tokens);
    count = split(tokens, texts, COUNT_OF(texts));
    for (size_t i = 0; i < count; i++)
        rows[i] = (token_row){texts[i], 1, 0};
    vocab_maker_tokens(m, rows, count);
    if (small->pre != NULL)
        vocab_maker_text(m, "pre", small->pre);
    if (small->merges == NULL)
        return;
    (void)snprintf(merges, sizeof merges, "%s", small->merges);
    count = split(merges, texts, COUNT_OF(texts));
    vocab_maker_texts(m, "merges", texts, count);
}

static gufo_vocab *open_small(const small_vocabulary *small)
{
    vocab_maker m;
    gufo_error error;
    gufo_vocab *vocab;

    fill(&m, small);
    vocab = vocab_maker_open(&m, NULL, &error);
    if (vocab == NULL)
        fail_msg("%s", error.message);
    return vocab;
}

/* The texts of the tokens of a text, with | between. */
static void show_tokens(const gufo_vocab *vocab, gufo_str text, char *out, size_t size)
{
    gufo_ids ids = {0};
    gufo_error error;
    size_t len = 0;

    if (gufo_tokenize(vocab, text, NULL, &ids, &error) != GUFO_OK)
        fail_msg("%s", error.message);
    *out = 0;
    for (size_t i = 0; i < ids.count; i++) {
        gufo_token token;

        assert_true(gufo_vocab_token(vocab, ids.ids[i], &token));
        len += (size_t)snprintf(out + len, size - len, "%s%.*s", i == 0 ? "" : "|",
                                (int)token.text.len, token.text.data);
        assert_true(len < size);
    }
    gufo_ids_free(&ids);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static const struct rule_case {
    small_vocabulary vocabulary;
    const char *text, *tokens;
} rule_cases[] = {
    /* The lowest rank first, wherever it is; of equal ones the leftmost. */
    {{"gpt2", "gpt-2", "a|b|c|ab|bc", "b c|a b"}, "abc", "a|bc"},
    {{"gpt2", "gpt-2", "a|b|c|ab|bc", "a b|b c"}, "abc", "ab|c"},
    {{"gpt2", "gpt-2", "a|aa", "a a"}, "aaaaa", "aa|aa|a"},
    {{"gpt2", "gpt-2", "a|b|ab|aab", "a b|a ab"}, "aab", "aab"},
    /* A pair that is listed twice has its first rank. */
    {{"gpt2", "gpt-2", "a|b|c|ab|bc", "a b|b c|a b"}, "abc", "ab|c"},
    {{"gpt2", "gpt-2", "a|b|c|d|ab|bc", "c d|b c|a b|b c"}, "abc", "a|bc"},
    /* A merge applies even if nothing has its result as text. */
    {{"gpt2", "gpt-2", "a|b|c|abc", "a b|ab c"}, "abcab", "abc|a|b"},
    /* Parts may come from later merges. */
    {{"gpt2", "gpt-2", "a|b|c|abc", "ab c|a b"}, "abc", "abc"},
    /* The space is a letter of the byte alphabet. */
    {{"gpt2", "gpt-2", "a|b|\u0120|\u0120b|\u010a", "\u0120 b"}, "a b\n", "a|\u0120b|\u010a"},
    /* A byte without token gives nothing; a letter of ASCII without token, neither. */
    {{"gpt2", "gpt-2", "a|\u00c3", "\u00c3 \u00a9"}, "xa\u00e9a", "a|a"},
    {{"gpt2", "gpt-2", "a|\u00c3|\u00a9", "a a"}, "a\u00e9", "a|\u00c3|\u00a9"},
    /* The last of several tokens with one text. */
    {{"gpt2", "gpt-2", "a|b|ab|ab", "a b"}, "ab", "ab"},
    /* ignore_merges: a piece that is a token is that token. */
    {{"gpt2", "llama-bpe", "a|b|c|ab|abc", "a b"}, "abc ab", "abc|ab"},
    {{"gpt2", "gpt-2", "a|b|c|ab|abc", "a b"}, "abc", "ab|c"},
    /* No merges at all. */
    {{"gpt2", "kimi-k2", "a|b|ab", NULL}, "ab", "a|b"},
    {{"gpt2", "gpt-2", "a|b|ab", ""}, "ab", "a|b"},
    /* Without a list of them tokens are atomic. */
    {{"gpt2", "gpt-2", "a|b|ab|\u0120|\u0120ab", NULL}, "ab ab ba", "ab|\u0120ab|\u0120|b|a"},
    {{"gemma4", NULL, "a|b|ab|\u2581|<0xC3>|<0xA9>", NULL},
     "ab \u00e9",
     "a|b|\u2581|<0xC3>|<0xA9>"},
    /* Raw text: characters, U+2581 for spaces, bytes as a last resort. */
    {{"gemma4", NULL, "a|b|\u2581|\u2581b|\u2581\u2581|<0xC3>|<0xA9>", "\u2581 b|\u2581 \u2581"},
     "a b  \u00e9\u00e8",
     "a|\u2581b|\u2581\u2581|<0xC3>|<0xA9>|<0xC3>"},
    {{"gemma4", NULL, "\u6f22|\u5b57|\u6f22\u5b57", "\u6f22 \u5b57"},
     "\u6f22\u5b57\u6f22",
     "\u6f22\u5b57|\u6f22"},
    /* A character that only merges know. */
    {{"gemma4", NULL, "\u6f22\u5b57|<0xE6>", "\u6f22 \u5b57"},
     "\u6f22\u5b57\u6f22",
     "\u6f22\u5b57|<0xE6>"},
    /* Newlines: a run that is a token is not merged; but in pre sarvam-moe. */
    {{"gemma4", NULL, "a|\n|\n\n|\n\n\n|b", "\n \n"}, "a\n\n\nb", "a|\n\n\n|b"},
    {{"gpt2", "sarvam-moe", "a|\n|\n\n|\n\n\n|b", "\n \n"}, "a\n\n\nb", "a|\n\n|\n|b"},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rule_cases); i++) {
        const struct rule_case *c = &rule_cases[i];
        gufo_vocab *vocab = open_small(&c->vocabulary);
        char tokens[256];

        show_tokens(vocab, gufo_str_of(c->text), tokens, sizeof tokens);
        check_str(gufo_str_of(tokens), c->tokens, "case %zu, %s", i, c->text);
        gufo_vocab_free(vocab);
    }
}

static void test_equal_texts(void **state)
{
    const small_vocabulary small = {"gpt2", "gpt-2", "a|b|ab|ab|aba", "a b|ab a"};
    gufo_vocab *vocab = open_small(&small);
    gufo_ids ids = {0};

    (void)state;
    assert_int_equal(gufo_tokenize(vocab, gufo_str_of("abaab"), NULL, &ids, NULL), GUFO_OK);
    assert_int_equal(ids.count, 2);
    assert_int_equal(ids.ids[0], 4);
    assert_int_equal(ids.ids[1], 3);
    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
}

static const struct refused_case {
    small_vocabulary vocabulary;
    const char *message; /* a part of it */
} refused_cases[] = {
    {{"gpt2", "gpt-2", "a|b|ab", "a b|ab"}, "merge 1 is not two parts"},
    {{"gpt2", "gpt-2", "a|b|ab", "a "}, "merge 0 is not two parts"},
    {{"gpt2", "gpt-2", "a|b|ab", "a b|ab cd"}, "merge 1 has a part that is neither"},
    {{"gpt2", "gpt-2", "a|b|ab", "xy z|xyz a"}, "merge 0 has a part that is neither"},
    /* No piece of text has this character: each of its bytes is a character of its own. */
    {{"gpt2", "gpt-2", "a|b", "a \u6f22"}, "merge 0 has a part that is neither"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused_cases); i++) {
        vocab_maker m;
        gufo_error error = {0};

        fill(&m, &refused_cases[i].vocabulary);
        check(vocab_maker_open(&m, NULL, &error) == NULL, "case %zu is taken", i);
        check_u64(error.code, GUFO_E_MALFORMED, "case %zu", i);
        check(strstr(error.message, refused_cases[i].message) != NULL, "case %zu: %s", i,
              error.message);
    }
}

/* ---- the definition ------------------------------------------------------------------------- */

#define LETTERS "abcde"

/* A vocabulary of random merges, and the merges once more. */
typedef struct random_vocabulary {
    char left[64][32], right[64][32];
    char tokens[4096], merges[4096];
    size_t count;
} random_vocabulary;

static void make_random(random_vocabulary *r, uint64_t *random)
{
    static const char letters[] = LETTERS;
    char texts[70][32];
    size_t count = 0;

    *r = (random_vocabulary){0};
    for (; letters[count] != 0; count++)
        (void)snprintf(texts[count], sizeof texts[count], "%c", letters[count]);
    (void)snprintf(r->tokens, sizeof r->tokens, "a|b|c|d|e");
    while (r->count < 40) {
        const char *left = texts[random_next(random) % count];
        const char *right = texts[random_next(random) % count];
        char joined[32];

        if (strlen(left) + strlen(right) > 12)
            continue;
        (void)snprintf(r->left[r->count], sizeof *r->left, "%s", left);
        (void)snprintf(r->right[r->count], sizeof *r->right, "%s", right);
        (void)snprintf(joined, sizeof joined, "%.15s%.15s", left, right);
        (void)snprintf(r->merges + strlen(r->merges), sizeof r->merges - strlen(r->merges),
                       "%s%s %s", r->count == 0 ? "" : "|", left, right);
        r->count++;
        /* Some results have no token. */
        if (count < COUNT_OF(texts))
            (void)snprintf(texts[count++], sizeof *texts, "%s", joined);
        if (random_next(random) % 5 != 0)
            (void)snprintf(r->tokens + strlen(r->tokens), sizeof r->tokens - strlen(r->tokens),
                           "|%s", joined);
    }
}

static size_t rank_of(const random_vocabulary *r, const char *left, const char *right)
{
    size_t rank = 0;

    while (rank < r->count &&
           (strcmp(r->left[rank], left) != 0 || strcmp(r->right[rank], right) != 0))
        rank++;
    return rank;
}

/* Merges as the rules say, one step after the other, and shows the tokens. */
static void merge_slowly(const random_vocabulary *r, const gufo_vocab *vocab, const char *text,
                         char *out)
{
    static char symbols[512][32];
    size_t count = strlen(text), len;

    for (size_t i = 0; i < count; i++)
        (void)snprintf(symbols[i], sizeof *symbols, "%c", text[i]);
    for (;;) {
        size_t best = 0, best_rank = r->count;

        for (size_t i = 0; i + 1 < count; i++) {
            size_t rank = rank_of(r, symbols[i], symbols[i + 1]);

            if (rank < best_rank) {
                best_rank = rank;
                best = i;
            }
        }
        if (best_rank == r->count)
            break;
        len = strlen(symbols[best]);
        memmove(symbols[best] + len, symbols[best + 1], strlen(symbols[best + 1]) + 1);
        count--;
        memmove(symbols[best + 1], symbols[best + 2], (count - best - 1) * sizeof *symbols);
    }
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        bool token = gufo_vocab_find(vocab, gufo_str_of(symbols[i])) != GUFO_NO_TOKEN;

        for (const char *at = symbols[i]; *at != 0; at += token ? strlen(at) : 1)
            (void)sprintf(out + strlen(out), "%s%.*s", *out == 0 ? "" : "|",
                          token ? (int)strlen(at) : 1, at);
    }
}

static void test_definition(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (int i = 0; i < (int)all_or_few(60, 15); i++) {
        random_vocabulary r;
        gufo_vocab *vocab;

        make_random(&r, &random);
        vocab = open_small(&(small_vocabulary){"gpt2", "gpt-2", r.tokens, r.merges});
        for (int n = 0; n < 20; n++) {
            char text[256], expected[1024], tokens[1024];
            size_t len = 1 + (size_t)random_next(&random) % (n % 4 == 0 ? 200 : 30);

            for (size_t k = 0; k < len; k++)
                text[k] = LETTERS[random_next(&random) % (n % 2 == 0 ? 2 : 5)];
            text[len] = 0;
            merge_slowly(&r, vocab, text, expected);
            show_tokens(vocab, gufo_str_of(text), tokens, sizeof tokens);
            check_str(gufo_str_of(tokens), expected, "vocabulary %d, %s", i, text);
        }
        gufo_vocab_free(vocab);
    }
}

/* ---- long texts, cuts ----------------------------------------------------------------------- */

/* A quadratic algorithm does not come to an end. */
static void test_long_piece(void **state)
{
    enum { LONG = 1000000 };
    const small_vocabulary small = {"gpt2", "gpt-2", "a|b|aa|aaaa|ba", "a a|aa aa|b a"};
    gufo_vocab *vocab = open_small(&small);
    char *text = malloc(LONG);
    gufo_ids ids = {0};

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LONG);
    assert_int_equal(gufo_tokenize(vocab, (gufo_str){text, LONG}, NULL, &ids, NULL), GUFO_OK);
    assert_int_equal(ids.count, LONG / 4);
    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
    free(text);
}

static void append_ids(const gufo_vocab *vocab, gufo_str text, gufo_ids *out)
{
    assert_int_equal(gufo_tokenize(vocab, text, NULL, out, NULL), GUFO_OK);
}

/* Where the algorithm says that raw text can be cut, the ids are those of the whole. */
static void test_raw_cuts(void **state)
{
    static const char *const characters[] = {
        "a", "b", " ", "\n", "\u2581", "\u6f22", "x", "\xe2", "\x96\x81", "\x80", "\xef\xbf\xbd"};
    const small_vocabulary small = {
        "gemma4", NULL,
        "a|b|\u2581|\u2581a|\u2581\u2581|a\u6f22|\n|\n\n|\n\n\n|\ufffd|\ufffd\ufffd|<0x78>",
        "\u2581 a|\u2581 \u2581|a \u6f22|\ufffd \ufffd"};
    gufo_vocab *vocab = open_small(&small);
    uint64_t random = 3;
    unsigned cuts = 0;

    (void)state;
    for (int n = 0; n < (int)all_some_or_few(3000, 600, 600); n++) {
        char text[64] = "";
        gufo_ids whole = {0}, halves = {0};
        size_t at;

        for (uint64_t k = random_next(&random) % 10 + 1; k > 0; k--)
            (void)strcat(text, characters[random_next(&random) % COUNT_OF(characters)]);
        at = algorithm_bpe.cut(vocab,
                               (gufo_str){text, (unsigned)random_next(&random) % strlen(text) + 1});
        if (at == 0)
            continue;
        cuts++;
        append_ids(vocab, gufo_str_of(text), &whole);
        append_ids(vocab, (gufo_str){text, at}, &halves);
        append_ids(vocab, gufo_str_of(text + at), &halves);
        check(whole.count == halves.count &&
                  (whole.count == 0 ||
                   memcmp(whole.ids, halves.ids, whole.count * sizeof *whole.ids) == 0),
              "\"%s\" differs if it is cut at %zu", text, at);
        gufo_ids_free(&whole);
        gufo_ids_free(&halves);
    }
    assert_true(cuts > 80);
    gufo_vocab_free(vocab);
}

/* ---- what the caller watches ---------------------------------------------------------------- */

static void note_event(void *context, const gufo_tokenize_event *event)
{
    char *notes = context;
    static const char kinds[] = "spmt";

    (void)sprintf(notes + strlen(notes), "%c:%.*s", kinds[event->kind], (int)event->text.len,
                  event->text.data);
    if (event->kind == GUFO_TOKENIZE_MERGE)
        (void)sprintf(notes + strlen(notes), "/%zu/%g", event->left, event->score);
    if (event->id != GUFO_NO_TOKEN)
        (void)sprintf(notes + strlen(notes), "=%u", (unsigned)event->id);
    (void)strcat(notes, " ");
}

static const struct watch_case {
    small_vocabulary vocabulary;
    const char *text, *notes;
} watch_cases[] = {
    {{"gpt2", "gpt-2", "a|b|\u0120|abb|\u0120a", "a b|\u0120 a|ab b"},
     "abb a",
     "p:abb m:ab/1/0 m:abb/2/2=3 t:abb=3 p:\u0120a m:\u0120a/2/1=4 t:\u0120a=4 "},
    {{"gemma4", NULL, "a|\u2581a|\n", "\u2581 a"},
     "a a\n",
     "p:a\u2581a m:\u2581a/3/0=1 t:a=0 t:\u2581a=1 p:\n t:\n=2 "},
};

static void test_watch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(watch_cases); i++) {
        char notes[512] = "";
        gufo_vocab *vocab = open_small(&watch_cases[i].vocabulary);
        const gufo_tokenize_options options = {.watch = note_event, .watch_context = notes};
        gufo_ids ids = {0};

        assert_int_equal(
            gufo_tokenize(vocab, gufo_str_of(watch_cases[i].text), &options, &ids, NULL), GUFO_OK);
        check_str(gufo_str_of(notes), watch_cases[i].notes, "case %zu", i);
        gufo_ids_free(&ids);
        gufo_vocab_free(vocab);
    }
}

/* ---- the original tokenizer ----------------------------------------------------------------- */

static void check_original(bool original, const char *tokens)
{
    vocab_maker m;
    const small_vocabulary small = {"gpt2", NULL,
                                    "a|1|2|12|\u00c3|\u00a9|\u00c3\u00a9|e|\u00cc|\u0123|[PAD10]",
                                    "1 2|\u00c3 \u00a9"};
    const gufo_vocab_options options = {.flags = original ? GUFO_VOCAB_ORIGINAL : 0};
    gufo_vocab *vocab;
    gufo_error error;
    char got[256];

    fill(&m, &small);
    vocab_maker_key(&m, "general.architecture", "gptneox");
    vocab = vocab_maker_open(&m, &options, &error);
    if (vocab == NULL)
        fail_msg("%s", error.message);
    assert_non_null(gufo_vocab_describe(vocab).original);
    /* The accent is a character of its own; form NFC has one character. */
    show_tokens(vocab,
                gufo_str_of("e\u0301"
                            "12"),
                got, sizeof got);
    check_str(gufo_str_of(got), tokens, "original %d", original);
    gufo_vocab_free(vocab);
}

static void test_original(void **state)
{
    (void)state;
    check_original(false, "e|\u00cc|\u0123|12");
    check_original(true, "\u00c3\u00a9|12");
}

/* ---- expected ids --------------------------------------------------------------------------- */

static void check_line(gufo_tokenizer *tokenizer, const json_value *line, const char *label)
{
    const json_value *expected = json_find(line, "ids_fnv1a64");
    uint64_t hash = 0xcbf29ce484222325u;
    gufo_ids ids = {0};
    char digits[17];

    if (expected == NULL)
        return;
    assert_int_equal(gufo_tokenizer_feed(tokenizer, json_at(line, "text")->text, &ids, NULL),
                     GUFO_OK);
    assert_int_equal(gufo_tokenizer_end(tokenizer, &ids, NULL), GUFO_OK);
    for (size_t i = 0; i < ids.count; i++)
        for (unsigned byte = 0; byte < 4; byte++)
            hash = (hash ^ (ids.ids[i] >> 8 * byte & 0xff)) * 0x100000001b3u;
    (void)snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    check_str(expected->text, digits, "%s: \"%.*s\"", label, (int)json_at(line, "text")->text.len,
              json_at(line, "text")->text.data);
    gufo_ids_free(&ids);
}

static void check_pre(const gufo_model *model, gufo_str pre, const json_document *lines)
{
    char name[64];
    const gufo_vocab_options options = {.pre = name};
    gufo_vocab *vocab;
    gufo_tokenizer *tokenizer;

    (void)snprintf(name, sizeof name, "%.*s", (int)pre.len, pre.data);
    vocab = gufo_vocab_open(model, &options, NULL);
    check(vocab != NULL, "%s", name);
    tokenizer = gufo_tokenizer_new(vocab, NULL, NULL);
    assert_non_null(tokenizer);
    for (const json_value *line = lines->root->inside; line != NULL; line = line->next)
        check_line(tokenizer, line, name);
    gufo_tokenizer_free(tokenizer);
    gufo_vocab_free(vocab);
}

/* A vocabulary of pairs of bytes: ids change where a cut moves. */
static void test_expected_ids(void **state)
{
    path_text path = need_shared("data/text/vocabs/pairs.gguf");
    path_text index_path = need_shared("data/text/tokens_pre/index.json");
    json_document index = json_load(index_path.text);
    gufo_model *model = gufo_model_open(path.text, NULL, NULL);

    (void)state;
    assert_non_null(model);
    for (const json_value *file = json_at(index.root, "files")->inside; file != NULL;
         file = file->next) {
        char name[128];
        json_document lines;

        (void)snprintf(name, sizeof name, "data/text/tokens_pre/%.*s.jsonl", (int)file->name.len,
                       file->name.data);
        lines = json_load_lines(need_shared(name).text);
        for (const json_value *pre = json_at(file, "pre_names")->inside; pre != NULL;
             pre = pre->next)
            check_pre(model, pre->text, &lines);
        json_unload(&lines);
    }
    json_unload(&index);
    gufo_model_free(model);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void check_memory(const small_vocabulary *small, const char *text)
{
    vocab_maker m;

    fill(&m, small);
    vocab_maker_fail_memory(&m, text);
}

static void test_memory(void **state)
{
    (void)state;
    check_memory(&(small_vocabulary){"gpt2", "llama-bpe", "a|b|c|abc", "a b|ab c"},
                 "abc \xff"
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    check_memory(&(small_vocabulary){"gemma4", NULL, "a|b|\u2581|ab", "a b|\u2581 ab"}, "ab ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),      cmocka_unit_test(test_equal_texts),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_definition),
        cmocka_unit_test(test_long_piece), cmocka_unit_test(test_raw_cuts),
        cmocka_unit_test(test_watch),      cmocka_unit_test(test_original),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_expected_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
