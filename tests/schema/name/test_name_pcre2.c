/* The matcher of file names against PCRE2 and the expression itself: the same names conform, but for
 * sizes and shards that the text of the specification rules out, and all parts are the same, for the names of the specification and for random ones of its hostile
 * pieces.  PCRE2 gives up where it would have to try too much; such names are counted. */
#include "../../support/builder.h"

#ifndef TEST_PCRE2

int main(void)
{
    fputs("this build has no PCRE2\n", stderr);
    return 77;
}

#else

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define RANDOM_NAMES 200000
#define MATCH_LIMIT 20000

/* The expression of the specification with today's sidecar after its '^'. */
static const char expression[] =
    "^(?:(?<Sidecar>mmproj|mtp)-)?"
    "(?<BaseName>[A-Za-z0-9\\s]*(?:(?:-(?:(?:[A-Za-z\\s][A-Za-z0-9\\s]*)|(?:[0-9\\s]*)))*))-"
    "(?:(?<SizeLabel>(?:\\d+x)?(?:\\d+\\.)?\\d+[A-Za-z](?:-[A-Za-z]+(\\d+\\.)?\\d+[A-Za-z]+)?)"
    "(?:-(?<FineTune>[A-Za-z0-9\\s-]+))?)?-"
    "(?:(?<Version>v\\d+(?:\\.\\d+)*))"
    "(?:-(?<Encoding>(?!LoRA|vocab)[\\w_]+))?"
    "(?:-(?<Type>LoRA|vocab))?"
    "(?:-(?<Shard>\\d{5}-of-\\d{5}))?\\.gguf$";

static const char *const groups[] = {"Sidecar", "BaseName", "SizeLabel", "FineTune",
                                     "Version", "Encoding", "Type",      "Shard"};

/* ---- the judge ------------------------------------------------------------------------------ */

typedef struct judge {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    int numbers[COUNT_OF(groups)];
    uint64_t conforming, given_up;
} judge;

static int start_judge(void **state)
{
    static judge j;
    PCRE2_SIZE at;
    int error;

    j.code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, PCRE2_DOLLAR_ENDONLY,
                           &error, &at, NULL);
    if (j.code == NULL)
        return -1;
    (void)pcre2_jit_compile(j.code, PCRE2_JIT_COMPLETE);
    j.match = pcre2_match_data_create_from_pattern(j.code, NULL);
    j.limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(j.limits, MATCH_LIMIT);
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        j.numbers[i] = pcre2_substring_number_from_name(j.code, (PCRE2_SPTR)groups[i]);
    *state = &j;
    return 0;
}

static int end_judge(void **state)
{
    judge *j = *state;

    pcre2_match_data_free(j->match);
    pcre2_match_context_free(j->limits);
    pcre2_code_free(j->code);
    return 0;
}

/* What group `index` has found. */
static gufo_str captured(const judge *j, gufo_str name, size_t index)
{
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(j->match);
    PCRE2_SIZE from = places[2 * j->numbers[index]], to = places[2 * j->numbers[index] + 1];

    return from == PCRE2_UNSET ? (gufo_str){0} : (gufo_str){name.data + from, to - from};
}

/* The name in print: control characters as '?'. */
static const char *label(gufo_str name)
{
    static char text[400];
    size_t len = name.len < sizeof text - 1 ? name.len : sizeof text - 1;

    for (size_t i = 0; i < len; i++)
        text[i] = (char)(name.data[i] >= ' ' && name.data[i] < 127 ? name.data[i] : '?');
    text[len] = '\0';
    return text;
}

/* Whether what was found also obeys the text: scales, and shards from 1 to their count. */
static bool obeys_text(const judge *j, gufo_str name)
{
    gufo_str size = captured(j, name, 2), shard = captured(j, name, 7);
    size_t end = 0;

    while (end < size.len && size.data[end] != '-')
        end++;
    if (end > 0 && memchr("KMBTQ", size.data[end - 1], 5) == NULL)
        return false;
    return shard.len == 0 ||
           (memcmp(shard.data, "00000", 5) != 0 && memcmp(shard.data, shard.data + 9, 5) <= 0);
}

static void compare(judge *j, gufo_str name)
{
    gufo_name got;
    bool conforms = gufo_name_match(name, &got);
    const gufo_str parts[] = {got.sidecar, got.base_name, got.size_label, got.fine_tune,
                              got.version, got.encoding,  got.type,       got.shard};
    int found = pcre2_match(j->code, (PCRE2_SPTR)name.data, name.len, 0, 0, j->match, j->limits);

    if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_JIT_STACKLIMIT) {
        j->given_up++;
        return;
    }
    check(found > 0 || found == PCRE2_ERROR_NOMATCH, "%d: %s", found, label(name));
    check(conforms == (found > 0 && obeys_text(j, name)), "%s", label(name));
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        gufo_str expected = conforms ? captured(j, name, i) : (gufo_str){0};

        check(parts[i].data == expected.data && parts[i].len == expected.len, "%s of '%s'",
              groups[i], label(name));
    }
    j->conforming += conforms;
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_specification(void **state)
{
    static const char *const names[] = {
        "Mixtral-8x7B-v0.1-KQ2.gguf",
        "Hermes-2-Pro-Llama-3-8B-F16.gguf",
        "Grok-100B-v1.0-Q4_0-00003-of-00009.gguf",
        "Hermes-2-Pro-Llama-3-8B-v1.0-F16.gguf",
        "Phi-3-mini-3.8B-ContextLength4k-instruct-v1.0.gguf",
        "not-a-known-arrangement.gguf",
        "mtp-Qwen3-27B-v1.0-Q4_K_M.gguf",
        "mmproj-Qwen3-27B-v1.0-F16.gguf",
        "mmproj-8B-v1.0.gguf",
        "mmproj-mtp-8B-v1.0.gguf",
        "a-7b-v1.0.gguf",
        "a-7Z-v1.0.gguf",
        "a-7B-v1.0-00000-of-00003.gguf",
        "a-7B-v1.0-00004-of-00003.gguf",
        "",
        ".gguf",
        "-v1.gguf",
        "--v1.gguf",
        "---v1.gguf",
        "a--v1.gguf\n",
    };
    judge *j = *state;

    j->conforming = j->given_up = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        compare(j, gufo_str_of(names[i]));
    check_u64(j->given_up, 0, "all can be judged");
    check_u64(j->conforming, 10, "those that conform");
}

/* Pieces that names are made of, more and less likely to fit. */
static const char *const pieces[] = {
    "-",        "-",     "-",    "-",     "-",    "7",     "12345",   "0",
    "B",        "x",     "v",    "v1",    "v1.0", "v2.3.", ".",       "_",
    "K",        " ",     "a",    "Llama", "LoRA", "vocab", "mmproj",  "mtp",
    "mmproj-",  "-of-",  "8B",   "8x7B",  "3.8B", "A3B",   "Length4", "k",
    "Q4_0",     "F16",   "\n",   "\v",    "\t",   "--",    "1x",      "00001-of-00003",
    "\xc3\xa9", ".gguf", "gguf", "-v1",   "-v1",  "-7B",   "-7B",     "-v1-F16",
    "-8B-",
};

/* A name of up to `most` pieces; returns its length. */
static size_t make_name(uint64_t *seed, size_t most, char out[1024])
{
    size_t count = (size_t)(random_next(seed) % (most + 1)), len = 0;

    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[random_next(seed) % COUNT_OF(pieces)];

        memcpy(out + len, piece, strlen(piece));
        len += strlen(piece);
    }
    if (random_next(seed) % 16 == 0)
        return len;
    memcpy(out + len, ".gguf", 5);
    return len + 5;
}

static void test_random(void **state)
{
    judge *j = *state;
    uint64_t seed = 5;
    char text[1024];

    j->conforming = j->given_up = 0;
    for (size_t i = 0; i < RANDOM_NAMES; i++) {
        size_t len = make_name(&seed, i % 24 + 1, text);

        compare(j, (gufo_str){text, len});
    }
    print_message("%" PRIu64 " of %d names conform, PCRE2 gave up %" PRIu64 "\n", j->conforming,
                  RANDOM_NAMES, j->given_up);
    check(j->conforming > 1000, "enough of them conform");
    check(j->given_up < RANDOM_NAMES / 100, "few are out of reach");
}

/* Components in the order of the convention, some left out, doubled or exchanged: most of these
 * names conform, and many in more than one way. */
static size_t make_likely(uint64_t *seed, char out[1024])
{
    static const char *const likely[][6] = {
        {"mmproj-", "mtp-", "", "", "mmproj-mmproj-", "mtp"},
        {"Llama", "", "a", "01ai", "a b", "7B"},
        {"-3", "-v1", "", "-v2-F16", "-", "-LoRA"},
        {"-8x7B", "-7B", "-3.8B-A3B", "-", "-7B-v1x", "-7B-a1b-a2c"},
        {"-chat", "", "-v1", "-v1-v2", "-", "-7B-v3-LoRA"},
        {"-v1.0", "-v2", "-v1", "-v0.1.2", "-v1-v2-v3", ""},
        {"-F16", "-Q4_0", "", "-v3", "-00001", "-LoRA"},
        {"-LoRA", "-vocab", "", "", "-v4", "-00001"},
        {"-00001-of-00002", "", "", "-of-00002", "-v5", "-00001-of-00002-00003-of-00004"},
        {".gguf", ".gguf", ".gguf", ".gguf", ".gguf", ".gguf.gguf"},
    };
    size_t len = 0;

    for (size_t i = 0; i < COUNT_OF(likely); i++) {
        const char *piece = likely[i][random_next(seed) % 6];

        memcpy(out + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return len;
}

static void test_likely(void **state)
{
    judge *j = *state;
    uint64_t seed = 6;
    char text[1024];

    j->conforming = j->given_up = 0;
    for (size_t i = 0; i < RANDOM_NAMES; i++) {
        size_t len = make_likely(&seed, text);

        compare(j, (gufo_str){text, len});
    }
    check(j->conforming > RANDOM_NAMES / 4, "%" PRIu64, j->conforming);
    check(j->given_up < RANDOM_NAMES / 100, "%" PRIu64, j->given_up);
}

/* What makes a matcher of our own necessary: every blank part can be read in two ways, and PCRE2
 * tries all combinations of them. */
static void test_given_up(void **state)
{
    judge *j = *state;
    char text[400];
    gufo_name name;

    for (size_t at = 0; at < sizeof text; at += 2)
        memcpy(text + at, "- ", 2);
    memcpy(text + sizeof text - 8, "!v1.gguf", 8);
    j->given_up = 0;
    compare(j, (gufo_str){text, sizeof text});
    check_u64(j->given_up, 1, "PCRE2 gives up");
    check(!gufo_name_match((gufo_str){text, sizeof text}, &name), "we do not");
}

/* Every byte in every place of a name that conforms. */
static void test_bytes(void **state)
{
    judge *j = *state;
    static const char good[] = "mtp-a-3-8x7.1B-A3B-c d-v1.0-Q4_0-LoRA-00001-of-00002.gguf";
    char text[sizeof good];

    j->conforming = j->given_up = 0;
    for (size_t at = 0; at < sizeof good - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, good, sizeof good);
            text[at] = (char)byte;
            compare(j, (gufo_str){text, sizeof good - 1});
        }
    }
    check_u64(j->given_up, 0, "all can be judged");
    check(j->conforming > 1000, "%" PRIu64, j->conforming);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specification), cmocka_unit_test(test_random),
        cmocka_unit_test(test_likely),        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_bytes),
    };

    return cmocka_run_group_tests(tests, start_judge, end_judge);
}

#endif
