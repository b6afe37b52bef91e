/* The nearest name, and the search by halving: both against looking at every row. */
#include "../../support/check.h"

#include "base/text.h"
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

#include <ctype.h>
#include <stdlib.h>

enum { TEXT_SIZE = 256, ROUNDS = 20000 };

static uint32_t random_state = 1;

/* A number below `end`, the same in every run. */
static size_t pick(size_t end)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % end;
}

/* Changes, adds or removes a byte, or exchanges two. */
static void edit(char *text)
{
    static const char bytes[] = "abcdefgehijklmnopqrstuvwxyzEST0129._-";
    size_t len = strlen(text), at = pick(len + 1);
    char byte = bytes[pick(sizeof bytes - 1)];

    if (len + 2 > TEXT_SIZE)
        return;
    switch (pick(4)) {
    case 0:
        memmove(text + at + 1, text + at, len + 1 - at);
        text[at] = byte;
        break;
    case 1:
        if (at < len)
            memmove(text + at, text + at + 1, len - at);
        break;
    case 2:
        if (at < len)
            text[at] = byte;
        break;
    default:
        if (at + 1 < len) {
            char other = text[at];

            text[at] = text[at + 1];
            text[at + 1] = other;
        }
    }
}

static void edited(char text[TEXT_SIZE], const char *name, size_t edits)
{
    snprintf(text, TEXT_SIZE, "%s", name);
    while (edits-- > 0)
        edit(text);
}

/* ---- nearest -------------------------------------------------------------------------------- */

static gufo_str key_name(const void *table, size_t index)
{
    (void)table;
    return gufo_str_of(gufo_key_at(index)->key);
}

static gufo_str plain(gufo_str text, char out[TEXT_SIZE])
{
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++)
        if (isalnum((unsigned char)text.data[i]))
            out[len++] = (char)tolower((unsigned char)text.data[i]);
    return (gufo_str){out, len};
}

/* As the library has it: the first of those with the fewest steps. */
static bool slow_nearest(gufo_str text, size_t *index)
{
    char buffers[2][TEXT_SIZE];
    gufo_str wanted = plain(text, buffers[0]);
    size_t best = wanted.len / 4 < 4 ? wanted.len / 4 : 4;
    bool found = false;

    for (size_t i = 0; wanted.len > 0 && wanted.len <= 64 && i < schema_key_count(); i++) {
        size_t steps = gufo_text_distance(wanted, plain(key_name(NULL, i), buffers[1]),
                                          found ? best - 1 : best);

        if (steps > best || (found && steps == best))
            continue;
        best = steps;
        *index = i;
        found = true;
        if (best == 0)
            break;
    }
    return found;
}

static void test_nearest(void **state)
{
    size_t near = 0, far = 0;

    (void)state;
    for (size_t i = 0; i < ROUNDS / 10; i++) {
        char text[TEXT_SIZE];
        size_t expected = 0, index = 0;
        bool found;

        edited(text, gufo_key_at(pick(schema_key_count()))->key, pick(8));
        found = slow_nearest(gufo_str_of(text), &expected);
        if (found !=
            gufo_text_nearest(gufo_str_of(text), key_name, NULL, schema_key_count(), &index))
            fail_msg("%s: %s", text, found ? "is not found" : "is found");
        if (index != expected)
            fail_msg("%s: %s instead of %s", text, gufo_key_at(index)->key,
                     gufo_key_at(expected)->key);
        near += found;
        far += !found;
    }
    assert_true(near > ROUNDS / 40 && far > ROUNDS / 200);
}

static gufo_str only_name(const void *table, size_t index)
{
    (void)index;
    return *(const gufo_str *)table;
}

static bool is_near(const char *text, const char *name)
{
    gufo_str row = gufo_str_of(name);
    size_t index;

    return gufo_text_nearest(gufo_str_of(text), only_name, &row, 1, &index);
}

static void test_limits(void **state)
{
    char longest[140] = "", dotted[141];

    (void)state;
    assert_true(is_near("apache2", "Apache-2.0"));
    assert_true(is_near("abcd", "abce"));
    assert_false(is_near("abc", "abd"));
    assert_true(is_near("abc", "A-B-C"));
    assert_false(is_near("", ""));
    assert_false(is_near("-.-", "-.-"));
    assert_false(is_near("abcdefgh", "abcd"));
    assert_true(is_near("aaaaaaaa", "aaaaaa"));
    assert_false(is_near("aaaaaaaa", "aaaaa"));
    /* 64 letters and digits, and 128 bytes, are the most. */
    memset(longest, 'a', 64);
    assert_true(is_near(longest, longest));
    memset(longest, '.', 64);
    memset(longest + 64, 'a', 64);
    assert_true(is_near(longest, longest));
    (void)snprintf(dotted, sizeof dotted, ".%.138s", longest);
    assert_false(is_near(dotted, longest));
    memset(longest, 'a', 65);
    longest[65] = '\0';
    assert_false(is_near(longest, longest));
}

/* ---- halving -------------------------------------------------------------------------------- */

static const gufo_tensor_info *slow_find(gufo_str name)
{
    for (size_t i = 0; i < schema_tensor_info_count(); i++)
        if (gufo_str_equal(gufo_str_of(gufo_tensor_info_at(i)->name), name))
            return gufo_tensor_info_at(i);
    return NULL;
}

/* In how many parts a name comes makes no difference. */
static const gufo_tensor_info *find_in_parts(gufo_str name)
{
    name_parts parts = {.count = 0};
    size_t first = pick(name.len + 1), second = first + pick(name.len - first + 1);

    name_parts_add(&parts, (gufo_str){name.data, first});
    name_parts_add(&parts, (gufo_str){name.data + first, second - first});
    name_parts_add(&parts, (gufo_str){name.data + second, name.len - second});
    return row_find_parts(gufo_tensor_info_at(0), schema_tensor_info_count(),
                          sizeof(gufo_tensor_info), &parts);
}

static void test_halving(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUNDS; i++) {
        char text[TEXT_SIZE];
        gufo_str name;

        edited(text, gufo_tensor_info_at(pick(schema_tensor_info_count()))->name, pick(3));
        name = gufo_str_of(text);
        if (name.len > 0 && pick(20) == 0)
            text[pick(name.len)] = '\0';
        if (find_in_parts(name) != slow_find(name))
            fail_msg("%s is not found as it should be", text);
    }
    for (size_t i = 0; i < schema_tensor_info_count(); i++)
        assert_ptr_equal(find_in_parts(gufo_str_of(gufo_tensor_info_at(i)->name)),
                         gufo_tensor_info_at(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_halving),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
