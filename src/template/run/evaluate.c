/* Expressions: one function per kind of node. */
#include "base/error.h"
#include "base/text.h"
#include "template/syntax/parser.h"
#include "template/machine/machine.h"

enum { FEW_ARGUMENTS = 6 };

/* Arguments of a call while they are collected. */
typedef struct collected {
    value few[FEW_ARGUMENTS];
    const string *few_names[FEW_ARGUMENTS];
    value *items;
    const string **names;
    uint32_t count, keywords, room;
} collected;

static bool collect(machine *m, collected *c, value v, const string *name)
{
    if (is_failed(v))
        return false;
    if (c->count == c->room) {
        uint32_t room = c->room * 2;
        value *grown = heap_array(&m->memory, room, sizeof(value));
        const string **names = heap_array(&m->memory, room, sizeof(void *));

        if (grown == NULL || names == NULL)
            return false;
        for (uint32_t i = 0; i < c->count; i++) {
            grown[i] = c->items[i];
            names[i] = c->names[i];
        }
        c->items = grown;
        c->names = names;
        c->room = room;
    }
    /* A spread may follow keywords: positions come first. */
    if (name == NULL && c->keywords != 0) {
        for (uint32_t i = c->count; i > c->count - c->keywords; i--)
            c->items[i] = c->items[i - 1];
        c->items[c->count - c->keywords] = v;
        c->count++;
        return machine_spend(m, 1 + c->keywords / 8);
    }
    c->items[c->count++] = v;
    if (name != NULL)
        c->names[c->keywords++] = name;
    return machine_spend(m, 1);
}

static bool collect_spread(machine *m, collected *c, value v)
{
    iteration it;
    value item;

    if (is_failed(v) || !iterate(m, v, &it))
        return false;
    while (iterate_next(m, &it, &item))
        if (!collect(m, c, item, NULL))
            return false;
    return !machine_failed(m);
}

static bool collect_keywords(machine *m, collected *c, value v)
{
    if (is_failed(v))
        return false;
    if (v.kind != VALUE_DICT)
        return !is_failed(fail_type(m, "** takes a dict, not '%s'", value_type(v)));
    for (uint32_t i = 0; i < v.as.dict->count; i++) {
        const dict_entry *entry = &v.as.dict->entries[i];

        if (entry->key.kind != VALUE_STRING)
            return !is_failed(fail_type(m, "the keys of ** are texts"));
        if (!collect(m, c, entry->value, entry->key.as.string))
            return false;
    }
    return true;
}

static bool collect_arguments(machine *m, uint32_t first, collected *c)
{
    bool done = true;

    c->count = c->keywords = 0;
    c->room = FEW_ARGUMENTS;
    c->items = c->few;
    c->names = c->few_names;
    for (uint32_t at = first; done && at != 0; at = tree_node(m, at)->next) {
        const node *n = tree_node(m, at);

        switch (n->kind) {
        case NODE_KEYWORD:
            done = collect(m, c, evaluate(m, n->b), tree_constant(m, n->a).as.string);
            break;
        case NODE_SPREAD:
            done = collect_spread(m, c, evaluate(m, n->a));
            break;
        case NODE_SPREAD_KEYWORDS:
            done = collect_keywords(m, c, evaluate(m, n->a));
            break;
        default:
            done = collect(m, c, evaluate(m, at), NULL);
        }
    }
    return done;
}

static arguments as_arguments(const collected *c)
{
    return (arguments){c->items, c->count, c->keywords, c->names};
}

static value evaluate_constant(machine *m, const node *n)
{
    return tree_constant(m, n->a);
}

value look_up(machine *m, const node *n)
{
    value name = tree_constant(m, n->a);
    const dict_entry *entry = NULL;
    uint32_t scopes = 0;

    for (frame *f = m->frame; entry == NULL && f != NULL && machine_spend_key(m, name);
         f = f->parent, scopes++)
        entry = dict_find(f->names, m->key, name);
    if (!machine_spend(m, scopes / 4))
        return FAILED;
    if (entry == NULL && m->context != NULL)
        entry = dict_find(m->context, m->key, name);
    if (entry != NULL)
        return entry->value;
    if (n->b != 0)
        return (value){.kind = VALUE_FUNCTION,
                       .as.function = &m->language->tables.functions->rows[n->b - 1]};
    return undefined_name(m, name);
}

static value evaluate_attribute(machine *m, const node *n)
{
    value object = evaluate(m, n->a);

    if (is_failed(object))
        return object;
    m->at = n->at;
    return get_attribute(m, object, tree_constant(m, n->b));
}

static value evaluate_part(machine *m, uint32_t at)
{
    return at == 0 ? value_of(VALUE_ABSENT) : evaluate(m, at);
}

static value evaluate_item(machine *m, const node *n)
{
    const node *subscript = tree_node(m, n->b);
    value object = evaluate(m, n->a), key, to, step;

    if (is_failed(object))
        return object;
    if (subscript->kind != NODE_SLICE) {
        key = evaluate(m, n->b);
        if (is_failed(key))
            return key;
        m->at = n->at;
        return get_item(m, object, key);
    }
    key = evaluate_part(m, subscript->a);
    to = is_failed(key) ? key : evaluate_part(m, subscript->b);
    step = is_failed(to) ? to : evaluate_part(m, subscript->c);
    if (is_failed(step))
        return step;
    m->at = n->at;
    return get_slice(m, object, key, to, step);
}

static value evaluate_slice(machine *m, const node *n)
{
    (void)n;
    return fail_type(m, "a slice among several subscripts");
}

/* The method that is called, without making a value of it. */
static const native *called_method(machine *m, const node *callee, value object)
{
    gufo_str name = bytes_of(tree_constant(m, callee->b).as.string);
    const native *row = str_begins(name, "_") ? NULL : find_method(m, object, name);

    return row != NULL && (row->flags & NATIVE_REFUSED) == 0 ? row : NULL;
}

static value call_with(machine *m, const node *n, value function, const native *row, value self,
                       value caller)
{
    static const string caller_name = {.data = "caller", .len = 6, .chars = 6};
    collected c;
    arguments in;

    if (!collect_arguments(m, n->b, &c) ||
        (is_given(caller) && !collect(m, &c, caller, &caller_name)))
        return FAILED;
    in = as_arguments(&c);
    m->at = n->at;
    return row != NULL ? call_native(m, row, self, &in) : call_value(m, function, &in);
}

static value call(machine *m, const node *n, value caller)
{
    const node *callee = tree_node(m, n->a);
    const native *row = NULL;
    value self = NONE, function = NONE;

    if (callee->kind == NODE_ATTRIBUTE) {
        self = evaluate(m, callee->a);
        if (is_failed(self))
            return self;
        m->at = callee->at;
        row = called_method(m, callee, self);
        if (row == NULL)
            function = get_attribute(m, self, tree_constant(m, callee->b));
    } else {
        function = evaluate(m, n->a);
    }
    if (is_failed(function))
        return function;
    if (row == NULL && function.kind == VALUE_UNDEFINED) {
        m->at = callee->at;
        return fail_undefined(m, function);
    }
    return call_with(m, n, function, row, self, caller);
}

static value evaluate_call(machine *m, const node *n)
{
    return call(m, n, value_of(VALUE_ABSENT));
}

value evaluate_call_block(machine *m, uint32_t at, value caller)
{
    return call(m, tree_node(m, at), caller);
}

static value apply(machine *m, const node *n, const table *rows, value target)
{
    collected c;
    arguments in;

    if (is_failed(target) || !collect_arguments(m, n->b, &c))
        return FAILED;
    m->at = n->at;
    if (n->d == 0)
        return fail_type(m, "no %s is called %s", rows->what,
                         QUOTED(bytes_of(tree_constant(m, n->c).as.string)));
    in = as_arguments(&c);
    return call_native(m, &rows->rows[n->d - 1], target, &in);
}

/* A filter of a block has no value of its own: it takes the one that the machine holds. */
static value evaluate_filter(machine *m, const node *n)
{
    return apply(m, n, m->language->tables.filters, n->a == 0 ? m->filtered : evaluate(m, n->a));
}

static value evaluate_test(machine *m, const node *n)
{
    return apply(m, n, m->language->tables.tests, evaluate(m, n->a));
}

static value evaluate_sign(machine *m, const node *n)
{
    value operand = evaluate(m, n->a);

    if (is_failed(operand))
        return operand;
    m->at = n->at;
    return operate_sign(m, n->op, operand);
}

/* The truth of an expression; FAILED where it has none. */
static value evaluate_truth(machine *m, uint32_t at)
{
    value v = evaluate(m, at);

    return is_failed(v) ? v : value_bool(value_truth(v));
}

static value evaluate_not(machine *m, const node *n)
{
    value truth = evaluate_truth(m, n->a);

    return is_failed(truth) ? truth : value_bool(!truth.as.truth);
}

static value evaluate_and(machine *m, const node *n)
{
    value left = evaluate(m, n->a);

    return is_failed(left) || !value_truth(left) ? left : evaluate(m, n->b);
}

static value evaluate_or(machine *m, const node *n)
{
    value left = evaluate(m, n->a);

    return is_failed(left) || value_truth(left) ? left : evaluate(m, n->b);
}

static value evaluate_binary(machine *m, const node *n)
{
    value left = evaluate(m, n->a), right;

    if (is_failed(left))
        return left;
    right = evaluate(m, n->b);
    if (is_failed(right))
        return right;
    m->at = n->at;
    return operate(m, n->op, left, right);
}

static value evaluate_concat(machine *m, const node *n)
{
    value text = FAILED, part;

    for (uint32_t at = n->a; at != 0; at = tree_node(m, at)->next) {
        part = evaluate(m, at);
        if (is_failed(part))
            return part;
        part = text_of(m, part);
        if (is_failed(part))
            return part;
        if (at == n->a)
            text = m->escape ? part : string_cast(&m->memory, part.as.string, false);
        else if (m->escape)
            text = operate(m, TOKEN_ADD, text, part);
        else if (machine_spend_bytes(m, part.as.string->len))
            text = string_add(&m->memory, text.as.string, bytes_of(part.as.string), false);
        else
            return FAILED;
        if (is_failed(text))
            return text;
    }
    return text;
}

static value evaluate_compare(machine *m, const node *n)
{
    value left = evaluate(m, n->a);

    for (uint32_t at = n->b; at != 0; at = tree_node(m, at)->next) {
        const node *operand = tree_node(m, at);
        value right = is_failed(left) ? left : evaluate(m, operand->a);
        bool holds;

        if (is_failed(right))
            return right;
        m->at = operand->at;
        holds = value_compares(m, operand->op, left, right);
        if (machine_failed(m))
            return FAILED;
        if (!holds)
            return value_bool(false);
        left = right;
    }
    return value_bool(true);
}

static value evaluate_condition(machine *m, const node *n)
{
    value truth = evaluate_truth(m, n->a);

    if (is_failed(truth))
        return truth;
    if (truth.as.truth)
        return evaluate(m, n->b);
    return n->c != 0 ? evaluate(m, n->c)
                     : undefined_because(m, "an 'if' without 'else' has no value here");
}

static value evaluate_list(machine *m, const node *n)
{
    item_list list = {0};

    for (uint32_t at = n->a; at != 0; at = tree_node(m, at)->next)
        if (!items_push(&m->memory, &list, evaluate(m, at)))
            return FAILED;
    return list_take(&m->memory, n->kind == NODE_LIST ? VALUE_LIST : VALUE_TUPLE, list.items,
                     list.count);
}

static value evaluate_dict(machine *m, const node *n)
{
    dict *made = dict_new(&m->memory);

    for (uint32_t at = n->a; made != NULL && at != 0; at = tree_node(m, at)->next) {
        const node *pair = tree_node(m, at);
        value key = evaluate(m, pair->a), v = is_failed(key) ? key : evaluate(m, pair->b);

        if (is_failed(v))
            return v;
        m->at = pair->at;
        if (!dict_put(m, made, key, v))
            return FAILED;
    }
    return made == NULL ? FAILED : (value){.kind = VALUE_DICT, .as.dict = made};
}

value evaluate(machine *m, uint32_t at)
{
    static value (*const kinds[])(machine *, const node *) = {
        [NODE_CONSTANT] = evaluate_constant,
        [NODE_NAME] = look_up,
        [NODE_ATTRIBUTE] = evaluate_attribute,
        [NODE_ITEM] = evaluate_item,
        [NODE_SLICE] = evaluate_slice,
        [NODE_CALL] = evaluate_call,
        [NODE_FILTER] = evaluate_filter,
        [NODE_TEST] = evaluate_test,
        [NODE_UNARY] = evaluate_sign,
        [NODE_NOT] = evaluate_not,
        [NODE_AND] = evaluate_and,
        [NODE_OR] = evaluate_or,
        [NODE_BINARY] = evaluate_binary,
        [NODE_CONCAT] = evaluate_concat,
        [NODE_COMPARE] = evaluate_compare,
        [NODE_CONDITION] = evaluate_condition,
        [NODE_LIST] = evaluate_list,
        [NODE_TUPLE] = evaluate_list,
        [NODE_DICT] = evaluate_dict,
    };
    const node *n = tree_node(m, at);
    value result;

    if (!machine_spend(m, 1) || !machine_enter(m))
        return FAILED;
    m->at = n->at;
    result = kinds[n->kind](m, n);
    machine_leave(m);
    return result;
}
