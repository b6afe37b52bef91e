/* Manifests: what is read, what is refused, and what is made of a model. */
#include "../support/folder.h"

#include "gufo/digest.h"

#define SHA1_ABC "a9993e364706816aba3e25717850c26c9cd0d89d"
#define SHA1_X "0000000000000000000000000000000000000001"

/* ---- reading -------------------------------------------------------------------------------- */

static void lines_are_read(void **state)
{
    static const char text[] = "sha1      " SHA1_ABC "  m.gguf:a:b c\r\n"
                               "\n"
                               "  \t\r\n"
                               "xxh64     46A6C31A02B0A1FF  m.gguf\n"
                               "uuid      2a302b72-bf5b-5d8d-8a09-ec7e78a9ed87   m gguf\n"
                               "\\sha1 " SHA1_ABC " a\\nb\\\\\\x41\\u{1b}\\u{20ac}\\\"\\t\\r";
    static const char *const names[] = {"m.gguf:a:b c", "m.gguf", " m gguf",
                                        "a\nb\\A\033\xe2\x82\xac\"\t\r"};
    static const uint64_t numbers[] = {1, 4, 5, 6};
    gufo_error error = no_error();
    gufo_manifest *m = gufo_manifest_parse(gufo_str_of(text), NULL, &error);
    gufo_manifest_line line;
    char digest[GUFO_DIGEST_TEXT];

    (void)state;
    check(m != NULL, "%s", error.message);
    check_u64(gufo_manifest_count(m), COUNT_OF(names), "lines");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        check(gufo_manifest_at(m, i, &line), "line %zu", i);
        check_str(line.name, names[i], "line %zu", i);
        check_u64(line.number, numbers[i], "line %zu", i);
    }
    check(!gufo_manifest_at(m, COUNT_OF(names), &line), "past the end");
    check(gufo_manifest_at(m, 0, NULL), "whether there is one");
    check(gufo_manifest_at(m, 1, &line), "upper case");
    (void)gufo_digest_text(line.algorithm, line.digest, digest);
    check_str(gufo_str_of(digest), "46a6c31a02b0a1ff", "upper case");
    check(gufo_manifest_at(m, 2, &line), "uuid");
    (void)gufo_digest_text(line.algorithm, line.digest, digest);
    check_str(gufo_str_of(digest), "2a302b72-bf5b-5d8d-8a09-ec7e78a9ed87", "uuid");
    gufo_manifest_free(m);
    gufo_manifest_free(NULL);
}

/* What sha1sum and its relatives write: hashes of all bytes of a file. */
static void lines_about_files_are_read(void **state)
{
    static const char text[] =
        "# a comment\n" SHA1_ABC "  a b.gguf\r\n" SHA1_ABC " *b.gguf\n" SHA1_ABC
        "   c.gguf\n" SHA1_ABC "\n\\" SHA1_ABC "  d\\n\\\\.gguf\n"
        "SHA1 (e (x) = y) = " SHA1_ABC "\n\\SHA1 (f\\n) = " SHA1_ABC
        "\nXXH64 (g) = 46a6c31a02b0a1ff\n46a6c31a02b0a1ff  h";
    static const char *const names[] = {"a b.gguf",  "b.gguf", " c.gguf", "-", "d\n\\.gguf",
                                        "e (x) = y", "f\n",    "g",       "h"};
    gufo_error error = no_error();
    gufo_manifest *m = gufo_manifest_parse(gufo_str_of(text), NULL, &error);
    gufo_manifest_line line;

    (void)state;
    check(m != NULL, "%s", error.message);
    check_u64(gufo_manifest_count(m), 0, "lines about tensors");
    check_u64(gufo_manifest_file_count(m), COUNT_OF(names), "lines");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        check(gufo_manifest_file_at(m, i, &line), "line %zu", i);
        check_str(line.name, names[i], "line %zu", i);
        check_u64(line.algorithm, i < 7 ? GUFO_DIGEST_SHA1 : GUFO_DIGEST_XXH64, "line %zu", i);
        check_u64(line.number, i + 2, "line %zu", i);
    }
    check(!gufo_manifest_file_at(m, COUNT_OF(names), &line), "past the end");
    gufo_manifest_free(m);
}

static void bad_lines_are_refused(void **state)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *part; /* of the message */
    } rows[] = {
        {"", 0, "no line"},
        {"\n \n", 0, "no line"},
        {"md5 00 x\n", 0, "line 1: \"md5\" is not an algorithm"},
        {"\nsha1\n", 1, "line 2: the second word"},
        {"sha1 " SHA1_ABC "\n", 0, "line 1: the name is missing"},
        {"sha1 " SHA1_ABC "  \n", 0, "line 1: the name is missing"},
        {"sha1 " SHA1_ABC "0 x\n", 0, "line 1: the second word"},
        {"SHA1 (x) = 12\n", 0, "line 1: a line with a tag has the form ALGORITHM (NAME) = HASH"},
        {"SHA1 (x = " SHA1_ABC "\n", 0, "line 1: a line with a tag has the form"},
        {"SHA1 x.gguf\n", 0, "line 1: a line with a tag has the form"},
        {"SHA1\n", 0, "line 1: \"SHA1\" is not an algorithm"},
        {SHA1_ABC "0  x\n", 0, "is not an algorithm"},
        {"\\" SHA1_ABC "  x\\y\n", 0, "line 1: an escape in the name"},
        {"sha256 " SHA1_ABC " x\n", 0, "line 1: the second word"},
        {"sha1 g9993e364706816aba3e25717850c26c9cd0d89d x\n", 0, "line 1: the second word"},
        {"uuid 2a302b72bf5b-5d8d-8a09--ec7e78a9ed87 x\n", 0, "line 1: the second word"},
        {"uuid 2a302b72-bf5b-5d8d-8a09-ec7e78a9ed8- x\n", 0, "line 1: the second word"},
        {"\\sha1 " SHA1_ABC " x\\", 0, "line 1: an escape"},
        {"\\sha1 " SHA1_ABC " x\\q", 0, "line 1: an escape"},
        {"\\sha1 " SHA1_ABC " x\\x4", 0, "line 1: an escape"},
        {"\\sha1 " SHA1_ABC " x\\u{}", 0, "line 1: an escape"},
        {"\\sha1 " SHA1_ABC " x\\u{110000}", 0, "line 1: an escape"},
        {"\\sha1 " SHA1_ABC " x\\u{41", 0, "line 1: an escape"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();

        check(gufo_manifest_parse(gufo_str_of(rows[i].text), NULL, &error) == NULL, "row %zu", i);
        check_error_shape(&error, GUFO_E_MALFORMED, rows[i].text);
        check_u64(error.offset, rows[i].offset, "row %zu", i);
        check(strstr(error.message, rows[i].part) != NULL, "row %zu: %s", i, error.message);
    }
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* A model whose tensors "a" and "x:a" are both "abc". */
static gufo_model *open_model(folder *f)
{
    static const uint64_t size = 3;
    builder b = builder_new(all_encodings[ENCODING_COUNT - 2]);
    gufo_model *file;

    builder_header(&b, 2, 0);
    builder_tensor(&b, "a", GUFO_TYPE_I8, 1, &size, 0);
    builder_tensor(&b, "x:a", GUFO_TYPE_I8, 1, &size, 32);
    builder_pad(&b, 32);
    builder_raw(&b, "abc", 3);
    builder_pad(&b, 32);
    builder_raw(&b, "abc", 3);
    builder_pad(&b, 32);
    write_file(folder_path(f, "m").text, b.data, b.len);
    file = gufo_model_open(folder_path(f, "m").text, NULL, NULL);
    builder_free(&b);
    return file;
}

/* Results as text: "=a !x:a -gone +new !*" */
typedef struct told {
    char text[256];
} told;

static void on_result(void *context, const gufo_manifest_result *r)
{
    static const char marks[] = {[GUFO_MANIFEST_SAME] = '=',
                                 [GUFO_MANIFEST_DIFFERS] = '!',
                                 [GUFO_MANIFEST_MISSING] = '-',
                                 [GUFO_MANIFEST_NEW] = '+'};
    told *t = context;
    size_t len = strlen(t->text);

    snprintf(t->text + len, sizeof t->text - len, "%s%c%.*s", len > 0 ? " " : "", marks[r->verdict],
             r->whole ? 1 : (int)r->tensor.len, r->whole ? "*" : r->tensor.data);
}

#define GOOD(name) "sha1 " SHA1_ABC "  " name "\n"
#define BAD(name) "sha1 " SHA1_X "  " name "\n"
/* SHA-1 of "abcabc". */
#define ALL(name) "sha1 f8c1d87006fbf7e5cc4b026c3138bc046883dc71  " name "\n"

static const struct {
    const char *manifest;
    const char *told;
    gufo_status status;
    const char *path; /* NULL: "m" */
} verdicts[] = {
    {GOOD("m:a") GOOD("m:x:a") ALL("m"), "=a =x:a =*", GUFO_OK, NULL},
    {GOOD("other:a") GOOD("other:x:a") ALL("other"), "=a =x:a =*", GUFO_OK, NULL},
    {BAD("m:a") GOOD("m:x:a") BAD("m"), "!a =x:a !*", GUFO_OK, NULL},
    {GOOD("m:a") ALL("m"), "=a +x:a =*", GUFO_OK, NULL},
    {GOOD("m:a") GOOD("m:x:a") BAD("m:gone:b") GOOD("m:gone:b x"), "=a =x:a -gone:b -gone:b x",
     GUFO_OK, NULL},
    {ALL("m"), "=*", GUFO_OK, NULL},
    {BAD("whatever.gguf"), "!*", GUFO_OK, NULL},
    /* Where FILE ends: only one of these has a tensor. */
    {GOOD("a:b:x:a"), "+a =x:a", GUFO_OK, NULL},
    {GOOD("C:m:a") GOOD("C:m:x:a"), "=a =x:a", GUFO_OK, NULL},
    {GOOD("x:a") ALL("x"), "=a +x:a =*", GUFO_OK, NULL},
    /* Several files: the one that is named, or that has this last component. */
    {BAD("n:a") GOOD("m:a") GOOD("m:x:a"), "=a =x:a", GUFO_OK, NULL},
    {BAD("n:a") GOOD("dir/m:a") GOOD("dir/m:x:a"), "=a =x:a", GUFO_OK, "elsewhere/m"},
    {BAD("n:a") GOOD("o:a"), "", GUFO_E_NOT_FOUND, NULL},
    {GOOD("n:a") GOOD("d/m:a") GOOD("e/m:a"), "", GUFO_E_NOT_FOUND, "f/m"},
    /* Duplicates are harmless; contradictions are not. */
    {GOOD("m:a") GOOD("m:a") GOOD("m:x:a"), "=a =x:a", GUFO_OK, NULL},
    {GOOD("m:a") GOOD("m:x:a") BAD("m:a"), "", GUFO_E_MALFORMED, NULL},
    {ALL("m") BAD("m"), "", GUFO_E_MALFORMED, NULL},
    {GOOD("m:a") "uuid 2a302b72-bf5b-5d8d-8a09-ec7e78a9ed87  m:a\n", "", GUFO_E_MALFORMED, NULL},
};

static void verdicts_are_told(void **state)
{
    folder f = folder_new();
    gufo_model *file = open_model(&f);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(verdicts); i++) {
        gufo_error error = no_error();
        told t = {""};
        gufo_manifest_check check_options = {
            .manifest = gufo_manifest_parse(gufo_str_of(verdicts[i].manifest), NULL, &error),
            .path = verdicts[i].path != NULL ? verdicts[i].path : "m",
            .result = on_result,
            .context = &t};
        gufo_manifest_summary summary;

        check(check_options.manifest != NULL, "row %zu: %s", i, error.message);
        check_status(gufo_model_verify(file, &check_options, NULL, &summary, &error),
                     verdicts[i].status, &error, "row %zu", i);
        check_str(gufo_str_of(t.text), verdicts[i].told, "row %zu", i);
        if (verdicts[i].status == GUFO_OK)
            check_u64(gufo_manifest_agrees(&summary), strpbrk(t.text, "!-+") == NULL, "row %zu", i);
        else
            check_u64(error.role, GUFO_FILE_NONE, "row %zu", i);
        gufo_manifest_free((gufo_manifest *)check_options.manifest);
    }
    gufo_model_free(file);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest reading[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(lines_about_files_are_read),
        cmocka_unit_test(bad_lines_are_refused),
    };
    const struct CMUnitTest comparing[] = {
        cmocka_unit_test(verdicts_are_told),
    };
    int failed = cmocka_run_group_tests(reading, NULL, NULL);

    if (gufo_digest_available(GUFO_DIGEST_SHA1))
        failed += cmocka_run_group_tests(comparing, NULL, NULL);
    return failed;
}
