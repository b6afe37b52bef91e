/* Precompiled maps: what they replace, and damaged ones. */
#include "charsmap_maker.h"
#include "encoding.h"

#include "base/memory.h"
#include "text/tokenizers/charsmap.h"

static const map_row rows[] = {
    {"A", "a"},   {"\xef\xac\x81", "fi"}, {"e\xcc\x81", "\xc3\xa9"},
    {"ab", "x"},  {"abcd", "y"},          {"\t", " "},
    {"\x01", ""}, {"\xff", "z"},
};

static made_map *make_map(void)
{
    made_map *m = calloc(1, sizeof *m);

    assert_non_null(m);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        map_add(m, rows[i]);
    return m;
}

/* The bytes of a map, as an array in metadata. */
static gufo_status read_bytes(const void *bytes, size_t size, gufo_value_type type, charsmap *map,
                              gufo_error *error)
{
    gufo_value value = {.type = GUFO_VALUE_ARRAY};

    value.as.array = (gufo_array){type, size, bytes, size, {3, GUFO_LITTLE_ENDIAN}};
    memset(map, 0, sizeof *map);
    return charsmap_read(map, &value, &default_allocator, error);
}

static builder map_bytes(const made_map *m)
{
    builder b = builder_new((encoding){3, false});
    uint32_t words = (m->nodes + 1) * MAP_BLOCK;

    builder_u32(&b, words * 4);
    for (uint32_t i = 0; i < words; i++)
        builder_u32(&b, m->words[i]);
    builder_raw(&b, m->texts, m->text_size);
    return b;
}

static void check_match(const charsmap *map, const char *text, size_t len, const char *to)
{
    gufo_str replacement = {"", 0};
    size_t got = charsmap_match(map, gufo_str_of(text), &replacement);

    check_u64(got, len, "length of the key in \"%s\"", text);
    check_str(replacement, to, "replacement in \"%s\"", text);
    check(got == 0 || charsmap_may_match(map, text[0], text[1]), "\"%s\" may match", text);
}

static void test_match(void **state)
{
    made_map *m = make_map();
    builder b = map_bytes(m);
    gufo_error error = no_error();
    charsmap map;

    (void)state;
    for (unsigned type = GUFO_VALUE_UINT8; type <= GUFO_VALUE_INT8; type++) {
        check_ok(read_bytes(b.data, b.len, (gufo_value_type)type, &map, &error), &error, "map");
        for (size_t i = 0; i < COUNT_OF(rows); i++)
            check_match(&map, rows[i].from, strlen(rows[i].from), rows[i].to);
        check_match(&map, "abc", 2, "x"); /* the longest whole key */
        check_match(&map, "abcde", 4, "y");
        check_match(&map, "a", 0, "");
        check_match(&map, "\xef\xac\x82", 0, "");
        check_match(&map, "", 0, "");
        assert_false(charsmap_may_match(&map, 'a', 'x'));
        assert_false(charsmap_may_match(&map, 'q', 'a'));
        assert_false(map.has_space);
        assert_false(map.cuts_characters);
        charsmap_free(&map, &default_allocator);
    }
    builder_free(&b);
    free(m);
}

static void test_facts(void **state)
{
    static const map_row spaces[] = {{"a b", "c"}}, halves[] = {{"a", "\xc3"}};
    gufo_error error = no_error();
    charsmap map;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        made_map *m = make_map();
        map_add(m, i == 0 ? spaces[0] : halves[0]);
        builder b = map_bytes(m);

        check_ok(read_bytes(b.data, b.len, GUFO_VALUE_UINT8, &map, &error), &error, "map");
        check_u64(map.has_space, i == 0, "a key with a space");
        check_u64(map.cuts_characters, i == 1, "a replacement that ends inside a character");
        charsmap_free(&map, &default_allocator);
        builder_free(&b);
        free(m);
    }
}

static void check_damaged(const void *bytes, size_t size, const char *words)
{
    gufo_error error = no_error();
    charsmap map;

    check_status(read_bytes(bytes, size, GUFO_VALUE_UINT8, &map, &error), GUFO_E_MALFORMED, &error,
                 "%s", words);
    check(strstr(error.message, words) != NULL, "%s", error.message);
    charsmap_free(&map, &default_allocator);
}

static void test_damaged(void **state)
{
    made_map *m = make_map();
    builder b = map_bytes(m);
    uint8_t *copy = builder_exact_copy(&b, b.len);
    gufo_error error = no_error();
    charsmap map;

    (void)state;
    check_ok(read_bytes(b.data, 0, GUFO_VALUE_UINT8, &map, &error), &error, "nothing");
    charsmap_free(&map, &default_allocator);
    check_damaged(b.data, 3, "too few");
    check_damaged(b.data, b.len - m->text_size, "too few");
    check_damaged(b.data, b.len - 1, "no end");
    memset(copy, 0xff, 4);
    check_damaged(copy, b.len, "too few");
    memcpy(copy, b.data, b.len);
    memset(copy + 4 + 4 * (MAP_BLOCK ^ 'A'), 0x7f, 4); /* its value lies behind all words */
    check_damaged(copy, b.len, "value of word");
    memcpy(copy, b.data, b.len);
    memset(copy + 4 + 4 * 2 * MAP_BLOCK, 0xff, 4);
    check_damaged(copy, b.len, "replacement of word");
    free(copy);
    builder_free(&b);
    free(m);
}

/* Damage of any kind is refused, or gives a map that can be used. */
static void test_random_damage(void **state)
{
    made_map *m = make_map();
    builder b = map_bytes(m);
    uint64_t random = 7;

    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        uint8_t *copy = builder_exact_copy(&b, b.len);
        gufo_error error = no_error();
        gufo_str replacement;
        charsmap map;

        for (unsigned i = 0; i < 40; i++) {
            size_t word = (size_t)(random_next(&random) % (b.len / 4 - 1));

            copy[4 + word * 4 + random_next(&random) % 4] ^= (uint8_t)random_next(&random);
        }
        if (read_bytes(copy, b.len, GUFO_VALUE_UINT8, &map, &error) == GUFO_OK)
            for (unsigned i = 0; i < 2000; i++) {
                uint64_t text = random_next(&random);

                (void)charsmap_match(&map, (gufo_str){(const char *)&text, 8}, &replacement);
            }
        charsmap_free(&map, &default_allocator);
        free(copy);
    }
    builder_free(&b);
    free(m);
}

/* A replacement has a limit, and so has a key, which leads in a circle here. */
static void test_bombs(void **state)
{
    enum { LONGEST = 255, TEXT = 100000 };
    char text[TEXT + 1];
    gufo_error error = no_error();
    gufo_str replacement;
    charsmap map;

    (void)state;
    memset(text, 'a', TEXT);
    text[TEXT] = '\0';
    for (size_t longer = 0; longer < 2; longer++) {
        made_map *m = make_map();
        builder b;

        map_add(m, (map_row){"B", text + TEXT - LONGEST - longer});
        m->words[2 * MAP_BLOCK ^ 'a'] = 'a' << 10 | 'a' | 0x100;
        m->words[0] = 2 * MAP_BLOCK << 10;
        m->words[2 * MAP_BLOCK] = 0x80000000u;
        b = map_bytes(m);
        if (longer == 0) {
            check_ok(read_bytes(b.data, b.len, GUFO_VALUE_UINT8, &map, &error), &error, "map");
            check_u64(charsmap_match(&map, gufo_str_of(text), &replacement), LONGEST, "a circle");
        } else {
            check(read_bytes(b.data, b.len, GUFO_VALUE_UINT8, &map, &error) == GUFO_E_LIMIT, "%s",
                  error.message);
        }
        charsmap_free(&map, &default_allocator);
        builder_free(&b);
        free(m);
    }
}

static void test_wrong_type(void **state)
{
    gufo_error error = no_error();
    charsmap map;

    (void)state;
    check_status(read_bytes("", 0, GUFO_VALUE_UINT16, &map, &error), GUFO_E_TYPE, &error, "u16");
    charsmap_free(&map, &default_allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),      cmocka_unit_test(test_facts),
        cmocka_unit_test(test_damaged),    cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_wrong_type), cmocka_unit_test(test_bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
