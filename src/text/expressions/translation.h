/* An expression of Oniguruma, written in the syntax of PCRE2. */
#ifndef TEXT_TRANSLATION_H
#define TEXT_TRANSLATION_H

#include "base/buffer.h"
#include "text/characters/unicode.h"

enum { SET_MARK = 0xFF, MOST_SETS = 255 };

/* Characters are sets, too, unless they are ASCII (then \xHH): set n is the bytes SET_MARK, n. */
typedef struct translation {
    const gufo_allocator *allocator;
    buffer text; /* not terminated */
    code_ranges sets[MOST_SETS];
    unsigned set_count;
} translation;

void translation_free(translation *t);

/* *t is {.allocator}, and is to be freed whatever is returned.  GUFO_E_TYPE for what it does not know, by
 * name, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status translate_expression(translation *t, gufo_str expression, gufo_error *error);

/* ---- what the parts of the translator share ------------------------------------------------- */

enum { MOST_DEPTH = 64 }; /* of groups and classes */

enum { IGNORE_CASE = 1, DOT_IS_ANY = 2, EXTENDED = 4 };

typedef struct parser {
    translation *out;
    gufo_str text; /* the expression */
    size_t at;
    unsigned depth, classes; /* that are open: of both, and of classes */
    buffer folded;           /* code points of a text whose case does not count */
    gufo_error *error;
} parser;

/* Fail, at the place that is read. */
gufo_status parser_unknown(const parser *p, const char *what);
gufo_status parser_malformed(const parser *p, const char *what);

static inline bool parser_ends(const parser *p)
{
    return p->at == p->text.len;
}

/* The byte `ahead` of the place; 0 behind the end. */
static inline char parser_peek(const parser *p, size_t ahead)
{
    return p->text.len - p->at > ahead ? p->text.data[p->at + ahead] : '\0';
}

/* Whether this text comes next; then the place is behind it. */
bool parser_takes(parser *p, const char *text);

/* The character at the place, which is behind it then. */
uint32_t parser_character(parser *p);

/* Writing. */
gufo_status parser_write(parser *p, const char *text);
gufo_status parser_write_set(parser *p, code_ranges *set); /* which is freed */
gufo_status parser_write_character(parser *p, uint32_t code_point);
/* A set of characters by name; all but them if `others`. */
gufo_status parser_write_property(parser *p, const char *name, bool others);

/* What an escape (\ and more) is; the place is behind it then. */
typedef enum escape_kind {
    ESCAPE_CHARACTER, /* *character */
    ESCAPE_SET,       /* appended to `set`, sorted */
    ESCAPE_OTHER, /* an anchor, or anything else that is not a set; the reader stays where it was */
} escape_kind;
gufo_status parser_escape(parser *p, escape_kind *kind, uint32_t *character, code_ranges *set);

/* A class, behind its "[". */
gufo_status parser_class(parser *p, unsigned flags);

/* A text in any case is written by one call for each character, and one at its end. */
gufo_status parser_write_folded(parser *p, uint32_t code_point);
gufo_status parser_end_folded(parser *p);

#endif
