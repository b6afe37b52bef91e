/* Text that is made to fit. */
#include "support/check.h"

#include <stdlib.h>

/* The command is not a library: its file is taken in as it is. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(middle)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
