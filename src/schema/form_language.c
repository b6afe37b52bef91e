/* Languages by their ISO 639 codes. */
#include "schema/form_parts.h"

#include <string.h>

typedef struct language {
    const char *two;   /* 639-1; empty if it has none */
    const char *three; /* 639-2; the terminological code first if there is another */
    const char *names; /* "Spanish; Castilian" */
} language;

/* Sorted by `two`, then by `three`. */
static const language languages[] = {
#define ROW(two, three, names) {two, three, names},
#include "registry/languages.inc"
#undef ROW
};

enum { LANGUAGE_COUNT = sizeof languages / sizeof *languages, LONGEST_NAME = 80 };

/* The codes of 639-3 alone: bytes, not pointers, since there are thousands. */
static const char other_codes[][4] = {
#define ROW(code, name) code,
#include "registry/languages_3.inc"
#undef ROW
};

static bool same(gufo_str a, gufo_str b)
{
    return str_compare_folded(a, b) == 0;
}

/* The row with this two-letter code, or, with no such code, this three-letter one. */
static const language *find_row(gufo_str two, gufo_str three)
{
    size_t from = 0, to = LANGUAGE_COUNT;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const language *row = &languages[middle];
        int order = str_compare_folded(two, gufo_str_of(row->two));

        if (order == 0 && two.len == 0)
            order = str_compare_folded(three, gufo_str_of(row->three));
        if (order == 0)
            return row;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

static bool is_other_code(gufo_str code)
{
    size_t from = 0, to = sizeof other_codes / sizeof *other_codes;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = str_compare_folded(code, gufo_str_of(other_codes[middle]));

        if (order == 0)
            return true;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return false;
}

/* Whether `part` is one of the pieces of `all` that `separator` divides. */
static bool is_one_of(gufo_str part, const char *all, char separator)
{
    while (*all != '\0') {
        const char *end = strchr(all, separator);
        size_t len = end != NULL ? (size_t)(end - all) : strlen(all);

        if (same(part, (gufo_str){all, len}))
            return true;
        all += len + (end != NULL);
        while (*all == ' ')
            all++;
    }
    return false;
}

/* The row of a three-letter code that has a two-letter one. */
static const language *find_three(gufo_str code)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++)
        if (languages[i].two[0] != '\0' && is_one_of(code, languages[i].three, ' '))
            return &languages[i];
    return NULL;
}

/* By one of its English names, or by the text before the comma or parenthesis in it: "Greek, Modern
 * (1453-)".  Languages of today come last in the table. */
static const language *find_name(gufo_str name)
{
    const language *by_head = NULL;

    if (name.len < 3 || name.len > LONGEST_NAME)
        return NULL;
    for (size_t i = LANGUAGE_COUNT; i-- > 0;) {
        const language *row = &languages[i];
        gufo_str head = {row->names, strcspn(row->names, ",(")};

        while (head.len > 0 && head.data[head.len - 1] == ' ')
            head.len--;
        if (is_one_of(name, row->names, ';'))
            return row;
        if (by_head == NULL && same(name, head))
            by_head = row;
    }
    return by_head;
}

/* The code to write for a language, whichever way it is coded; empty if the code is none. */
static gufo_str standard_code(gufo_str code)
{
    const language *row = NULL;

    if (code.len == 2)
        row = find_row(code, (gufo_str){0});
    if (code.len == 3)
        row = find_three(code);
    if (row != NULL)
        return gufo_str_of(row->two);
    if (code.len == 3)
        row = find_row((gufo_str){0}, code);
    if (row != NULL)
        return gufo_str_of(row->three);
    return code.len == 3 && is_other_code(code) ? code : (gufo_str){0};
}

static gufo_form variant(gufo_str text, const char *reason, gufo_str code)
{
    gufo_form form = form_fault(GUFO_FORM_VARIANT, text, text, reason);
    char small[4] = "";

    for (size_t i = 0; i < code.len && i + 1 < sizeof small; i++)
        small[i] = to_lower(code.data[i]);
    form_hint(&form, gufo_str_of(small));
    return form;
}

static bool is_small(gufo_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_lower(text.data[i]))
            return false;
    return true;
}

/* How many of the first four characters are letters: a code is followed by something else. */
static size_t count_letters(gufo_str text)
{
    size_t count = 0;

    while (count < text.len && count < 4 && is_letter(text.data[count]))
        count++;
    return count;
}

gufo_form form_language(gufo_str text)
{
    gufo_str base = {text.data, count_letters(text)};
    gufo_str code = standard_code(base);
    bool tagged = base.len < text.len && (text.data[base.len] == '-' || text.data[base.len] == '_');
    const language *named;

    if (text.len == 0)
        return form_fault(GUFO_FORM_MALFORMED, text, text, "is empty");
    if (code.len > 0 && tagged)
        return variant(text, "is a language with a region or script, not an ISO 639 code", code);
    if (code.len > 0 && base.len == text.len) {
        if (code.len < text.len)
            return variant(text, "is a three-letter code of a language that has a two-letter one",
                           code);
        if (!is_small(text))
            return variant(text, "is a language code that is not in lower case", code);
        return (gufo_form){0};
    }
    named = find_name(text);
    if (named != NULL)
        return variant(text, "is the name of a language, not its ISO 639 code",
                       gufo_str_of(named->two[0] != '\0' ? named->two : named->three));
    return form_fault(text.len <= 3 && base.len == text.len ? GUFO_FORM_UNKNOWN
                                                            : GUFO_FORM_MALFORMED,
                      text, text, "is not an ISO 639 language code");
}
