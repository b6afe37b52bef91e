/* A parsed template: nodes in one array, which refer to each other by their index. */
#ifndef TEMPLATE_TREE_H
#define TEMPLATE_TREE_H

#include "gufo/template.h"

#include "text/template/values/value.h"

typedef enum node_kind {
    NODE_NONE = 0,
    /* Expressions */
    NODE_CONSTANT,  /* a: constant */
    NODE_NAME,      /* a: constant with the name, b: global + 1; op: 1 if it is given a value */
    NODE_ATTRIBUTE, /* a: object, b: constant */
    NODE_ITEM,      /* a: object, b: subscript */
    NODE_SLICE,     /* a, b, c: from, to, step; or 0 */
    NODE_CALL,      /* a: function, b: arguments */
    NODE_FILTER,    /* a: value (0: of a block), b: arguments, c: constant, d: row + 1 */
    NODE_TEST,      /* the same */
    NODE_UNARY,     /* op: the token, a */
    NODE_NOT,       /* a */
    NODE_AND,       /* a, b */
    NODE_OR,        /* a, b */
    NODE_BINARY,    /* op: the token, a, b */
    NODE_CONCAT,    /* a: list */
    NODE_COMPARE,   /* a: the first, b: list of operands */
    NODE_OPERAND,   /* op: the token or comparison, a */
    NODE_CONDITION, /* a: test, b: then, c: else or 0 */
    NODE_LIST,      /* a: list */
    NODE_TUPLE,     /* a: list */
    NODE_DICT,      /* a: list of pairs */
    NODE_PAIR,      /* a: key or target, b: value */
    NODE_KEYWORD,   /* a: constant, b: value */
    NODE_SPREAD,    /* a: *value */
    NODE_SPREAD_KEYWORDS, /* a: **value */
    NODE_MEMBER,          /* a: constant with the name of a namespace, b: constant */
    /* Statements */
    NODE_DATA,         /* a: constant */
    NODE_OUTPUT,       /* a: expression */
    NODE_IF,           /* a: test, b: body, c: else */
    NODE_FOR,          /* a: target, b: iterated, c: body, d: else, e: test; op: recursive */
    NODE_SET,          /* a: target, b: value */
    NODE_SET_BLOCK,    /* a: target, b: filter or 0, c: body */
    NODE_WITH,         /* a: pairs, c: body */
    NODE_MACRO,        /* a: constant, b: parameters, c: body; op: of macro_uses */
    NODE_PARAMETER,    /* a: constant, b: default or 0 */
    NODE_CALL_BLOCK,   /* a: call, b: parameters, c: body; op: of macro_uses */
    NODE_FILTER_BLOCK, /* b: filter, c: body */
    NODE_BLOCK,        /* a: constant, c: body */
    NODE_SCOPE,        /* c: body */
    NODE_AUTOESCAPE,   /* b: whether, c: body */
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_OTHER_TEMPLATE, /* a: constant with the tag: include, import ... */
} node_kind;

/* Comparisons that have no token of their own; others are of token_kind. */
enum { COMPARE_IN = 100, COMPARE_NOT_IN = 101 };

/* Names that a macro's body uses, and that make it take more arguments. */
enum macro_uses { USES_CALLER = 1, USES_VARARGS = 2, USES_KWARGS = 4 };

typedef struct node {
    uint8_t kind, op;
    uint32_t at;   /* in the source */
    uint32_t next; /* in a list; 0 ends it */
    uint32_t a, b, c, d, e;
} node;

struct gufo_template {
    heap memory;
    gufo_str source; /* line ends are \n */
    node *nodes;
    uint32_t node_count, node_room;
    item_list constants;
    dict *interned; /* of texts that are constants: their index */
    hash_key key;
    uint32_t body; /* list of statements */
};

/* Reads the tree of `tree->source`; false on failure: *at is where. */
bool parse_tree(gufo_template *tree, uint32_t *at);

/* The place of a byte of the source. */
gufo_template_place tree_place(const gufo_template *tree, uint32_t at);

#endif
