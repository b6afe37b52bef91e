/* The tokens of a template, and what the halves of the parser share: expressions below, statements above. */
#ifndef TEMPLATE_PARSER_H
#define TEMPLATE_PARSER_H

#include "template/syntax/tree.h"
#include "template/values/value.h"

/* ==== The tokens of a template ==================================================================== */

typedef enum token_kind {
    TOKEN_END = 0,
    TOKEN_DATA, /* text between tags, after the rules for white space */
    TOKEN_VARIABLE_BEGIN,
    TOKEN_VARIABLE_END,
    TOKEN_BLOCK_BEGIN,
    TOKEN_BLOCK_END,
    TOKEN_NAME,
    TOKEN_STRING, /* with its quotes */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_FLOOR_DIVIDE, /* the operators, in the order of the table in lexer.c */
    TOKEN_POWER,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_LESS_EQUAL,
    TOKEN_ADD,
    TOKEN_SUBTRACT,
    TOKEN_DIVIDE,
    TOKEN_MULTIPLY,
    TOKEN_REMAINDER,
    TOKEN_TILDE,
    TOKEN_LEFT_BRACKET,
    TOKEN_RIGHT_BRACKET,
    TOKEN_LEFT_PARENTHESIS,
    TOKEN_RIGHT_PARENTHESIS,
    TOKEN_LEFT_BRACE,
    TOKEN_RIGHT_BRACE,
    TOKEN_GREATER,
    TOKEN_LESS,
    TOKEN_ASSIGN,
    TOKEN_DOT,
    TOKEN_COLON,
    TOKEN_PIPE,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
} token_kind;

typedef struct token {
    uint32_t kind;
    uint32_t at, len; /* in the source */
} token;

typedef struct token_list {
    token *tokens;
    size_t count, room;
} token_list;

/* Cuts a source, whose line ends are \n, into tokens; the last one is TOKEN_END.  On failure *at is
 * where. */
bool lex(heap *memory, gufo_str source, token_list *out, uint32_t *at);

/* "end of print statement", "','", "name" ... */
const char *token_name(uint32_t kind);

/* ==== Nodes of them =============================================================================== */

typedef struct parser {
    gufo_template *tree;
    const table_set *tables;
    const token *next; /* the token to read */
    uint32_t depth;    /* of what is within each other */
    uint32_t loops;    /* that `break` can leave */
    bool conditional;  /* in a branch: a filter may be unknown */
    uint8_t uses;      /* of macro_uses, in the macro that is being read */
    uint32_t failed_at;
} parser;

enum { PARSE_DEPTH = 200 };

/* Failures are node 0, and are final: a function that gets a 0 returns 0. */
__attribute__((format(printf, 3, 4))) uint32_t parse_fault(parser *p, uint32_t at,
                                                           const char *format, ...);
/* One level deeper; false at the limit.  parse_leave goes back. */
bool parse_enter(parser *p);
static inline void parse_leave(parser *p)
{
    p->depth--;
}

uint32_t node_add(parser *p, node_kind kind, uint32_t at);
static inline node *node_of(parser *p, uint32_t index)
{
    return &p->tree->nodes[index];
}

/* A list of nodes that grows at its end. */
typedef struct node_list {
    uint32_t first, last;
} node_list;
void node_append(parser *p, node_list *list, uint32_t item);

/* Index of a constant; UINT32_MAX on failure. */
uint32_t constant_add(parser *p, value v);
uint32_t constant_text(parser *p, gufo_str text);

gufo_str token_text(const parser *p, const token *read);
bool token_is(const parser *p, uint32_t kind);
/* Whether the next token is this name. */
bool token_is_word(const parser *p, const char *word);
/* Whether it is one of names that blanks divide. */
bool token_is_any(const parser *p, const char *words);
/* Goes past the next token if it is this one. */
bool token_skip(parser *p, uint32_t kind);
bool token_skip_word(parser *p, const char *word);
/* The same, which must be there. */
bool token_expect(parser *p, uint32_t kind);
/* The sentence that something else was expected. */
uint32_t parse_expected(parser *p, const char *what);

uint32_t parse_expression(parser *p);
/* Expressions with commas between them are a tuple.  `end`: names that end it. */
uint32_t parse_tuple(parser *p, bool conditions, const char *end);
/* What a value can be given to: names, or names and members of namespaces. */
uint32_t parse_target(parser *p, bool members, const char *end);
/* Filters: of a value, or of a block (0). */
uint32_t parse_filters(parser *p, uint32_t filtered);
uint32_t parse_block_filter(parser *p);
/* A constant of a literal token. */
value literal_number(parser *p, const token *read);
value literal_text(parser *p, const token *read);

/* Statements up to the tag that is one of `ends`; the parser stands at its name. */
bool parse_body(parser *p, const char *ends, uint32_t *first);

#endif
