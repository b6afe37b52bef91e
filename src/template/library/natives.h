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
native_call filter_dictsort, filter_groupby, filter_max, filter_min, filter_sort, filter_unique;
/* filters_text.c, filters_urlize.c, writing.c */
native_call filter_wordwrap, filter_urlize, filter_pprint;
native_call filter_tojson;
/* What Jinja has and chat templates do not need */
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

#endif
