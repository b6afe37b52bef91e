/* Ids to text: pieces, first space, BOS and EOS, clean-up, characters in parts; real vocabularies. */
#include "support/pace.h"
#include "reference.h"

#include "support/allocator.h"

#include "gufo/print.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

/* ---- made vocabularies ---------------------------------------------------------------------- */

enum { MOST_TOKENS = 300, MOST_BYTES = 4096 };

typedef struct token_row {
    const char *text;
    uint32_t attributes;
} token_row;

/* What decoding looks at. */
typedef struct made_vocab {
    gufo_vocab vocab;
    char bytes[MOST_BYTES];
    uint32_t starts[MOST_TOKENS + 1];
    uint16_t attributes[MOST_TOKENS];
} made_vocab;

static void *resize(void *context, void *block, size_t size)
{
    (void)context;
    if (size > 0)
        return realloc(block, size);
    free(block);
    return NULL;
}

static void make(made_vocab *m, const token_algorithm *algorithm)
{
    memset(m, 0, sizeof *m);
    m->vocab = (gufo_vocab){.allocator = {.resize = resize},
                            .texts = {.bytes = m->bytes, .starts = m->starts},
                            .attributes = m->attributes,
                            .algorithm = algorithm,
                            .escape_spaces = algorithm != &algorithm_bpe};
    for (size_t i = 0; i < GUFO_SPECIAL_COUNT; i++)
        m->vocab.special[i] = GUFO_NO_TOKEN;
}

static uint32_t add(made_vocab *m, const char *text, uint32_t attributes)
{
    uint32_t id = m->vocab.size++;
    size_t len = strlen(text);

    assert_true(id < MOST_TOKENS && m->starts[id] + len <= MOST_BYTES);
    memcpy(m->bytes + m->starts[id], text, len);
    m->starts[id + 1] = m->starts[id] + (uint32_t)len;
    m->attributes[id] = (uint16_t)attributes;
    return id;
}

static void check_text(const made_vocab *m, const uint32_t *ids, size_t count, uint32_t flags,
                       const char *expected, const char *label)
{
    gufo_text text = {0};
    gufo_error error;

    check_ok(gufo_detokenize(&m->vocab, ids, count, flags, &text, &error), &error, "%s", label);
    check_str(((gufo_str){text.data, text.len}), expected, "%s", label);
    gufo_text_free(&text);
}

/* ---- pieces --------------------------------------------------------------------------------- */

static void check_piece(const gufo_vocab *v, uint32_t id, gufo_str expected, const char *label)
{
    gufo_text text = {0};
    gufo_error error;

    check_ok(gufo_token_piece(v, id, &text, &error), &error, "%s", label);
    check_view(((gufo_str){text.data, text.len}), expected, "%s", label);
    gufo_text_free(&text);
}

enum {
    AS_STORED = GUFO_TOKEN_CONTROL,
    NORMAL = GUFO_TOKEN_NORMAL,
    BYTE = GUFO_TOKEN_BYTE,
    USER = GUFO_TOKEN_USER_DEFINED
};

typedef struct piece_case {
    const token_algorithm *algorithm;
    bool escapes; /* of BPE */
    const char *text;
    uint32_t attributes;
    const char *piece;
} piece_case;

static void test_pieces(void **state)
{
    static const piece_case cases[] = {
        {&algorithm_spm, false, "▁a▁▁b", NORMAL, " a  b"},
        {&algorithm_wpm, false, "▁a", NORMAL, " a"},
        {&algorithm_ugm, false, "a▁", NORMAL, "a "},
        {&algorithm_bpe, true, "▁a", NORMAL, " a"},
        {&algorithm_spm, false, "\xe2\x96", NORMAL, "\xe2\x96"},
        {&algorithm_spm, false, "▁<s>", AS_STORED, "▁<s>"},
        {&algorithm_spm, false, "▁u", GUFO_TOKEN_UNKNOWN, "▁u"},
        {&algorithm_ugm, false, "▁u", USER, "▁u"},
        {&algorithm_spm, false, "▁u", USER | NORMAL | GUFO_TOKEN_RSTRIP, "▁u"},
        {&algorithm_spm, false, "▁u", NORMAL | BYTE | GUFO_TOKEN_LSTRIP, " u"},
        {&algorithm_spm, false, "<0x41>", BYTE, "A"},
        {&algorithm_spm, false, "<0xfF>", BYTE, "\xff"},
        {&algorithm_bpe, true, "<0x0A>", BYTE, "\n"},
        {&algorithm_bpe, false, "<0xC3>", BYTE, "\xc3"},
        {&algorithm_spm, false, "<0x4", BYTE, "\x04"},
        {&algorithm_wpm, false, "[unused1]", GUFO_TOKEN_UNUSED, ""},
        {&algorithm_bpe, false, "x", 0, ""},
        {&algorithm_bpe, false, "ĠaĊ", NORMAL, " a\n"},
        {&algorithm_bpe, false, "Ġ", AS_STORED, "Ġ"},
        {&algorithm_bpe, false, "õ", USER, "õ"},
        {&algorithm_bpe, false, "õ", NORMAL, "\xf5"},
        {&algorithm_bpe, false, "a€", NORMAL, "a[UNK_BYTE_0xe282aca€]"},
        {&algorithm_bpe, false, "  ", NORMAL, "[UNK_BYTE_0x20  ][UNK_BYTE_0x20  ]"},
        {&algorithm_bpe, false, "\xff", NORMAL, "[UNK_BYTE_0xefbfbd\xff]"},
        {&algorithm_rwkv, false, "a\\tb\\n\\r\\\\\\'\\\"", NORMAL, "a\tb\n\r\\'\""},
        {&algorithm_rwkv, false, "\\xe4\\xBDx", AS_STORED, "\xe4\xbdx"},
        {&algorithm_rwkv, false, "\\x4", BYTE, "x4"},
        {&algorithm_rwkv, false, "a\\", 0, "a\\"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_vocab m;
        uint32_t id;

        make(&m, cases[i].algorithm);
        m.vocab.escape_spaces |= cases[i].escapes;
        id = add(&m, cases[i].text, cases[i].attributes);
        check_piece(&m.vocab, id, gufo_str_of(cases[i].piece), cases[i].text);
    }
}

/* Bytes that show are themselves, all others follow from U+0100 on. */
static void test_alphabet(void **state)
{
    uint32_t next = 0x100;
    made_vocab m;

    (void)state;
    make(&m, &algorithm_bpe);
    for (unsigned byte = 0; byte < 256; byte++) {
        bool shown = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
        uint32_t code_point = shown ? byte : next++;
        char text[3] = {(char)code_point, '\0', '\0'};
        uint32_t id;

        if (code_point >= 0x80) {
            text[0] = (char)(0xc0 | code_point >> 6);
            text[1] = (char)(0x80 | (code_point & 63));
        }
        id = add(&m, text, NORMAL);
        check_piece(&m.vocab, id, (gufo_str){&(char){(char)byte}, 1}, text);
    }
    assert_int_equal(next, 0x144);
}

/* ---- the first and the last id -------------------------------------------------------------- */

static void test_ends(void **state)
{
    const uint32_t skip = GUFO_DETOKENIZE_SKIP_SPECIAL, remove = GUFO_DETOKENIZE_REMOVE_SPECIAL;
    made_vocab m;
    uint32_t bos, eos, a, space, user;

    (void)state;
    make(&m, &algorithm_spm);
    bos = add(&m, "<s>", AS_STORED);
    eos = add(&m, "</s>", AS_STORED);
    a = add(&m, "▁a", NORMAL);
    space = add(&m, "▁▁", NORMAL);
    user = add(&m, " u", USER);
    m.vocab.special[GUFO_SPECIAL_BOS] = bos;
    m.vocab.special[GUFO_SPECIAL_EOS] = eos;
    m.vocab.space_prefix = m.vocab.add_bos = m.vocab.add_eos = true;
    const uint32_t all[] = {bos, a, eos, a, space, eos}, bare[] = {space, a, user},
                   ends[] = {eos, eos}, only[] = {bos}, two[] = {bos, bos, a};

    check_text(&m, all, 6, 0, "<s> a</s> a  </s>", "all");
    check_text(&m, all, 6, skip, " a a  ", "the dropped BOS was the first piece");
    check_text(&m, all, 6, remove, " a</s> a  ", "a removed BOS keeps the space");
    check_text(&m, all, 6, skip | remove, " a a  ", "both");
    check_text(&m, bare, 3, 0, "  a u", "one space of the first piece goes");
    check_text(&m, bare + 1, 2, 0, "a u", "the first piece");
    check_text(&m, bare + 2, 1, 0, "u", "also of a user-defined token");
    check_text(&m, bare + 2, 1, skip, "u", "which is not skipped");
    check_text(&m, ends, 2, remove, "</s>", "the last EOS alone");
    check_text(&m, only, 1, remove, "", "nothing else");
    check_text(&m, two, 3, remove, "<s> a", "the first BOS alone");
    check_text(&m, NULL, 0, remove, "", "no ids");
    m.vocab.add_bos = m.vocab.add_eos = m.vocab.space_prefix = false;
    check_text(&m, all, 6, remove, "<s> a</s> a  </s>", "nothing is added, nothing removed");
    check_text(&m, bare, 1, 0, "  ", "no space is added, none removed");
    m.vocab.add_bos = true;
    m.vocab.special[GUFO_SPECIAL_BOS] = eos;
    check_text(&m, ends, 1, remove, "", "BOS and EOS may be the same");
}

static void test_errors(void **state)
{
    gufo_text text = {0};
    gufo_error error;
    gufo_detokenizer *d;
    made_vocab m;
    uint32_t ids[2];

    (void)state;
    make(&m, &algorithm_spm);
    ids[0] = add(&m, "a", NORMAL);
    ids[1] = 1;
    check_status(gufo_detokenize(&m.vocab, ids, 2, 0, &text, &error), GUFO_E_RANGE, &error, "id");
    check_error_shape(&error, GUFO_E_RANGE, "id");
    check_u64(text.len, 0, "nothing is appended");
    check_status(gufo_token_piece(&m.vocab, GUFO_NO_TOKEN, &text, &error), GUFO_E_RANGE, &error,
                 "piece");
    check_status(gufo_detokenize(&m.vocab, ids, 1, 4, &text, &error), GUFO_E_ARGUMENT, &error,
                 "flags");
    assert_null(gufo_detokenizer_new(&m.vocab, 8, &error));
    check_error_shape(&error, GUFO_E_ARGUMENT, "flags");
    d = gufo_detokenizer_new(&m.vocab, 0, &error);
    assert_non_null(d);
    check_ok(gufo_detokenizer_feed(d, ids, 1, &text, &error), &error, "good");
    check_status(gufo_detokenizer_feed(d, ids, 2, &text, &error), GUFO_E_RANGE, &error, "bad");
    check_ok(gufo_detokenizer_feed(d, ids, 1, &text, &error), &error, "good again");
    check_str(((gufo_str){text.data, text.len}), "aa", "what was good");
    gufo_detokenizer_free(d);
    gufo_detokenizer_free(NULL);
    gufo_text_free(&text);
    gufo_text_free(NULL);
}

/* ---- in parts ------------------------------------------------------------------------------- */

/* How many bytes at the end begin a character that more bytes can finish: by trying. */
static size_t can_be_finished(const char *text, size_t len)
{
    static const char rests[][4] = {"\x80",     "\x80\x80",     "\x80\x80\x80", "\xbf",
                                    "\xbf\x80", "\xbf\x80\x80", "\x90\x80\x80"};

    for (size_t back = 1; back <= 3 && back <= len; back++)
        for (size_t i = 0; i < COUNT_OF(rests); i++) {
            char bytes[8] = {0};
            uint32_t code_point;

            memcpy(bytes, text + len - back, back);
            strcpy(bytes + back, rests[i]);
            if (gufo_utf8_decode(gufo_str_of(bytes), &code_point) == strlen(bytes))
                return back;
        }
    return 0;
}

/* The text of ids that come in parts of random sizes.  `bytes`, of one for each id, are what they
 * give where that is known: then only an unfinished character may be held back. */
static gufo_text in_parts(gufo_detokenizer *d, const uint32_t *ids, size_t count, const char *bytes,
                          uint64_t *random)
{
    gufo_text text = {0};
    gufo_error error;

    for (size_t at = 0, step; at < count; at += step) {
        step = random_next(random) % 4;
        step = step < count - at ? step : count - at;
        check_ok(gufo_detokenizer_feed(d, ids + at, step, &text, &error), &error, "feed");
        if (bytes != NULL)
            check_u64(at + step - text.len, can_be_finished(bytes, at + step), "held back");
    }
    check_ok(gufo_detokenizer_end(d, &text, &error), &error, "end");
    return text;
}

static void check_parts(const gufo_vocab *v, const uint32_t *ids, size_t count, gufo_str expected,
                        bool bytes, uint32_t flags, uint64_t *random, const char *label)
{
    gufo_detokenizer *d = gufo_detokenizer_new(v, flags, NULL);

    assert_non_null(d);
    for (unsigned round = 0; round < 2; round++) { /* a detokenizer serves many texts */
        gufo_text text = in_parts(d, ids, count, bytes ? expected.data : NULL, random);

        check_view(((gufo_str){text.data, text.len}), expected, "%s", label);
        gufo_text_free(&text);
    }
    gufo_detokenizer_free(d);
}

static void test_characters(void **state)
{
    static const uint8_t likely[] = {0x20, 0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xdf,
                                     0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff, 0xc1};
    uint64_t random = 7;
    made_vocab m;

    (void)state;
    make(&m, &algorithm_spm);
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];

        (void)snprintf(text, sizeof text, "<0x%02X>", byte);
        add(&m, text, BYTE);
    }
    for (unsigned round = 0; round < all_some_or_few(500, 200, 25); round++) {
        uint32_t ids[24];
        char bytes[24];

        for (size_t i = 0; i < COUNT_OF(ids); i++) {
            ids[i] = likely[random_next(&random) % COUNT_OF(likely)];
            bytes[i] = (char)ids[i];
        }
        check_parts(&m.vocab, ids, COUNT_OF(ids), (gufo_str){bytes, sizeof bytes}, true, 0, &random,
                    "bytes");
    }
}

/* A character is there as soon as its last byte is. */
static void test_at_once(void **state)
{
    gufo_text text = {0};
    gufo_error error;
    gufo_detokenizer *d;
    made_vocab m;

    (void)state;
    make(&m, &algorithm_spm);
    add(&m, "a\xe2\x82", NORMAL);
    add(&m, "\xac", NORMAL);
    d = gufo_detokenizer_new(&m.vocab, 0, &error);
    assert_non_null(d);
    check_ok(gufo_detokenizer_feed(d, (uint32_t[]){0}, 1, &text, &error), &error, "begun");
    check_str(((gufo_str){text.data, text.len}), "a", "begun");
    check_ok(gufo_detokenizer_feed(d, (uint32_t[]){1}, 1, &text, &error), &error, "finished");
    check_str(((gufo_str){text.data, text.len}), "a€", "finished");
    gufo_detokenizer_free(d);
    gufo_text_free(&text);
}

/* ---- clean-up ------------------------------------------------------------------------------- */

/* Pass by pass over a whole text, as the rules are written. */
static void drop_before_marks(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++)
        if (*at != ' ' || at[1] == '\0' || strchr("?!.,", at[1]) == NULL)
            *to++ = *at;
    *to = '\0';
}

static void drop_around_apostrophes(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++) {
        if (strncmp(at, " ' ", 3) == 0)
            at += 2, *to++ = '\'';
        else
            *to++ = *at;
    }
    *to = '\0';
}

static void drop_before_suffixes(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++)
        if (strncmp(at, " 's", 3) != 0 && strncmp(at, " 'm", 3) != 0 &&
            strncmp(at, " 're", 4) != 0 && strncmp(at, " 've", 4) != 0)
            *to++ = *at;
    *to = '\0';
}

static void test_clean_up(void **state)
{
    static const char *const texts[] = {" ", "'", "s", "m", "r",  "v",  "e",  "?",
                                        ".", ",", "!", "é", " '", "' ", "'r", " ' "};
    uint64_t random = 5;
    made_vocab m;

    (void)state;
    make(&m, &algorithm_wpm);
    m.vocab.clean_spaces = true;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        add(&m, texts[i], USER);
    for (unsigned round = 0; round < all_some_or_few(3000, 600, 150); round++) {
        size_t count = (size_t)random_next(&random) % 30;
        char expected[200] = "";
        uint32_t ids[30];

        for (size_t i = 0; i < count; i++) {
            /* Spaces and apostrophes often. */
            ids[i] = (uint32_t)(random_next(&random) % (round % 2 ? 7 : COUNT_OF(texts)));
            strcat(expected, texts[ids[i]]);
        }
        drop_before_marks(expected);
        drop_around_apostrophes(expected);
        drop_before_suffixes(expected);
        check_text(&m, ids, count, 0, expected, "whole");
        check_parts(&m.vocab, ids, count, gufo_str_of(expected), false, 0, &random, "parts");
    }
}

static void test_clean_up_cases(void **state)
{
    static const char *const cases[][2] = {
        {"a ?", "a?"},
        {"a  ?", "a ?"},
        {" ! . ,", "!.,"},
        {"a ' b", "a'b"},
        {"a ' ' b", "a'' b"},
        {"a '", "a '"},
        {"it 's", "it's"},
        {"it 'so", "it'so"},
        {"we 're", "we're"},
        {"we 'ro", "we 'ro"},
        {"we 've ", "we've "},
        {"don 't", "don 't"},
        {"I 'll 'd", "I 'll 'd"},
        {" ", " "},
        {" '  's", "''s"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_vocab m;

        make(&m, &algorithm_wpm);
        m.vocab.clean_spaces = true;
        add(&m, cases[i][0], USER);
        check_text(&m, (uint32_t[]){0}, 1, 0, cases[i][1], cases[i][0]);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool decode_all(const made_vocab *m, const gufo_allocator *allocator)
{
    const uint32_t ids[] = {0, 1, 0, 0};
    gufo_text text = {.allocator = allocator};
    gufo_error error = no_error();
    gufo_detokenizer *d = gufo_detokenizer_new(&m->vocab, 0, &error);
    bool done = d != NULL && gufo_detokenizer_feed(d, ids, 4, &text, &error) == GUFO_OK &&
                gufo_detokenizer_end(d, &text, &error) == GUFO_OK &&
                gufo_detokenize(&m->vocab, ids, 4, 0, &text, &error) == GUFO_OK;

    check(done || error.code == GUFO_E_MEMORY, "only memory is missing");
    gufo_detokenizer_free(d);
    gufo_text_free(&text);
    return done;
}

static void test_memory(void **state)
{
    counter c;
    made_vocab m;
    gufo_allocator allocator;
    bool done = false;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    make(&m, &algorithm_bpe);
    m.vocab.allocator = allocator;
    m.vocab.clean_spaces = true;
    add(&m, "a€€€€€€€€€€", NORMAL);
    add(&m, "Ġ", NORMAL);
    for (size_t fail_at = 1; !done; fail_at++) {
        c.calls = 0;
        c.fail_at = fail_at;
        done = decode_all(&m, &allocator);
        check_u64(c.in_use, 0, "everything is freed");
    }
    assert_true(c.fail_at > 5);
}

/* ---- real vocabularies ---------------------------------------------------------------------- */

typedef struct real {
    const char *name;
    gufo_vocab *vocab;
    uint64_t lines, random;
} real;

static uint32_t *ids_of(const json_t *list, size_t *count)
{
    uint32_t *ids = malloc((json_array_size(list) + 1) * sizeof *ids);

    assert_non_null(ids);
    *count = json_array_size(list);
    for (size_t i = 0; i < *count; i++)
        ids[i] = (uint32_t)json_integer_value(json_array_get(list, i));
    return ids;
}

static void check_decoded(real *r, const json_t *list, uint32_t flags, gufo_str expected,
                          const char *field)
{
    gufo_text text = {0};
    gufo_error error;
    size_t count;
    uint32_t *ids = ids_of(list, &count);

    check_ok(gufo_detokenize(r->vocab, ids, count, flags, &text, &error), &error, "%s", r->name);
    check_view(((gufo_str){text.data, text.len}), expected, "%s: %s, line %d", r->name, field,
               (int)r->lines + 1);
    check_parts(r->vocab, ids, count, expected, false, flags, &r->random, field);
    gufo_text_free(&text);
    free(ids);
}

static void check_detok_line(void *context, const json_t *line)
{
    static const struct {
        const char *field;
        uint32_t flags;
    } modes[] = {
        {"text_b64", 0},
        {"text_skip_special_b64", GUFO_DETOKENIZE_SKIP_SPECIAL},
        {"text_remove_special_b64", GUFO_DETOKENIZE_SKIP_SPECIAL | GUFO_DETOKENIZE_REMOVE_SPECIAL},
        {"text_remove_bos_eos_b64", GUFO_DETOKENIZE_REMOVE_SPECIAL},
    };
    const json_t *ids = json_object_get(line, "ids"), *pieces = json_object_get(line, "pieces_b64");
    real *r = context;

    for (size_t i = 0; i < json_array_size(ids); i++) {
        json_t *piece = json_pack("{sO}", "piece", json_array_get(pieces, i));
        gufo_str bytes = bytes_of(piece, "piece");

        check_piece(r->vocab, (uint32_t)json_integer_value(json_array_get(ids, i)), bytes, r->name);
        free((char *)bytes.data);
        json_decref(piece);
    }
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        gufo_str text = bytes_of(line, modes[i].field);

        check_decoded(r, ids, modes[i].flags, text, modes[i].field);
        free((char *)text.data);
    }
    r->lines++;
}

/* The text comes back, unless the line says what does. */
static void check_round_trip(void *context, const json_t *line)
{
    const char *field = json_object_get(line, "detok_b64") != NULL  ? "detok_b64"
                        : json_object_get(line, "detok") != NULL    ? "detok"
                        : json_object_get(line, "text_b64") != NULL ? "text_b64"
                                                                    : "text";
    bool coded = strstr(field, "_b64") != NULL;
    gufo_str text = coded ? bytes_of(line, field) : text_of(line, field);
    real *r = context;

    if (json_object_get(line, "error") == NULL)
        check_decoded(r, json_object_get(line, "ids_plain"), 0, text, "ids_plain");
    if (coded)
        free((char *)text.data);
    r->lines++;
}

static void check_real(const char *data, reference_line *one)
{
    for (size_t i = 0; i < all_or_few(REFERENCE_VOCABULARIES, REFERENCE_WAYS); i++) {
        real r = {.name = reference_vocabularies[i], .random = i + 1};
        char file[128];
        path_text path;

        (void)snprintf(file, sizeof file, "data/text/%s/%s.jsonl", data, r.name);
        path = need_shared(file);
        r.vocab = open_reference(r.name, NULL);
        each_line(path.text, one, &r);
        assert_true(r.lines > 50);
        gufo_vocab_free(r.vocab);
    }
}

static void test_real_pieces(void **state)
{
    (void)state;
    check_real("detok", check_detok_line);
}

static void test_round_trips(void **state)
{
    (void)state;
    check_real("tokens", check_round_trip);
    check_real("tokens_bytes", check_round_trip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),      cmocka_unit_test(test_alphabet),
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_characters),  cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_clean_up),    cmocka_unit_test(test_clean_up_cases),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_real_pieces),
        cmocka_unit_test(test_round_trips),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
