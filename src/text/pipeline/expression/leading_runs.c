/* Expressions as the translation writes them for PCRE2: a byte is \xHH, a set [\xHH-\xHH...], a group (?:...).
 *
 * The first element of each branch counts.  A run of a set without an end, and the begin of a line, say behind which
 * bytes a search need not look; any other element says nothing, and the search looks everywhere. */
#include "text/pipeline/expression/leading_runs.h"

#include <string.h>

#include "base/text.h"

static const char line_begin[] = "(?:\\A|(?<=\\x0a)(?!\\z))"; /* as the translation writes ^ */

typedef struct reader {
    gufo_str text;
    size_t at;
} reader;

static void read_alternatives(reader *r, bool repeats[256]);

static bool takes(reader *r, const char *what)
{
    size_t len = strlen(what);

    if (r->text.len - r->at < len || memcmp(r->text.data + r->at, what, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool is_at(const reader *r, char c)
{
    return r->at < r->text.len && r->text.data[r->at] == c;
}

/* \xHH */
static bool take_byte(reader *r, unsigned *byte)
{
    uint64_t value = 0;
    bool is_byte = takes(r, "\\x") && str_hex(r->text, r->at, 2, &value) == 2;

    r->at += is_byte ? 2 : 0;
    *byte = (unsigned)value;
    return is_byte;
}

/* \xHH or [\xHH-\xHH...] */
static bool take_set(reader *r, bool set[256])
{
    bool is_class = takes(r, "["), done;
    unsigned first, last;

    memset(set, false, 256);
    do {
        done = take_byte(r, &first);
        last = first;
        if (done && is_class && takes(r, "-"))
            done = take_byte(r, &last);
        for (unsigned byte = first; done && byte <= last; byte++)
            set[byte] = true;
    } while (done && is_class && !takes(r, "]"));
    return done;
}

/* Whether what comes next has no largest count. */
static bool take_endless(reader *r)
{
    const char *brace;

    if (is_at(r, '*') || is_at(r, '+'))
        return true;
    if (!is_at(r, '{'))
        return false;
    brace = memchr(r->text.data + r->at, '}', r->text.len - r->at);
    return brace != NULL && brace[-1] == ',';
}

static bool is_quantified(const reader *r)
{
    return is_at(r, '*') || is_at(r, '+') || is_at(r, '?') || is_at(r, '{');
}

/* The first element of a branch. */
static void read_first(reader *r, bool repeats[256])
{
    reader ahead = *r;

    memset(repeats, false, 256);
    if (takes(&ahead, line_begin) || takes(&ahead, "\\A")) {
        memset(repeats, true, 256);
        repeats['\n'] = false;
        return;
    }
    if (!takes(&ahead, "(?:"))
        return;
    if (take_set(&ahead, repeats) && takes(&ahead, ")") && take_endless(&ahead))
        return;
    ahead = *r;
    (void)takes(&ahead, "(?:");
    read_alternatives(&ahead, repeats);
    if (!takes(&ahead, ")") || is_quantified(&ahead))
        memset(repeats, false, 256);
}

/* Up to the "|" or ")" behind a branch. */
static void skip_branch(reader *r)
{
    for (unsigned depth = 0; r->at < r->text.len; r->at++) {
        char c = r->text.data[r->at];

        if (depth == 0 && (c == '|' || c == ')'))
            return;
        if (c == '\\' && r->at + 1 < r->text.len)
            r->at++;
        depth += c == '(';
        depth -= c == ')';
    }
}

static void read_alternatives(reader *r, bool repeats[256])
{
    bool branch[256];

    memset(repeats, true, 256);
    do {
        read_first(r, branch);
        for (unsigned byte = 0; byte < 256; byte++)
            repeats[byte] = repeats[byte] && branch[byte];
        skip_branch(r);
    } while (takes(r, "|"));
}

void leading_runs(const buffer *expression, bool repeats[256])
{
    reader r = {{(const char *)expression->data, expression->len}, 0};

    read_alternatives(&r, repeats);
}
