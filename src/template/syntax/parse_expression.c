/* Expressions.  Operators bind, from loosest to tightest:
 *
 *     a if b else c    or    and    not    == != < > <= >= in    + -    ~    * / // %    **    - +
 *
 * and those of one level from the left, `**` too.  A sign binds tighter than `**`. */
#include "base/error.h"
#include "base/text.h"
#include "template/syntax/parser.h"
#include "template/syntax/tree.h"

enum level {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_ADD,
    LEVEL_CONCAT,
    LEVEL_MULTIPLY,
    LEVEL_POWER,
    LEVEL_UNARY
};

static uint32_t parse_level(parser *p, enum level level);
static uint32_t parse_unary(parser *p, bool filters);

static uint32_t pair_node(parser *p, node_kind kind, uint32_t at, uint32_t a, uint32_t b)
{
    uint32_t made = a == 0 || b == 0 ? 0 : node_add(p, kind, at);

    if (made == 0)
        return 0;
    node_of(p, made)->a = a;
    node_of(p, made)->b = b;
    return made;
}

static uint32_t single_node(parser *p, node_kind kind, uint32_t at, uint32_t a)
{
    uint32_t made = a == 0 ? 0 : node_add(p, kind, at);

    if (made != 0)
        node_of(p, made)->a = a;
    return made;
}

/* A node whose first field is a constant. */
static uint32_t constant_node(parser *p, node_kind kind, uint32_t at, uint32_t constant)
{
    uint32_t made = constant == UINT32_MAX ? 0 : node_add(p, kind, at);

    if (made != 0)
        node_of(p, made)->a = constant;
    return made;
}

uint32_t parse_expression(parser *p)
{
    bool conditional = p->conditional;
    uint32_t at = p->next->at, result;

    if (!parse_enter(p))
        return 0;
    result = parse_level(p, LEVEL_OR);
    while (result != 0 && token_is_word(p, "if")) {
        uint32_t test, other = 0, made;

        p->next++;
        p->conditional = true;
        test = parse_level(p, LEVEL_OR);
        if (test != 0 && token_skip_word(p, "else")) {
            other = parse_expression(p);
            if (other == 0)
                return 0;
        }
        made = pair_node(p, NODE_CONDITION, at, test, result);
        if (made != 0)
            node_of(p, made)->c = other;
        result = made;
    }
    p->conditional = conditional;
    parse_leave(p);
    return result;
}

static uint32_t parse_not(parser *p)
{
    uint32_t at = p->next->at, inner;

    if (!token_skip_word(p, "not"))
        return parse_level(p, LEVEL_COMPARE);
    if (!parse_enter(p))
        return 0;
    inner = parse_not(p);
    parse_leave(p);
    return single_node(p, NODE_NOT, at, inner);
}

/* The comparison that comes next, past which it goes; 0: none. */
static uint8_t comparison(parser *p)
{
    static const uint8_t kinds[] = {TOKEN_EQUAL,      TOKEN_NOT_EQUAL, TOKEN_GREATER_EQUAL,
                                    TOKEN_LESS_EQUAL, TOKEN_GREATER,   TOKEN_LESS};

    for (size_t i = 0; i < sizeof(kinds); i++)
        if (token_skip(p, kinds[i]))
            return kinds[i];
    if (token_skip_word(p, "in"))
        return COMPARE_IN;
    if (!token_is_word(p, "not"))
        return 0;
    p->next++;
    if (token_skip_word(p, "in"))
        return COMPARE_NOT_IN;
    p->next--;
    return 0;
}

static uint32_t parse_compare(parser *p)
{
    uint32_t at = p->next->at, first = parse_level(p, LEVEL_ADD), operand;
    node_list operands = {0};

    while (first != 0) {
        uint32_t where = p->next->at;
        uint8_t op = comparison(p);

        if (op == 0)
            break;
        operand = single_node(p, NODE_OPERAND, where, parse_level(p, LEVEL_ADD));
        if (operand == 0)
            return 0;
        node_of(p, operand)->op = op;
        node_append(p, &operands, operand);
    }
    return operands.first == 0 ? first : pair_node(p, NODE_COMPARE, at, first, operands.first);
}

static uint32_t parse_concat(parser *p)
{
    uint32_t at = p->next->at, part = parse_level(p, LEVEL_MULTIPLY);
    node_list parts = {0};

    if (part == 0 || !token_is(p, TOKEN_TILDE))
        return part;
    node_append(p, &parts, part);
    while (token_skip(p, TOKEN_TILDE)) {
        part = parse_level(p, LEVEL_MULTIPLY);
        if (part == 0)
            return 0;
        node_append(p, &parts, part);
    }
    return single_node(p, NODE_CONCAT, at, parts.first);
}

/* Whether the next token is an operator of a level, and which kind of node it makes. */
static bool operator_of(const parser *p, enum level level, node_kind *kind)
{
    static const struct {
        enum level level;
        token_kind token;
    } arithmetic[] = {
        {LEVEL_ADD, TOKEN_ADD},
        {LEVEL_ADD, TOKEN_SUBTRACT},
        {LEVEL_MULTIPLY, TOKEN_MULTIPLY},
        {LEVEL_MULTIPLY, TOKEN_DIVIDE},
        {LEVEL_MULTIPLY, TOKEN_FLOOR_DIVIDE},
        {LEVEL_MULTIPLY, TOKEN_REMAINDER},
        {LEVEL_POWER, TOKEN_POWER},
    };

    if (level <= LEVEL_AND) {
        *kind = level == LEVEL_OR ? NODE_OR : NODE_AND;
        return token_is_word(p, level == LEVEL_OR ? "or" : "and");
    }
    *kind = NODE_BINARY;
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (arithmetic[i].level == level && token_is(p, arithmetic[i].token))
            return true;
    return false;
}

static uint32_t parse_level(parser *p, enum level level)
{
    uint32_t left;
    node_kind kind;

    switch (level) {
    case LEVEL_NOT:
        return parse_not(p);
    case LEVEL_COMPARE:
        return parse_compare(p);
    case LEVEL_CONCAT:
        return parse_concat(p);
    case LEVEL_UNARY:
        return parse_unary(p, true);
    default:
        left = parse_level(p, level + 1);
    }
    while (left != 0 && operator_of(p, level, &kind)) {
        const token *sign = p->next++;

        left = pair_node(p, kind, sign->at, left, parse_level(p, level + 1));
        if (left != 0)
            node_of(p, left)->op = (uint8_t)sign->kind;
    }
    return left;
}

/* Items up to `end`, with commas between them; a last comma may follow. */
static bool parse_items(parser *p, uint32_t end, uint32_t (*item)(parser *), node_list *list)
{
    *list = (node_list){0};
    while (!token_is(p, end)) {
        uint32_t parsed;

        if (list->first != 0 && !token_expect(p, TOKEN_COMMA))
            return false;
        if (list->first != 0 && token_is(p, end))
            break;
        parsed = item(p);
        if (parsed == 0)
            return false;
        node_append(p, list, parsed);
    }
    return token_expect(p, end);
}

static uint32_t parse_pair(parser *p)
{
    uint32_t at = p->next->at, key = parse_expression(p);

    if (key == 0 || !token_expect(p, TOKEN_COLON))
        return 0;
    return pair_node(p, NODE_PAIR, at, key, parse_expression(p));
}

static uint32_t list_node(parser *p, node_kind kind, uint32_t end, uint32_t (*item)(parser *))
{
    uint32_t at = p->next++->at, made;
    node_list list;

    if (!parse_items(p, end, item, &list))
        return 0;
    made = node_add(p, kind, at);
    if (made != 0)
        node_of(p, made)->a = list.first;
    return made;
}

static uint32_t parse_name(parser *p, bool members)
{
    static const struct {
        const char *words;
        value v;
    } constants[] = {
        {"true True", {.kind = VALUE_BOOL, .as.truth = true}},
        {"false False", {.kind = VALUE_BOOL, .as.truth = false}},
        {"none None", {.kind = VALUE_NONE}},
    };
    const token *name = p->next++;
    gufo_str text = token_text(p, name);
    uint32_t made;

    for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
        if (str_is_word(text, constants[i].words))
            return constant_node(p, NODE_CONSTANT, name->at, constant_add(p, constants[i].v));
    p->uses |= gufo_str_equal(text, gufo_str_of("caller"))    ? USES_CALLER
               : gufo_str_equal(text, gufo_str_of("varargs")) ? USES_VARARGS
               : gufo_str_equal(text, gufo_str_of("kwargs"))  ? USES_KWARGS
                                                              : 0;
    made = constant_node(p, NODE_NAME, name->at, constant_text(p, text));
    if (made == 0)
        return 0;
    node_of(p, made)->b = table_find(p->tables->functions, text);
    if (!members || !token_is(p, TOKEN_DOT))
        return made;
    p->next++;
    node_of(p, made)->kind = NODE_MEMBER;
    node_of(p, made)->b = constant_text(p, token_text(p, p->next));
    return token_expect(p, TOKEN_NAME) && node_of(p, made)->b != UINT32_MAX ? made : 0;
}

/* Texts beside each other are one. */
static uint32_t parse_texts(parser *p)
{
    uint32_t at = p->next->at;
    value text = literal_text(p, p->next++);

    while (!is_failed(text) && token_is(p, TOKEN_STRING)) {
        value more = literal_text(p, p->next++);

        if (is_failed(more))
            return 0;
        text = string_add(&p->tree->memory, text.as.string, bytes_of(more.as.string), false);
    }
    if (is_failed(text))
        return 0;
    return constant_node(p, NODE_CONSTANT, at, constant_text(p, bytes_of(text.as.string)));
}

static uint32_t parse_parentheses(parser *p)
{
    uint32_t at = p->next++->at, inner;

    if (token_skip(p, TOKEN_RIGHT_PARENTHESIS))
        return node_add(p, NODE_TUPLE, at);
    inner = parse_tuple(p, true, "");
    return inner != 0 && token_expect(p, TOKEN_RIGHT_PARENTHESIS) ? inner : 0;
}

static uint32_t parse_primary(parser *p, bool members)
{
    uint32_t made;

    if (!parse_enter(p))
        return 0;
    switch (p->next->kind) {
    case TOKEN_NAME:
        made = parse_name(p, members);
        break;
    case TOKEN_STRING:
        made = parse_texts(p);
        break;
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
        made = constant_node(p, NODE_CONSTANT, p->next->at,
                             constant_add(p, literal_number(p, p->next)));
        p->next++;
        break;
    case TOKEN_LEFT_PARENTHESIS:
        made = parse_parentheses(p);
        break;
    case TOKEN_LEFT_BRACKET:
        made = list_node(p, NODE_LIST, TOKEN_RIGHT_BRACKET, parse_expression);
        break;
    case TOKEN_LEFT_BRACE:
        made = list_node(p, NODE_DICT, TOKEN_RIGHT_BRACE, parse_pair);
        break;
    default:
        made = parse_expected(p, "a value");
    }
    parse_leave(p);
    return made;
}

/* One part of a slice; *part stays 0 where it is empty. */
static bool slice_part(parser *p, uint32_t *part)
{
    if (token_is(p, TOKEN_COLON) || token_is(p, TOKEN_RIGHT_BRACKET) || token_is(p, TOKEN_COMMA))
        return true;
    *part = parse_expression(p);
    return *part != 0;
}

static uint32_t parse_subscript_item(parser *p)
{
    uint32_t at = p->next->at, parts[3] = {0}, made;

    if (!token_is(p, TOKEN_COLON)) {
        parts[0] = parse_expression(p);
        if (parts[0] == 0 || !token_is(p, TOKEN_COLON))
            return parts[0];
    }
    for (size_t i = 1; i < 3 && token_skip(p, TOKEN_COLON); i++)
        if (!slice_part(p, &parts[i]))
            return 0;
    made = node_add(p, NODE_SLICE, at);
    if (made == 0)
        return 0;
    node_of(p, made)->a = parts[0];
    node_of(p, made)->b = parts[1];
    node_of(p, made)->c = parts[2];
    return made;
}

static uint32_t parse_subscript(parser *p, uint32_t object)
{
    uint32_t at = p->next++->at;
    node_list list;

    if (!parse_items(p, TOKEN_RIGHT_BRACKET, parse_subscript_item, &list))
        return 0;
    if (list.first == 0)
        return parse_fault(p, at, "an empty subscript");
    if (list.first != list.last)
        list.first = single_node(p, NODE_TUPLE, at, list.first);
    return pair_node(p, NODE_ITEM, at, object, list.first);
}

static uint32_t parse_attribute(parser *p, uint32_t object)
{
    uint32_t at = p->next++->at, made;
    const token *name = p->next;

    if (token_skip(p, TOKEN_INTEGER)) {
        made = constant_node(p, NODE_CONSTANT, at, constant_add(p, literal_number(p, name)));
        return pair_node(p, NODE_ITEM, at, object, made);
    }
    if (!token_skip(p, TOKEN_NAME))
        return parse_expected(p, "a name or a number");
    made = single_node(p, NODE_ATTRIBUTE, name->at, object);
    if (made != 0)
        node_of(p, made)->b = constant_text(p, token_text(p, name));
    return made != 0 && node_of(p, made)->b != UINT32_MAX ? made : 0;
}

static uint32_t parse_argument(parser *p)
{
    const token *first = p->next;
    uint32_t made;

    if (token_skip(p, TOKEN_MULTIPLY))
        return single_node(p, NODE_SPREAD, first->at, parse_expression(p));
    if (token_skip(p, TOKEN_POWER))
        return single_node(p, NODE_SPREAD_KEYWORDS, first->at, parse_expression(p));
    if (first->kind != TOKEN_NAME || first[1].kind != TOKEN_ASSIGN)
        return parse_expression(p);
    p->next += 2;
    made = parse_expression(p);
    made = pair_node(p, NODE_KEYWORD, first->at, made, made);
    if (made != 0)
        node_of(p, made)->a = constant_text(p, token_text(p, first));
    return made != 0 && node_of(p, made)->a != UINT32_MAX ? made : 0;
}

/* Positions come before *spread, that before keywords, and **keywords last. */
static bool check_order(parser *p, uint32_t first)
{
    int last = 0;

    for (uint32_t at = first; at != 0; at = node_of(p, at)->next) {
        uint8_t kind = node_of(p, at)->kind;
        int rank = kind == NODE_SPREAD            ? 2
                   : kind == NODE_KEYWORD         ? 1
                   : kind == NODE_SPREAD_KEYWORDS ? 3
                                                  : 0;
        bool fits = rank == 0   ? last == 0
                    : rank == 1 ? last != 3
                    : rank == 2 ? last < 2
                                : last != 3;

        if (!fits) {
            (void)parse_fault(p, node_of(p, at)->at, "an argument in the wrong order");
            return false;
        }
        last = rank > last ? rank : last;
    }
    return true;
}

static bool parse_arguments(parser *p, uint32_t *first)
{
    node_list list = {0};

    p->next++;
    if (!parse_items(p, TOKEN_RIGHT_PARENTHESIS, parse_argument, &list) ||
        !check_order(p, list.first))
        return false;
    *first = list.first;
    return true;
}

static uint32_t parse_call(parser *p, uint32_t function)
{
    uint32_t at = p->next->at, given = 0, made;

    if (!parse_arguments(p, &given))
        return 0;
    made = single_node(p, NODE_CALL, at, function);
    if (made != 0)
        node_of(p, made)->b = given;
    return made;
}

static uint32_t parse_postfix(parser *p, uint32_t made)
{
    while (made != 0) {
        if (token_is(p, TOKEN_DOT))
            made = parse_attribute(p, made);
        else if (token_is(p, TOKEN_LEFT_BRACKET))
            made = parse_subscript(p, made);
        else if (token_is(p, TOKEN_LEFT_PARENTHESIS))
            made = parse_call(p, made);
        else
            break;
    }
    return made;
}

/* The name of a filter or a test, which may have dots, and its row. */
static uint32_t parse_applied(parser *p, node_kind kind, const table *rows, uint32_t target)
{
    const token *first = p->next;
    uint32_t made, row;
    gufo_str name;

    if (!token_expect(p, TOKEN_NAME))
        return 0;
    while (token_skip(p, TOKEN_DOT))
        if (!token_expect(p, TOKEN_NAME))
            return 0;
    name = (gufo_str){p->tree->source.data + first->at,
                      (size_t)(p->next[-1].at + p->next[-1].len - first->at)};
    row = table_find(rows, name);
    if (row == 0 && !p->conditional)
        return parse_fault(p, first->at, "no %s is called %s", rows->what, QUOTED(name));
    made = node_add(p, kind, first->at);
    if (made == 0)
        return 0;
    node_of(p, made)->a = target;
    node_of(p, made)->d = row;
    node_of(p, made)->c = constant_text(p, name);
    return node_of(p, made)->c == UINT32_MAX ? 0 : made;
}

static uint32_t parse_filter(parser *p, uint32_t filtered)
{
    uint32_t made = parse_applied(p, NODE_FILTER, p->tables->filters, filtered), given = 0;

    if (made != 0 && token_is(p, TOKEN_LEFT_PARENTHESIS)) {
        if (!parse_arguments(p, &given))
            return 0;
        node_of(p, made)->b = given;
    }
    return made;
}

uint32_t parse_filters(parser *p, uint32_t filtered)
{
    while (token_skip(p, TOKEN_PIPE)) {
        filtered = parse_filter(p, filtered);
        if (filtered == 0)
            return 0;
    }
    return filtered;
}

uint32_t parse_block_filter(parser *p)
{
    uint32_t made = parse_filter(p, 0);

    return made == 0 ? 0 : parse_filters(p, made);
}

/* Whether what follows a test is its argument: `x is divisibleby 3`. */
static bool argument_follows(const parser *p)
{
    switch (p->next->kind) {
    case TOKEN_NAME:
        return !token_is_any(p, "else or and");
    case TOKEN_STRING:
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
    case TOKEN_LEFT_BRACKET:
    case TOKEN_LEFT_BRACE:
        return true;
    default:
        return false;
    }
}

static uint32_t parse_test(parser *p, uint32_t tested)
{
    uint32_t at = p->next++->at, made, given = 0;
    bool negated = token_skip_word(p, "not");

    made = parse_applied(p, NODE_TEST, p->tables->tests, tested);
    if (made == 0)
        return 0;
    if (token_is(p, TOKEN_LEFT_PARENTHESIS)) {
        if (!parse_arguments(p, &given))
            return 0;
    } else if (argument_follows(p)) {
        if (token_is_word(p, "is"))
            return parse_fault(p, p->next->at, "one test cannot follow another");
        given = parse_postfix(p, parse_primary(p, false));
        if (given == 0)
            return 0;
    }
    node_of(p, made)->b = given;
    return negated ? single_node(p, NODE_NOT, at, made) : made;
}

static uint32_t parse_filters_and_tests(parser *p, uint32_t made)
{
    while (made != 0) {
        if (token_is(p, TOKEN_PIPE))
            made = parse_filters(p, made);
        else if (token_is_word(p, "is"))
            made = parse_test(p, made);
        else if (token_is(p, TOKEN_LEFT_PARENTHESIS))
            made = parse_call(p, made);
        else
            break;
    }
    return made;
}

static uint32_t parse_unary(parser *p, bool filters)
{
    const token *first = p->next;
    uint32_t made;

    if (token_skip(p, TOKEN_SUBTRACT) || token_skip(p, TOKEN_ADD)) {
        if (!parse_enter(p))
            return 0;
        made = single_node(p, NODE_UNARY, first->at, parse_unary(p, false));
        parse_leave(p);
        if (made != 0)
            node_of(p, made)->op = (uint8_t)first->kind;
    } else {
        made = parse_primary(p, false);
    }
    made = parse_postfix(p, made);
    return filters ? parse_filters_and_tests(p, made) : made;
}

static bool tuple_ends(const parser *p, const char *end)
{
    return token_is(p, TOKEN_VARIABLE_END) || token_is(p, TOKEN_BLOCK_END) ||
           token_is(p, TOKEN_RIGHT_PARENTHESIS) || token_is_any(p, end);
}

typedef uint32_t tuple_item(parser *p);

static uint32_t tuple_of(parser *p, tuple_item *item, const char *end)
{
    uint32_t at = p->next->at, parsed;
    bool commas = false;
    node_list list = {0};

    do {
        if (list.first != 0 && tuple_ends(p, end))
            break;
        parsed = item(p);
        if (parsed == 0)
            return 0;
        node_append(p, &list, parsed);
        commas = commas || token_is(p, TOKEN_COMMA);
    } while (token_skip(p, TOKEN_COMMA));
    return commas ? single_node(p, NODE_TUPLE, at, list.first) : list.first;
}

static uint32_t parse_plain(parser *p)
{
    return parse_level(p, LEVEL_OR);
}

uint32_t parse_tuple(parser *p, bool conditions, const char *end)
{
    return tuple_of(p, conditions ? parse_expression : parse_plain, end);
}

static uint32_t parse_target_name(parser *p)
{
    return parse_primary(p, false);
}

static uint32_t parse_target_member(parser *p)
{
    return parse_primary(p, true);
}

static bool check_target(parser *p, uint32_t target)
{
    node n;

    if (target == 0)
        return false;
    n = *node_of(p, target);
    if (n.kind == NODE_TUPLE) {
        for (uint32_t at = n.a; at != 0; at = node_of(p, at)->next)
            if (!check_target(p, at))
                return false;
        return true;
    }
    if (n.kind == NODE_NAME)
        node_of(p, target)->op = 1;
    if (n.kind == NODE_NAME || n.kind == NODE_MEMBER)
        return true;
    (void)parse_fault(p, n.at, "a value cannot be given to this");
    return false;
}

uint32_t parse_target(parser *p, bool members, const char *end)
{
    uint8_t uses = p->uses;
    uint32_t target = tuple_of(p, members ? parse_target_member : parse_target_name, end);

    p->uses = uses;
    return check_target(p, target) ? target : 0;
}
