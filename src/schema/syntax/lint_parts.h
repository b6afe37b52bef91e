/* What the files of the template lint share. */
#ifndef GUFO_SCHEMA_LINT_PARTS_H
#define GUFO_SCHEMA_LINT_PARTS_H

#include "schema/syntax/lint.h"

/* ---- places and reports --------------------------------------------------------------------- */

typedef struct position {
    size_t offset, line, column;
} position;

/* A bracket, or the start of a block, that waits for its end. */
typedef struct opening {
    position at;
    gufo_str text; /* the bracket, or the name of the block */
    bool has_else; /* of a block */
} opening;

/* Only the outermost are kept; those beyond are counted. */
typedef struct openings {
    opening kept[LINT_BLOCKS];
    size_t depth;
    bool reported; /* the finding that it is too deep was reported */
} openings;

_Static_assert((int)LINT_BLOCKS == (int)LINT_BRACKETS, "openings keep either");

typedef struct lint {
    gufo_str text;
    size_t pos;        /* what comes next */
    position position; /* of the last token or delimiter */
    lint_found *found;
    void *context;
    bool stopped;
    openings blocks;
    openings brackets;        /* of the code that is being read */
    bool endless_quote[2];    /* a string was not closed: quotes of this kind no longer open one */
    uint64_t own_names;       /* rows of the table of names that the template itself defines */
    uint64_t names_to_define; /* by the statement that is being read */
} lint;

/* Reports, with a message made like printf's. */
__attribute__((format(printf, 5, 6))) void lint_report(lint *l, lint_kind kind, position at,
                                                       gufo_str text, const char *format, ...);

/* Moves l->position forward to `offset`. */
position lint_position_of(lint *l, size_t offset);

/* Pushes an opening; reports once, as `what`, if it is nested too deep. */
void lint_open(lint *l, openings *stack, const opening *opened, const char *what);

/* ---- tokens --------------------------------------------------------------------------------- */

typedef enum token_kind {
    TOKEN_END, /* of the code */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,   /* with its quotes */
    TOKEN_OPERATOR, /* and anything else */
} token_kind;

typedef struct token {
    token_kind kind;
    position at;
    gufo_str text;
} token;

/* The next token of the code that `start` opened: {{ or {%. */
token lint_next_token(lint *l, const token *start);

/* The end of a name that begins at `at`. */
size_t lint_name_end(gufo_str text, size_t at);

/* The end of the blanks that begin at `at`: those of Unicode, as Python's expressions know them.  A
 * reader that takes one for a letter would see other names than the one that runs the template. */
size_t lint_blanks_end(gufo_str text, size_t at);

/* The next character of a string as the template's reader sees it: `*at` moves over it, escapes
 * included.  Returns 0..127, or -1 for what is not ASCII, or -2 for nothing (a joined line). */
int lint_string_character(gufo_str text, size_t *at);

/* ---- tables --------------------------------------------------------------------------------- */

/* When the use of a name is a finding. */
enum {
    NAME_CALLED = 1, /* only if it is called */
    NAME_MEMBER = 2, /* only if an attribute of it is taken */
    NAME_OWN = 4     /* not if the template defines a variable or macro of this name */
};

enum { RISKY_NAMES = 16 };

/* Names that are risky alike. */
typedef struct risky_names {
    lint_kind kind;
    unsigned flags;
    const char *names[RISKY_NAMES]; /* NULL behind the last one */
} risky_names;

/* The group of a name, or NULL: of a variable, which has a bit of its own, or of an attribute. */
const risky_names *lint_find_variable(gufo_str name, uint64_t *bit);
const risky_names *lint_find_attribute(gufo_str name);

/* Whether a name is one of Python's special ones, __NAME__. */
bool lint_is_dunder(gufo_str name);

/* ---- statements ----------------------------------------------------------------------------- */

/* Which names in a statement are those that it defines. */
typedef enum definition {
    DEFINES_NOTHING,
    DEFINES_SET, /* set, with */
    DEFINES_FOR,
    DEFINES_MACRO,
} definition;

definition lint_definition(gufo_str statement);

/* A statement has been read: its name, and whether it has "=" outside brackets. */
void lint_statement(lint *l, const token *name, bool assigns);

/* At the end of the template: what is still open. */
void lint_end_blocks(lint *l);

/* ---- code ----------------------------------------------------------------------------------- */

/* What a constant string is used for. */
typedef enum string_use {
    USE_ANY,
    USE_SUBSCRIPT, /* x['...'] */
    USE_ATTRIBUTE, /* map(attribute='...') */
    USE_FILTER     /* x|attr('...'), x|groupby('...') */
} string_use;

enum { LINT_NAME = 64 };

/* A constant string, put together of pieces.  Only what can become a name is kept. */
typedef struct constant {
    string_use use;
    char part[LINT_NAME];       /* what follows the last dot */
    size_t part_len;            /* LINT_NAME + 1: too long for a name */
    bool plain;                 /* nothing but names and dots so far */
    char found[LINT_NAME + 1];  /* the first part that is a finding; empty without */
    const risky_names *row;     /* of that part; NULL if it is a dunder */
    bool in_field;              /* of a format string: {0.__class__} */
    char inside[LINT_NAME + 1]; /* a dunder in such a field, or that is one of the pieces */
} constant;

typedef struct string_reader {
    bool open; /* a string may continue: 'a' 'b', 'a' ~ 'b', 'a' + 'b' */
    token first;
    size_t end; /* of the last piece */
    constant joined;
    char last[LINT_NAME]; /* the last piece, for 'a' * 2 */
    size_t last_len;
    bool listing; /* since a bracket there were only strings: ['a', 'b']|join */
    token list;
    constant listed;
} string_reader;

/* The tokens around the one that is looked at. */
enum { TOKENS_BEFORE = 3, TOKENS_AFTER = 2, NOW = TOKENS_BEFORE };

typedef struct code_reader {
    lint *l;
    const token *start;
    token around[TOKENS_BEFORE + 1 + TOKENS_AFTER];
    size_t depth; /* of brackets around the token */
    string_reader strings;
    token statement; /* the name of the statement; TOKEN_END in an expression */
    definition defines;
    bool assigns; /* "=" was seen outside of brackets */
    bool in;      /* "in" was seen */
} code_reader;

/* Whether a token is this operator or this name; one of these operators of one character. */
bool code_is(const code_reader *c, int at, const char *text);
bool code_is_in(const code_reader *c, int at, const char *operators);

/* Looks at the strings that go through the window, and reports names that they spell. */
void lint_strings(code_reader *c);

/* Reads {{ ... }} or {% ... %} from behind the delimiter on, and reports names. */
void lint_code(lint *l, const token *start);

#endif
