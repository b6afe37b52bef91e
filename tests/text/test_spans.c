/* Spans: the bytes of a text that tokens cover, in every algorithm. */
#include "encoding.h"
#include "reference.h"
#include "support/allocator.h"
#include "support/pace.h"

#include "gufo/text.h"

#define SPACE "\xe2\x96\x81"
#define E_ACUTE "\xc3\xa9"
#define ACUTE "\xcc\x81"
#define SUN "\xe6\x97\xa5"

/* ---- one text ------------------------------------------------------------------------------- */

static void write_span(gufo_text *out, gufo_span span)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%s%llu-%llu", out->len > 0 ? " " : "",
                       (unsigned long long)span.begin, (unsigned long long)span.end);

    assert_true(text_add(out, text, (size_t)len));
}

static void write_spans(gufo_text *out, const gufo_ids *ids)
{
    out->len = 0;
    assert_true(text_reserve(out, 1));
    for (size_t i = 0; i < ids->count; i++)
        write_span(out, ids->spans[i]);
}

static void write_event(void *context, const gufo_tokenize_event *event)
{
    bool added = event->kind == GUFO_TOKENIZE_SPECIAL && event->span.end == 0;

    if ((event->kind == GUFO_TOKENIZE_TOKEN || event->kind == GUFO_TOKENIZE_SPECIAL) && !added)
        write_span(context, event->span);
}

/* Byte by byte, twice: the second text counts from 0 again. */
static void check_fed(const gufo_vocab *v, gufo_str text, uint32_t flags, const char *expected)
{
    const gufo_tokenize_options options = {.flags = flags};
    gufo_error error = no_error();
    gufo_tokenizer *t = gufo_tokenizer_new(v, &options, &error);
    gufo_text got = {0};
    gufo_ids ids = {0};

    for (int round = 0; round < 2; round++) {
        ids.count = 0;
        for (size_t i = 0; i < text.len; i++)
            check_ok(gufo_tokenizer_feed(t, (gufo_str){text.data + i, 1}, &ids, &error), &error,
                     "%s", expected);
        check_ok(gufo_tokenizer_end(t, &ids, &error), &error, "%s", expected);
        write_spans(&got, &ids);
        check_str(((gufo_str){got.data, got.len}), expected, "round %d", round);
    }
    gufo_text_free(&got);
    gufo_ids_free(&ids);
    gufo_tokenizer_free(t);
}

/* The spans of a text, "0-5 5-6": whole, in parts, and of the steps; ids are those without spans. */
static void check_bytes(const gufo_vocab *v, gufo_str text, uint32_t flags, const char *expected)
{
    gufo_text got = {0}, events = {0};
    gufo_tokenize_options options = {.flags = flags | GUFO_TOKENIZE_SPANS};
    gufo_ids ids = {0}, plain = {0};
    gufo_error error = no_error();

    check_ok(gufo_tokenize(v, text, &options, &ids, &error), &error, "%s", expected);
    write_spans(&got, &ids);
    check_str(((gufo_str){got.data, got.len}), expected, "spans of \"%.*s\"", (int)text.len,
              text.data);
    check_fed(v, text, options.flags, expected);
    options = (gufo_tokenize_options){
        .flags = flags & ~1u, .watch = write_event, .watch_context = &events};
    check_ok(gufo_tokenize(v, text, &options, &plain, &error), &error, "%s", expected);
    if ((flags & GUFO_TOKENIZE_ADD_SPECIAL) == 0)
        check_str(((gufo_str){events.len > 0 ? events.data : "", events.len}), expected,
                  "spans of steps");
    plain.count = 0;
    options = (gufo_tokenize_options){.flags = flags};
    check_ok(gufo_tokenize(v, text, &options, &plain, &error), &error, "%s", expected);
    check_u64(plain.count, ids.count, "ids of \"%.*s\"", (int)text.len, text.data);
    assert_memory_equal(plain.ids, ids.ids, ids.count * sizeof *ids.ids);
    gufo_text_free(&got);
    gufo_text_free(&events);
    gufo_ids_free(&ids);
    gufo_ids_free(&plain);
}

#define check_spans(vocab, text, expected) check_bytes(vocab, gufo_str_of(text), 2, expected)

/* A list that had spans has none of ids that were added without them. */
static void check_plain(const gufo_vocab *v, const char *text)
{
    const gufo_tokenize_options with = {.flags = GUFO_TOKENIZE_SPANS}, without = {0};
    gufo_ids ids = {0};
    gufo_error error = no_error();

    for (int i = 0; i < 3; i++)
        check_ok(gufo_tokenize(v, gufo_str_of(text), &with, &ids, &error), &error, "%s", text);
    ids.count = 0;
    check_ok(gufo_tokenize(v, gufo_str_of(text), &without, &ids, &error), &error, "%s", text);
    check_ok(gufo_tokenize_prompt(v, gufo_str_of(text), NULL, &ids, &error), &error, "%s", text);
    check(ids.count > 0 && ids.spans != NULL, "%s", text);
    for (size_t i = 0; i < ids.count; i++)
        check(ids.spans[i].begin == 0 && ids.spans[i].end == 0, "%s: span %zu", text, i);
    gufo_ids_free(&ids);
}

/* ---- SPM ------------------------------------------------------------------------------------ */

static const token_row spm_rows[] = {
    {SPACE, 1, -9}, {"a", 1, -9},          {"b", 1, -9},         {SPACE "a", 1, -1},
    {"ab", 1, -2},  {SPACE "ab", 1, -0.5}, {E_ACUTE, 1, -9},     {"<s>", 3, 0},
    {"<u>", 4, 0},  {"b" E_ACUTE, 1, -3},  {SPACE SPACE, 1, -4},
};

static gufo_vocab *open_spm(bool prefix)
{
    vocab_maker m = vocab_maker_new("llama");

    vocab_maker_with_bytes(&m, spm_rows, COUNT_OF(spm_rows));
    vocab_maker_id(&m, "bos_token_id", 256 + 7);
    vocab_maker_bool(&m, "add_space_prefix", prefix);
    return open_made(&m, 0);
}

static void test_spm(void **state)
{
    gufo_vocab *v = open_spm(true);

    (void)state;
    check_spans(v, "", "");
    check_spans(v, "ab ab", "0-2 2-5"); /* the space that is put before comes from none */
    check_spans(v, "a  b", "0-1 1-3 3-4");
    check_spans(v, "a b" E_ACUTE, "0-1 1-2 2-5");
    check_spans(v, E_ACUTE "a", "0-2 0-2 2-3"); /* it is a token: that of the first character */
    check_spans(v, "a" SUN "b", "0-1 1-4 1-4 1-4 4-5"); /* bytes cover their character */
    check_spans(v, "a<s>ab", "0-1 1-4 4-6");
    check_spans(v, "a<u> a", "0-1 1-4 4-5 4-6"); /* a space is put before the space */
    check_spans(v, "<s>", "0-3");
    check_bytes(v, gufo_str_of("ab"), 3, "0-0 0-2"); /* BOS */
    check_bytes(v, gufo_str_of("a<s>"), 0, "0-1 1-2 2-3 3-4");
    check_bytes(v, (gufo_str){"a\xe6\x97 b", 5}, 0, "0-1 1-2 2-3 3-4 3-4 3-4 4-5");
    check_plain(v, "ab ab");
    gufo_vocab_free(v);
    v = open_spm(false);
    check_spans(v, "ab ab", "0-2 2-5");
    check_spans(v, SPACE "ab", "0-5"); /* U+2581 itself */
    gufo_vocab_free(v);
}

/* ---- BPE ------------------------------------------------------------------------------------ */

static const char *const bpe_merges[] = {"a b", "\xc4\xa0 ab", "\xc3\x83 \xc2\xa9"};

static gufo_vocab *open_bpe(const char *pre, const char *architecture, uint32_t flags)
{
    static const token_row rows[] = {
        {"a", 1, 0},
        {"b", 1, 0},
        {"ab", 1, 0},
        {"\xc4\xa0", 1, 0},
        {"\xc4\xa0"
         "ab",
         1, 0},
        {"\xc3\x83", 1, 0},
        {"\xc2\xa9", 1, 0},
        {"\xc3\x83\xc2\xa9", 1, 0},
        {"\xc3\xa6", 1, 0},
        {"\xc4\xb9", 1, 0},
        {"\xc2\xa5", 1, 0},
        {"<s>", 3, 0},
        {"\xc4\xb1", 1, 0},
    };
    vocab_maker m = vocab_maker_new("gpt2");

    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_texts(&m, "merges", bpe_merges, COUNT_OF(bpe_merges));
    vocab_maker_text(&m, "pre", pre);
    if (architecture != NULL)
        vocab_maker_key(&m, "general.architecture", architecture);
    return open_made(&m, flags);
}

static void test_bpe(void **state)
{
    gufo_vocab *v = open_bpe("gpt-2", NULL, 0);

    (void)state;
    check_spans(v, "ab ab", "0-2 2-5");
    check_spans(v, "a" E_ACUTE "b", "0-1 1-3 3-4");
    check_spans(v, "a<s>ab", "0-1 1-4 4-6");
    check_spans(v, SUN, "0-3 0-3 0-3"); /* bytes cover their character */
    check_spans(v, "azb", "0-1 2-3");   /* a byte without token */
    gufo_vocab_free(v);
}

/* The original of GPT-NeoX puts text in form NFC: a character has the span of the first one of those that it
 * was composed of. */
static void test_composed(void **state)
{
    gufo_vocab *v = open_bpe("default", "gptneox", GUFO_VOCAB_ORIGINAL);

    (void)state;
    check_spans(v, "ae" ACUTE "b", "0-1 1-2 4-5");
    check_spans(v, "ab" E_ACUTE "b", "0-2 2-4 4-5");
    gufo_vocab_free(v);
}

/* BPE of characters, with U+2581 for spaces; what is not a token becomes bytes. */
static void test_characters(void **state)
{
    static const char *const merges[] = {"a b", SPACE " ab"};
    static const token_row rows[] = {
        {"a", 1, 0},        {"b", 1, 0},    {"ab", 1, 0}, {SPACE, 1, 0},
        {SPACE "ab", 1, 0}, {"\n\n", 1, 0}, {"\n", 1, 0},
    };
    vocab_maker m = vocab_maker_new("gemma4");
    gufo_vocab *v;

    (void)state;
    vocab_maker_with_bytes(&m, rows, COUNT_OF(rows));
    vocab_maker_texts(&m, "merges", merges, COUNT_OF(merges));
    v = open_made(&m, 0);
    check_spans(v, "ab ab", "0-2 2-5");
    check_spans(v, "a" SUN " ab\n\n", "0-1 1-4 1-4 1-4 4-7 7-9");
    check_bytes(v, (gufo_str){"a\xe6 ab", 5}, 0, "0-1 1-2 1-2 1-2 2-5"); /* U+FFFD, one byte */
    gufo_vocab_free(v);
}

/* ---- WPM ------------------------------------------------------------------------------------ */

static gufo_vocab *open_wpm(uint32_t flags)
{
    static const token_row rows[] = {
        {"[UNK]", 3, 0},          {"[CLS]", 3, 0},    {"[SEP]", 3, 0},   {SPACE "hello", 1, 0},
        {SPACE "he", 1, 0},       {"llo", 1, 0},      {"s", 1, 0},       {SPACE ",", 1, 0},
        {SPACE "e", 1, 0},        {"e", 1, 0},        {SPACE SUN, 1, 0}, {"i", 1, 0},
        {SPACE "\xcf\x83", 1, 0}, {"\xcf\x82", 1, 0}, {SPACE "i", 1, 0},
    };
    vocab_maker m = vocab_maker_new("bert");

    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_id(&m, "unknown_token_id", 0);
    vocab_maker_id(&m, "bos_token_id", 1);
    vocab_maker_id(&m, "seperator_token_id", 2);
    return open_made(&m, flags);
}

static void test_wpm(void **state)
{
    for (uint32_t flags = 0; flags <= GUFO_VOCAB_ORIGINAL; flags++) {
        gufo_vocab *v = open_wpm(flags);

        check_spans(v, "  HELLOs,  he", "2-7 7-8 8-9 11-13");
        check_spans(v, "heh he", "0-3 4-6"); /* an unknown word */
        check_spans(v, "e" E_ACUTE "e", "0-1 1-3 3-4");
        check_spans(v, "ee" ACUTE " e", "0-1 1-2 5-6"); /* the accent goes */
        check_spans(v, "e" SUN SUN "e", "0-1 1-4 4-7 7-8");
        check_spans(v, "he[SEP]he", "0-2 2-7 7-9");
        check_spans(v,
                    "h\x01"
                    "e e",
                    "0-3 4-5"); /* a control goes */
        check_bytes(v, gufo_str_of("he"), 3, "0-0 0-2 0-0");
        gufo_vocab_free(v);
    }
    (void)state;
}

/* Passes of BERT's own tokenizer: a sigma at the end of a word, a character that becomes two. */
static void test_wpm_original(void **state)
{
    gufo_vocab *v = open_wpm(GUFO_VOCAB_ORIGINAL);

    (void)state;
    check_spans(v, "e \xce\xa3\xce\xa3", "0-1 2-4 4-6");
    check_spans(v, "e \xc4\xb0i", "0-1 2-4 4-5");
    check_spans(v, "e I\xcc\x87i e", "0-1 2-3 5-6 7-8");
    gufo_vocab_free(v);
}

/* Whatever request for memory fails, tokenizing fails, and all memory is freed once. */
static void test_wpm_memory(void **state)
{
    const gufo_str text = gufo_str_of("e \xc4\xb0i e" ACUTE "llo");
    gufo_vocab *v = open_wpm(GUFO_VOCAB_ORIGINAL);
    gufo_status status = GUFO_E_MEMORY;
    counter c;
    gufo_allocator allocator = counter_allocator(&c);
    const gufo_run run = {.allocator = &allocator, .threads = 1};
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_SPANS, .run = &run};
    size_t at = 0;

    (void)state;
    while (status != GUFO_OK) {
        gufo_ids ids = {.allocator = &allocator};
        gufo_error error = no_error();

        counter_init(&c);
        c.fail_at = ++at;
        c.fail_on = true;
        status = gufo_tokenize(v, text, &options, &ids, &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "request %zu: %s", at, error.message);
        gufo_ids_free(&ids);
        check_u64(c.in_use, 0, "request %zu", at);
    }
    check(at > 10, "%zu requests", at);
    gufo_vocab_free(v);
}

/* ---- UGM ------------------------------------------------------------------------------------ */

static gufo_vocab *open_ugm(bool extra)
{
    static const token_row rows[] = {
        {"<unk>", 2, 0}, {SPACE, 1, -3}, {SPACE "ab", 1, -1}, {"a", 1, -4},         {"b", 1, -4},
        {"<s>", 3, 0},   {"XY", 4, 0},   {E_ACUTE, 1, -4},    {SPACE SPACE, 1, -2},
    };
    vocab_maker m = vocab_maker_new("t5");

    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_id(&m, "unknown_token_id", 0);
    vocab_maker_bool(&m, "add_space_prefix", true);
    vocab_maker_bool(&m, "add_eos_token", false);
    vocab_maker_bool(&m, "remove_extra_whitespaces", !extra);
    return open_made(&m, 0);
}

static void test_ugm(void **state)
{
    gufo_vocab *v = open_ugm(false);

    (void)state;
    check_spans(v, "ab  ab ", "0-2 4-6");
    check_spans(v, "ba",
                "0-1 0-1 1-2"); /* the space before a word comes from its first character */
    check_spans(v, "ab zz" SUN "b", "0-2 3-4 3-8 8-9"); /* unknown ones in a row are one */
    check_spans(v, "ab<s>ab", "0-2 2-5 5-7");
    check_spans(v, "abXYb", "0-2 2-4 4-5 4-5");
    check_spans(v, "ab" E_ACUTE "b", "0-2 2-4 4-5");
    check_bytes(v, (gufo_str){"ab\xe6 ab", 6}, 0, "0-2 2-3 4-6"); /* not UTF-8 */
    check_plain(v, "ab ab");
    gufo_vocab_free(v);
    v = open_ugm(true);
    check_spans(v, "ab ab", "0-2 2-5"); /* spaces stay */
    check_spans(v, "ab  b", "0-2 2-4 4-5");
    gufo_vocab_free(v);
}

/* ---- RWKV ----------------------------------------------------------------------------------- */

static void test_rwkv(void **state)
{
    static const token_row rows[] = {{"<s>", 3, 0},
                                     {"a", 1, 0},
                                     {"ab", 1, 0},
                                     {" ab", 1, 0},
                                     {"\\xe6\\x97", 1, 0},
                                     {"\\xa5", 1, 0},
                                     {"\\xa5"
                                      "b",
                                      1, 0},
                                     {"b", 1, 0}};
    vocab_maker m = vocab_maker_new("rwkv");
    gufo_vocab *v;

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_id(&m, "unknown_token_id", 0);
    v = open_made(&m, 0);
    check_spans(v, "ab ab", "0-2 2-5");
    check_spans(v, "a" SUN "b", "0-1 1-4 1-5"); /* parts cover the whole character */
    check_spans(v, "a" SUN SUN, "0-1 1-4 1-4 4-7 4-7");
    check_spans(v, "azb", "0-1 1-2 2-3");
    check_plain(v, "ab ab");
    gufo_vocab_free(v);
}

/* ---- real vocabularies ---------------------------------------------------------------------- */

static gufo_ids encode_long(const gufo_vocab *v, gufo_str text, const gufo_run *run, size_t part)
{
    const gufo_tokenize_options options = {
        .flags = GUFO_TOKENIZE_PARSE_SPECIAL | GUFO_TOKENIZE_SPANS, .run = run};
    gufo_error error = no_error();
    gufo_tokenizer *t = gufo_tokenizer_new(v, &options, &error);
    gufo_ids ids = {0};

    for (size_t at = 0, size; at < text.len; at += size) {
        size = part < text.len - at ? part : text.len - at;
        check_ok(gufo_tokenizer_feed(t, (gufo_str){text.data + at, size}, &ids, &error), &error,
                 "feed");
    }
    check_ok(gufo_tokenizer_end(t, &ids, &error), &error, "end");
    gufo_tokenizer_free(t);
    return ids;
}

static void check_same(const gufo_ids *a, const gufo_ids *b, const char *name)
{
    check_u64(a->count, b->count, "%s", name);
    assert_memory_equal(a->ids, b->ids, a->count * sizeof *a->ids);
    assert_memory_equal(a->spans, b->spans, a->count * sizeof *a->spans);
}

/* Spans follow each other, begin and end with characters, and leave out no letter. */
static void check_order(const gufo_ids *ids, gufo_str text, const char *name)
{
    uint64_t end = 0;

    for (size_t i = 0; i < ids->count; i++) {
        gufo_span span = ids->spans[i];

        check(span.begin <= span.end && span.end <= text.len && span.end >= end, "%s: span %zu",
              name, i);
        check(span.begin == text.len || ((uint8_t)text.data[span.begin] & 0xC0) != 0x80,
              "%s: begin %zu", name, i);
        check(span.end == text.len || ((uint8_t)text.data[span.end] & 0xC0) != 0x80, "%s: end %zu",
              name, i);
        for (; end < span.begin; end++)
            check((uint8_t)text.data[end] <= ' ' || (uint8_t)text.data[end] >= 0x7F,
                  "%s: byte %llu", name, (unsigned long long)end);
        end = span.end;
    }
}

static void add_line(void *context, const json_t *line)
{
    gufo_text *all = context;
    gufo_str text = text_of(line, "text");

    if (text.data != NULL)
        assert_true(text_add(all, text.data, text.len) && text_add(all, "\n", 1));
}

enum { LONG_TEXT = 300000 }; /* bytes: more than two parts of the work of threads */

/* Threads, and parts of any size, make no difference. */
static void test_reference(void **state)
{
    const gufo_run run = {.threads = 4};
    gufo_text all = {0};

    (void)state;
    skip_if_emulated();
    each_line(need_shared("data/text/tokens/llama-spm.jsonl").text, add_line, &all);
    while (all.len < LONG_TEXT)
        assert_true(text_reserve(&all, all.len) && text_add(&all, all.data, all.len));
    for (size_t i = 0; i < all_some_or_few(REFERENCE_VOCABULARIES, REFERENCE_WAYS, 0); i++) {
        const char *name = reference_vocabularies[i];
        gufo_vocab *v = open_reference(name, NULL);
        gufo_str text = {all.data, LONG_TEXT};
        gufo_ids whole = encode_long(v, text, NULL, SIZE_MAX);
        gufo_ids shared = encode_long(v, text, &run, SIZE_MAX);
        gufo_ids parts = encode_long(v, text, NULL, 5077);

        check_order(&whole, text, name);
        check_same(&whole, &shared, name);
        check_same(&whole, &parts, name);
        gufo_ids_free(&whole);
        gufo_ids_free(&shared);
        gufo_ids_free(&parts);
        gufo_vocab_free(v);
    }
    gufo_text_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spm),        cmocka_unit_test(test_bpe),
        cmocka_unit_test(test_composed),   cmocka_unit_test(test_characters),
        cmocka_unit_test(test_wpm),        cmocka_unit_test(test_wpm_original),
        cmocka_unit_test(test_wpm_memory), cmocka_unit_test(test_ugm),
        cmocka_unit_test(test_rwkv),       cmocka_unit_test(test_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
