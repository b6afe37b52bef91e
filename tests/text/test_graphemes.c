/* Extended grapheme clusters: the rules of UAX #29, one after the other. */
#include "support/check.h"

#include "base/memory.h"
#include "text/characters/unicode.h"

/* Clusters have bars between. */
static const struct {
    const char *rule, *clusters;
} rows[] = {
    {"GB3 to GB5", "a|\r\n|\n|\r|\x01|b"},
    {"GB6", "\xe1\x84\x80\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8|\xe1\x84\x80|a"},
    {"GB6, GB7, of syllables",
     "\xea\xb0\x80\xe1\x85\xa1\xe1\x86\xa8|\xea\xb0\x81\xe1\x86\xa8|\xea\xb0\x80"},
    {"GB7, no vowel behind a tail", "\xe1\x86\xa8|\xe1\x85\xa1|\xe1\x84\x80"},
    {"GB8", "\xe1\x85\xa1\xe1\x86\xa8\xe1\x86\xa8|\xe1\x85\xa1"},
    {"GB9", "e\xcc\x81\xcc\xa3|\x01|\xcc\x81"},
    {"GB9a", "\xe0\xa4\x95\xe0\xa4\xbe|a"},
    {"GB9b", "\xd8\x80"
             "a|\xd8\x80|\n"},
    {"GB9c", "\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7|\xe0\xa4\x95|\xe0\xa4\xb7"},
    {"GB9c, with an extender", "\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d\xe0\xa4\xb7"},
    {"GB11", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9|\xf0\x9f\x91\xa9|\xf0\x9f\x91\xa9"},
    {"GB11, an extender before the joiner",
     "\xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x91\xa9"},
    {"GB11, no pictograph before it", "a\xe2\x80\x8d|\xf0\x9f\x91\xa9"},
    {"GB12",
     "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa|\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa|\xf0\x9f\x87\xa9|a"},
    {"GB999", "a|b| |\xe4\xb8\xad|\xe6\x96\x87"},
};

static void test_rules(void **state)
{
    code_map *classes = graphemes_new(&default_allocator);

    (void)state;
    assert_non_null(classes);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[64], cut[128];
        size_t len = 0, out = 0;

        for (const char *at = rows[i].clusters; *at != '\0'; at++)
            if (*at != '|')
                text[len++] = *at;
        for (size_t at = 0, end; at < len; at = end) {
            end = grapheme_end(classes, (gufo_str){text, len}, at);
            check(end > at && end <= len, "%s: %zu", rows[i].rule, end);
            if (at > 0)
                cut[out++] = '|';
            memcpy(cut + out, text + at, end - at);
            out += end - at;
        }
        cut[out] = '\0';
        check(strcmp(cut, rows[i].clusters) == 0, "%s: %s", rows[i].rule, cut);
    }
    code_map_free(classes, &default_allocator);
    mem_free(&default_allocator, classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
