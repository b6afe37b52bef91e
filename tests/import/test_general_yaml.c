/* YAML of model cards: what its constructs become, and what is refused, in which line. */
#include "../support/pace.h"
#include "general_case.h"

#include "import/general/general.h"

/* ---- what is read --------------------------------------------------------------------------- */

static const char *const read_rows[][2] = {
    /* Mappings and scalars.  All plain ones are texts, but null. */
    {"a: b", "{'a':'b'}"},
    {"a: 1.0\nb: yes\nc: 2024-01-01\nd: no\n", "{'a':'1.0','b':'yes','c':'2024-01-01','d':'no'}"},
    {"a:\nb: ~\nc: null\nd: NULL\ne: nULL\n", "{'a':null,'b':null,'c':null,'d':null,'e':'nULL'}"},
    {"a:   b c  \nd: e:f\n", "{'a':'b c','d':'e:f'}"},
    {"'it''s': a\n\"a\\\"b\": c", "{'it\\'s':'a','a\\\"b':'c'}"},
    {"a b : c\n1: d\n'q u': e\n\"x\\ty\": f", "{'a b':'c','1':'d','q u':'e','x\\ty':'f'}"},
    {"a: b\nc: d\na: e\n", "{'a':'e','c':'d'}"},
    {"a:\n  b:\n    c: d\n  e: f\ng: h\n", "{'a':{'b':{'c':'d'},'e':'f'},'g':'h'}"},
    {"\n\n  a: b\n  c: d\n\n", "{'a':'b','c':'d'}"},
    {"http://x: y", "{'http://x':'y'}"},
    {"a: -b\nc: ?d\ne: :f\n", "{'a':'-b','c':'?d','e':':f'}"},
    /* Comments. */
    {"# x\na: b # c\n  # d\nc: d#e\nf: # g\n  h\n", "{'a':'b','c':'d#e','f':'h'}"},
    {"a: 'b' # c\nd: [e] # f\n", "{'a':'b','d':['e']}"},
    /* Lists: in the column of their name, or farther. */
    {"a:\n- b\n- c\nd: e", "{'a':['b','c'],'d':'e'}"},
    {"a:\n  - b\n  -   c\n  -\n  - \n", "{'a':['b','c',null,null]}"},
    {"a:\n- b: c\n  d: e\n- f: g\n", "{'a':[{'b':'c','d':'e'},{'f':'g'}]}"},
    {"a:\n- - b\n  - c\n- d\n", "{'a':[['b','c'],'d']}"},
    {"a:\n-\n  b: c\n-\n  - d\n", "{'a':[{'b':'c'},['d']]}"},
    {"a:\n- b:\n  - c\n  d: e\n", "{'a':[{'b':['c'],'d':'e'}]}"},
    {"- a\n- b: c\n", "['a',{'b':'c'}]"},
    {"a:\n- x # one\n# two\n- y\n", "{'a':['x','y']}"},
    {"a:\n- no\n- en\n", "{'a':['no','en']}"},
    /* Text over several lines. */
    {"a: b\n  c\n   d\ne: f", "{'a':'b c d','e':'f'}"},
    {"a: b\n\n  c\n\n\n  d\n", "{'a':'b\\nc\\n\\nd'}"},
    {"a:\n  b\n  c\n", "{'a':'b c'}"},
    {"a:\n- b\n  c\n- d", "{'a':['b c','d']}"},
    {"a: b\n  - c\n", "{'a':'b - c'}"},
    {"a: b # c\nd: e", "{'a':'b','d':'e'}"},
    /* Quotes. */
    {"a: 'b''c # \"d\": e'", "{'a':'b\\'c # \\\"d\\\": e'}"},
    {"a: \"b\\\"c\\\\\\n\\t\\u00e9\\x41\\U0001F600\\e\"", "{'a':'b\\\"c\\\\\\n\\t\xc3\xa9"
                                                          "A\xf0\x9f\x98\x80\\u001B'}"},
    {"a: \"b\n  c \n\n  d\\\n   e\"", "{'a':'b c\\nde'}"},
    {"a: \"x\\ \n  y\"", "{'a':'x  y'}"},
    {"a: 'b\n  c'\nd: ''", "{'a':'b c','d':''}"},
    {"a: \"null\"\nb: '1'", "{'a':'null','b':'1'}"},
    {"a: ['no', \"x\"]", "{'a':['no','x']}"},
    /* Blocks of lines. */
    {"a: |\n  b\n   c\n\n  d\ne: f", "{'a':'b\\n c\\n\\nd\\n','e':'f'}"},
    {"a: |-\n  b\n\n\nc: d", "{'a':'b','c':'d'}"},
    {"a: |+\n  b\n\n\nc: d", "{'a':'b\\n\\n\\n','c':'d'}"},
    {"a: >\n  b\n  c\n\n  d\n   e\n   f\n  g\n", "{'a':'b c\\nd\\n e\\n f\\ng\\n'}"},
    {"a: >-\n  b\n  c\n", "{'a':'b c'}"},
    {"a: |2\n   b\n  c\n", "{'a':' b\\nc\\n'}"},
    {"a: |-1 # x\n  b\n", "{'a':' b'}"},
    {"a: |\n\n  b\n", "{'a':'\\nb\\n'}"},
    {"a: |\nb: c\n", "{'a':'','b':'c'}"},
    {"a: |\n  # no comment\n  - b: c\n", "{'a':'# no comment\\n- b: c\\n'}"},
    {"a:\n- |\n  b\n- c\n", "{'a':['b\\n','c']}"},
    {"a: |\n  b", "{'a':'b'}"},
    /* Between brackets. */
    {"a: [b, c d, 'e, f', ]\n", "{'a':['b','c d','e, f']}"},
    {"a: []\nb: {}\nc: [ ]\n", "{'a':[],'b':{},'c':[]}"},
    {"a: {b: c, d: [e, {f: g}], 'h': , i}\n",
     "{'a':{'b':'c','d':['e',{'f':'g'}],'h':null,'i':null}}"},
    {"a: [\n  b, # x\n  c\n]\nd: e", "{'a':['b','c'],'d':'e'}"},
    {"a: [b\n  c, ~]\n", "{'a':['b c',null]}"},
    {"a: [http://x:1/y, a#b]\n", "{'a':['http://x:1/y','a#b']}"},
    {"{a: b}\n", "{'a':'b'}"},
    {"? a\n: b\nc: [d: e]\n", "{'a':'b','c':[{'d':'e'}]}"},
    /* Not mappings, which the card refuses. */
    {"", "null"},
    {"# x\n", "null"},
    {"text", "'text'"},
};

/* The rows are in single quotes. */
static json_t *expected_value(const char *row)
{
    char text[512];
    size_t i = 0;

    for (; row[i] != '\0'; i++)
        text[i] = row[i] == '\'' && !(i > 0 && row[i - 1] == '\\') ? '"' : row[i];
    text[i] = '\0';
    for (char *escaped = text; (escaped = strstr(escaped, "\\'")) != NULL;)
        memmove(escaped, escaped + 1, strlen(escaped));
    return json_of(text);
}

static void test_what_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(read_rows); i++) {
        json_t *expected = expected_value(read_rows[i][1]);
        yaml_fault fault;
        json_t *value = yaml_read(gufo_str_of(read_rows[i][0]), &fault);

        check(value != NULL, "%s: %s in line %zu", read_rows[i][0], fault.reason,
              (size_t)fault.line);
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        check(json_equal(value, expected), "%s: %s", read_rows[i][0], text);
        free(text);
        json_decref(value);
        json_decref(expected);
    }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const struct {
    const char *text, *reason;
    unsigned line; /* from 0 */
} refused_rows[] = {
    {"a: b: c", "mapping values are not allowed", 0},
    {"a: b\n  c: d", "mapping values are not allowed", 1},
    {"a: b\n c\n d: e", "mapping values are not allowed", 2},
    {"b:\na: *x", "a tag, an anchor or an alias", 1},
    {"a: &x b", "a tag, an anchor or an alias", 0},
    {"a: !!str b", "a tag, an anchor or an alias", 0},
    {"a: &x [b]", "a tag, an anchor or an alias", 0},
    {"a: !x {b: c}", "a tag, an anchor or an alias", 0},
    {"[a]: b", "a name must be a text", 0},
    {"{a: b}: c", "a name must be a text", 0},
    {"*a : b", "a name must be a text", 0},
    {"a: @b", "cannot start any token", 0},
    {"a: %b", "cannot start any token", 0},
    {"a: - b", "block sequence entries are not allowed", 0},
    {"a: b\nc: 'd\n\ne: f", "unexpected end of stream", 1},
    {"a: \"b\\\"", "unexpected end of stream", 0},
    {"a: \"\\q\"", "unknown escape", 0},
    {"a: \"\\u12\"", "did not find expected hex", 0},
    {"a: \"\\ud800\"", "invalid Unicode character escape", 0},
    {"a: \"\\U00110000\"", "invalid Unicode character escape", 0},
    {"a: 'b' c", "did not find expected key", 0},
    {"a: [b] c", "did not find expected key", 0},
    {"a: [b", "did not find expected ',' or ']'", 1},
    {"a: {b: c", "did not find expected ',' or '}'", 1},
    {"a: {b: c]", "did not find expected ',' or '}'", 0},
    {"a: [b}", "did not find expected ',' or ']'", 0},
    {"a: [,]", "did not find expected node content", 0},
    {"a: |x\n  b", "did not find expected comment or line break", 0},
    {"a: | b\n", "did not find expected comment or line break", 0},
    {"a: b\n- c", "did not find expected key", 1},
    {"a: b\nc\nd: e", "could not find expected ':'", 1},
    {"a:\n    b: c\n  d: e", "did not find expected key", 2},
    {"a:\n  - b\n c: d", "did not find expected key", 2},
    {"- a\nb: c", "did not find expected '-' indicator", 1},
    {"  a: b\nc: d", "did not find expected <document start>", 1},
    {"[a]\nb", "did not find expected <document start>", 1},
    {"a: b\n---\nc: d\n", "a second document", 1},
    {"a: b\nc: \x01\n", "control characters are not allowed", 1},
};

static void test_what_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused_rows); i++) {
        yaml_fault fault = {.reason = NULL};
        json_t *value = yaml_read(gufo_str_of(refused_rows[i].text), &fault);
        char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

        check(value == NULL, "%s: %s", refused_rows[i].text, text);
        check(strstr(fault.reason, refused_rows[i].reason) != NULL, "%s: %s", refused_rows[i].text,
              fault.reason);
        check(fault.line == refused_rows[i].line, "%s: line %" PRIu64, refused_rows[i].text,
              fault.line);
    }
}

/* Every beginning of every row is read or refused, and nothing beyond its end is touched. */
static void test_cut_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(read_rows); i++)
        for (size_t len = 0; len <= strlen(read_rows[i][0]); len++) {
            char *copy = malloc(len + (len == 0));
            yaml_fault fault;

            check(copy != NULL, "%zu", len);
            memcpy(copy, read_rows[i][0], len);
            if (gufo_utf8_valid_prefix((gufo_str){copy, len}) == len)
                json_decref(yaml_read((gufo_str){copy, len}, &fault));
            free(copy);
        }
}

/* ---- large ones ----------------------------------------------------------------------------- */

enum { LARGE = 1 << 20 };

/* A text of LARGE bytes that begins with `start` and goes on with `unit` over and over. */
static void read_repeated(const char *start, const char *unit, const char *reason)
{
    size_t len = strlen(start), size = strlen(unit);
    char *text = malloc(LARGE);
    yaml_fault fault = {.reason = NULL};
    json_t *value;

    check(text != NULL, "%s", unit);
    memcpy(text, start, len);
    for (; len + size <= LARGE; len += size)
        memcpy(text + len, unit, size);
    value = yaml_read((gufo_str){text, len}, &fault);
    check((value == NULL) == (reason != NULL), "%s%s: %s", start, unit, fault.reason);
    if (reason != NULL)
        check(strstr(fault.reason, reason) != NULL, "%s%s: %s", start, unit, fault.reason);
    json_decref(value);
    free(text);
}

static void test_large_texts(void **state)
{
    (void)state;
    skip_if_emulated();
    read_repeated("a: ", "x", NULL);
    read_repeated("a: ", "x ", NULL);
    read_repeated("a: x", "\n\n\n x", NULL);
    read_repeated("a: |\n", " x\n", NULL);
    read_repeated("a: >\n", " x\n  y\n\n", NULL);
    read_repeated("a: ", "\n", NULL);
    read_repeated("a: b", "\n # x", NULL);
    read_repeated("a: \"", "x\\n\n", "unexpected end of stream");
    read_repeated("", "- ", "64 deep");
    read_repeated("", "a:\n ", "262,144 values");
    read_repeated("a: ", "[", "64 deep");
    read_repeated("a: ", "{a: ", "64 deep");
    read_repeated("a:\n", "- [x\n", "");
    read_repeated("a:\n", "-\n", "262,144 values");
    read_repeated("a: [x", ",x", "262,144 values");
    read_repeated("", "x: y\n", NULL);
    read_repeated("a:\n- \"x\"\n", "- 'y': z\n", NULL);
}

/* Each level is one column farther. */
static void test_deep_mappings(void **state)
{
    static char text[80 * 80];

    (void)state;
    for (size_t depth = 60; depth < 70; depth++) {
        size_t len = 0;
        yaml_fault fault;
        json_t *value;

        for (size_t i = 0; i < depth; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%*sa:\n", (int)i, "");
        value = yaml_read((gufo_str){text, len}, &fault);
        check((value != NULL) == (depth <= 64), "%zu", depth);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),  cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_cut_texts),     cmocka_unit_test(test_large_texts),
        cmocka_unit_test(test_deep_mappings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
