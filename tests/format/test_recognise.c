/* Recognising files that are not GGUF files. */
#include "../support/allocator.h"
#include "../support/folder.h"

#include <strings.h>

typedef struct sample {
    const char *bytes;
    size_t len;
    const char *word; /* that the answer must hold; NULL: nothing is recognised */
} sample;

#define SAMPLE(bytes, word)            \
    {                                  \
        bytes, sizeof(bytes) - 1, word \
    }

static const sample samples[] = {
    SAMPLE("", "empty"),
    SAMPLE("<!DOCTYPE html>\n<html lang=\"en\">", "HTML"),
    SAMPLE("<!doctype html><html>", "HTML"),
    SAMPLE("<html><head><title>404</title>", "HTML"),
    SAMPLE("<HTML>", "HTML"),
    SAMPLE("\r\n  <!DOCTYPE HTML PUBLIC", "HTML"),
    SAMPLE("\xef\xbb\xbf<!DOCTYPE html>", "HTML"),
    SAMPLE("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 42\n", "LFS"),
    SAMPLE("PK\003\004\024\0\0\0\10\0", "zip"),
    SAMPLE("\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}", "safetensors"),
    SAMPLE("\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[2]", "safetensors"),
    SAMPLE("\200\002}q\0(X\003\0\0\0abcq", "pickle"),
    SAMPLE("\200\004\225\x10\0\0\0\0\0\0\0}\224.", "pickle"),
    SAMPLE("lmgg\0\175\0\0\0\20\0\0\0\1\0\0", "GGML"),
    SAMPLE("fmgg\1\0\0\0\0\175\0\0", "GGMF"),
    SAMPLE("tjgg\3\0\0\0\0\175\0\0", "GGJT"),
    SAMPLE("\0\0\0\0\0\0\0\0\0\0\0\0", "zero"),
    SAMPLE("\0", "zero"),
    SAMPLE("\x1f\x8b\10\0\0\0\0\0\0\3", "gzip"),
    SAMPLE("{\"error\":\"Repository not found\"}", "JSON"),
    SAMPLE("no known kind of file", NULL),
    SAMPLE("\1\2\3\4\5\6\7\10", NULL),
    SAMPLE("\0\0\0\0\1", NULL),
    SAMPLE("<", NULL),
    SAMPLE("GGU", NULL),
    SAMPLE("PK", NULL),
};

/* Whether `text` holds `word`, in any case. */
static bool holds(const char *text, const char *word)
{
    for (; *text != '\0'; text++)
        if (strncasecmp(text, word, strlen(word)) == 0)
            return true;
    return false;
}

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        char *exact = malloc(samples[i].len + 1);
        const char *kind;

        assert_non_null(exact);
        memcpy(exact + 1, samples[i].bytes, samples[i].len);
        kind = gufo_recognise(exact + 1, samples[i].len);
        free(exact);
        if (samples[i].word == NULL)
            check(kind == NULL, "sample %zu: %s", i, kind);
        else
            check(kind != NULL && holds(kind, samples[i].word), "sample %zu: %s, not %s", i,
                  kind != NULL ? kind : "nothing", samples[i].word);
    }
}

/* Any number of bytes may be given: a prefix never reads past its end. */
static void test_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        for (size_t len = 0; len <= samples[i].len; len++) {
            char *exact = malloc(len > 0 ? len : 1);
            const char *kind;

            assert_non_null(exact);
            memcpy(exact, samples[i].bytes, len);
            kind = gufo_recognise(exact, len);
            check(kind == NULL || kind[0] != '\0', "sample %zu, %zu bytes", i, len);
            free(exact);
        }
}

/* The message of a failed open says it too. */
static void test_in_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        gufo_error error = no_error();

        assert_null(gufo_model_open_memory(samples[i].bytes, samples[i].len, NULL, &error));
        check_error_shape(&error, GUFO_E_NOT_GGUF, "no GGUF");
        check(samples[i].word == NULL || holds(error.message, samples[i].word), "sample %zu: %s", i,
              error.message);
    }
}

/* A file of three bytes that is read, not mapped, is not called empty. */
static void test_short(void **state)
{
    gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP};
    gufo_allocator allocator;
    counter c = {.fail_at = 0};
    folder f = folder_new();
    path_text path = folder_path(&f, "x");
    gufo_error error = no_error();

    (void)state;
    write_file(path.text, "abc", 3);
    assert_null(gufo_model_open(path.text, &options, &error));
    check(!holds(error.message, "empty"), "%s", error.message);
    for (size_t fail_at = 1; fail_at == 1 || c.denied > 0; fail_at++) { /* nor without memory */
        counter_init(&c);
        c.fail_at = fail_at;
        allocator = counter_allocator(&c);
        options.allocator = &allocator;
        assert_null(gufo_model_open(path.text, &options, &error));
        check(error.code == (c.denied > 0 ? GUFO_E_MEMORY : GUFO_E_NOT_GGUF), "request %zu: %s",
              fail_at, error.message);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_in_messages),
        cmocka_unit_test(test_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
