/* The known key that is nearest to one that is not known. */
#include "../../support/check.h"

#include "gufo/schema.h"

#include <string.h>

static void test_nearest(void **state)
{
    static const struct {
        const char *key, *architecture, *nearest; /* NULL: none */
    } rows[] = {
        {"general.nmae", "llama", "general.name"},
        {"General.Name", "", "general.name"},
        {"lama.context_length", "llama", "llama.context_length"},
        {"llama.contxt_length", "llama", "llama.context_length"},
        {"llama.contxt_length", "", NULL},
        {"tokenizer.ggml.eos_token", "llama", "tokenizer.ggml.eos_token_id"},
        {"a-very-long-name.contxt_length", "a-very-long-name", "a-very-long-name.context_length"},
        /* Only what comes after the name of the architecture counts. */
        {"a-very-long-name.abc", "a-very-long-name", NULL},
        {"community.note", "llama", NULL},
        {"llama", "llama", NULL},
        {"llama.", "llama", NULL},
        {"", "", NULL},
    };
    char name[GUFO_KEY_NAME_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gufo_key_info *info = gufo_key_nearest(rows[i].key, rows[i].architecture, name);

        check((info == NULL) == (rows[i].nearest == NULL), "%s", rows[i].key);
        if (info == NULL)
            continue;
        check_str(gufo_str_of(name), rows[i].nearest, "%s", rows[i].key);
        check(gufo_key_find(name, rows[i].architecture) == info, "the row of %s", name);
    }
}

/* A name that does not fit is not suggested. */
static void test_long(void **state)
{
    char architecture[300], key[400], name[GUFO_KEY_NAME_SIZE];

    (void)state;
    memset(architecture, 'a', sizeof architecture);
    architecture[sizeof architecture - 1] = '\0';
    snprintf(key, sizeof key, "%s.contxt_length", architecture);
    check(gufo_key_nearest(key, architecture, name) == NULL, "long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
