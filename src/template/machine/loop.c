/* The variable `loop`, and where the items of a `for` come from.
 *
 * Items are taken one by one, and their test runs when they are taken, so that it sees what the body
 * has changed.  Only what looks ahead (loop.last, loop.length ...) takes them earlier. */
#include "base/error.h"
#include "template/machine/machine.h"

/* The next item that passes the test. */
static bool pull_tested(machine *m, loop *l, value *out)
{
    frame *outer = m->frame;
    bool passes = false;

    while (!passes && iterate_next(m, &l->source, out)) {
        value test;

        if (l->node->e == 0)
            return true;
        m->frame = l->test_frame;
        dict_clear(m->frame->names);
        test = m->language->assign(m, l->node->a, *out) ? m->language->evaluate(m, l->node->e)
                                                        : FAILED;
        m->frame = outer;
        if (is_failed(test))
            return false;
        passes = value_truth(test);
    }
    return passes && !machine_failed(m);
}

static bool pull(machine *m, loop *l, value *out)
{
    if (l->rest_at < l->rest.count) {
        *out = l->rest.items[l->rest_at++];
        return true;
    }
    return !l->ended && pull_tested(m, l, out);
}

/* Takes the next item without going to it. */
static bool look_ahead(machine *m, loop *l)
{
    if (!l->has_next && !l->ended) {
        l->has_next = pull(m, l, &l->next);
        l->ended = !l->has_next;
    }
    return l->has_next;
}

bool loop_advance(machine *m, loop *l)
{
    bool first = l->current.kind == VALUE_ABSENT;

    if (!look_ahead(m, l))
        return false;
    l->previous = l->current;
    l->current = l->next;
    l->has_next = false;
    l->index += first ? 0 : 1;
    return true;
}

value loop_length(machine *m, loop *l)
{
    size_t ahead = l->has_next;
    value item;

    if (l->node->e == 0 && l->source.source.kind != VALUE_ITERATOR)
        return value_int((int64_t)(l->index + 1 + ahead + l->source.left));
    if (l->rest_at == l->rest.count && !l->ended) {
        l->rest = (item_list){0};
        l->rest_at = 0;
        while (pull_tested(m, l, &item))
            if (!items_push(&m->memory, &l->rest, item))
                return FAILED;
    }
    if (machine_failed(m))
        return FAILED;
    return value_int((int64_t)(l->index + 1 + ahead + l->rest.count - l->rest_at));
}

static value at_edge(machine *m, value item, const char *why)
{
    return is_given(item) ? item : undefined_because(m, why);
}

static value number_plus(value number, int64_t more)
{
    return is_failed(number) ? number : value_int(number.as.integer + more);
}

static value loop_first(machine *m, loop *l)
{
    (void)m;
    return value_bool(l->index == 0);
}

static value loop_last(machine *m, loop *l)
{
    bool ahead = look_ahead(m, l);

    return machine_failed(m) ? FAILED : value_bool(!ahead);
}

static value loop_index(machine *m, loop *l)
{
    (void)m;
    return value_int((int64_t)l->index + 1);
}

static value loop_index0(machine *m, loop *l)
{
    (void)m;
    return value_int((int64_t)l->index);
}

static value loop_revindex(machine *m, loop *l)
{
    return number_plus(loop_length(m, l), -(int64_t)l->index);
}

static value loop_revindex0(machine *m, loop *l)
{
    return number_plus(loop_length(m, l), -(int64_t)l->index - 1);
}

static value loop_depth(machine *m, loop *l)
{
    (void)m;
    return value_int((int64_t)l->depth + 1);
}

static value loop_depth0(machine *m, loop *l)
{
    (void)m;
    return value_int((int64_t)l->depth);
}

static value loop_previous(machine *m, loop *l)
{
    return at_edge(m, l->previous, "the first item has no previous one");
}

static value loop_next(machine *m, loop *l)
{
    bool ahead = look_ahead(m, l);

    if (machine_failed(m))
        return FAILED;
    return at_edge(m, ahead ? l->next : value_of(VALUE_ABSENT), "the last item has no next one");
}

value loop_attribute(machine *m, loop *l, gufo_str name)
{
    static const struct {
        const char *name;
        value (*get)(machine *m, loop *l);
    } rows[] = {
        {"depth", loop_depth},       {"depth0", loop_depth0},       {"first", loop_first},
        {"index", loop_index},       {"index0", loop_index0},       {"last", loop_last},
        {"length", loop_length},     {"nextitem", loop_next},       {"previtem", loop_previous},
        {"revindex", loop_revindex}, {"revindex0", loop_revindex0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (gufo_str_equal(name, gufo_str_of(rows[i].name)))
            return rows[i].get(m, l);
    return value_of(VALUE_ABSENT);
}

static value call_changed(machine *m, const value *given, const arguments *all)
{
    loop *l = given[0].as.loop;
    value now = list_new(&m->memory, VALUE_TUPLE, all->items, all->count);

    if (is_failed(now) || (l->was_asked && value_equal(m, l->asked, now)))
        return value_bool(false);
    l->asked = now;
    l->was_asked = true;
    return value_bool(true);
}

static value call_cycle(machine *m, const value *given, const arguments *all)
{
    if (all->count == 0)
        return fail_type(m, "'cycle' takes values");
    return all->items[given[0].as.loop->index % all->count];
}

const table *loop_methods(void)
{
    static const native rows[] = {
        {"changed", call_changed, NULL, 0, NATIVE_ANY},
        {"cycle", call_cycle, NULL, 0, NATIVE_ANY},
    };
    static const table methods = {"method", rows, sizeof(rows) / sizeof(*rows)};

    return &methods;
}
