/* What the parts of the translator share. */
#ifndef TEXT_PIPELINE_PARSER_H
#define TEXT_PIPELINE_PARSER_H

#include "text/pipeline/expression/translation.h"

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
gufo_status parser_write_property(parser *p, const char *name, bool others);

/* escapes.c.  What an escape (\ and more) is; the place is behind it then. */
typedef enum escape_kind {
    ESCAPE_CHARACTER, /* *character */
    ESCAPE_SET,       /* appended to `set`, sorted */
    ESCAPE_OTHER,     /* an anchor or another thing that is no set; the place is as before */
} escape_kind;
gufo_status parser_escape(parser *p, escape_kind *kind, uint32_t *character, code_ranges *set);

/* classes.c.  A class, behind its "[". */
gufo_status parser_class(parser *p, unsigned flags);

/* folding.c.  A text in any case is written by one call for each character, and one at its end. */
gufo_status parser_write_folded(parser *p, uint32_t code_point);
gufo_status parser_end_folded(parser *p);
/* A set, in order, or all other characters, in any case; frees the set. */
gufo_status parser_write_folded_set(parser *p, code_ranges *set, bool negated);

#endif
