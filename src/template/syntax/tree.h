/* A parsed template: nodes in one array, which refer to each other by their index, and to rows of the tables of
 * functions. */
#ifndef TEMPLATE_TREE_H
#define TEMPLATE_TREE_H

#include "gufo/template.h"

#include "template/values/value.h"

/* ==== Filters, tests, methods and globals: rows of tables ===================================== */

struct machine;

/* Arguments of a call: positions, then keywords. */
typedef struct arguments {
    const value *items;
    uint32_t count, keywords;   /* all; those at the end that have names */
    const string *const *names; /* of the keywords */
} arguments;

/* A function in C.  given[0] is the value that a filter, a test or a method is for; then come the
 * parameters, ABSENT where they are not given.  FAILED on failure. */
typedef value native_call(struct machine *m, const value *given, const arguments *all);

enum native_flags {
    NATIVE_ANY = 1,       /* takes any arguments: they are in `all` alone */
    NATIVE_POSITIONS = 4, /* its parameters have no names */
    NATIVE_REFUSED = 2,   /* changes its value: the sandbox hides it */
};

typedef struct native {
    const char *name;
    native_call *call;
    const char *parameters; /* names, divided by blanks; at most NATIVE_PARAMETERS */
    uint8_t required;       /* of the parameters */
    uint8_t flags;
} native;

enum { NATIVE_PARAMETERS = 7 };

typedef struct table {
    const char *what;   /* "filter" ... */
    const native *rows; /* in the order of their names */
    uint32_t count;
} table;

/* The tables of the names that a template may use. */
typedef struct table_set {
    const table *filters, *tests, *functions;
} table_set;

/* Row + 1, or 0. */
uint32_t table_find(const table *rows, gufo_str name);

/* ==== Nodes ==================================================================================== */

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

/* Reads the tree of `tree->source`, whose names are those of `tables`; false on failure: *at is where. */
bool parse_tree(gufo_template *tree, const table_set *tables, uint32_t *at);

#endif
