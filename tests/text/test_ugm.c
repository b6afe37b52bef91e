/* UGM: the normalizer, the best path, ties, unknown characters, cuts. */
#include "charsmap_maker.h"
#include "encoding.h"

#define SPACE "\xe2\x96\x81"
#define BAD "\xef\xbf\xbd"

static const token_row rows[] = {
    {"<unk>", 2, 0},  {"</s>", 3, 0},      {SPACE, 1, -3},  {"a", 1, -4},       {"b", 1, -4},
    {"ab", 1, -8},    {"c", 1, -2},        {"bc", 1, -6},   {SPACE "a", 1, -5}, {"abcd", 1, -9},
    {"f", 1, -4},     {"i", 1, -4},        {"fi", 1, -5},   {"<sep>", 4, 0},    {"unused", 5, -1},
    {"<0x41>", 6, 0}, {"\xc3\xa9", 1, -4}, {"aaa", 1, -12}, {BAD, 1, -7},       {"<", 1, -9},
};

typedef struct settings {
    bool prefix, remove_extra, map;
    uint32_t flags;
} settings;

static const map_row replaced[] = {
    {"\xef\xac\x81", "fi"}, {"A", "a"}, {"\t", " "}, {"\x01", ""}, {"c\xcc\x81", "\xc3\xa9"}};

static void put_settings(vocab_maker *m, settings s)
{
    vocab_maker_bool(m, "add_space_prefix", s.prefix);
    vocab_maker_bool(m, "remove_extra_whitespaces", s.remove_extra);
    vocab_maker_id(m, "unknown_token_id", 0);
    if (s.map) {
        made_map *map = calloc(1, sizeof *map);

        assert_non_null(map);
        for (size_t i = 0; i < COUNT_OF(replaced); i++)
            map_add(map, replaced[i]);
        map_put(m, map);
        free(map);
    }
}

static gufo_vocab *open_more(const char *model, const token_row *more, size_t count, settings s)
{
    token_row all[COUNT_OF(rows) + 8];
    vocab_maker m = vocab_maker_new(model);

    memcpy(all, rows, sizeof rows);
    if (count > 0)
        memcpy(all + COUNT_OF(rows), more, count * sizeof *more);
    vocab_maker_tokens(&m, all, COUNT_OF(rows) + count);
    put_settings(&m, s);
    return open_made(&m, s.flags);
}

static gufo_vocab *open_rows(settings s)
{
    return open_more("t5", NULL, 0, s);
}

static void test_spaces(void **state)
{
    gufo_vocab *v = open_rows((settings){.prefix = true, .remove_extra = true});

    (void)state;
    check_text(v, "", "");
    check_text(v, "   ", "");
    check_text(v, "a", SPACE "a");
    check_text(v, "  a   c ", SPACE "a|" SPACE "|c");
    gufo_vocab_free(v);
    v = open_rows((settings){.prefix = true});
    check_text(v, "a", SPACE "a");
    check_text(v, " a", SPACE "|" SPACE "a");
    check_text(v, "a  a ", SPACE "a|" SPACE "|" SPACE "a|" SPACE);
    gufo_vocab_free(v);
    v = open_rows((settings){.prefix = false});
    check_text(v, "a", "a");
    check_text(v, " a", SPACE "a");
    gufo_vocab_free(v);
}

static void test_map(void **state)
{
    gufo_vocab *v = open_rows((settings){.map = true});

    (void)state;
    check_text(v, "\xef\xac\x81", "fi");
    check_text(v, "Aa", "a|a");
    check_text(v, "\tA", SPACE "a");
    check_text(v,
               "a\x01"
               "a",
               "a|a");
    check_text(v, "\xc3\xa9\xc3", "\xc3\xa9|" BAD);
    /* A key that begins with what otherwise stays as it is. */
    check_text(v, "bc\xcc\x81", "b|\xc3\xa9");
    check_text(v,
               "acc\xcc\x81"
               "c",
               "a|c|\xc3\xa9|c");
    check_text(v, "bc", "bc");
    check_text(v, "c\xcc", "c|" BAD);
    check_text(v, "\x80\xff", BAD "|" BAD);
    gufo_vocab_free(v);
}

static void test_path(void **state)
{
    gufo_vocab *v = open_rows((settings){0});

    (void)state;
    check_text(v, "c", "c");
    check_text(v, "ab", "ab");    /* -8, as a and b: the token that begins first */
    check_text(v, "abc", "a|bc"); /* all ways give -10 */
    check_text(v, "aaa", "aaa");
    check_text(v, "abcd", "abcd");
    check_text(v, "unused", "unused");
    check_text(v, "xyz", "<unk>"); /* one for all of them */
    check_text(v, "xaxx", "<unk>|a|<unk>");
    check_text(v, "<0x41>", "<|<unk>"); /* a byte token is not looked for */
    check_text(v, "<sep>", "<sep>");
    gufo_vocab_free(v);
}

/* What begins as a user-defined token is not mapped, complete or not. */
static void test_user_defined(void **state)
{
    static const token_row more[] = {{"Axe", 4, 0}};
    const settings s = {.map = true}, original = {.map = true, .flags = GUFO_VOCAB_ORIGINAL};
    gufo_vocab *v = open_more("t5", more, COUNT_OF(more), s);

    (void)state;
    check_text(v, "Ab", "<unk>|b");
    check_text(v, "Axe", "Axe");
    gufo_vocab_free(v);
    v = open_more("t5", more, COUNT_OF(more), original);
    check_text(v, "Ab", "ab");
    check_text(v, "Axe", "Axe");
    gufo_vocab_free(v);
}

/* Sums of doubles differ where sums of floats do not. */
static void test_original(void **state)
{
    static const token_row more[] = {
        {"p", 1, -0.1f}, {"q", 1, -0.2f}, {"r", 1, -0.7f}, {"pq", 1, -0.3f}, {"qr", 1, -0.9f}};
    gufo_vocab *v = open_more("t5", more, COUNT_OF(more), (settings){0});
    gufo_vocab *original =
        open_more("t5", more, COUNT_OF(more), (settings){.flags = GUFO_VOCAB_ORIGINAL});
    double apart = (double)-0.1f + (double)-0.2f;

    (void)state;
    assert_non_null(gufo_vocab_describe(v).original);
    check_text(v, "pq", apart > (double)-0.3f ? "p|q" : "pq");
    /* The first sum is kept as a float, the second one is compared as a double. */
    check_text(original, "pq", (double)(float)-0.1f + (double)-0.2f > (double)-0.3f ? "p|q" : "pq");
    gufo_vocab_free(v);
    gufo_vocab_free(original);
}

static void test_replit(void **state)
{
    gufo_vocab *v = open_more("replit", NULL, 0, (settings){.remove_extra = true});

    (void)state;
    check_text(v, " ab  c", SPACE "a|b|" SPACE "|c");
    gufo_vocab_free(v);
}

static void test_no_unknown(void **state)
{
    vocab_maker m = vocab_maker_new("replit");
    gufo_error error = no_error();
    gufo_ids ids = {0};
    gufo_vocab *v;

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    v = open_made(&m, 0);
    if (v->special[GUFO_SPECIAL_UNKNOWN] == GUFO_NO_TOKEN)
        check_status(gufo_tokenize(v, gufo_str_of("x"), NULL, &ids, &error), GUFO_E_MALFORMED,
                     &error, "no unknown token");
    gufo_ids_free(&ids);
    gufo_vocab_free(v);
}

static void test_damaged_map(void **state)
{
    vocab_maker m = vocab_maker_new("t5");

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    map_put_bytes(&m, "\x08\0\0\0abcd", 8);
    check_refused(&m, GUFO_E_MALFORMED, "precompiled_charsmap");
}

static void test_steps(void **state)
{
    gufo_vocab *v = open_rows((settings){.map = true});

    (void)state;
    check_steps(v, "Axx c",
                "piece axx; token a; token xx; piece " SPACE "c; token " SPACE "; token c");
    gufo_vocab_free(v);
}

static const char *const stretches[] = {
    " ",
    "  ",
    "a",
    "b",
    "c",
    "abcd",
    "x",
    "\xc3\xa9",
    "A",
    "\t",
    "\x01",
    SPACE,
    "\xef\xac\x81",
    "\xc3",
    "\xe4\xbd\xa0",
    "\xff",
    "unused",
    "<",
    "fi",
};

/* Every combination of flags; a map, a token with U+2581 inside, scores that do not add up exactly.
 * */
static void test_cuts(void **state)
{
    static const token_row more[][1] = {
        {{"z", 1, -1}},         {{"c" SPACE, 1, -1}},  {{"b", 1, -1e-30f}},
        {{"\xc3\xa9 x", 4, 0}}, {{"\xc3\xa9x", 4, 0}}, {{SPACE, 4, 0}},
    };
    static const bool cuts[] = {true, false, false, false, true, true};

    (void)state;
    for (unsigned i = 0; i < 8 * COUNT_OF(more); i++) {
        settings s = {.prefix = (i & 1) != 0, .remove_extra = (i & 2) != 0, .map = (i & 4) != 0};
        gufo_vocab *v = open_more("t5", more[i / 8], 1, s);
        size_t parts = check_cuts(v, stretches, COUNT_OF(stretches), 300);
        bool streams = cuts[i / 8] && (!s.prefix || s.remove_extra || !s.map);

        check((parts > 400) == streams, "row %u: %zu parts", i, parts);
        gufo_vocab_free(v);
    }
}

/* Encodes a text with the automaton, and without, as it is done for those who watch. */
static void check_automaton(const gufo_vocab *v, gufo_str text)
{
    const gufo_tokenize_options watched = {.watch = write_step, .watch_context = &(gufo_text){0}};
    gufo_ids quick = {0}, slow = {0};
    gufo_error error;

    check_ok(gufo_tokenize(v, text, NULL, &quick, &error), &error, "with the automaton");
    check_ok(gufo_tokenize(v, text, &watched, &slow, &error), &error, "without");
    check_u64(quick.count, slow.count, "ids");
    assert_memory_equal(quick.ids, slow.ids, slow.count * sizeof *slow.ids);
    gufo_text_free(watched.watch_context);
    gufo_ids_free(&quick);
    gufo_ids_free(&slow);
}

/* Every combination of flags; tokens that a text has in part, or whole: a long one, one that the
 * automaton does not take, and one that may be copied up to the middle of a character. */
static void test_automaton(void **state)
{
    static char longest[301], longer[101];
    const token_row more[] = {{longer, 1, -1}, {longest, 1, -1}, {"\xc3\xa9x", 4, 0}};
    uint64_t random = 11;

    (void)state;
    memset(longest, 'b', sizeof longest - 1);
    for (size_t i = 0; i < sizeof longer - 1; i++)
        longer[i] = (char)('a' + random_next(&random) % 3);
    for (unsigned i = 0; i < 8 * COUNT_OF(more); i++) {
        settings s = {.prefix = (i & 1) != 0, .remove_extra = (i & 2) != 0, .map = (i & 4) != 0};
        gufo_vocab *v = open_more("t5", &more[i / 8], 1, s);
        gufo_text all = {0};

        for (unsigned n = 0; n < 400; n++) {
            gufo_text text = random_text(stretches, COUNT_OF(stretches), &random);
            size_t part = 100 - (size_t)(random_next(&random) % 200) % 100;

            /* A letter keeps characters, and runs of spaces, apart. */
            assert_true(text_add(&all, "a a", 3) && text_add(&all, text.data, text.len) &&
                        text_add(&all, longer, part));
            gufo_text_free(&text);
        }
        check_automaton(v, (gufo_str){all.data, all.len});
        gufo_text_free(&all);
        gufo_vocab_free(v);
    }
}

/* Tokens of two letters, of which no two texts have the same sums: there are ever more states. */
static void test_too_many_states(void **state)
{
    enum { TOKENS = 600, SIZE = 150000 };
    static char texts[TOKENS][12], text[SIZE];
    static token_row made[TOKENS + 3] = {{"<unk>", 2, 0}, {SPACE, 1, -3}, {"b", 1, -9}};
    vocab_maker m = vocab_maker_new("t5");
    uint64_t random = 5;
    gufo_vocab *v;

    (void)state;
    for (unsigned i = 0; i < TOKENS; i++) {
        for (unsigned at = 0; at < 2 + i % 9; at++)
            texts[i][at] = (char)('a' + random_next(&random) % 2);
        made[i + 3] = (token_row){texts[i], 1, -(float)(2000 + random_next(&random) % 4000) / 512};
    }
    for (size_t i = 0; i < SIZE; i++)
        text[i] = "ab"[random_next(&random) % 2];
    vocab_maker_tokens(&m, made, TOKENS + 3);
    put_settings(&m, (settings){0});
    v = open_made(&m, 0);
    check_automaton(v, (gufo_str){text, SIZE});
    gufo_vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spaces),     cmocka_unit_test(test_map),
        cmocka_unit_test(test_path),       cmocka_unit_test(test_user_defined),
        cmocka_unit_test(test_original),   cmocka_unit_test(test_replit),
        cmocka_unit_test(test_no_unknown), cmocka_unit_test(test_damaged_map),
        cmocka_unit_test(test_steps),      cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_automaton),  cmocka_unit_test(test_too_many_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
