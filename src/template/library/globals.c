/* The functions that every template has. */
#include "base/error.h"
#include "base/text.h"
#include "template/library/natives.h"
#include "template/machine/machine.h"
#include "template/values/number.h"

#include <inttypes.h>
#include <stdio.h>

/* strftime of the C library depends on the locale of the process, and gmtime on its time zone files:
 * this one on nothing. */

typedef struct moment {
    int64_t year, seconds;
    int month, day, weekday,
        year_day; /* month and day from 1, weekday 0 is Sunday, year_day from 0 */
    int hour, minute, second;
} moment;

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970 to the first day of a year. */
static int64_t days_before(int64_t year)
{
    int64_t past = year - 1;

    return past * 365 + past / 4 - past / 100 + past / 400 - 719162;
}

static moment moment_of(int64_t seconds)
{
    int64_t day = seconds / 86400, rest = seconds % 86400;
    moment t = {.seconds = seconds, .month = 1};

    if (rest < 0) {
        rest += 86400;
        day--;
    }
    t.hour = (int)(rest / 3600);
    t.minute = (int)(rest / 60 % 60);
    t.second = (int)(rest % 60);
    t.weekday = (int)(((day + 4) % 7 + 7) % 7);
    t.year = 1970 + (day >= 0 ? day / 366 : day / 365 - 1); /* at most the year */
    while (days_before(t.year + 1) <= day)
        t.year++;
    t.year_day = (int)(day - days_before(t.year));
    t.day = t.year_day + 1;
    while (t.day > days_of(t.year, t.month))
        t.day -= days_of(t.year, t.month++);
    return t;
}

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

/* ISO 8601: week 1 has the first Thursday.  *year is the one that the week belongs to. */
static int iso_week(const moment *t, int64_t *year)
{
    int monday = (t->weekday + 6) % 7, week = (t->year_day - monday + 10) / 7;
    int64_t last = t->year - 1;

    *year = t->year;
    if (week == 0) {
        *year = last;
        return (t->year_day + (is_leap(last) ? 366 : 365) - monday + 10) / 7;
    }
    if (week == 53 && t->year_day - monday + 3 >= (is_leap(t->year) ? 366 : 365)) {
        *year = t->year + 1;
        return 1;
    }
    return week;
}

/* Conversions that are others one after the other. */
static const char *compound(char c)
{
    switch (c) {
    case 'c':
        return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x':
        return "%m/%d/%y";
    case 'F':
        return "%Y-%m-%d";
    case 'r':
        return "%I:%M:%S %p";
    case 'R':
        return "%H:%M";
    case 'T':
    case 'X':
        return "%H:%M:%S";
    default:
        return NULL;
    }
}

/* Conversions that are numbers: their value, and in *format how printf writes it. */
static bool numeric(char c, const moment *t, int64_t *number, const char **format)
{
    int64_t year;
    int twelve = t->hour % 12 == 0 ? 12 : t->hour % 12, week = iso_week(t, &year);
    const struct {
        char c;
        int64_t number;
        const char *format;
    } rows[] = {
        {'C', t->year / 100, "02"},
        {'d', t->day, "02"},
        {'e', t->day, "2"},
        {'f', 0, "06"},
        {'G', year, ""},
        {'g', year % 100, "02"},
        {'H', t->hour, "02"},
        {'I', twelve, "02"},
        {'j', t->year_day + 1, "03"},
        {'k', t->hour, "2"},
        {'l', twelve, "2"},
        {'m', t->month, "02"},
        {'M', t->minute, "02"},
        {'s', t->seconds, ""},
        {'S', t->second, "02"},
        {'u', t->weekday == 0 ? 7 : t->weekday, ""},
        {'U', (t->year_day + 7 - t->weekday) / 7, "02"},
        {'V', week, "02"},
        {'w', t->weekday, ""},
        {'W', (t->year_day + 7 - (t->weekday + 6) % 7) / 7, "02"},
        {'y', t->year % 100, "02"},
        {'Y', t->year, ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].c == c) {
            *number = rows[i].number;
            *format = rows[i].format;
            return true;
        }
    return false;
}

static const char *named(char c, const moment *t)
{
    switch (c) {
    case 'A':
        return weekdays[t->weekday];
    case 'B':
        return months[t->month - 1];
    case 'n':
        return "\n";
    case 'p':
        return t->hour < 12 ? "AM" : "PM";
    case 'P':
        return t->hour < 12 ? "am" : "pm";
    case 't':
        return "\t";
    case '%':
        return "%";
    case 'z':
    case 'Z':
        return ""; /* the time has no zone */
    default:
        return NULL;
    }
}

/* `-` before a conversion: without zeros or blanks in front. */
static bool write_number(machine *m, int64_t number, const char *format, bool bare)
{
    char line[32];
    int width = *format == 0 ? 0 : format[*format == '0'] - '0';

    if (bare || width == 0)
        (void)snprintf(line, sizeof(line), "%" PRId64, number);
    else
        (void)snprintf(line, sizeof(line), *format == '0' ? "%0*" PRId64 : "%*" PRId64, width,
                       number);
    return out_text(m, line);
}

static bool write_conversion(machine *m, char c, bool bare, const moment *t);

static bool write_format(machine *m, gufo_str format, const moment *t)
{
    for (size_t at = 0; at < format.len; at++) {
        bool bare = false;

        if (format.data[at] != '%' || at + 1 == format.len) {
            if (!out_write(m, (gufo_str){format.data + at, 1}))
                return false;
            continue;
        }
        at++;
        if (format.data[at] == '-' && at + 1 < format.len) {
            bare = true;
            at++;
        }
        if (!write_conversion(m, format.data[at], bare, t))
            return false;
    }
    return true;
}

/* A compound conversion has none in it that is one itself. */
static bool write_conversion(machine *m, char c, bool bare, const moment *t)
{
    const char *parts = compound(c), *name = named(c, t), *format;
    int64_t number;
    char as_it_is[4] = {'%', bare ? '-' : c, bare ? c : 0, 0};

    if (parts != NULL)
        return write_format(m, gufo_str_of(parts), t);
    if (c == 'a')
        return out_write(m, (gufo_str){weekdays[t->weekday], 3});
    if (c == 'b' || c == 'h')
        return out_write(m, (gufo_str){months[t->month - 1], 3});
    if (name != NULL)
        return out_text(m, name);
    if (numeric(c, t, &number, &format))
        return write_number(m, number, format, bare);
    return out_text(m, as_it_is);
}

bool write_time(machine *m, gufo_str format, int64_t seconds)
{
    const int64_t first = -62135596800, last = 253402300799; /* the years 1 to 9999 */
    moment t;

    if (seconds < first || seconds > last)
        return !is_failed(fail_type(m, "the time is not in the years 1 to 9999"));
    t = moment_of(seconds);
    return machine_spend_bytes(m, format.len * 8) && write_format(m, format, &t);
}

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
