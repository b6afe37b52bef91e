/* Ids of real vocabularies: those of llama.cpp, and of the tokenizers that models were trained with. */
#include "reference.h"
#include "support/pace.h"

typedef struct comparison {
    const char *name;
    gufo_vocab *vocab, *original;
    bool compares_original; /* the lines say what the original tokenizer gives */
    uint64_t lines;
} comparison;

static void check_ids(const comparison *c, const gufo_vocab *vocab, gufo_str text, uint32_t flags,
                      const json_t *expected, const char *field)
{
    const gufo_tokenize_options options = {.flags = flags};
    gufo_ids ids = {0};
    gufo_error error;

    if (gufo_tokenize(vocab, text, &options, &ids, &error) != GUFO_OK)
        fail_msg("%s: %.*s: %s", c->name, (int)text.len, text.data, error.message);
    for (size_t i = 0; i < ids.count || i < json_array_size(expected); i++) {
        json_int_t wanted = json_integer_value(json_array_get(expected, i));

        if (i >= ids.count || i >= json_array_size(expected) || ids.ids[i] != wanted)
            fail_msg("%s, %s of \"%.*s\": id %zu of %zu is %d, expected %d of %zu", c->name, field,
                     (int)text.len, text.data, i, ids.count, i < ids.count ? (int)ids.ids[i] : -1,
                     i < json_array_size(expected) ? (int)wanted : -1, json_array_size(expected));
    }
    gufo_ids_free(&ids);
}

/* The fields of a line, and how they come about. */
static void check_line(comparison *c, const json_t *line, gufo_str text)
{
    const uint32_t add = GUFO_TOKENIZE_ADD_SPECIAL, parse = GUFO_TOKENIZE_PARSE_SPECIAL;
    const json_t *special = json_object_get(line, "ids_special");
    const json_t *original = json_object_get(line, "alt_ids_plain");
    uint32_t usual = gufo_vocab_describe(c->vocab).add_bos ? add | parse : parse;

    if (c->lines++ % all_some_or_few(1, 4, 32) != 0)
        return;
    check_ids(c, c->vocab, text, usual, json_object_get(line, "ids"), "ids");
    check_ids(c, c->vocab, text, parse, json_object_get(line, "ids_no_bos"), "ids_no_bos");
    check_ids(c, c->vocab, text, 0, json_object_get(line, "ids_plain"), "ids_plain");
    if (special != NULL)
        check_ids(c, c->vocab, text, add | parse, special, "ids_special");
    if (original != NULL)
        assert_non_null(gufo_vocab_describe(c->vocab).original);
    if (c->compares_original) /* where both agree the line has one list */
        check_ids(c, c->original, text, 0,
                  original != NULL ? original : json_object_get(line, "ids_plain"),
                  "alt_ids_plain");
}

static void check_text_line(void *context, const json_t *line)
{
    check_line(context, line, text_of(line, "text"));
}

static void check_bytes_line(void *context, const json_t *line)
{
    gufo_str bytes = bytes_of(line, "text_b64");

    if (json_object_get(line, "error") == NULL)
        check_line(context, line, bytes);
    free((char *)bytes.data);
}

static void check_folder(const char *kind, reference_line *one)
{
    for (size_t i = 0; i < all_or_few(REFERENCE_VOCABULARIES, REFERENCE_WAYS); i++) {
        const gufo_vocab_options original = {.flags = GUFO_VOCAB_ORIGINAL};
        comparison c = {.name = reference_vocabularies[i]};
        char file[128];
        path_text path;

        (void)snprintf(file, sizeof file, "data/text/%s/%s.jsonl", kind, c.name);
        path = need_shared(file);
        c.vocab = open_reference(c.name, NULL);
        c.compares_original = one == check_text_line;
        if (c.compares_original)
            c.original = open_reference(c.name, &original);
        each_line(path.text, one, &c);
        assert_true(c.lines > 50);
        gufo_vocab_free(c.vocab);
        gufo_vocab_free(c.original);
    }
}

static void test_texts(void **state)
{
    (void)state;
    check_folder("tokens", check_text_line);
}

static void test_bytes(void **state)
{
    (void)state;
    check_folder("tokens_bytes", check_bytes_line);
}

/* ---- large texts ---------------------------------------------------------------------------- */

static uint64_t fnv1a64(const gufo_ids *ids)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < ids->count; i++)
        for (unsigned byte = 0; byte < 4; byte++)
            hash = (hash ^ (ids->ids[i] >> 8 * byte & 0xff)) * 0x100000001b3u;
    return hash;
}

static char *read_text(const char *name, size_t *size)
{
    char file[256];
    path_text path;
    FILE *text;
    char *bytes = malloc(1 << 20);

    (void)snprintf(file, sizeof file, "data/text/tokens_large/%s", name);
    path = need_shared(file);
    text = fopen(path.text, "rb");
    assert_non_null(bytes);
    assert_non_null(text);
    *size = fread(bytes, 1, 1 << 20, text);
    (void)fclose(text);
    return bytes;
}

/* The ids of a text that comes in parts of `step` bytes. */
static gufo_ids feed(const gufo_vocab *vocab, gufo_str text, size_t step, unsigned threads)
{
    const gufo_run run = {.threads = threads};
    const gufo_tokenize_options options = {.run = &run};
    gufo_ids ids = {0};
    gufo_error error;
    gufo_tokenizer *tokenizer = gufo_tokenizer_new(vocab, &options, &error);

    assert_non_null(tokenizer);
    for (size_t at = 0; at < text.len; at += step) {
        gufo_str part = {text.data + at, text.len - at < step ? text.len - at : step};

        if (gufo_tokenizer_feed(tokenizer, part, &ids, &error) != GUFO_OK)
            fail_msg("%s", error.message);
    }
    if (gufo_tokenizer_end(tokenizer, &ids, &error) != GUFO_OK)
        fail_msg("%s", error.message);
    gufo_tokenizer_free(tokenizer);
    return ids;
}

static void check_large_line(void *context, const json_t *line)
{
    comparison *c = context;
    size_t size;
    char *text = read_text(json_string_value(json_object_get(line, "text_file")), &size);
    const char *wanted = json_string_value(json_object_get(line, "fnv1a64"));
    const char *of = json_string_value(json_object_get(line, "text_file"));
    char hash[17];

    for (unsigned threads = 1; threads <= 2; threads++) {
        gufo_ids ids = feed(c->vocab, (gufo_str){text, size}, threads == 1 ? 997 : size, threads);

        if (ids.count != (size_t)json_integer_value(json_object_get(line, "n_ids")))
            fail_msg("%s, %s: %zu ids", c->name, of, ids.count);
        (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)fnv1a64(&ids));
        if (strcmp(hash, wanted) != 0)
            fail_msg("%s, %s: the ids differ", c->name, of);
        gufo_ids_free(&ids);
    }
    free(text);
    c->lines++;
}

static void test_large(void **state)
{
    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < REFERENCE_VOCABULARIES; i++) {
        comparison c = {.name = reference_vocabularies[i]};
        char file[128];
        path_text path;

        (void)snprintf(file, sizeof file, "data/text/tokens_large/%s.jsonl", c.name);
        path = need_shared(file);
        c.vocab = open_reference(c.name, NULL);
        each_line(path.text, check_large_line, &c);
        assert_int_equal(c.lines, 8);
        gufo_vocab_free(c.vocab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
