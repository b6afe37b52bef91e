/* Pre-tokenizers: the pieces of texts, and where a text may be cut. */
#include "support/pace.h"
#include "../support/builder.h"
#include "../support/check.h"
#include "../support/json.h"
#include "../support/shared.h"

#include "base/memory.h"
#include "gufo/schema.h"
#include "text/pretokenizers/pre_rules.h"
#include "text/pretokenizers/pretokenizer.h"
#include "text/characters/characters.h"

/* ---- running one ----------------------------------------------------------------------------- */

typedef struct cutter {
    pretokenizer *p;
    pre_scratch *scratch;
    size_t pieces[4096];
    size_t count;
} cutter;

static void cutter_open(cutter *c, const char *shape)
{
    gufo_error error = {0};

    c->p = pretokenizer_new(shape, &default_allocator, &error);
    check(c->p != NULL, "%s: %s", shape, error.message);
    c->scratch = pre_scratch_new(c->p, &default_allocator, &error);
    check(c->scratch != NULL, "%s: %s", shape, error.message);
}

static void cutter_close(cutter *c)
{
    pre_scratch_free(c->scratch);
    pretokenizer_free(c->p);
}

static gufo_status take_piece(void *context, gufo_str piece, gufo_error *error)
{
    cutter *c = context;

    (void)error;
    check(c->count < COUNT_OF(c->pieces), "too many pieces");
    c->pieces[c->count++] = piece.len;
    return GUFO_OK;
}

/* Appends the lengths of the pieces. */
static void cut(cutter *c, gufo_str text)
{
    gufo_error error = {0};

    check(pretokenizer_run(c->scratch, text, take_piece, c, &error) == GUFO_OK, "%s",
          error.message);
}

/* ---- expected pieces ------------------------------------------------------------------------ */

static void check_line(cutter *c, const json_value *line, const json_value *expected,
                       const char *label, uint64_t number)
{
    size_t i = 0;

    c->count = 0;
    cut(c, json_at(line, "text")->text);
    for (const json_value *v = expected->inside; v != NULL; v = v->next, i++)
        check(i < c->count && (double)c->pieces[i] == json_number(v),
              "%s, line %" PRIu64 ", piece %zu", label, number, i);
    check_u64(c->count, i, "%s, line %" PRIu64, label, number);
}

static void check_name(gufo_str name, const json_document *lines)
{
    const pre_rules *rules = pre_rules_find(name);
    cutter c = {0};
    uint64_t number = 1;

    check(rules != NULL, "%.*s", (int)name.len, name.data);
    cutter_open(&c, rules->shape);
    for (const json_value *line = lines->root->inside; line != NULL; line = line->next)
        check_line(&c, line, json_at(line, "pieces"), rules->name, number++);
    cutter_close(&c);
}

static void test_expected_pieces(void **state)
{
    path_text index_path = need_shared("data/text/tokens_pre/index.json");
    json_document index = json_load(index_path.text);
    uint64_t files = 0;

    (void)state;
    for (const json_value *file = json_at(index.root, "files")->inside; file != NULL;
         file = file->next, files++) {
        char name[128];
        path_text path;

        (void)snprintf(name, sizeof name, "data/text/tokens_pre/%.*s.jsonl", (int)file->name.len,
                       file->name.data);
        path = need_shared(name);
        json_document lines = json_load_lines(path.text);
        for (const json_value *pre = json_at(file, "pre_names")->inside; pre != NULL;
             pre = pre->next)
            check_name(pre->text, &lines);
        json_unload(&lines);
    }
    check(files > 20, "%" PRIu64 " files", files);
    json_unload(&index);
}

/* Pieces of the tokenizer that models were trained with, where they are others. */
static void test_original_pieces(void **state)
{
    static const char shape[] = "deepseek-coder-original";
    json_document lines =
        json_load_lines(need_shared("data/text/tokens_pre/deepseek-coder.jsonl").text);
    uint64_t number = 1, others = 0;
    cutter c = {0};

    (void)state;
    cutter_open(&c, shape);
    for (const json_value *line = lines.root->inside; line != NULL; line = line->next, number++) {
        const json_value *original = json_find(line, "alt_pieces");

        others += original != NULL;
        check_line(&c, line, original != NULL ? original : json_at(line, "pieces"), shape, number);
    }
    check_u64(others, 9, "lines where they are others");
    cutter_close(&c);
    json_unload(&lines);
}

/* ---- what needs no expected results --------------------------------------------------------- */

/* Each name that the registry knows has rules, whose expressions PCRE2 takes. */
static void test_all_names(void **state)
{
    const gufo_pretokenizer *row;
    size_t count = 0;

    (void)state;
    for (; (row = gufo_pretokenizer_at(count)) != NULL; count++) {
        const pre_rules *rules = pre_rules_find(gufo_str_of(row->id));
        cutter c = {0};

        check(rules != NULL, "%s", row->id);
        cutter_open(&c, rules->shape);
        cutter_close(&c);
    }
    check(count > 80, "%zu names", count);
    check(pre_rules_find(gufo_str_of("no such name")) == NULL, "a name that does not exist");
    check(pre_rules_find(gufo_str_of("")) == NULL, "an empty name");
}

typedef struct made_text {
    const char *name, *text;
    const char *pieces; /* with | between */
} made_text;

#define BAD "\xef\xbf\xbd"

static const made_text made_texts[] = {
    {"gpt-2", "it's 1234  items\n\n end", "it|'s| 1234| | items|\n\n| end"},
    {"gpt-2", "a  ", "a|  "},
    {"llama-bpe", "It'S 1234!!\n\n  x", "It|'S| |123|4|!!\n\n| | x"},
    {"qwen2", "x12 \r\n y", "x|1|2| \r\n| y"},
    {"starcoder", "a12 b", "a|1|2| b"},
    {"falcon", "$12345 ok", "$|123|45| ok"},
    {"default", "a-b 1234", "a|-|b| |123|4"},
    {"deepseek-v3", "1234\u6f22\u5b57abc!x", "123|4|\u6f22\u5b57|abc|!x"},
    {"deepseek-llm", "\u05d0 \u05d1\u05d2 a", "\u05d0 \u05d1\u05d2| a"},
    {"tiny_aya", "x1234567", "x|1|234|567"},
    {"superbpe", "ab 1234567 c", "ab |1|234|567| c"},
    {"kimi-k2", "\u6f22\u5b57abc \u3005", "\u6f22\u5b57|abc| \u3005"},
    {"gemma4", "a b\n\n c", "a b|\n\n| c"},
    {"chameleon", "a<sentinel:12>IMGIMGABZ  ", "a|<|sentinel|:|1|2|>|IMGIMGABZ|  "},
    {"bloom", "a, b.", "a|,| b|."},
    /* Characters of Unicode 15: a letter, a number, a sign. */
    {"gpt-2", "\U0001E4D0a\U0001E4F0\U0001FAE8", "\U0001E4D0a|\U0001E4F0|\U0001FAE8"},
    /* White space: U+2028, but not U+180E nor U+200B. */
    {"gpt-2", "a\u2028\u2028", "a|\u2028\u2028"},
    {"gpt-2", "!\u180e\u200b", "!\u180e\u200b"},
    /* Bytes that are not UTF-8 are U+FFFD, overlong letters are letters, surrogates stay. */
    {"gpt-2", "a\xff\xfe z", "a|" BAD BAD "| z"},
    {"gpt-2", "\xc1\xa1 b", "a| b"},
    {"gpt-2", "\xed\xa0\x80 b\xe4\xbd", "\xed\xa0\x80| b|" BAD BAD},
    {"gpt-2", "\xf7\xbf\xbf\xbf", BAD},
};

static gufo_status join_piece(void *context, gufo_str piece, gufo_error *error)
{
    char *joined = context;

    (void)error;
    (void)snprintf(joined + strlen(joined), 256 - strlen(joined), "%s%.*s", *joined != 0 ? "|" : "",
                   (int)piece.len, piece.data);
    return GUFO_OK;
}

static void test_made_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(made_texts); i++) {
        const made_text *made = &made_texts[i];
        const pre_rules *rules = pre_rules_find(gufo_str_of(made->name));
        char joined[256] = "";
        cutter c = {0};
        gufo_error error;

        cutter_open(&c, rules->shape);
        check(pretokenizer_run(c.scratch, gufo_str_of(made->text), join_piece, joined, &error) ==
                  GUFO_OK,
              "%s", error.message);
        check_str(gufo_str_of(joined), made->pieces, "%s: text %zu", made->name, i);
        cutter_close(&c);
    }
}

/* ---- cuts ----------------------------------------------------------------------------------- */

/* Characters of all classes that expressions tell apart, and bytes that are not UTF-8. */
static const char *const letters[] = {
    "a",      "Z",      "s",          "'",      " ",      " ",      "\n",     "\r",       "\t",
    "1",      "7",      "!",          "~",      ",",      "(",      "/",      "\u00e9",   "\u6f22",
    "\u3042", "\uff0c", "\u3002",     "\u0301", "\u05d0", "\u0e01", "\u00a0", "\u3000",   "\u0663",
    "\u20ac", "\u2028", "\U0001f600", "\uac00", "\u200b", "\xe4",   "\x80",   "\xf0\x9f",
};

/* Whether the pieces of both halves, one after the other, are those of the whole. */
static void check_cut(cutter *c, gufo_str text, size_t at, const char *name)
{
    size_t whole[64], count;

    c->count = 0;
    cut(c, text);
    count = c->count;
    check(count <= COUNT_OF(whole), "%zu pieces", count);
    memcpy(whole, c->pieces, count * sizeof *whole);
    c->count = 0;
    cut(c, (gufo_str){text.data, at});
    cut(c, (gufo_str){text.data + at, text.len - at});
    check(c->count == count && memcmp(whole, c->pieces, count * sizeof *whole) == 0,
          "%s: \"%.*s\" differs if it is cut at %zu", name, (int)text.len, text.data, at);
}

/* Every place where a part of the text could be cut.  Returns how many there are. */
static unsigned check_cuts(cutter *c, gufo_str text, const char *name)
{
    unsigned found = 0;
    size_t last = 0;

    for (size_t len = 1; len <= text.len; len++) {
        size_t at = pretokenizer_cut(c->p, (gufo_str){text.data, len});

        check(at < len && at >= last, "%s: cut at %zu of %zu", name, at, len);
        if (at > last) {
            check_cut(c, text, at, name);
            found++;
        }
        last = at;
    }
    return found;
}

static size_t random_text(char *out, uint64_t *random, size_t most)
{
    size_t count = (size_t)random_next(random) % most + 2, len = 0;

    for (size_t i = 0; i < count; i++) {
        const char *letter = letters[random_next(random) % COUNT_OF(letters)];

        memcpy(out + len, letter, strlen(letter));
        len += strlen(letter);
    }
    return len;
}

static void check_random_cuts(cutter *c, const char *name)
{
    uint64_t random = 1;
    unsigned found = 0;

    for (int n = 0; n < (int)all_some_or_few(300, 60, 20); n++) {
        char text[256];
        size_t len = random_text(text, &random, n % 2 == 0 ? 4 : 20);

        found += check_cuts(c, (gufo_str){text, len}, name);
    }
    check(found > 0, "%s: texts are never cut", name);
}

/* All texts of three characters; with sanitizers some, the plain build tries all. */
static void check_short_cuts(cutter *c, const char *name)
{
    const size_t count = COUNT_OF(letters), step = all_some_or_few(1, 7, 41);

    for (size_t n = 0; n < count * count * count; n += step) {
        char text[32];
        int len = snprintf(text, sizeof text, "%s%s%s", letters[n % count],
                           letters[n / count % count], letters[n / count / count]);
        size_t at = pretokenizer_cut(c->p, (gufo_str){text, (size_t)len});

        if (at > 0)
            check_cut(c, (gufo_str){text, (size_t)len}, at, name);
    }
}

static void check_shape(const char *shape)
{
    cutter c = {0};

    cutter_open(&c, shape);
    check_random_cuts(&c, shape);
    check_short_cuts(&c, shape);
    cutter_close(&c);
}

/* For each shape once. */
static void test_cuts(void **state)
{
    const gufo_pretokenizer *row;
    char seen[2048] = "|";

    (void)state;
    for (size_t i = 0; (row = gufo_pretokenizer_at(i)) != NULL; i++) {
        const pre_rules *rules = pre_rules_find(gufo_str_of(row->id));
        char shape[64];

        (void)snprintf(shape, sizeof shape, "|%s|", rules->shape);
        if (strstr(seen, shape) != NULL)
            continue;
        (void)strcat(seen, shape + 1);
        check_shape(rules->shape);
    }
    check_shape("deepseek-coder-original");
    check_shape("deepseek-llm-original");
}

/* ---- long texts ----------------------------------------------------------------------------- */

static gufo_status count_piece(void *context, gufo_str piece, gufo_error *error)
{
    (void)error;
    *(uint64_t *)context += piece.len;
    return GUFO_OK;
}

/* Long runs of one character, which must neither be slow nor need much stack. */
static void test_long_runs(void **state)
{
    static const char runs[] = "a 1~\n'A";
    enum { LONG = 200000 };
    const gufo_pretokenizer *row;
    char *text;

    (void)state;
    skip_if_emulated();
    text = malloc(LONG);
    assert_non_null(text);
    for (size_t i = 0; (row = gufo_pretokenizer_at(i)) != NULL; i++) {
        cutter c = {0};

        cutter_open(&c, pre_rules_find(gufo_str_of(row->id))->shape);
        for (const char *run = runs; *run != 0; run++) {
            uint64_t bytes = 0;
            gufo_error error;

            memset(text, *run, LONG);
            check(pretokenizer_run(c.scratch, (gufo_str){text, LONG}, count_piece, &bytes,
                                   &error) == GUFO_OK,
                  "%s: %s", row->id, error.message);
            check_u64(bytes, LONG, "%s: bytes in pieces", row->id);
        }
        cutter_close(&c);
    }
    free(text);
}

/* ---- characters ----------------------------------------------------------------------------- */

static const struct class_case {
    uint32_t code_point;
    character_class class;
} class_cases[] = {
    {0, CLASS_C},
    {9, CLASS_W},
    {0x1C, CLASS_C},
    {' ', CLASS_W},
    {'a', CLASS_L},
    {'5', CLASS_N},
    {'~', CLASS_S},
    {'_', CLASS_P},
    {0x85, CLASS_W},
    {0xA0, CLASS_W},
    {0xAD, CLASS_C},
    {0x300, CLASS_M},
    {0x378, CLASS_OTHER},
    {0xCF3, CLASS_M},
    {0x180E, CLASS_C},
    {0x200B, CLASS_C},
    {0x2028, CLASS_W},
    {0x3000, CLASS_W},
    {0x3005, CLASS_L},
    {0xD800, CLASS_C},
    {0xE000, CLASS_C},
    {0x11F50, CLASS_N},
    {0x13439, CLASS_C},
    {0x2EBF0, CLASS_L},
    {0x2EE5E, CLASS_OTHER},
    {0x1FAE8, CLASS_S},
    {0x11B00, CLASS_P},
    {0x10FFFF, CLASS_OTHER},
    {0x110000, CLASS_OTHER},
    {UINT32_MAX, CLASS_OTHER},
};

static void test_classes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(class_cases); i++)
        check_u64(class_of(class_cases[i].code_point), class_cases[i].class, "U+%04" PRIX32,
                  class_cases[i].code_point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),         cmocka_unit_test(test_all_names),
        cmocka_unit_test(test_made_texts),      cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_long_runs),       cmocka_unit_test(test_expected_pieces),
        cmocka_unit_test(test_original_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
