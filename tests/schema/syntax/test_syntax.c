/* Licenses, languages, UUIDs, DOIs, URLs: what is well-formed, and what is said of the rest. */
#include "../../support/check.h"

#include "../../support/folder.h"

#include "schema/syntax/syntax.h"
#include "schema/registry/tables.h"

#include <strings.h>

#define VIEW(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

typedef syntax_result check_fn(gufo_str text);

static check_fn *const all_checks[] = {syntax_license, syntax_language, syntax_uuid, syntax_doi,
                                       syntax_url};

typedef struct syntax_row {
    gufo_str text;
    syntax_verdict verdict;
    size_t at;
    const char *part, *hint;
} syntax_row;

/* The text in a block of just its size, so that the first byte past it is noticed. */
static syntax_result check_copy(check_fn *judge, gufo_str text)
{
    char *copy = malloc(text.len ? text.len : 1);
    syntax_result result;

    assert_non_null(copy);
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    result = judge(text.len > 0 ? (gufo_str){copy, text.len} : (gufo_str){0});
    if (result.part.data != NULL)
        result.part.data = text.data + (result.part.data - copy);
    free(copy);
    return result;
}

static void check_shape(const syntax_result *result, gufo_str text, const char *label)
{
    check(result->at <= text.len && result->part.len <= text.len - result->at, "%s: inside", label);
    check((result->reason == NULL) == (result->verdict == SYNTAX_OK), "%s: a reason", label);
    check(result->verdict != SYNTAX_OK || result->hint[0] == '\0', "%s: no hint", label);
    check(memchr(result->hint, '\0', sizeof result->hint) != NULL, "%s: the hint ends", label);
    check(result->part.len == 0 || result->part.data == text.data + result->at, "%s: the part",
          label);
}

static void check_rows(check_fn *judge, const syntax_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        syntax_result result = check_copy(judge, rows[i].text);
        const char *label = rows[i].text.data;

        check_shape(&result, rows[i].text, label);
        check_u64(result.verdict, rows[i].verdict, "%s", label);
        check_str(gufo_str_of(result.hint), rows[i].hint, "%s", label);
        if (result.verdict == SYNTAX_OK)
            continue;
        check_u64(result.at, rows[i].at, "%s", label);
        check_str(result.part, rows[i].part, "%s", label);
    }
}

#define GOOD(text)                       \
    {                                    \
        VIEW(text), SYNTAX_OK, 0, "", "" \
    }
#define BAD(text, verdict, at, part, hint)           \
    {                                                \
        VIEW(text), SYNTAX_##verdict, at, part, hint \
    }

/* ---- licenses ------------------------------------------------------------------------------- */

static void test_license(void **state)
{
    static const syntax_row rows[] = {
        GOOD("MIT"),
        GOOD("apache-2.0"),
        GOOD("0BSD"),
        GOOD("ZPL-2.1"),
        GOOD(" \tMIT\n"),
        GOOD("MIT OR Apache-2.0"),
        GOOD("((MIT) AND (Apache-2.0 OR ISC))"),
        GOOD("Apache-2.0+"),
        GOOD("GPL-2.0-only WITH Classpath-exception-2.0"),
        GOOD("GPL-2.0-or-later WITH classpath-EXCEPTION-2.0 OR MIT"),
        GOOD("LicenseRef-llama3.1"),
        GOOD("DocumentRef-spdx-tool-1.2:LicenseRef-MIT-Style-2 AND MIT"),
        GOOD("Apache-2.0 WITH AdditionRef-a"),
        BAD("GPL-3.0", DEPRECATED, 0, "GPL-3.0", "GPL-3.0-only or GPL-3.0-or-later"),
        BAD("MIT OR GPL-2.0+", DEPRECATED, 7, "GPL-2.0+", "GPL-2.0-or-later"),
        BAD("Nunit", DEPRECATED, 0, "Nunit", ""),
        BAD("mit or Nunit", VARIANT, 4, "or", "OR"),
        BAD("MIT And MIT", VARIANT, 4, "And", "AND"),
        BAD("Apache-2.0 with LLVM-exception", VARIANT, 11, "with", "WITH"),
        BAD("apache2", UNKNOWN, 0, "apache2", "Apache-2.0"),
        BAD("mpl2", UNKNOWN, 0, "mpl2", "MPL-2.0"),
        BAD("gpl3", UNKNOWN, 0, "gpl3", "GPL-3.0-only or GPL-3.0-or-later"),
        BAD("Nunit or llama3.1", UNKNOWN, 9, "llama3.1", "LicenseRef-llama3.1"),
        BAD("gemma AND qwen", UNKNOWN, 0, "gemma", "LicenseRef-gemma"),
        BAD("MIT WITH Classpath-exception", UNKNOWN, 9, "Classpath-exception",
            "Classpath-exception-2.0"),
        BAD("MIT WITH nothing-like-it", UNKNOWN, 9, "nothing-like-it", ""),
        BAD("", MALFORMED, 0, "", ""),
        BAD("  ", MALFORMED, 2, "", ""),
        BAD("Apache 2.0", MALFORMED, 7, "2.0", "Apache-2.0"),
        BAD("MIT License", MALFORMED, 4, "License", ""),
        BAD("MIT, ISC", MALFORMED, 3, ",", ""),
        BAD("MIT AND", MALFORMED, 7, "", ""),
        BAD("MIT WITH", MALFORMED, 8, "", ""),
        BAD("AND MIT", MALFORMED, 0, "AND", ""),
        BAD("MIT OR OR MIT", MALFORMED, 7, "OR", ""),
        BAD("(MIT", MALFORMED, 0, "(", ""),
        BAD("MIT AND ((MIT) OR (MIT)", MALFORMED, 8, "(", ""),
        BAD("MIT)", MALFORMED, 3, ")", ""),
        BAD("()", MALFORMED, 1, ")", ""),
        BAD("MIT (MIT)", MALFORMED, 4, "(", ""),
        BAD("MIT WITH (LLVM-exception)", MALFORMED, 9, "(", ""),
        BAD("(MIT) WITH LLVM-exception", MALFORMED, 6, "WITH", ""),
        BAD("MIT WITH LLVM-exception WITH LLVM-exception", MALFORMED, 24, "WITH", ""),
        BAD("MIT +", MALFORMED, 4, "+", ""),
        BAD("+", MALFORMED, 0, "+", ""),
        BAD("LicenseRef-", MALFORMED, 0, "LicenseRef-", ""),
        BAD("LicenseRef-a+", MALFORMED, 0, "LicenseRef-a+", ""),
        BAD("DocumentRef-:LicenseRef-a", MALFORMED, 0, "DocumentRef-:LicenseRef-a", ""),
        BAD("Document-a:LicenseRef-a", MALFORMED, 0, "Document-a:LicenseRef-a", ""),
        BAD("https://x.org/license", MALFORMED, 0, "https:", ""),
        BAD("MIT \xff", MALFORMED, 4, "\xff", ""),
    };

    (void)state;
    check_rows(syntax_license, rows, COUNT_OF(rows));
    check_u64(syntax_license((gufo_str){"MIT", 4}).verdict, SYNTAX_MALFORMED, "a byte 0 counts");
}

/* Megabytes of parentheses are read as quickly as anything, and need no stack. */
static void test_license_depth(void **state)
{
    enum { DEPTH = 1 << 20 };
    char *text = malloc(2 * DEPTH + 3);
    syntax_result result;

    (void)state;
    assert_non_null(text);
    memset(text, '(', DEPTH);
    memcpy(text + DEPTH, "MIT", 3);
    memset(text + DEPTH + 3, ')', DEPTH);
    result = syntax_license((gufo_str){text, 2 * DEPTH + 3});
    check_u64(result.verdict, SYNTAX_OK, "closed");
    result = syntax_license((gufo_str){text, 2 * DEPTH + 2});
    check_u64(result.verdict, SYNTAX_MALFORMED, "one is open");
    check_u64(result.at, 0, "the outermost");
    result = syntax_license((gufo_str){text, DEPTH});
    check_u64(result.verdict, SYNTAX_MALFORMED, "cut");
    check_u64(result.at, DEPTH, "at the end");
    free(text);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void test_language(void **state)
{
    static const syntax_row rows[] = {
        GOOD("en"),
        GOOD("aa"),
        GOOD("zu"),
        GOOD("sh"),
        GOOD("yue"), /* no two letters */
        GOOD("ace"),
        GOOD("qqq"), /* any three letters */
        BAD("EN", VARIANT, 0, "EN", "en"),
        BAD("Yue", VARIANT, 0, "Yue", "yue"),
        BAD("eng", VARIANT, 0, "eng", "en"),
        BAD("deu", VARIANT, 0, "deu", "de"),
        BAD("ger", VARIANT, 0, "ger", "de"),
        BAD("GER", VARIANT, 0, "GER", "de"),
        BAD("zh-CN", VARIANT, 0, "zh-CN", "zh"),
        BAD("pt_BR", VARIANT, 0, "pt_BR", "pt"),
        BAD("eng-US", VARIANT, 0, "eng-US", "en"),
        BAD("yue-Hant", VARIANT, 0, "yue-Hant", "yue"),
        BAD("English", VARIANT, 0, "English", "en"),
        BAD("castilian", VARIANT, 0, "castilian", "es"),
        BAD("Greek", VARIANT, 0, "Greek", "el"),
        BAD("Achinese", MALFORMED, 0, "Achinese", ""), /* no two letters */
        BAD("xx", UNKNOWN, 0, "xx", ""),
        BAD("x", UNKNOWN, 0, "x", ""),
        BAD("", MALFORMED, 0, "", ""),
        BAD("e1", MALFORMED, 0, "e1", ""),
        BAD("en ", MALFORMED, 0, "en ", ""),
        BAD("en,de", MALFORMED, 0, "en,de", ""),
        BAD("xx-YY", MALFORMED, 0, "xx-YY", ""),
        BAD("multilingual", MALFORMED, 0, "multilingual", ""),
    };

    (void)state;
    check_rows(syntax_language, rows, COUNT_OF(rows));
    check_u64(syntax_language((gufo_str){"en", 3}).verdict, SYNTAX_MALFORMED, "a byte 0 counts");
}

#define A_UUID "123e4567-e89b-12d3-a456-426614174000"

static void test_uuid(void **state)
{
    static const syntax_row rows[] = {
        GOOD(A_UUID),
        GOOD("123E4567-E89B-12D3-A456-426614174000"),
        BAD("{" A_UUID "}", VARIANT, 0, "{" A_UUID "}", A_UUID),
        BAD("urn:uuid:" A_UUID, VARIANT, 0, "urn:uuid:" A_UUID, A_UUID),
        BAD("123e4567e89b12d3a456426614174000", VARIANT, 0, "123e4567e89b12d3a456426614174000",
            A_UUID),
        BAD("", MALFORMED, 0, "", ""),
        BAD("{}", MALFORMED, 0, "{}", ""),
        BAD("urn:uuid:", MALFORMED, 0, "urn:uuid:", ""),
        BAD(A_UUID "0", MALFORMED, 0, A_UUID "0", ""),
        BAD("123e4567-e89b-12d3-a456-42661417400", MALFORMED, 0,
            "123e4567-e89b-12d3-a456-42661417400", ""),
        BAD("123e4567-e89b-12d3-a456-42661417400g", MALFORMED, 0,
            "123e4567-e89b-12d3-a456-42661417400g", ""),
        BAD(" " A_UUID, MALFORMED, 0, " " A_UUID, ""),
    };

    (void)state;
    check_rows(syntax_uuid, rows, COUNT_OF(rows));
}

#define A_DOI "10.57967/hf/1234"

static void test_doi(void **state)
{
    static const syntax_row rows[] = {
        GOOD(A_DOI),
        GOOD("10.1000.10/123"),
        GOOD("10.1234/\xc3\xa9"),
        GOOD("10.1002/(SICI)1097<1:AID>3.0.CO;2-#"),
        BAD("doi:" A_DOI, VARIANT, 0, "doi:" A_DOI, A_DOI),
        BAD("DOI: " A_DOI, VARIANT, 0, "DOI: " A_DOI, A_DOI),
        BAD("https://doi.org/" A_DOI, VARIANT, 0, "https://doi.org/" A_DOI, A_DOI),
        BAD("http://dx.doi.org/" A_DOI, VARIANT, 0, "http://dx.doi.org/" A_DOI, A_DOI),
        BAD("doi:10.1234/\xc3\xa9", VARIANT, 0, "doi:10.1234/\xc3\xa9", ""),
        BAD("", MALFORMED, 0, "", ""),
        BAD("10.", MALFORMED, 0, "10.", ""),
        BAD("10.1/1", MALFORMED, 0, "10.1/1", ""),
        BAD("10.1234", MALFORMED, 0, "10.1234", ""),
        BAD("10.1234/", MALFORMED, 0, "10.1234/", ""),
        BAD("10.1234./a", MALFORMED, 0, "10.1234./a", ""),
        BAD("10..1234/a", MALFORMED, 0, "10..1234/a", ""),
        BAD("10.1234/a b", MALFORMED, 0, "10.1234/a b", ""),
        BAD("10.1234/a\n", MALFORMED, 0, "10.1234/a\n", ""),
        BAD("10.1234/\xff", MALFORMED, 0, "10.1234/\xff", ""),
        BAD("doi:", MALFORMED, 0, "doi:", ""),
        BAD("https://doi.org/", MALFORMED, 0, "https://doi.org/", ""),
        BAD("arXiv:2301.00001", MALFORMED, 0, "arXiv:2301.00001", ""),
    };

    (void)state;
    check_rows(syntax_doi, rows, COUNT_OF(rows));
}

static void test_url(void **state)
{
    static const syntax_row rows[] = {
        GOOD("https://huggingface.co/org/model"),
        GOOD("HTTP://localhost:8080/a?b=c#d"),
        GOOD("https://user@example.org"),
        GOOD("https://[2001:db8::1]:80/x"),
        GOOD("https://b\xc3\xbc"
             "cher.example/%20"),
        BAD("huggingface.co/x", VARIANT, 0, "huggingface.co/x", "https://huggingface.co/x"),
        BAD("www.example.org", VARIANT, 0, "www.example.org", "https://www.example.org"),
        BAD("//example.org/a", VARIANT, 0, "//example.org/a", "https://example.org/a"),
        BAD("https:/example.org/a", VARIANT, 0, "https:/example.org/a", "https://example.org/a"),
        BAD("git@github.com:a/b.git", VARIANT, 0, "git@github.com:a/b.git",
            "https://github.com/a/b.git"),
        BAD("ssh://git@github.com/a/b", VARIANT, 0, "ssh://git@github.com/a/b",
            "https://github.com/a/b"),
        BAD("git+https://github.com/a/b", VARIANT, 0, "git+https://github.com/a/b",
            "https://github.com/a/b"),
        BAD("", MALFORMED, 0, "", ""),
        BAD("none", MALFORMED, 0, "none", ""),
        BAD("org/model", MALFORMED, 0, "org/model", ""),
        BAD("git@github.com", MALFORMED, 0, "git@github.com", ""),
        BAD("ftp://example.org/a", MALFORMED, 0, "ftp://example.org/a", ""),
        BAD("https://", MALFORMED, 0, "https://", ""),
        BAD("https:///a", MALFORMED, 0, "https:///a", ""),
        BAD("https://?a", MALFORMED, 0, "https://?a", ""),
        BAD("https://-a.org/", MALFORMED, 8, "-a.org", ""),
        BAD("https://a..org/", MALFORMED, 8, "a..org", ""),
        BAD("https://[::g]/", MALFORMED, 8, "[::g]", ""),
        BAD("https://@/", MALFORMED, 8, "@", ""),
        BAD("https://a.org/b c", MALFORMED, 15, " ", ""),
        BAD("https://a.org/b\n", MALFORMED, 15, "\n", ""),
        BAD("https://a.org/<b>", MALFORMED, 14, "<", ""),
        BAD("https://a.org/\x7f", MALFORMED, 14, "\x7f", ""),
        BAD("https://a.org/\xff", MALFORMED, 14, "\xff", ""),
        BAD("see https://a.org", MALFORMED, 3, " ", ""),
        BAD("https://a.org/%20%zz", MALFORMED, 17, "%", ""),
        BAD("https://a.org/%2", MALFORMED, 14, "%", ""),
        BAD("https://a.org/%", MALFORMED, 14, "%", ""),
        GOOD("https://a.org/%20%C3%a4?b=%25"),
    };

    (void)state;
    check_rows(syntax_url, rows, COUNT_OF(rows));
}

/* A hint that does not fit is left out, not cut. */
static void test_long_hint(void **state)
{
    char text[300] = "doi:10.1234/";
    syntax_result result;

    (void)state;
    memset(text + strlen(text), 'x', sizeof text - strlen(text));
    for (size_t len = 100; len <= sizeof text; len++) {
        result = syntax_doi((gufo_str){text, len});
        check_u64(result.verdict, SYNTAX_VARIANT, "%zu", len);
        check_u64(strlen(result.hint), len - 4 < SYNTAX_HINT ? len - 4 : 0, "%zu", len);
    }
}

/* ---- any bytes ------------------------------------------------------------------------------ */

static void test_cut(void **state)
{
    static const char *const texts[] = {
        "(MIT OR DocumentRef-a:LicenseRef-b+) AND GPL-2.0-only WITH Classpath-exception-2.0",
        "pt_BR, Bokm\xc3\xa5l",
        "urn:uuid:" A_UUID,
        "https://doi.org/" A_DOI,
        "https://user@[2001:db8::1]:80/x?y#z",
        "git@github.com:a/b.git",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (size_t len = 0; len <= strlen(texts[i]); len++)
            for (size_t j = 0; j < COUNT_OF(all_checks); j++) {
                syntax_result result = check_copy(all_checks[j], (gufo_str){texts[i], len});

                check_shape(&result, (gufo_str){texts[i], len}, texts[i]);
            }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1;
    return *seed >> 33;
}

static void test_random(void **state)
{
    static const char likely[] = "()+-.:/ aAdDoOrRnNiImMtT109{}@_\xc3\xa9";
    uint64_t seed = 1;
    char text[48];

    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        size_t len = (size_t)(next_random(&seed) % sizeof text);

        for (size_t k = 0; k < len; k++) {
            uint64_t number = next_random(&seed);

            text[k] =
                number % 8 == 0 ? (char)(number >> 8) : likely[(number >> 8) % (sizeof likely - 1)];
        }
        for (size_t j = 0; j < COUNT_OF(all_checks); j++) {
            syntax_result result = check_copy(all_checks[j], (gufo_str){text, len});

            check_shape(&result, (gufo_str){text, len}, "random");
        }
    }
}

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct table_row {
    const char *columns[3];
} table_row;

typedef struct table {
    char *text;
    table_row rows[8000];
    size_t count;
} table;

/* Cuts a line at its tabs. */
static table_row cut_row(char *line)
{
    table_row row = {{"", "", ""}};

    for (size_t i = 0; i < COUNT_OF(row.columns) && line != NULL; i++)
        row.columns[i] = strsep(&line, "\t");
    return row;
}

/* A table of registry/, from the text that the library's tables are made of. */
static table *read_table(const char *name)
{
    const char *source = getenv("GUFO_SOURCE");
    path_text folder_of = path_join(source != NULL ? source : ".", "registry");
    path_text path = path_join(folder_of.text, name);
    table *t = calloc(1, sizeof *t);
    size_t len;
    char *rest, *line;

    assert_non_null(t);
    t->text = (char *)read_file(path.text, &len);
    check(t->text != NULL && len > 0, "%s: GUFO_SOURCE names the source tree", path.text);
    check(t->text[len - 1] == '\n', "%s: the last line ends", name);
    t->text[len - 1] = '\0';
    for (rest = t->text; (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '#' && t->count < COUNT_OF(t->rows))
            t->rows[t->count++] = cut_row(line);
    return t;
}

static void free_table(table *t)
{
    free(t->text);
    free(t);
}

/* Every id is found, so that the tables are in the order that the search needs. */
static void check_ids(const char *name, const char *before_id)
{
    table *t = read_table(name);
    char text[128];

    check(t->count > 60, "%s is whole: %zu", name, t->count);
    for (size_t i = 0; i < t->count; i++) {
        const char *id = t->rows[i].columns[0];
        bool deprecated = strcmp(t->rows[i].columns[1], "deprecated") == 0;

        check(i == 0 || strcasecmp(t->rows[i - 1].columns[0], id) < 0, "%s is in order", id);
        check(deprecated || t->rows[i].columns[1][0] == '\0', "%s", id);
        (void)snprintf(text, sizeof text, "%s%s", before_id, id);
        check_u64(syntax_license(gufo_str_of(text)).verdict,
                  deprecated ? SYNTAX_DEPRECATED : SYNTAX_OK, "%s", id);
    }
    free_table(t);
}

static void test_license_tables(void **state)
{
    (void)state;
    check_ids("spdx_licenses.tsv", "");
    check_ids("spdx_exceptions.tsv", "MIT WITH ");
}

static void check_order(const table *t)
{
    for (size_t i = 1; i < t->count; i++) {
        const char *const *last = t->rows[i - 1].columns, *const *now = t->rows[i].columns;
        int order = strcmp(last[0], now[0]);

        check(order < 0 || (order == 0 && strcmp(last[1], now[1]) < 0), "%s %s is in order", now[0],
              now[1]);
    }
}

static void test_language_table(void **state)
{
    table *t = read_table("languages.tsv");

    (void)state;
    check(t->count > 180, "the table is whole: %zu", t->count);
    check_order(t);
    for (size_t i = 0; i < t->count; i++) {
        const char *two = t->rows[i].columns[0], *three = t->rows[i].columns[1];
        syntax_result result = syntax_language((gufo_str){three, 3});

        check_u64(result.verdict, SYNTAX_VARIANT, "%s", three);
        check_str(gufo_str_of(result.hint), two, "%s", three);
        check_u64(syntax_language(gufo_str_of(two)).verdict, SYNTAX_OK, "%s", two);
    }
    free_table(t);
}

/* ---- did you mean --------------------------------------------------------------------------- */

static const char *const names[] = {
    "general.architecture", "general.alignment", "llama.context_length", "", "mamba", "bert"};

static gufo_str name_at(const void *rows, size_t index)
{
    return gufo_str_of(((const char *const *)rows)[index]);
}

static void test_nearest(void **state)
{
    static const struct {
        gufo_str text;
        int index; /* -1: none */
    } rows[] = {
        {VIEW("general.architecture"), 0},
        {VIEW("general.architecure"), 0},   /* missing */
        {VIEW("general.archittecture"), 0}, /* superfluous */
        {VIEW("general.architexture"), 0},  /* another */
        {VIEW("general.architecutre"), 0},  /* changed places */
        {VIEW("GENERAL_ALIGNMENT"), 1},     /* case and punctuation are nothing */
        {VIEW("llama.contextlen"), 2},      /* four */
        {VIEW("llama.context"), -1},        /* six */
        {VIEW("mabma"), 4},
        {VIEW("mmaab"), -1},
        {VIEW("brt"), -1}, /* too short for a step */
        {VIEW("bret"), 5},
        {VIEW(""), -1},
        {VIEW("..."), -1},
        {VIEW("\xc3\xa9"), -1},
    };
    char long_text[4096];
    size_t index;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool found = gufo_text_nearest(rows[i].text, name_at, names, COUNT_OF(names), &index);

        check(found == (rows[i].index >= 0), "%s", rows[i].text.data);
        check(!found || index == (size_t)rows[i].index, "%s: %zu", rows[i].text.data, index);
    }
    check(!gufo_text_nearest(rows[0].text, name_at, names, 0, &index), "an empty table");
    memset(long_text, 'a', sizeof long_text);
    check(!gufo_text_nearest((gufo_str){long_text, sizeof long_text}, name_at, names,
                             COUNT_OF(names), &index),
          "a long text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_license),
        cmocka_unit_test(test_license_depth),
        cmocka_unit_test(test_language),
        cmocka_unit_test(test_uuid),
        cmocka_unit_test(test_doi),
        cmocka_unit_test(test_url),
        cmocka_unit_test(test_long_hint),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_license_tables),
        cmocka_unit_test(test_language_table),
        cmocka_unit_test(test_nearest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
