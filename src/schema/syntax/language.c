/* Languages by their ISO 639 codes.  The table lists the languages with a code of two letters
 * (639-1); the thousands of others have three letters, and any three letters count as a code. */
#include "base/checked.h"
#include "schema/syntax/syntax.h"

#include <string.h>

typedef struct language {
    const char *two;   /* 639-1 */
    const char *three; /* 639-2; the terminological code first if there is another */
    const char *names; /* "Spanish; Castilian" */
} language;

/* Sorted by `two`. */
static const language languages[] = {
#define ROW(two, three, names) {two, three, names},
#include "registry/languages.inc"
#undef ROW
};

enum {
    LANGUAGE_COUNT = sizeof languages / sizeof *languages,
    LONGEST_NAME = 80,
};

static gufo_str two_letters(const void *table, size_t index)
{
    return gufo_str_of(((const language *)table)[index].two);
}

/* Whether `part` is one of the pieces of `all` that `separator` divides. */
static bool is_one_of(gufo_str part, const char *all, char separator)
{
    while (*all != '\0')
        if (str_same_folded(part, str_piece(&all, separator)))
            return true;
    return false;
}

/* The row of a three-letter code. */
static const language *find_three(gufo_str code)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++)
        if (is_one_of(code, languages[i].three, ' '))
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
        if (by_head == NULL && str_same_folded(name, head))
            by_head = row;
    }
    return by_head;
}

/* The code to write for a language, whichever way it is coded; empty if the code is none. */
static gufo_str standard_code(gufo_str code)
{
    const language *row = code.len == 3 ? find_three(code) : NULL;
    size_t index;

    if (code.len == 2 && str_find_folded(code, two_letters, languages, LANGUAGE_COUNT, &index))
        row = &languages[index];
    if (row != NULL)
        return gufo_str_of(row->two);
    return code.len == 3 ? code : (gufo_str){0};
}

static syntax_result variant(gufo_str text, const char *reason, gufo_str code)
{
    char small[4] = "";

    for (size_t i = 0; i < code.len && i + 1 < sizeof small; i++)
        small[i] = to_lower(code.data[i]);
    return syntax_variant(text, reason, gufo_str_of(small));
}

syntax_result syntax_language(gufo_str text)
{
    /* A code is followed by something else than a letter. */
    gufo_str base = {text.data, (size_t)smaller(str_span(text, 0, is_letter), 4)};
    gufo_str code = standard_code(base);
    bool tagged = base.len < text.len && (text.data[base.len] == '-' || text.data[base.len] == '_');
    const language *named;

    if (text.len == 0)
        return syntax_fault(SYNTAX_MALFORMED, text, text, "is empty");
    if (code.len > 0 && tagged)
        return variant(text, "is a language with a region or script, not an ISO 639 code", code);
    if (code.len > 0 && base.len == text.len) {
        if (code.len < text.len)
            return variant(text, "is a three-letter code of a language that has a two-letter one",
                           code);
        if (str_span(text, 0, is_lower) < text.len)
            return variant(text, "is a language code that is not in lower case", code);
        return (syntax_result){0};
    }
    named = find_name(text);
    if (named != NULL)
        return variant(text, "is the name of a language, not its ISO 639 code",
                       gufo_str_of(named->two));
    return syntax_fault(text.len <= 3 && base.len == text.len ? SYNTAX_UNKNOWN : SYNTAX_MALFORMED,
                        text, text, "is not an ISO 639 language code");
}

gufo_str language_code(gufo_str text)
{
    gufo_str base = {text.data, (size_t)smaller(str_span(text, 0, is_letter), 4)};
    bool tagged = base.len < text.len && (text.data[base.len] == '-' || text.data[base.len] == '_');
    gufo_str code = standard_code(base);
    const language *named;

    if (code.len == 2 && (tagged || base.len == text.len))
        return code;
    named = find_name(text);
    return named != NULL ? gufo_str_of(named->two) : (gufo_str){0};
}
