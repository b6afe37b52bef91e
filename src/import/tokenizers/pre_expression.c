/* Regular expressions of tokenizer.json, which Oniguruma reads, for PCRE2.  The differences:
 *
 *     \s \w \h     other sets of characters
 *     [^(\s|[.,])] a class inside a class adds to it
 *     \p{Han}      a script; PCRE2 takes the characters that scripts share, too
 *     ^ $          ends of lines (an option of PCRE2) */
#include "import/tokenizers/pre_expression.h"

#include <pcre2.h>
#include <string.h>

#include "base/text.h"

#define WHITE  \
    "\\t-\\r " \
    "\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"
#define WORD "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}"

typedef struct rewriting {
    gufo_str from;
    size_t at;
    unsigned depth; /* of classes */
    buffer *out;
    bool memory;
    const char *what;
} rewriting;

static void put(rewriting *r, const char *text, size_t len)
{
    void *room = r->memory ? buffer_extend(r->out, len) : NULL;

    r->memory = room != NULL;
    if (room != NULL && len > 0)
        memcpy(room, text, len);
}

static void put_text(rewriting *r, const char *text)
{
    put(r, text, strlen(text));
}

/* Sets of one letter; a negative one has no form inside a class: PCRE2's own is nearly the same. */
static bool put_set(rewriting *r, char letter)
{
    static const struct {
        char letter;
        bool negative;
        const char *members;
    } sets[] = {{'s', false, WHITE}, {'S', true, WHITE},        {'w', false, WORD},
                {'W', true, WORD},   {'h', false, "0-9A-Fa-f"}, {'H', true, "0-9A-Fa-f"}};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (sets[i].letter != letter || (sets[i].negative && r->depth > 0))
            continue;
        if (r->depth == 0)
            put_text(r, sets[i].negative ? "[^" : "[");
        put_text(r, sets[i].members);
        if (r->depth == 0)
            put_text(r, "]");
        return true;
    }
    return false;
}

/* "p{Han}" from r->at on, behind the backslash: names of two letters are general categories. */
static bool put_script(rewriting *r)
{
    gufo_str rest = str_from(r->from, r->at);
    size_t name;

    if (!str_begins(rest, "p{") && !str_begins(rest, "P{"))
        return false;
    name = str_span(rest, 2, is_letter);
    if (name <= 2 || 2 + name >= rest.len || rest.data[2 + name] != '}' ||
        str_begins(str_from(rest, 2), "Any"))
        return false;
    put(r, "\\", 1);
    put(r, rest.data, 2);
#if PCRE2_MAJOR > 10 || PCRE2_MINOR >= 40
    put_text(r, "sc:");
#endif
    put(r, rest.data + 2, name + 1);
    r->at += name + 3;
    return true;
}

static void take_escape(rewriting *r)
{
    if (++r->at == r->from.len) {
        r->what = "a backslash at its end";
        return;
    }
    if (put_script(r))
        return;
    if (!put_set(r, r->from.data[r->at])) {
        put(r, "\\", 1);
        put(r, r->from.data + r->at, 1);
    }
    r->at++;
}

/* Brackets, inside a class or not. */
static void take_open(rewriting *r)
{
    gufo_str rest = str_from(r->from, r->at);

    if (r->depth > 0 && str_begins(rest, "[:")) {
        put(r, "[:", 2);
        r->at += 2;
        return;
    }
    if (r->depth > 0 && str_begins(rest, "[^"))
        r->what = "a negated class inside a class";
    if (r->depth++ == 0)
        put(r, "[", 1);
    r->at++;
    if (r->depth == 1 && str_begins(str_from(rest, 1), "^")) {
        put(r, "^", 1);
        r->at++;
    }
    if (r->at < r->from.len && r->from.data[r->at] == ']') { /* the first one is a character */
        put(r, "\\]", 2);
        r->at++;
    }
}

static void take_in_class(rewriting *r, char c)
{
    if (c == '&' && str_begins(str_from(r->from, r->at), "&&"))
        r->what = "an intersection of classes";
    if (c == ':' && str_begins(str_from(r->from, r->at), ":]")) { /* [:alpha:] */
        put(r, ":]", 2);
        r->at += 2;
        return;
    }
    if (c == ']')
        r->depth--;
    if (c != ']' || r->depth == 0)
        put(r, &c, 1);
    r->at++;
}

bool pre_expression_rewrite(gufo_str expression, buffer *out, const char **what)
{
    rewriting r = {.from = expression, .out = out, .memory = true};

    while (r.at < expression.len && r.memory && r.what == NULL) {
        char c = expression.data[r.at];

        if (c == '\\')
            take_escape(&r);
        else if (c == '[')
            take_open(&r);
        else if (r.depth > 0)
            take_in_class(&r, c);
        else {
            put(&r, &c, 1);
            r.at++;
        }
    }
    put(&r, "", 1);
    *what = r.what;
    return r.memory && r.what == NULL;
}
