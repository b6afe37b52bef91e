/* Text that is made to fit. */
#include "support/check.h"

#include <stdlib.h>

/* A program of its own: the command is not a library, and its file is taken in as it is. */
#undef skip /* cmocka's macro */
#include "cli/core/text.c"

/* What text_put_middle writes; checks the columns that it returns. */
static void check_middle(const char *text, size_t columns, const char *expected)
{
    char *written = NULL;
    size_t size = 0, used;
    FILE *out = open_memstream(&written, &size);

    assert_non_null(out);
    used = text_put_middle(out, gufo_str_of(text), TEXT_PLAIN, columns);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written, expected);
    assert_int_equal(used, text_columns(gufo_str_of(written), TEXT_PLAIN));
    assert_true(used <= columns);
    free(written);
}

static void middle(void **state)
{
    (void)state;
    check_middle("", 10, "");
    check_middle("blk.0.attn_q.weight", 19, "blk.0.attn_q.weight");
    check_middle("blk.0.attn_q.weight", 18, "blk.0.at....weight");
    check_middle("blk.0.attn_q.weight", 9, "blk...ght");
    check_middle("blk.0.attn_q.weight", 5, "b...t");
    check_middle("blk.0.attn_q.weight", 4, "b...");
    check_middle("blk.0.attn_q.weight", 0, "");
    /* A character of two columns, or an escape, is whole or left out. */
    check_middle("漢字漢字漢字漢字", 10, "漢字...字");
    check_middle("漢字漢字漢字漢字", 9, "漢...字");
    check_middle("a\x1b[31m and some text that ends\x1b[0m", 20, "a\\u{1b}[3...[0m");
}

static void check_wrapped(const char *text, size_t used, size_t indent, size_t width,
                          const char *expected)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);

    assert_non_null(out);
    text_put_wrapped(out, gufo_str_of(text), used, indent, width);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written, expected);
    free(written);
}

static void wrapped(void **state)
{
    (void)state;
    check_wrapped("", 0, 2, 10, "");
    check_wrapped("one two three", 0, 2, 0, "one two three");
    check_wrapped("one two three", 0, 2, 13, "one two three");
    check_wrapped("one two three", 0, 2, 12, "one two\n  three");
    check_wrapped("one two three", 6, 2, 10, "one\n  two\n  three");
    check_wrapped("one two   three", 0, 0, 8, "one two\nthree");
    check_wrapped("1,2,3,4,5", 0, 1, 5, "1,2,\n 3,4,\n 5");
    /* What has no space is broken anywhere, but not inside a character; something is written even where
     * nothing fits. */
    check_wrapped("abcdefgh", 0, 1, 4, "abcd\n efg\n h");
    check_wrapped("漢字漢字", 0, 0, 5, "漢字\n漢字");
    check_wrapped("漢字", 0, 1, 1, "漢\n 字");
    check_wrapped("ab", 9, 9, 4, "a\n         b");
    check_wrapped("a\nb c", 0, 0, 4, "a\\nb\nc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(middle), cmocka_unit_test(wrapped)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
