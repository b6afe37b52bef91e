/* SPDX license expressions.
 *
 *     expression = simple [WITH exception] { (AND | OR) expression } | "(" expression ")"
 *     simple     = id ["+"] | ["DocumentRef-" name ":"] "LicenseRef-" name
 *
 * Whether a text has this form follows from the token before each word and from how many
 * parentheses are open, so that it is read once from front to back, however deeply it is nested:
 *
 *     MIT OR (Apache-2.0 WITH LLVM-exception)
 *     ^   ^  ^^          ^    ^
 *     |   |  |license    |    exception
 *     |   |  license, one parenthesis open
 *     |   operator
 *     license */
#include "schema/syntax/syntax.h"
#include "schema/registry/tables.h"

#include <string.h>

/* ---- the lists ------------------------------------------------------------------------------ */

typedef struct listed {
    const char *id, *state;
} listed;

static const listed licenses[] = {
#define ROW(id, state) {id, state},
#include "registry/spdx_licenses.inc"
#undef ROW
};

/* What model cards say. */
static const listed hub_licenses[] = {
#define ROW(id, state) {id, state},
#include "registry/hub_licenses.inc"
#undef ROW
};

static const listed exceptions[] = {
#define ROW(id, state) {id, state},
#include "registry/spdx_exceptions.inc"
#undef ROW
};

typedef struct list {
    const listed *rows;
    size_t count;
    const char *unknown, *deprecated; /* reasons */
} list;

static const list license_list = {licenses, sizeof licenses / sizeof *licenses,
                                  "is not an SPDX license id", "is a deprecated SPDX license id"};
static const list exception_list = {exceptions, sizeof exceptions / sizeof *exceptions,
                                    "is not an SPDX exception id",
                                    "is a deprecated SPDX exception id"};

static gufo_str listed_name(const void *table, size_t index)
{
    return gufo_str_of(((const listed *)table)[index].id);
}

/* The rows are sorted without regard to case. */
static const listed *find_id(const list *in, gufo_str id)
{
    size_t index;

    return str_find_folded(id, listed_name, in->rows, in->count, &index) ? &in->rows[index] : NULL;
}

bool syntax_is_hub_license(gufo_str text)
{
    size_t index;

    return str_find_folded(text, listed_name, hub_licenses,
                           sizeof hub_licenses / sizeof *hub_licenses, &index);
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef enum expected { LICENSE, OPERATOR, OPERATOR_NOT_WITH, EXCEPTION } expected;

typedef struct reader {
    gufo_str text;
    size_t pos;
    expected expected;
    size_t open;         /* parentheses */
    gufo_str outermost;  /* of the open ones */
    syntax_result worst; /* the first of the worst faults that let reading continue */
    syntax_result fault; /* the one that does not */
} reader;

static const char *const reasons[] = {
    [LICENSE] = "was found where a license id was expected",
    [OPERATOR] = "was found where AND, OR or WITH was expected",
    [OPERATOR_NOT_WITH] = "was found where AND or OR was expected",
    [EXCEPTION] = "was found where an exception id was expected",
};

static void note(reader *r, syntax_result fault)
{
    if (fault.verdict > r->worst.verdict)
        r->worst = fault;
}

static syntax_result malformed(const reader *r, gufo_str part, const char *reason)
{
    return syntax_fault(SYNTAX_MALFORMED, r->text, part, reason);
}

/* The expression cannot continue like this. */
static bool misread(reader *r, gufo_str part, const char *reason)
{
    r->fault = malformed(r, part, reason);
    return false;
}

static bool is_name_character(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
}

static bool is_name(gufo_str text)
{
    return text.len > 0 && str_span(text, 0, is_name_character) == text.len;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_word_character(char c)
{
    return is_name_character(c) || c == '+' || c == ':';
}

/* The next word, parenthesis or foreign character; false at the end. */
static bool next_word(reader *r, gufo_str *out)
{
    size_t len;

    r->pos += str_span(r->text, r->pos, is_blank);
    if (r->pos == r->text.len)
        return false;
    len = str_span(r->text, r->pos, is_word_character);
    *out = (gufo_str){r->text.data + r->pos, len > 0 ? len : 1};
    r->pos += out->len;
    return true;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Whether the word is a reference of this kind: [DocumentRef-NAME:]KIND-NAME. */
static bool is_reference(gufo_str word, const char *kind)
{
    static const char document[] = "DocumentRef-";
    const char *colon = word.len > 0 ? memchr(word.data, ':', word.len) : NULL;

    if (colon != NULL) {
        gufo_str before = {word.data, (size_t)(colon - word.data)};

        if (!str_begins_folded(before, document) || !is_name(str_from(before, sizeof document - 1)))
            return false;
        word = str_from(word, before.len + 1);
    }
    return str_begins_folded(word, kind) && is_name(str_from(word, strlen(kind)));
}

/* GPL-3.0 is now GPL-3.0-only or GPL-3.0-or-later; the latter if it has a plus. */
static void hint_successor(syntax_result *result, const listed *row, bool plus)
{
    char later[SYNTAX_HINT] = "";
    gufo_str id = gufo_str_of(row->id);

    if (id.len + sizeof "-or-later" > sizeof later)
        return;
    memcpy(later, row->id, id.len);
    memcpy(later + id.len, "-or-later", sizeof "-or-later");
    if (find_id(&license_list, gufo_str_of(later)) == NULL)
        return;
    result->scope = plus ? HINT_FOR_PART : HINT_IS_CHOICE;
    if (plus)
        syntax_hint(result, gufo_str_of(later));
    else
        syntax_hint_joined(result, (gufo_str[]){id, gufo_str_of("-only or "), gufo_str_of(later)},
                           3);
}

static void hint_nearest(syntax_result *result, const list *in, gufo_str id)
{
    size_t index;

    if (gufo_text_nearest(id, listed_name, in->rows, in->count, &index)) {
        hint_successor(result, &in->rows[index], false);
        if (result->hint[0] == '\0')
            syntax_hint(result, gufo_str_of(in->rows[index].id));
    } else if (in == &license_list) {
        /* How an expression names what is not in the list. */
        syntax_hint_joined(result, (gufo_str[]){gufo_str_of("LicenseRef-"), id}, 2);
    }
}

static void look_up(reader *r, const list *in, gufo_str word, gufo_str id)
{
    const listed *row = find_id(in, id);
    syntax_result fault;

    if (row != NULL && row->state[0] == '\0')
        return;
    if (row != NULL) {
        fault = syntax_fault(SYNTAX_DEPRECATED, r->text, word, in->deprecated);
        hint_successor(&fault, row, word.len > id.len);
    } else if (r->worst.verdict < SYNTAX_UNKNOWN) { /* the search is for the first */
        fault = syntax_fault(SYNTAX_UNKNOWN, r->text, word, in->unknown);
        hint_nearest(&fault, in, id);
    } else {
        return;
    }
    note(r, fault);
}

/* A license or an exception; false if the word is malformed. */
static bool read_id(reader *r, gufo_str word)
{
    bool exception = r->expected == EXCEPTION;
    gufo_str id = word;

    r->expected = exception ? OPERATOR_NOT_WITH : OPERATOR;
    if (is_reference(word, exception ? "AdditionRef-" : "LicenseRef-"))
        return true;
    if (!exception && id.data[id.len - 1] == '+')
        id.len--;
    if (!is_name(id) || str_begins_folded(id, "LicenseRef-"))
        return misread(r, word, exception ? "is not an exception id" : "is not a license id");
    look_up(r, exception ? &exception_list : &license_list, word, id);
    return true;
}

/* ---- operators ------------------------------------------------------------------------------ */

/* AND, OR, WITH in any case; NULL for other words. */
static const char *operator_of(gufo_str word)
{
    static const char *const names[] = {"AND", "OR", "WITH"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_same_folded(word, gufo_str_of(names[i])))
            return names[i];
    return NULL;
}

static bool read_operator(reader *r, gufo_str word, const char *name)
{
    bool with = name[0] == 'W';

    if (r->expected != OPERATOR && (with || r->expected != OPERATOR_NOT_WITH))
        return misread(r, word, reasons[r->expected]);
    if (!gufo_str_equal(word, gufo_str_of(name))) {
        syntax_result small =
            syntax_fault(SYNTAX_VARIANT, r->text, word, "is an operator that is not in upper case");

        syntax_hint(&small, gufo_str_of(name));
        note(r, small);
    }
    r->expected = with ? EXCEPTION : LICENSE;
    return true;
}

static bool read_parenthesis(reader *r, gufo_str word)
{
    bool opens = word.data[0] == '(';

    if (opens ? r->expected != LICENSE : r->expected == LICENSE || r->expected == EXCEPTION)
        return misread(r, word, reasons[r->expected]);
    if (!opens && r->open == 0)
        return misread(r, word, "closes no parenthesis");
    if (opens && r->open == 0)
        r->outermost = word;
    r->open += opens ? 1 : (size_t)-1;
    /* WITH belongs to one license, not to the text in parentheses. */
    r->expected = opens ? LICENSE : OPERATOR_NOT_WITH;
    return true;
}

/* False with the fault if the expression cannot continue like this. */
static bool read_word(reader *r, gufo_str word)
{
    const char *name = operator_of(word);
    char first = word.data[0];
    size_t index;

    if (first == '(' || first == ')')
        return read_parenthesis(r, word);
    if (!is_word_character(first))
        return misread(r, word, "is not part of a license expression");
    if (name != NULL)
        return read_operator(r, word, name);
    if (r->expected == LICENSE || r->expected == EXCEPTION)
        return read_id(r, word);
    (void)misread(r, word, reasons[r->expected]);
    /* The whole may be one id with a blank in it: "Apache 2.0". */
    if (is_name(word) &&
        gufo_text_nearest(r->text, listed_name, licenses, license_list.count, &index)) {
        r->fault.scope = HINT_FOR_TEXT;
        syntax_hint(&r->fault, gufo_str_of(licenses[index].id));
    }
    return false;
}

syntax_result syntax_license(gufo_str text)
{
    reader r = {.text = text};
    gufo_str word, end = {text.data, 0};

    while (next_word(&r, &word))
        if (!read_word(&r, word))
            return r.fault;
    if (text.len > 0)
        end = str_from(text, text.len);
    if (r.expected == LICENSE)
        return malformed(&r, end, r.pos == 0 ? "is empty" : "a license id is missing at the end");
    if (r.expected == EXCEPTION)
        return malformed(&r, end, "an exception id is missing after WITH");
    if (r.open > 0)
        return malformed(&r, r.outermost, "is never closed");
    return r.worst;
}
