/* Text that is made to fit. */
#include "support/check.h"

#include <stdlib.h>

/* A program of its own: the command is not a library, and its file is taken in as it is. */
#undef skip /* cmocka's macro */
#include "cli/core/terminal/text.c"

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

/* Marks without width have no end of their own: a column takes some of them. */
static void marks(void **state)
{
    enum { MARKS = 100000 };
    static char text[2 * MARKS];
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);

    (void)state;
    assert_non_null(out);
    for (size_t i = 0; i < MARKS; i++)
        memcpy(text + 2 * i, "\xcc\x81", 2);
    assert_true(text_fit((gufo_str){text, sizeof text}, TEXT_PLAIN, 80).len < 4096);
    (void)text_put_middle(out, (gufo_str){text, sizeof text}, TEXT_PLAIN, 80);
    assert_int_equal(fclose(out), 0);
    assert_true(size < 4096);
    free(written);
    assert_int_equal(text_fit((gufo_str){text, sizeof text}, TEXT_PLAIN, SIZE_MAX / 2).len,
                     sizeof text);
}

static void check_escapes(const char *text, text_style style, const char *expected)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);

    assert_non_null(out);
    text_put(out, gufo_str_of(text), style);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written, expected);
    assert_int_equal(text_columns(gufo_str_of(text), style), size);
    free(written);
}

static void escapes(void **state)
{
    (void)state;
    check_escapes("plain", TEXT_PLAIN, "plain");
    check_escapes("a\x01\x1b\x7fz\xc2\x9f", TEXT_PLAIN, "a\\u{1}\\u{1b}\\u{7f}z\\u{9f}");
    check_escapes("\xe2\x80\xae\xff\x80", TEXT_PLAIN, "\\u{202e}\\xff\\x80");
    check_escapes("\n\r\t\"\\", TEXT_PLAIN, "\\n\\r\\t\"\\");
    check_escapes("\n\"\\", TEXT_QUOTED, "\\n\\\"\\\\");
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
    check_wrapped("100,102,104", 0, 1, 9, "100,102,\n 104");
    check_wrapped("at 131,072 bytes", 0, 1, 8, "at\n 131,072\n bytes");
    check_wrapped("about 80.0 MB), left", 0, 0, 10, "about\n80.0 MB),\nleft");
    check_wrapped("of 1.5 GB more", 0, 0, 6, "of\n1.5 GB\nmore");
    check_wrapped("has 12 % of", 0, 0, 6, "has\n12 %\nof");
    check_wrapped("has 12 of", 0, 0, 6, "has 12\nof");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(middle), cmocka_unit_test(marks),
                                       cmocka_unit_test(escapes), cmocka_unit_test(wrapped)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
