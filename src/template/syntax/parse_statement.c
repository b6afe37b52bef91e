/* Statements: one row per tag, one function per row. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "template/syntax/parser.h"

typedef uint32_t parse_tag(parser *p, uint32_t at);

/* The statement's node with its fields, or 0 where one of them failed. */
static uint32_t statement(parser *p, node_kind kind, uint32_t at, uint32_t a, uint32_t b,
                          uint32_t c)
{
    uint32_t made = node_add(p, kind, at);

    if (made == 0)
        return 0;
    node_of(p, made)->a = a;
    node_of(p, made)->b = b;
    node_of(p, made)->c = c;
    return made;
}

/* A body up to one of `ends`, which the parser goes past. */
static bool parse_closed(parser *p, const char *ends, uint32_t *first)
{
    if (!parse_body(p, ends, first))
        return false;
    p->next++;
    return true;
}

/* A body that is a function of its own: `break` does not leave it. */
static bool parse_function_body(parser *p, const char *end, uint32_t *first)
{
    uint32_t loops = p->loops;
    bool conditional = p->conditional, done;

    p->loops = 0;
    p->conditional = false;
    done = parse_closed(p, end, first);
    p->loops = loops;
    p->conditional = conditional;
    return done;
}

static uint32_t parse_if(parser *p, uint32_t at)
{
    bool conditional = p->conditional;
    uint32_t first = 0, last = 0;

    for (;;) {
        uint32_t test = parse_tuple(p, false, ""), body = 0, made;

        p->conditional = true;
        if (test == 0 || !parse_body(p, "elif else endif", &body))
            return 0;
        made = statement(p, NODE_IF, at, test, 0, body);
        if (made == 0)
            return 0;
        node_of(p, made)->b = body;
        node_of(p, made)->c = 0;
        if (first == 0)
            first = made;
        else
            node_of(p, last)->c = made;
        last = made;
        at = p->next->at;
        if (!token_skip_word(p, "elif"))
            break;
    }
    if (token_skip_word(p, "else")) {
        uint32_t other = 0;

        if (!parse_closed(p, "endif", &other))
            return 0;
        node_of(p, last)->c = other;
    } else {
        p->next++;
    }
    p->conditional = conditional;
    return first;
}

static uint32_t parse_for(parser *p, uint32_t at)
{
    uint32_t target = parse_target(p, false, "in"), iterated, test = 0, body = 0, other = 0, made;
    bool recursive, conditional = p->conditional;

    if (target == 0)
        return 0;
    if (!token_skip_word(p, "in"))
        return parse_expected(p, "'in'");
    iterated = parse_tuple(p, false, "recursive");
    if (iterated == 0)
        return 0;
    p->conditional = false;
    if (token_skip_word(p, "if")) {
        test = parse_expression(p);
        if (test == 0)
            return 0;
    }
    recursive = token_skip_word(p, "recursive");
    p->loops++;
    if (!parse_body(p, "else endfor", &body))
        return 0;
    p->loops--;
    if (token_skip_word(p, "else")) {
        if (!parse_closed(p, "endfor", &other))
            return 0;
    } else {
        p->next++;
    }
    p->conditional = conditional;
    made = statement(p, NODE_FOR, at, target, iterated, body);
    if (made != 0) {
        node_of(p, made)->d = other;
        node_of(p, made)->e = test;
        node_of(p, made)->op = recursive;
    }
    return made;
}

static uint32_t parse_set(parser *p, uint32_t at)
{
    uint32_t target = parse_target(p, true, ""), filter = 0, body = 0;

    if (target == 0)
        return 0;
    if (token_skip(p, TOKEN_ASSIGN)) {
        uint32_t given = parse_tuple(p, true, "");

        return given == 0 ? 0 : statement(p, NODE_SET, at, target, given, 0);
    }
    if (token_skip(p, TOKEN_PIPE)) {
        filter = parse_block_filter(p);
        if (filter == 0)
            return 0;
    }
    return parse_closed(p, "endset", &body) ? statement(p, NODE_SET_BLOCK, at, target, filter, body)
                                            : 0;
}

static uint32_t parse_with(parser *p, uint32_t at)
{
    node_list pairs = {0};
    uint32_t body = 0;
    bool conditional = p->conditional;

    while (!token_is(p, TOKEN_BLOCK_END) && !token_is(p, TOKEN_COLON)) {
        uint32_t target, given, made;

        if (pairs.first != 0 && !token_expect(p, TOKEN_COMMA))
            return 0;
        target = parse_target(p, false, "");
        if (target == 0 || !token_expect(p, TOKEN_ASSIGN))
            return 0;
        given = parse_expression(p);
        made = given == 0 ? 0 : statement(p, NODE_PAIR, at, target, given, 0);
        if (made == 0)
            return 0;
        node_append(p, &pairs, made);
    }
    p->conditional = false;
    if (!parse_closed(p, "endwith", &body))
        return 0;
    p->conditional = conditional;
    return statement(p, NODE_WITH, at, pairs.first, 0, body);
}

static bool parse_parameters(parser *p, uint32_t *first)
{
    node_list list = {0};
    bool defaults = false;

    if (!token_expect(p, TOKEN_LEFT_PARENTHESIS))
        return false;
    while (!token_is(p, TOKEN_RIGHT_PARENTHESIS)) {
        const token *name;
        uint32_t preset = 0, made;

        if (list.first != 0 && !token_expect(p, TOKEN_COMMA))
            return false;
        name = p->next;
        if (!token_expect(p, TOKEN_NAME))
            return false;
        if (token_skip(p, TOKEN_ASSIGN)) {
            preset = parse_expression(p);
            if (preset == 0)
                return false;
            defaults = true;
        } else if (defaults) {
            return parse_fault(p, name->at, "a parameter without a default after one with") != 0;
        }
        made = statement(p, NODE_PARAMETER, name->at, constant_text(p, token_text(p, name)), preset,
                         0);
        if (made == 0)
            return false;
        node_append(p, &list, made);
    }
    *first = list.first;
    return token_expect(p, TOKEN_RIGHT_PARENTHESIS);
}

static uint32_t parse_macro(parser *p, uint32_t at)
{
    const token *name = p->next;
    uint32_t parameters = 0, body = 0, made;
    uint8_t uses = p->uses;

    if (!token_expect(p, TOKEN_NAME) || !parse_parameters(p, &parameters))
        return 0;
    p->uses = 0;
    if (!parse_function_body(p, "endmacro", &body))
        return 0;
    made = statement(p, NODE_MACRO, at, constant_text(p, token_text(p, name)), parameters, body);
    if (made != 0)
        node_of(p, made)->op = p->uses;
    p->uses |= uses;
    return made;
}

static uint32_t parse_call_block(parser *p, uint32_t at)
{
    uint32_t parameters = 0, body = 0, call, made;
    uint8_t uses;

    if (token_is(p, TOKEN_LEFT_PARENTHESIS) && !parse_parameters(p, &parameters))
        return 0;
    call = parse_expression(p);
    if (call == 0)
        return 0;
    if (node_of(p, call)->kind != NODE_CALL)
        return parse_fault(p, node_of(p, call)->at, "expected a call of a macro");
    uses = p->uses;
    p->uses = 0;
    if (!parse_function_body(p, "endcall", &body))
        return 0;
    made = statement(p, NODE_CALL_BLOCK, at, call, parameters, body);
    if (made != 0)
        node_of(p, made)->op = p->uses;
    p->uses |= uses;
    return made;
}

static uint32_t parse_filter_block(parser *p, uint32_t at)
{
    uint32_t filter = parse_block_filter(p), body = 0;

    return filter != 0 && parse_closed(p, "endfilter", &body)
               ? statement(p, NODE_FILTER_BLOCK, at, 0, filter, body)
               : 0;
}

static uint32_t parse_block(parser *p, uint32_t at)
{
    const token *name = p->next;
    uint32_t body = 0;

    if (!token_expect(p, TOKEN_NAME))
        return 0;
    (void)token_skip_word(p, "scoped");
    (void)token_skip_word(p, "required");
    if (!parse_function_body(p, "endblock", &body))
        return 0;
    (void)token_skip(p, TOKEN_NAME);
    return statement(p, NODE_BLOCK, at, constant_text(p, token_text(p, name)), 0, body);
}

static uint32_t parse_generation(parser *p, uint32_t at)
{
    uint32_t body = 0;

    return parse_function_body(p, "endgeneration", &body) ? statement(p, NODE_SCOPE, at, 0, 0, body)
                                                          : 0;
}

static uint32_t parse_autoescape(parser *p, uint32_t at)
{
    uint32_t whether = parse_expression(p), body = 0;

    return whether != 0 && parse_closed(p, "endautoescape", &body)
               ? statement(p, NODE_AUTOESCAPE, at, 0, whether, body)
               : 0;
}

/* {% print a, b %}: one node per value, of which the first is given back. */
static uint32_t parse_print(parser *p, uint32_t at)
{
    node_list list = {0};

    do {
        uint32_t printed = parse_expression(p), made;

        made = printed == 0 ? 0 : statement(p, NODE_OUTPUT, at, printed, 0, 0);
        if (made == 0)
            return 0;
        node_append(p, &list, made);
    } while (token_skip(p, TOKEN_COMMA));
    return statement(p, NODE_SCOPE, at, 0, 0, list.first);
}

static uint32_t parse_jump(parser *p, uint32_t at)
{
    bool leaves = str_begins(token_text(p, p->next - 1), "break");

    if (p->loops == 0)
        return parse_fault(p, at, "'%s' outside of a loop", leaves ? "break" : "continue");
    return statement(p, leaves ? NODE_BREAK : NODE_CONTINUE, at, 0, 0, 0);
}

/* A chat template has no other templates: rendering refuses a statement that asks for one. */
static uint32_t parse_other_template(parser *p, uint32_t at)
{
    uint32_t tag = constant_text(p, token_text(p, p->next - 1));

    while (!token_is(p, TOKEN_BLOCK_END) && !token_is(p, TOKEN_END))
        p->next++;
    return statement(p, NODE_OTHER_TEMPLATE, at, tag, 0, 0);
}

static const struct {
    const char *tag;
    parse_tag *parse;
} tags[] = {
    {"if", parse_if},
    {"for", parse_for},
    {"set", parse_set},
    {"with", parse_with},
    {"macro", parse_macro},
    {"call", parse_call_block},
    {"filter", parse_filter_block},
    {"block", parse_block},
    {"generation", parse_generation},
    {"autoescape", parse_autoescape},
    {"print", parse_print},
    {"break", parse_jump},
    {"continue", parse_jump},
    {"include", parse_other_template},
    {"import", parse_other_template},
    {"from", parse_other_template},
    {"extends", parse_other_template},
};

static uint32_t parse_tag_at(parser *p)
{
    gufo_str name = token_text(p, p->next);
    uint32_t at = p->next->at, made;

    if (!token_is(p, TOKEN_NAME))
        return parse_expected(p, "the name of a tag");
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
        if (!gufo_str_equal(name, gufo_str_of(tags[i].tag)))
            continue;
        p->next++;
        if (!parse_enter(p))
            return 0;
        made = tags[i].parse(p, at);
        parse_leave(p);
        return made != 0 && token_expect(p, TOKEN_BLOCK_END) ? made : 0;
    }
    return parse_fault(p, at, "no tag is called %s here", QUOTED(name));
}

static uint32_t parse_output(parser *p)
{
    uint32_t at = p->next++->at, printed = parse_tuple(p, true, "");

    return printed != 0 && token_expect(p, TOKEN_VARIABLE_END)
               ? statement(p, NODE_OUTPUT, at, printed, 0, 0)
               : 0;
}

static uint32_t parse_data(parser *p)
{
    const token *data = p->next++;
    value text = string_view(&p->tree->memory, token_text(p, data));
    uint32_t constant = constant_add(p, text);

    return constant == UINT32_MAX ? 0 : statement(p, NODE_DATA, data->at, constant, 0, 0);
}

/* Statements until the end of the template, or until a tag that is one of `ends`. */
static bool parse_statements(parser *p, const char *ends, uint32_t *first)
{
    node_list list = {0};

    while (!token_is(p, TOKEN_END)) {
        uint32_t made;

        if (token_is(p, TOKEN_DATA)) {
            made = parse_data(p);
        } else if (token_is(p, TOKEN_VARIABLE_BEGIN)) {
            made = parse_output(p);
        } else {
            p->next++;
            if (*ends != 0 && token_is_any(p, ends)) {
                *first = list.first;
                return true;
            }
            made = parse_tag_at(p);
        }
        if (made == 0)
            return false;
        node_append(p, &list, made);
    }
    *first = list.first;
    return true;
}

bool parse_body(parser *p, const char *ends, uint32_t *first)
{
    const token *tag = p->next;

    (void)token_skip(p, TOKEN_COLON);
    if (!token_expect(p, TOKEN_BLOCK_END) || !parse_statements(p, ends, first))
        return false;
    if (!token_is(p, TOKEN_END))
        return true;
    while (tag->kind != TOKEN_BLOCK_BEGIN)
        tag--;
    (void)parse_fault(p, tag[1].at, "the template ends before the '%s' of this tag",
                      strrchr(ends, ' ') == NULL ? ends : strrchr(ends, ' ') + 1);
    return false;
}

bool parse_tree(gufo_template *tree, const table_set *tables, uint32_t *at)
{
    parser p = {.tree = tree, .tables = tables};
    token_list tokens;

    if (!lex(&tree->memory, tree->source, &tokens, at))
        return false;
    tree->interned = dict_new(&tree->memory);
    p.next = tokens.tokens;
    if (tree->interned != NULL && parse_statements(&p, "", &tree->body) &&
        tree->memory.status == GUFO_OK)
        return true;
    *at = p.failed_at;
    return false;
}
