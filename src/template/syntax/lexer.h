/* The tokens of a template. */
#ifndef TEMPLATE_LEXER_H
#define TEMPLATE_LEXER_H

#include "template/values/heap.h"

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

#endif
