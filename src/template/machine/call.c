/* Calls: of functions in C, with their parameters bound by the names in their row, and of macros. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "template/machine/machine.h"

/* The place of a parameter; -1: none has this name. */
static int find_parameter(const native *row, gufo_str name)
{
    const char *at = row->parameters;

    for (int i = 0; at != NULL && *at != 0; i++) {
        gufo_str parameter = str_piece(&at, ' ');

        if (gufo_str_equal(parameter, name))
            return i;
    }
    return -1;
}

static int count_parameters(const native *row)
{
    int count = row->parameters != NULL && *row->parameters != 0;

    for (const char *c = row->parameters; c != NULL && *c != 0; c++)
        count += *c == ' ';
    return count;
}

/* Fills the places of `given` from 1 on. */
static bool bind(machine *m, const native *row, const arguments *in, value *given)
{
    uint32_t positions = in->count - in->keywords;
    int room = count_parameters(row);

    if (positions > (uint32_t)room) {
        (void)fail_type(m, "'%s' takes at most %d arguments, not %u", row->name, room,
                        (unsigned)positions);
        return false;
    }
    for (uint32_t i = 0; i < positions; i++)
        given[i + 1] = in->items[i];
    for (uint32_t i = 0; i < in->keywords; i++) {
        int at =
            (row->flags & NATIVE_POSITIONS) != 0 ? -1 : find_parameter(row, bytes_of(in->names[i]));

        if (at < 0 || is_given(given[at + 1])) {
            (void)fail_type(m, "'%s' does not take an argument %s here", row->name,
                            QUOTED(bytes_of(in->names[i])));
            return false;
        }
        given[at + 1] = in->items[positions + i];
    }
    for (int i = 0; i < row->required; i++)
        if (!is_given(given[i + 1])) {
            (void)fail_type(m, "'%s' takes at least %d arguments", row->name, row->required);
            return false;
        }
    return true;
}

value call_native(machine *m, const native *row, value self, const arguments *in)
{
    value given[NATIVE_PARAMETERS + 1], result;

    given[0] = self;
    for (size_t i = 1; i <= NATIVE_PARAMETERS; i++)
        given[i] = value_of(VALUE_ABSENT);
    if ((row->flags & NATIVE_ANY) == 0 && !bind(m, row, in, given))
        return FAILED;
    if (!machine_enter(m))
        return FAILED;
    result = row->call(m, given, in);
    machine_leave(m);
    return machine_failed(m) ? FAILED : result;
}

value call_named(machine *m, const table *rows, value name, value target, const arguments *in)
{
    uint32_t row;

    if (name.kind != VALUE_STRING)
        return fail_type(m, "the name of a %s is expected", rows->what);
    row = table_find(rows, bytes_of(name.as.string));
    if (row == 0)
        return fail_type(m, "no %s is called %s", rows->what, QUOTED(bytes_of(name.as.string)));
    return call_native(m, &rows->rows[row - 1], target, in);
}

bool value_is_callable(value v)
{
    switch (v.kind) {
    case VALUE_MACRO:
    case VALUE_METHOD:
    case VALUE_FUNCTION:
    case VALUE_LOOP:
    case VALUE_JOINER:
        return true;
    default:
        return false;
    }
}

/* loop(items): the loop again, over other items. */
static value call_loop(machine *m, const loop *l, const arguments *in)
{
    size_t mark = m->out_len;
    flow ended;

    if (in->count != 1 || l->node->op == 0)
        return fail_type(m, "a loop is called with one argument, and only if it is recursive");
    if (m->recursion == m->recursion_limit)
        return fail_limit(m, "more than %u nested macros and loops", (unsigned)m->recursion_limit);
    m->recursion++;
    ended = m->language->run_loop(m, l->node, in->items[0], l->depth + 1);
    m->recursion--;
    return ended == FLOW_FAILED ? FAILED : out_cut(m, mark);
}

static value call_joiner(machine *m, cycler *joiner)
{
    if (joiner->at++ == 0)
        return string_new(&m->memory, gufo_str_of(""));
    return (value){.kind = VALUE_STRING, .as.string = joiner->separator};
}

value call_value(machine *m, value function, const arguments *in)
{
    value result;

    if (is_failed(function))
        return function;
    if (function.kind == VALUE_METHOD)
        return call_native(m, function.as.method->row, function.as.method->self, in);
    if (function.kind == VALUE_FUNCTION)
        return call_native(m, function.as.function, NONE, in);
    if (function.kind == VALUE_UNDEFINED)
        return fail_undefined(m, function);
    if (function.kind == VALUE_JOINER)
        return call_joiner(m, function.as.cycler);
    if (!value_is_callable(function))
        return fail_type(m, "a value of type '%s' cannot be called", value_type(function));
    if (!machine_enter(m))
        return FAILED;
    result = function.kind == VALUE_MACRO ? call_macro(m, function.as.macro, in)
                                          : call_loop(m, function.as.loop, in);
    machine_leave(m);
    return result;
}

/* The keyword argument of this name, which is marked as taken; ABSENT: none. */
static value take_keyword(const arguments *in, const string *name, uint64_t *taken)
{
    for (uint32_t i = 0; i < in->keywords; i++)
        if (gufo_str_equal(bytes_of(in->names[i]), bytes_of(name))) {
            *taken += 1;
            return in->items[in->count - in->keywords + i];
        }
    return value_of(VALUE_ABSENT);
}

/* Gives the parameters their values; *positions is how many were given by position. */
static bool bind_parameters(machine *m, const macro *called, const arguments *in,
                            uint32_t *positions, uint64_t *taken)
{
    uint32_t given = in->count - in->keywords, i = 0;

    for (uint32_t at = called->node->b; at != 0; at = tree_node(m, at)->next, i++) {
        const node *parameter = tree_node(m, at);
        value name = tree_constant(m, parameter->a), v;

        if (!machine_spend(m, in->keywords / 8))
            return false;
        v = take_keyword(in, name.as.string, taken);
        if (i < given) {
            if (is_given(v)) {
                (void)fail_type(m, "argument %s is given twice", QUOTED(bytes_of(name.as.string)));
                return false;
            }
            v = in->items[i];
        } else if (!is_given(v)) {
            v = parameter->b != 0 ? m->language->evaluate(m, parameter->b)
                                  : undefined_name(m, name);
        }
        if (is_failed(v) || !assign_name(m, name, v))
            return false;
    }
    *positions = i;
    return true;
}

static const string caller_name = {.data = "caller", .len = 6, .chars = 6};
static const string varargs_name = {.data = "varargs", .len = 7, .chars = 7};
static const string kwargs_name = {.data = "kwargs", .len = 6, .chars = 6};

static value name_of(const string *name)
{
    return (value){.kind = VALUE_STRING, .as.string = name};
}

/* The keyword arguments that are not parameters. */
static value rest_keywords(machine *m, const arguments *in)
{
    dict *rest = dict_new(&m->memory);

    for (uint32_t i = 0; rest != NULL && i < in->keywords; i++) {
        value name = name_of(in->names[i]);

        if (dict_find(m->frame->names, m->key, name) == NULL &&
            !dict_put(m, rest, name, in->items[in->count - in->keywords + i]))
            return FAILED;
    }
    return rest == NULL ? FAILED : (value){.kind = VALUE_DICT, .as.dict = rest};
}

static bool bind_name(machine *m, const string *name, value v)
{
    return !is_failed(v) && assign_name(m, name_of(name), v);
}

static gufo_str name_in_messages(const macro *called)
{
    return bytes_of(called->name.kind == VALUE_NONE ? &caller_name : called->name.as.string);
}

/* `caller`, varargs and kwargs, for a macro that uses them; else what is left is a failure. */
static bool bind_rest(machine *m, const macro *called, const arguments *in, uint32_t positions,
                      uint64_t taken)
{
    uint32_t given = in->count - in->keywords, extra = given > positions ? given - positions : 0;
    uint8_t uses = called->node->op;
    value caller;

    if ((uses & USES_CALLER) != 0 &&
        dict_find(m->frame->names, m->key, name_of(&caller_name)) == NULL) {
        caller = take_keyword(in, &caller_name, &taken);
        if (!is_given(caller))
            caller =
                undefined_because(m, "'caller' exists only in a macro that a 'call' tag calls");
        if (!bind_name(m, &caller_name, caller))
            return false;
    }
    if ((uses & USES_KWARGS) == 0 && taken != in->keywords)
        return !is_failed(fail_type(m, "macro %s does not take one of its arguments by name",
                                    QUOTED(name_in_messages(called))));
    if ((uses & USES_KWARGS) != 0 && !bind_name(m, &kwargs_name, rest_keywords(m, in)))
        return false;
    if ((uses & USES_VARARGS) != 0)
        return bind_name(m, &varargs_name,
                         list_new(&m->memory, VALUE_TUPLE, in->items + given - extra, extra));
    return extra == 0 ||
           !is_failed(fail_type(m, "macro %s takes at most %u arguments",
                                QUOTED(name_in_messages(called)), (unsigned)positions));
}

static value run_macro(machine *m, const macro *called, const arguments *in)
{
    size_t mark = m->out_len;
    uint32_t positions = 0;
    uint64_t taken = 0;
    value text;

    m->frame = frame_new(m, called->frame);
    if (m->frame == NULL || !bind_parameters(m, called, in, &positions, &taken) ||
        !bind_rest(m, called, in, positions, taken) ||
        m->language->execute(m, called->node->c) == FLOW_FAILED)
        return FAILED;
    text = out_cut(m, mark);
    return m->escape && !is_failed(text) ? string_cast(&m->memory, text.as.string, true) : text;
}

value call_macro(machine *m, const macro *called, const arguments *in)
{
    frame *outer = m->frame;
    value result;

    if (m->recursion == m->recursion_limit)
        return fail_limit(m, "more than %u nested macros and loops", (unsigned)m->recursion_limit);
    m->recursion++;
    result = run_macro(m, called, in);
    m->recursion--;
    m->frame = outer;
    return result;
}

/* ==== What a macro says of itself ============================================================ */

static value macro_name(machine *m, const macro *called)
{
    (void)m;
    return called->name;
}

static value macro_arguments(machine *m, const macro *called)
{
    item_list names = {0};

    for (uint32_t at = called->node->b; at != 0; at = tree_node(m, at)->next)
        if (!machine_spend(m, 1) ||
            !items_push(&m->memory, &names, tree_constant(m, tree_node(m, at)->a)))
            return FAILED;
    return list_take(&m->memory, VALUE_TUPLE, names.items, names.count);
}

static value macro_uses_caller(machine *m, const macro *called)
{
    (void)m;
    return value_bool((called->node->op & USES_CALLER) != 0);
}

static value macro_uses_varargs(machine *m, const macro *called)
{
    (void)m;
    return value_bool((called->node->op & USES_VARARGS) != 0);
}

static value macro_uses_kwargs(machine *m, const macro *called)
{
    (void)m;
    return value_bool((called->node->op & USES_KWARGS) != 0);
}

value macro_attribute(machine *m, const macro *called, gufo_str name)
{
    static const struct {
        const char *name;
        value (*get)(machine *m, const macro *called);
    } rows[] = {
        {"arguments", macro_arguments},
        {"caller", macro_uses_caller},
        {"catch_kwargs", macro_uses_kwargs},
        {"catch_varargs", macro_uses_varargs},
        {"name", macro_name},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (gufo_str_equal(name, gufo_str_of(rows[i].name)))
            return rows[i].get(m, called);
    return value_of(VALUE_ABSENT);
}
