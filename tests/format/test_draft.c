/* The draft that came before version 1: files of it are named, and no file of version 1 is. */
#include "../support/builder.h"
#include "../support/check.h"
#include "../support/findings.h"

#include "format/file/file.h"

enum { NUMBER = 4, REAL = 6, TEXT_TYPE = 8, LIST = 9 };

/* ---- files of the draft --------------------------------------------------------------------- */

static void put_head(builder *b, const char *magic, uint32_t entries)
{
    builder_raw(b, magic, 4);
    builder_u32(b, 1);
    builder_u32(b, 0);
    builder_u32(b, entries);
}

static void put_text(builder *b, const char *text)
{
    builder_u32(b, (uint32_t)strlen(text));
    builder_raw(b, text, strlen(text));
}

static void put_text_entry(builder *b, const char *key, const char *text, bool whole)
{
    put_text(b, key);
    builder_u32(b, (uint32_t)strlen(text) + (whole ? 4 : 0));
    builder_u32(b, TEXT_TYPE);
    put_text(b, text);
}

static void put_number_entry(builder *b, const char *key, uint32_t number)
{
    put_text(b, key);
    builder_u32(b, 4);
    builder_u32(b, NUMBER);
    builder_u32(b, number);
}

static void put_list_entry(builder *b, const char *key)
{
    put_text(b, key);
    builder_u32(b, 8 + 5);
    builder_u32(b, LIST);
    builder_u32(b, 1);
    builder_u32(b, TEXT_TYPE);
    put_text(b, "a");
}

/* Text, number; the same with the length of the text alone; list, text. */
static void put_draft(builder *b, const char *magic, size_t kind)
{
    put_head(b, magic, 2);
    if (kind == 2)
        put_list_entry(b, "tokenizer.embedded.tokens");
    put_text_entry(b, "general.architecture", "llama", kind != 1);
    if (kind < 2)
        put_number_entry(b, "llama.num_layers", 32);
    builder_zeros(b, 64);
}

enum { KINDS = 3 };

static void check_named(const builder *b, gufo_status code, uint64_t offset)
{
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open_memory(b->data, b->len, NULL, &error);

    check(model == NULL && error.code == code && error.offset == offset, "%s", error.message);
    check(strstr(error.message, "the draft of GGUF") != NULL, "%s", error.message);
}

static void test_the_draft_is_named(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        builder b = builder_new((encoding){1, false}), swapped = builder_new((encoding){1, false});

        put_draft(&b, "GGUF", kind);
        check_named(&b, GUFO_E_VERSION, 4);
        put_draft(&swapped, "FUGG", kind);
        check_named(&swapped, GUFO_E_NOT_GGUF, 0);
        builder_free(&b);
        builder_free(&swapped);
    }
}

static void test_every_prefix(void **state)
{
    builder b = builder_new((encoding){1, false});

    (void)state;
    put_draft(&b, "GGUF", 0);
    for (size_t len = 0; len < b.len; len++) {
        uint8_t *exact = malloc(len + 1);
        bool whole = len >= b.len - 64;

        assert_non_null(exact);
        memcpy(exact, b.data, len);
        check(draft_recognise(exact, len) == whole, "%zu bytes", len);
        free(exact);
    }
    builder_free(&b);
}

/* ---- files of version 1 --------------------------------------------------------------------- */

/* Numbers that look like the length and the type of a value of the draft. */
static void test_version_1_is_not_the_draft(void **state)
{
    static const uint32_t numbers[] = {0, 1, 4, 6, 8, 9, 2048};

    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(numbers); i++) {
        builder b = builder_new((encoding){1, false});
        gufo_error error = no_error();
        gufo_model *model;

        builder_header(&b, 0, 1 + i % 2);
        builder_kv_u32(&b, "a.b", numbers[i / 2]);
        if (i % 2 == 1)
            builder_kv_str(&b, "general.architecture", "llama");
        builder_zeros(&b, 32);
        model = gufo_model_open_memory(b.data, b.len, NULL, &error);
        check(model != NULL, "%u: %s", (unsigned)numbers[i / 2], error.message);
        gufo_model_free(model);
        builder_free(&b);
    }
}

static void test_what_is_not_an_entry(void **state)
{
    static const struct {
        uint32_t len, type;
    } rows[] = {{3, NUMBER}, {4, 10}, {8, REAL}, {7, LIST}, {6, TEXT_TYPE}, {0, TEXT_TYPE}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){1, false});

        put_head(&b, "GGUF", 2);
        put_text(&b, "general.architecture");
        builder_u32(&b, rows[i].len);
        builder_u32(&b, rows[i].type);
        put_text(&b, "llama");
        put_number_entry(&b, "llama.num_layers", 32);
        check(!draft_recognise(b.data, b.len), "row %zu", i);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_draft_is_named),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_version_1_is_not_the_draft),
        cmocka_unit_test(test_what_is_not_an_entry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
