/* The functions that every template has. */
#include "base/error.h"
#include "base/text.h"
#include "text/template/library/natives.h"
#include "text/template/library/strftime.h"

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

value global_range(machine *m, const value *given, const arguments *all)
{
    int64_t first = 0, end, step;
    uint64_t count = 0, distance;
    range *made;

    (void)all;
    if (!take_integer(m, given[1], 0, &end) || !take_integer(m, given[3], 1, &step))
        return FAILED;
    if (is_given(given[2])) {
        first = end;
        if (!take_integer(m, given[2], 0, &end))
            return FAILED;
    }
    if (step == 0)
        return fail_type(m, "the step of a range is 0");
    if (step > 0 ? first < end : first > end) {
        uint64_t width = step > 0 ? (uint64_t)step : 0 - (uint64_t)step; /* not 0 */

        distance = step > 0 ? (uint64_t)end - (uint64_t)first : (uint64_t)first - (uint64_t)end;
        count = (distance - 1) / width + 1;
    }
    if (count > LONGEST_RANGE)
        return fail_limit(m, "a range of more than %d numbers", LONGEST_RANGE);
    made = HEAP_NEW(&m->memory, range);
    if (made == NULL)
        return FAILED;
    *made = (range){first, step, (size_t)count};
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
