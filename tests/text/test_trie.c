/* Tries: texts of all shapes are found again, and nothing else. */
#include "support/allocator.h"
#include "support/builder.h"
#include "support/pace.h"

#include "text/vocabulary/trie.h"

/* ---- texts ---------------------------------------------------------------------------------- */

typedef struct texts {
    char *bytes;
    uint32_t *starts;
    uint32_t count;
} texts;

static texts texts_new(uint32_t count, size_t bytes)
{
    texts t = {malloc(bytes + 1), calloc(count + 1, sizeof(uint32_t)), 0};

    assert_true(t.bytes != NULL && t.starts != NULL);
    return t;
}

static void texts_add(texts *t, const void *bytes, size_t len)
{
    memcpy(t->bytes + t->starts[t->count], bytes, len);
    t->starts[t->count + 1] = t->starts[t->count] + (uint32_t)len;
    t->count++;
}

static void texts_free(texts *t)
{
    free(t->bytes);
    free(t->starts);
}

static trie *build(const texts *t, const uint32_t *ids, uint32_t count)
{
    gufo_error error = no_error();
    trie *made = trie_new(NULL, &(trie_texts){t->bytes, t->starts}, ids, count, &error);

    if (made == NULL)
        fail_msg("%s", error.message);
    return made;
}

static uint32_t find(const trie *t, const void *text, size_t len)
{
    uint64_t node = trie_walk(t, t->root, text, len);

    return node == TRIE_NONE ? TRIE_NO_ID : trie_value(node);
}

/* The last text that is equal; and whether any text begins so. */
static uint32_t expected_id(const texts *t, const char *text, size_t len, bool *begins)
{
    uint32_t id = TRIE_NO_ID;

    *begins = len == 0;
    for (uint32_t i = 0; i < t->count; i++) {
        size_t size = t->starts[i + 1] - t->starts[i];

        if (size >= len && memcmp(t->bytes + t->starts[i], text, len) == 0) {
            *begins |= size > 0;
            id = size == len && len > 0 ? i : id;
        }
    }
    return id;
}

static void check_find(const trie *made, const texts *t, const char *text, size_t len)
{
    bool begins;
    uint32_t expected = expected_id(t, text, len, &begins);

    check_u64(find(made, text, len), expected, "a text of %zu bytes", len);
    check_u64(trie_walk(made, made->root, text, len) != TRIE_NONE, begins,
              "whether a text begins with %zu bytes", len);
}

/* Every text, every begin of one, and each with another byte at its end. */
static void check_all(const texts *t)
{
    trie *made = build(t, NULL, t->count);
    char probe[64];

    for (uint32_t i = 0; i < t->count; i++) {
        size_t len = t->starts[i + 1] - t->starts[i];

        for (size_t part = 0; part <= len && part < sizeof probe - 1; part++) {
            memcpy(probe, t->bytes + t->starts[i], part);
            check_find(made, t, probe, part);
            for (unsigned byte = 0; byte < 256; byte += 51) {
                probe[part] = (char)byte;
                check_find(made, t, probe, part + 1);
            }
        }
    }
    trie_free(made);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void test_few(void **state)
{
    static const gufo_str rows[] = {{"", 0},        {"a", 1},        {"ab", 2},       {"abc", 3},
                                    {"b\0c", 3},    {"b\0", 2},      {"\xff\xfe", 2}, {"ab", 2},
                                    {"abcdefg", 7}, {"abcdefgh", 8}, {"abcdefgi", 8}};
    texts t = texts_new(COUNT_OF(rows), 100);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        texts_add(&t, rows[i].data, rows[i].len);
    check_all(&t);
    texts_free(&t);
}

static void test_random(void **state)
{
    uint64_t random = 1234567;

    (void)state;
    for (unsigned round = 0; round < all_or_few(30, 6); round++) {
        unsigned letters = round % 3 == 0 ? 2 : round % 3 == 1 ? 10 : 256;
        unsigned longest = round % 2 == 0 ? 12 : 40;
        texts t = texts_new(100, 100 * 40);

        while (t.count < 100) {
            char text[40];
            size_t len = (size_t)(random_next(&random) % longest);

            for (size_t i = 0; i < len; i++)
                text[i] = (char)(random_next(&random) % letters);
            texts_add(&t, text, len);
        }
        check_all(&t);
        texts_free(&t);
    }
}

/* Nodes with hundreds of children, whose bytes do not fit together. */
static void test_wide(void **state)
{
    texts t = texts_new(20000, 60000);
    uint64_t random = 99;

    (void)state;
    while (t.count < 20000) {
        char text[3] = {(char)(random_next(&random) % 256),
                        (char)(random_next(&random) % 256 & 0x55),
                        (char)(random_next(&random) % 256 & 0xf0)};

        texts_add(&t, text, sizeof text);
    }
    trie *made = build(&t, NULL, t.count);
    for (uint32_t i = 0; i < t.count; i++) {
        uint32_t id = find(made, t.bytes + t.starts[i], 3);

        check(id != TRIE_NO_ID && id >= i &&
                  memcmp(t.bytes + t.starts[id], t.bytes + t.starts[i], 3) == 0,
              "text %u", (unsigned)i);
    }
    check(made->unit_count < 16 * t.count, "%u units", (unsigned)made->unit_count);
    trie_free(made);
    texts_free(&t);
}

/* One text of a megabyte, and many with the same long begin: memory follows neither. */
static void test_long(void **state)
{
    enum { LONG = 1 << 20, COUNT = 3000 };
    texts t = texts_new(COUNT + 2, 2 * LONG + COUNT * 100);
    char *text = malloc(LONG);
    counter c;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG);
    texts_add(&t, text, LONG);
    texts_add(&t, text, LONG - 1);
    for (unsigned i = 0; i < COUNT; i++) {
        (void)snprintf(text, 100, "%090u", i);
        texts_add(&t, text, 90);
    }
    counter_init(&c);
    gufo_allocator allocator = counter_allocator(&c);
    trie *made = trie_new(&allocator, &(trie_texts){t.bytes, t.starts}, NULL, t.count, NULL);
    assert_non_null(made);
    check_u64(find(made, t.bytes, LONG), 0, "the longest");
    check_u64(find(made, t.bytes, LONG - 1), 1, "the one inside it");
    check_u64(find(made, t.bytes, LONG - 2), TRIE_NO_ID, "no text");
    for (uint32_t i = 2; i < t.count; i++)
        check_u64(find(made, t.bytes + t.starts[i], 90), i, "text %u", (unsigned)i);
    check(c.in_use < LONG / 2, "%zu bytes", c.in_use);
    trie_free(made);
    check_u64(c.in_use, 0, "bytes left");
    free(text);
    texts_free(&t);
}

/* Passing a chain in blocks leads where its bytes one by one lead, wherever the text differs. */
static void test_skip(void **state)
{
    enum { LONG = 200 };
    texts t = texts_new(2, 2 * LONG);
    char text[LONG];

    (void)state;
    memset(text, 'x', LONG);
    texts_add(&t, text, LONG);
    texts_add(&t, text, 3);
    trie *made = trie_new(NULL, &(trie_texts){t.bytes, t.starts}, NULL, t.count, NULL);
    assert_non_null(made);
    for (size_t wrong = 0; wrong <= LONG; wrong++) {
        uint32_t id = TRIE_NO_ID;

        memset(text, 'x', LONG);
        if (wrong < LONG)
            text[wrong] = 'y';
        for (size_t len = 0; len <= LONG; len++) {
            uint64_t node = made->root;
            size_t longest = wrong >= LONG && len == LONG ? LONG : wrong >= 3 && len >= 3 ? 3 : 0;

            for (size_t at = 0; at < len && node != TRIE_NONE; at++) {
                at += trie_skip(made, &node, text + at, len - at);
                assert_true(at < len);
                node = trie_step(made, node, (uint8_t)text[at]);
            }
            assert_true(node == trie_walk(made, made->root, text, len));
            check_u64(trie_longest(made, (gufo_str){text, len}, &id), longest, "%zu of %zu", wrong,
                      len);
        }
    }
    trie_free(made);
    texts_free(&t);
}

static void test_some_ids(void **state)
{
    texts t = texts_new(4, 10);

    (void)state;
    texts_add(&t, "a", 1);
    texts_add(&t, "b", 1);
    texts_add(&t, "a", 1);
    texts_add(&t, "c", 1);
    trie *made = build(&t, (const uint32_t[]){2, 0, 3}, 3);
    check_u64(find(made, "a", 1), 0, "the last one of the list");
    check_u64(find(made, "b", 1), TRIE_NO_ID, "not in the list");
    check_u64(find(made, "c", 1), 3, "c");
    trie_free(made);
    made = build(&t, NULL, 0);
    check_u64(find(made, "a", 1), TRIE_NO_ID, "nothing");
    trie_free(made);
    texts_free(&t);
}

static void test_memory(void **state)
{
    texts t = texts_new(500, 500 * 8);
    uint64_t random = 5;

    (void)state;
    while (t.count < 500) {
        uint64_t text = random_next(&random);

        texts_add(&t, &text, 8);
    }
    for (size_t fail = 1;; fail++) {
        counter c;
        gufo_error error = no_error();

        counter_init(&c);
        c.fail_at = fail;
        gufo_allocator allocator = counter_allocator(&c);
        trie *made = trie_new(&allocator, &(trie_texts){t.bytes, t.starts}, NULL, t.count, &error);
        bool done = made != NULL;

        if (!done)
            check_u64(error.code, GUFO_E_MEMORY, "request %zu", fail);
        trie_free(made);
        check_u64(c.in_use, 0, "bytes left after request %zu", fail);
        if (done)
            break;
    }
    texts_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),  cmocka_unit_test(test_random),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_long), cmocka_unit_test(test_some_ids), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_skip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
