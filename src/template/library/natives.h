/* The tables of what a template can call, and the functions that their rows name. */
#ifndef TEMPLATE_NATIVES_H
#define TEMPLATE_NATIVES_H

#include "template/values/characters.h"
#include "template/machine/machine.h"

extern const table filter_table, test_table, global_table;

/* The methods of a type; NULL: it has none. */
const table *method_table(value_kind kind);

/* filters_text.c */
native_call filter_capitalize, filter_center, filter_escape, filter_force_escape, filter_format,
    filter_indent, filter_lower, filter_replace, filter_safe, filter_string, filter_striptags,
    filter_title, filter_trim, filter_truncate, filter_upper, filter_urlencode, filter_wordcount,
    filter_xmlattr;
/* filters_number.c */
native_call filter_abs, filter_filesizeformat, filter_float, filter_int, filter_round;
/* filters_list.c */
native_call filter_attr, filter_batch, filter_default, filter_first, filter_items, filter_join,
    filter_last, filter_length, filter_list, filter_map, filter_random, filter_reject,
    filter_rejectattr, filter_reverse, filter_select, filter_selectattr, filter_slice, filter_sum;
/* filters_order.c */
native_call filter_dictsort, filter_groupby, filter_max, filter_min, filter_sort, filter_unique;
/* filters_wrap.c, filters_urlize.c, pprint.c */
native_call filter_wordwrap, filter_urlize, filter_pprint;
/* json_write.c */
native_call filter_tojson;
/* refused.c: what Jinja has and chat templates do not need */
native_call filter_refused, global_refused;

/* tests.c */
native_call test_boolean, test_callable, test_defined, test_divisibleby, test_eq, test_escaped,
    test_even, test_false, test_filter, test_float, test_ge, test_gt, test_in, test_integer,
    test_iterable, test_le, test_lower, test_lt, test_mapping, test_ne, test_none, test_number,
    test_odd, test_sameas, test_sequence, test_string, test_test, test_true, test_undefined,
    test_upper;

/* methods_text.c */
native_call str_capitalize, str_casefold, str_center, str_count, str_encode, str_endswith,
    str_expandtabs, str_find, str_format, str_format_map, str_index, str_isalnum, str_isalpha,
    str_isascii, str_isdecimal, str_isdigit, str_isidentifier, str_islower, str_isnumeric,
    str_isprintable, str_isspace, str_istitle, str_isupper, str_join, str_ljust, str_lower,
    str_lstrip, str_partition, str_removeprefix, str_removesuffix, str_replace, str_rfind,
    str_rindex, str_rjust, str_rpartition, str_rsplit, str_rstrip, str_split, str_splitlines,
    str_startswith, str_strip, str_swapcase, str_title, str_upper, str_zfill;
/* methods.c */
native_call list_count, list_copy, list_index, dict_copy_method, dict_get, dict_items, dict_keys,
    dict_values, float_is_integer, int_bit_length, cycler_next, cycler_reset;

/* globals.c */
native_call global_cycler, global_dict, global_joiner, global_namespace, global_raise_exception,
    global_range, global_strftime_now;

/* ==== What several of them use =============================================================== */

/* A string argument; NULL on failure, which names its place by `what`. */
const string *take_string(machine *m, value v, const char *what);
/* An integer argument; `preset` where it is absent. */
bool take_integer(machine *m, value v, int64_t preset, int64_t *out);
/* The same for a bound of what is looked at: larger ones are as good as the largest. */
bool take_index(machine *m, value v, int64_t preset, int64_t *out);
/* A string that a function in C wrote since `mark`, safe if `like` is. */
value cut_like(machine *m, size_t mark, const string *like);
/* Writes a text in another case. */
bool write_case(machine *m, gufo_str text, letter_case to);
bool write_point(machine *m, uint32_t point);
/* One character of `text`, which is `len` bytes long. */
bool write_point_case(machine *m, gufo_str text, size_t at, size_t len, letter_case to);
/* Writes `text` with `from` replaced, `limit` times at most (negative: always). */
bool write_replaced(machine *m, gufo_str text, gufo_str from, gufo_str to, int64_t limit);
/* Writes a text of `chars` characters at least `width` wide; `side` is where it stands:
 * < > ^, c as str.center. */
bool write_padded(machine *m, gufo_str text, size_t chars, char side, int64_t width, gufo_str fill);
const char *find_bytes(gufo_str text, gufo_str part);
/* Without the characters of `chars` (NULL: white space) at its ends. */
gufo_str strip_text(gufo_str text, const string *chars, bool left, bool right);
/* The value of a part of a string. */
value part_of(machine *m, const string *whole, gufo_str part);
/* The next line of *rest, and the length of its end; false: no more lines. */
bool next_line(gufo_str *rest, gufo_str *line, size_t *end);

#endif
