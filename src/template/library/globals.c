/* The functions that every template has. */
#include "base/error.h"
#include "base/text.h"
#include "template/library/natives.h"
#include "template/library/strftime.h"
#include "template/values/integer.h"

enum { LONGEST_RANGE = 100000 };

value global_raise_exception(machine *m, const value *given, const arguments *all)
{
    value text = text_of(m, given[1]);

    (void)all;
    if (is_failed(text))
        return text;
    m->raised = true;
    return machine_fail(m, GUFO_E_STOPPED, "%.*s",
                        (int)(text.as.string->len > 1000 ? 1000 : text.as.string->len),
                        text.as.string->data);
}

static bool is_whole(machine *m, value v)
{
    int64_t index;

    return take_index(m, v, 0, &index);
}

/* The distance in steps, rounded up: 0 or less where the range has no numbers. */
static value range_length(machine *m, const range *r)
{
    value distance, rest;

    if (!machine_spend(m, integer_work(r->stop, r->step) + integer_work(r->start, r->step)))
        return FAILED;
    distance = integer_subtract(&m->memory, r->start, r->stop);
    if (is_failed(distance))
        return FAILED;
    distance = integer_divide(&m->memory, distance, r->step, &rest);
    return is_failed(distance) ? FAILED : integer_subtract(&m->memory, value_int(0), distance);
}

value global_range(machine *m, const value *given, const arguments *all)
{
    bool two = is_given(given[2]);
    range r = {.start = two ? given[1] : value_int(0),
               .stop = two ? given[2] : given[1],
               .step = is_given(given[3]) ? given[3] : value_int(1)};
    range *made = HEAP_NEW(&m->memory, range);
    int64_t count;
    value length;

    (void)all;
    if (!is_whole(m, r.start) || !is_whole(m, r.stop) || !is_whole(m, r.step) || made == NULL)
        return FAILED;
    if (integer_sign(r.step) == 0)
        return fail_type(m, "the step of a range is 0");
    length = range_length(m, &r);
    if (is_failed(length))
        return FAILED;
    (void)value_as_index(length, &count);
    if (count > LONGEST_RANGE)
        return fail_limit(m, "a range of more than %s numbers", GROUPED(LONGEST_RANGE));
    r.count = count < 0 ? 0 : (size_t)count;
    *made = r;
    return (value){.kind = VALUE_RANGE, .as.range = made};
}

static bool put_pairs(machine *m, dict *d, value source)
{
    iteration it;
    value pair;

    if (source.kind == VALUE_DICT)
        source = dict_items(m, &source, NULL);
    if (is_failed(source) || !iterate(m, source, &it))
        return false;
    while (iterate_next(m, &it, &pair)) {
        item_list parts;

        if (!iterate_all(m, pair, &parts))
            return false;
        if (parts.count != 2)
            return !is_failed(fail_type(m, "a dict is made of pairs"));
        if (!dict_put(m, d, parts.items[0], parts.items[1]))
            return false;
    }
    return !machine_failed(m);
}

/* A dict as dict(...) and namespace(...) make it. */
static dict *make_dict(machine *m, const arguments *in)
{
    dict *made = dict_new(&m->memory);
    uint32_t positions = in->count - in->keywords;

    if (made == NULL)
        return NULL;
    if (positions > 1) {
        (void)fail_type(m, "one argument without a name at most");
        return NULL;
    }
    if (positions == 1 && !put_pairs(m, made, in->items[0]))
        return NULL;
    for (uint32_t i = 0; i < in->keywords; i++)
        if (!dict_put(m, made, (value){.kind = VALUE_STRING, .as.string = in->names[i]},
                      in->items[positions + i]))
            return NULL;
    return made;
}

value global_dict(machine *m, const value *given, const arguments *all)
{
    dict *made = make_dict(m, all);

    (void)given;
    return made == NULL ? FAILED : (value){.kind = VALUE_DICT, .as.dict = made};
}

value global_namespace(machine *m, const value *given, const arguments *all)
{
    dict *made = make_dict(m, all);

    (void)given;
    return made == NULL ? FAILED : (value){.kind = VALUE_NAMESPACE, .as.names = made};
}

static value make_cycler(machine *m, value_kind kind, value items, const string *separator)
{
    cycler *made = HEAP_NEW(&m->memory, cycler);

    if (made == NULL || is_failed(items))
        return FAILED;
    *made = (cycler){items.as.list, 0, separator};
    return (value){.kind = kind, .as.cycler = made};
}

value global_cycler(machine *m, const value *given, const arguments *all)
{
    (void)given;
    if (all->count == 0 || all->keywords != 0)
        return fail_type(m, "'cycler' takes values");
    return make_cycler(m, VALUE_CYCLER, list_new(&m->memory, VALUE_LIST, all->items, all->count),
                       NULL);
}

value global_joiner(machine *m, const value *given, const arguments *all)
{
    value separator =
        is_given(given[1]) ? text_of(m, given[1]) : string_view(&m->memory, gufo_str_of(", "));

    (void)all;
    if (is_failed(separator))
        return separator;
    return make_cycler(m, VALUE_JOINER, list_new(&m->memory, VALUE_LIST, NULL, 0),
                       separator.as.string);
}

value global_strftime_now(machine *m, const value *given, const arguments *all)
{
    const string *format = take_string(m, given[1], "the format of a time");
    size_t mark = m->out_len;

    (void)all;
    return format != NULL && write_time(m, bytes_of(format), m->now) ? out_cut(m, mark) : FAILED;
}

value global_refused(machine *m, const value *given, const arguments *all)
{
    (void)given;
    (void)all;
    return fail_type(m, "this function is not supported");
}

value filter_refused(machine *m, const value *given, const arguments *all)
{
    (void)given;
    (void)all;
    return fail_type(m, "this filter is not supported");
}
