/* Statements: one function per kind of node. */
#include "base/error.h"
#include "template/machine/machine.h"

static bool assign_member(machine *m, const node *n, value v)
{
    const node name = {.kind = NODE_NAME, .at = n->at, .a = n->a};
    value holder = look_up(m, &name);

    m->at = n->at;
    if (is_failed(holder))
        return false;
    if (holder.kind != VALUE_NAMESPACE) {
        (void)fail_type(m, "only a namespace can be given a member");
        return false;
    }
    return dict_put(m, holder.as.names, tree_constant(m, n->b), v);
}

static bool assign_several(machine *m, const node *n, value v)
{
    uint32_t at = n->a;
    iteration it;
    value item;

    if (!iterate(m, v, &it))
        return false;
    for (; iterate_next(m, &it, &item); at = tree_node(m, at)->next) {
        if (at == 0)
            return !is_failed(fail_type(m, "more values than names to give them to"));
        if (!assign(m, at, item))
            return false;
    }
    if (at != 0 && !machine_failed(m))
        (void)fail_type(m, "fewer values than names to give them to");
    return !machine_failed(m);
}

bool assign(machine *m, uint32_t target, value v)
{
    const node *n = tree_node(m, target);

    if (is_failed(v))
        return false;
    if (n->kind == NODE_TUPLE)
        return assign_several(m, n, v);
    return n->kind == NODE_MEMBER ? assign_member(m, n, v)
                                  : assign_name(m, tree_constant(m, n->a), v);
}

static flow flow_of(bool done)
{
    return done ? FLOW_ON : FLOW_FAILED;
}

/* A body with variables of its own. */
static flow execute_inside(machine *m, frame *inner, uint32_t body)
{
    frame *outer = m->frame;
    flow result;

    if (inner == NULL)
        return FLOW_FAILED;
    m->frame = inner;
    result = execute(m, body);
    m->frame = outer;
    return result;
}

/* The text that a body writes; FAILED also where the body was left by a jump, which is in *result. */
static value execute_text(machine *m, uint32_t body, flow *result)
{
    size_t mark = m->out_len;

    *result = execute_inside(m, frame_new(m, m->frame), body);
    if (*result != FLOW_ON) {
        m->out_len = mark;
        return FAILED;
    }
    return out_cut(m, mark);
}

static flow execute_data(machine *m, const node *n)
{
    return flow_of(out_write(m, bytes_of(tree_constant(m, n->a).as.string)));
}

static flow execute_output(machine *m, const node *n)
{
    value v = evaluate(m, n->a);

    if (is_failed(v))
        return FLOW_FAILED;
    m->at = n->at;
    return flow_of(m->escape ? print_escaped(m, v) : print_str(m, v));
}

static flow execute_if(machine *m, const node *n)
{
    for (;;) {
        value test = evaluate(m, n->a);
        const node *other;

        if (is_failed(test))
            return FLOW_FAILED;
        if (value_truth(test))
            return execute(m, n->b);
        if (n->c == 0)
            return FLOW_ON;
        other = tree_node(m, n->c);
        if (other->kind != NODE_IF || other->next != 0)
            return execute(m, n->c);
        n = other; /* elif */
    }
}

static flow run_loop(machine *m, loop *l)
{
    static const string loop_name = {.data = "loop", .len = 4, .chars = 4};
    value name = {.kind = VALUE_STRING, .as.string = &loop_name};
    value variable = {.kind = VALUE_LOOP, .as.loop = l};
    flow result = FLOW_ON;

    while (result != FLOW_BREAK && loop_advance(m, l)) {
        dict_clear(m->frame->names);
        if (!assign(m, l->node->a, l->current) || !assign_name(m, name, variable))
            return FLOW_FAILED;
        result = execute(m, l->node->c);
        if (result == FLOW_FAILED)
            return result;
    }
    return flow_of(!machine_failed(m));
}

flow execute_loop(machine *m, const node *n, value source, uint64_t depth)
{
    frame *outer = m->frame, *inner = frame_new(m, outer);
    loop *l = HEAP_NEW(&m->memory, loop);
    flow result;

    if (inner == NULL || l == NULL)
        return FLOW_FAILED;
    *l = (loop){.node = n,
                .depth = depth,
                .previous = value_of(VALUE_ABSENT),
                .current = value_of(VALUE_ABSENT)};
    l->test_frame = n->e == 0 ? NULL : frame_new(m, outer);
    if ((n->e != 0 && l->test_frame == NULL) || !iterate(m, source, &l->source))
        return FLOW_FAILED;
    m->frame = inner;
    result = run_loop(m, l);
    m->frame = outer;
    if (result != FLOW_ON || n->d == 0 || is_given(l->current))
        return result;
    return execute_inside(m, frame_new(m, outer), n->d);
}

static flow execute_for(machine *m, const node *n)
{
    value source = evaluate(m, n->b);

    if (is_failed(source))
        return FLOW_FAILED;
    m->at = n->at;
    return execute_loop(m, n, source, 0);
}

static flow execute_set(machine *m, const node *n)
{
    value v = evaluate(m, n->b);

    if (is_failed(v))
        return FLOW_FAILED;
    m->at = n->at;
    return flow_of(assign(m, n->a, v));
}

/* Runs a filter, or a chain of them, over a text. */
static value filter_text(machine *m, uint32_t filter, value text)
{
    value outer = m->filtered, result;

    if (is_failed(text))
        return text;
    if (m->escape)
        text = string_cast(&m->memory, text.as.string, true);
    m->filtered = text;
    result = evaluate(m, filter);
    m->filtered = outer;
    return result;
}

static flow execute_set_block(machine *m, const node *n)
{
    flow result;
    value text = execute_text(m, n->c, &result);

    if (result != FLOW_ON)
        return result;
    if (n->b != 0)
        text = filter_text(m, n->b, text);
    else if (m->escape && !is_failed(text))
        text = string_cast(&m->memory, text.as.string, true);
    return flow_of(assign(m, n->a, text));
}

static flow execute_filter_block(machine *m, const node *n)
{
    flow result;
    value text = execute_text(m, n->c, &result);

    if (result != FLOW_ON)
        return result;
    text = filter_text(m, n->b, text);
    return flow_of(!is_failed(text) && (m->escape ? print_escaped(m, text) : print_str(m, text)));
}

static flow execute_with(machine *m, const node *n)
{
    frame *outer = m->frame, *inner = frame_new(m, outer);

    for (uint32_t at = n->a; inner != NULL && at != 0; at = tree_node(m, at)->next) {
        const node *pair = tree_node(m, at);
        value v = evaluate(m, pair->b); /* outside: a later value does not see an earlier name */
        bool done;

        m->frame = inner;
        done = assign(m, pair->a, v);
        m->frame = outer;
        if (!done)
            return FLOW_FAILED;
    }
    return execute_inside(m, inner, n->c);
}

static value macro_value(machine *m, const node *n, value name)
{
    macro *made = HEAP_NEW(&m->memory, macro);

    if (made == NULL)
        return FAILED;
    *made = (macro){n, m->frame, name};
    return (value){.kind = VALUE_MACRO, .as.macro = made};
}

static flow execute_macro(machine *m, const node *n)
{
    value name = tree_constant(m, n->a), made = macro_value(m, n, name);

    return flow_of(!is_failed(made) && assign_name(m, name, made));
}

static flow execute_call_block(machine *m, const node *n)
{
    value caller = macro_value(m, n, NONE), text;

    if (is_failed(caller))
        return FLOW_FAILED;
    text = evaluate_call_block(m, n->a, caller);
    return flow_of(!is_failed(text) && (m->escape ? print_escaped(m, text) : print_str(m, text)));
}

/* A block sees the variables of the template, not those of loops around it. */
static flow execute_block(machine *m, const node *n)
{
    frame *outer = m->frame, *root = m->frame;
    flow result;

    while (root->parent != NULL)
        root = root->parent;
    m->frame = root;
    result = execute_inside(m, frame_new(m, root), n->c);
    m->frame = outer;
    return result;
}

static flow execute_scope(machine *m, const node *n)
{
    return execute_inside(m, frame_new(m, m->frame), n->c);
}

static flow execute_autoescape(machine *m, const node *n)
{
    value whether = evaluate(m, n->b);
    bool outer = m->escape;
    flow result;

    if (is_failed(whether))
        return FLOW_FAILED;
    m->escape = value_truth(whether);
    result = execute_inside(m, frame_new(m, m->frame), n->c);
    m->escape = outer;
    return result;
}

static flow execute_break(machine *m, const node *n)
{
    (void)m;
    (void)n;
    return FLOW_BREAK;
}

static flow execute_continue(machine *m, const node *n)
{
    (void)m;
    (void)n;
    return FLOW_CONTINUE;
}

static flow execute_other_template(machine *m, const node *n)
{
    (void)fail_type(m, "%s: a chat template cannot use another template",
                    QUOTED(bytes_of(tree_constant(m, n->a).as.string)));
    return FLOW_FAILED;
}

flow execute(machine *m, uint32_t first)
{
    static flow (*const kinds[])(machine *, const node *) = {
        [NODE_DATA] = execute_data,
        [NODE_OUTPUT] = execute_output,
        [NODE_IF] = execute_if,
        [NODE_FOR] = execute_for,
        [NODE_SET] = execute_set,
        [NODE_SET_BLOCK] = execute_set_block,
        [NODE_WITH] = execute_with,
        [NODE_MACRO] = execute_macro,
        [NODE_CALL_BLOCK] = execute_call_block,
        [NODE_FILTER_BLOCK] = execute_filter_block,
        [NODE_BLOCK] = execute_block,
        [NODE_SCOPE] = execute_scope,
        [NODE_AUTOESCAPE] = execute_autoescape,
        [NODE_BREAK] = execute_break,
        [NODE_CONTINUE] = execute_continue,
        [NODE_OTHER_TEMPLATE] = execute_other_template,
    };
    flow result = FLOW_ON;

    if (!machine_enter(m))
        return FLOW_FAILED;
    for (uint32_t at = first; result == FLOW_ON && at != 0; at = tree_node(m, at)->next) {
        const node *n = tree_node(m, at);

        m->at = n->at;
        result = machine_spend(m, 1) ? kinds[n->kind](m, n) : FLOW_FAILED;
    }
    machine_leave(m);
    return result;
}
