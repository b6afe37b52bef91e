/* The rows of every table, in the order of their names. */

#include "template/library/natives.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const native filters[] = {
    {"abs", filter_abs, "", 0, 0},
    {"attr", filter_attr, "name", 1, 0},
    {"batch", filter_batch, "linecount fill_with", 1, 0},
    {"capitalize", filter_capitalize, "", 0, 0},
    {"center", filter_center, "width", 0, 0},
    {"count", filter_length, "", 0, 0},
    {"d", filter_default, "default_value boolean", 0, 0},
    {"default", filter_default, "default_value boolean", 0, 0},
    {"dictsort", filter_dictsort, "case_sensitive by reverse", 0, 0},
    {"e", filter_escape, "", 0, 0},
    {"escape", filter_escape, "", 0, 0},
    {"filesizeformat", filter_filesizeformat, "binary", 0, 0},
    {"first", filter_first, "", 0, 0},
    {"float", filter_float, "default", 0, 0},
    {"forceescape", filter_force_escape, "", 0, 0},
    {"format", filter_format, NULL, 0, NATIVE_ANY},
    {"groupby", filter_groupby, "attribute default case_sensitive", 1, 0},
    {"indent", filter_indent, "width first blank", 0, 0},
    {"int", filter_int, "default base", 0, 0},
    {"items", filter_items, "", 0, 0},
    {"join", filter_join, "d attribute", 0, 0},
    {"last", filter_last, "", 0, 0},
    {"length", filter_length, "", 0, 0},
    {"list", filter_list, "", 0, 0},
    {"lower", filter_lower, "", 0, 0},
    {"map", filter_map, NULL, 0, NATIVE_ANY},
    {"max", filter_max, "case_sensitive attribute", 0, 0},
    {"min", filter_min, "case_sensitive attribute", 0, 0},
    {"pprint", filter_pprint, "", 0, 0},
    {"random", filter_random, "", 0, 0},
    {"reject", filter_reject, NULL, 0, NATIVE_ANY},
    {"rejectattr", filter_rejectattr, NULL, 0, NATIVE_ANY},
    {"replace", filter_replace, "old new count", 2, 0},
    {"reverse", filter_reverse, "", 0, 0},
    {"round", filter_round, "precision method", 0, 0},
    {"safe", filter_safe, "", 0, 0},
    {"select", filter_select, NULL, 0, NATIVE_ANY},
    {"selectattr", filter_selectattr, NULL, 0, NATIVE_ANY},
    {"slice", filter_slice, "slices fill_with", 1, 0},
    {"sort", filter_sort, "reverse case_sensitive attribute", 0, 0},
    {"string", filter_string, "", 0, 0},
    {"striptags", filter_striptags, "", 0, 0},
    {"sum", filter_sum, "attribute start", 0, 0},
    {"title", filter_title, "", 0, 0},
    {"tojson", filter_tojson, "ensure_ascii indent separators sort_keys", 0, 0},
    {"trim", filter_trim, "chars", 0, 0},
    {"truncate", filter_truncate, "length killwords end leeway", 0, 0},
    {"unique", filter_unique, "case_sensitive attribute", 0, 0},
    {"upper", filter_upper, "", 0, 0},
    {"urlencode", filter_urlencode, "", 0, 0},
    {"urlize", filter_urlize, "trim_url_limit nofollow target rel extra_schemes", 0, 0},
    {"wordcount", filter_wordcount, "", 0, 0},
    {"wordwrap", filter_wordwrap, "width break_long_words wrapstring break_on_hyphens", 0, 0},
    {"xmlattr", filter_xmlattr, "autospace", 0, 0},
};

static const native tests[] = {
    {"!=", test_ne, "other", 1, 0},
    {"<", test_lt, "other", 1, 0},
    {"<=", test_le, "other", 1, 0},
    {"==", test_eq, "other", 1, 0},
    {">", test_gt, "other", 1, 0},
    {">=", test_ge, "other", 1, 0},
    {"boolean", test_boolean, "", 0, 0},
    {"callable", test_callable, "", 0, 0},
    {"defined", test_defined, "", 0, 0},
    {"divisibleby", test_divisibleby, "num", 1, 0},
    {"eq", test_eq, "other", 1, 0},
    {"equalto", test_eq, "other", 1, 0},
    {"escaped", test_escaped, "", 0, 0},
    {"even", test_even, "", 0, 0},
    {"false", test_false, "", 0, 0},
    {"filter", test_filter, "", 0, 0},
    {"float", test_float, "", 0, 0},
    {"ge", test_ge, "other", 1, 0},
    {"greaterthan", test_gt, "other", 1, 0},
    {"gt", test_gt, "other", 1, 0},
    {"in", test_in, "seq", 1, 0},
    {"integer", test_integer, "", 0, 0},
    {"iterable", test_iterable, "", 0, 0},
    {"le", test_le, "other", 1, 0},
    {"lessthan", test_lt, "other", 1, 0},
    {"lower", test_lower, "", 0, 0},
    {"lt", test_lt, "other", 1, 0},
    {"mapping", test_mapping, "", 0, 0},
    {"ne", test_ne, "other", 1, 0},
    {"none", test_none, "", 0, 0},
    {"number", test_number, "", 0, 0},
    {"odd", test_odd, "", 0, 0},
    {"sameas", test_sameas, "other", 1, 0},
    {"sequence", test_sequence, "", 0, 0},
    {"string", test_string, "", 0, 0},
    {"test", test_test, "", 0, 0},
    {"true", test_true, "", 0, 0},
    {"undefined", test_undefined, "", 0, 0},
    {"upper", test_upper, "", 0, 0},
};

static const native globals[] = {
    {"cycler", global_cycler, NULL, 0, NATIVE_ANY},
    {"dict", global_dict, NULL, 0, NATIVE_ANY},
    {"joiner", global_joiner, "sep", 0, 0},
    {"lipsum", global_refused, NULL, 0, NATIVE_ANY},
    {"namespace", global_namespace, NULL, 0, NATIVE_ANY},
    {"raise_exception", global_raise_exception, "message", 1, 0},
    {"range", global_range, "start stop step", 1, NATIVE_POSITIONS},
    {"strftime_now", global_strftime_now, "format", 1, 0},
};

static const native str_methods[] = {
    {"capitalize", str_capitalize, "", 0, NATIVE_POSITIONS},
    {"casefold", str_casefold, "", 0, NATIVE_POSITIONS},
    {"center", str_center, "width fillchar", 1, NATIVE_POSITIONS},
    {"count", str_count, "sub start end", 1, NATIVE_POSITIONS},
    {"encode", str_encode, NULL, 0, NATIVE_ANY},
    {"endswith", str_endswith, "suffix start end", 1, NATIVE_POSITIONS},
    {"expandtabs", str_expandtabs, "tabsize", 0, 0},
    {"find", str_find, "sub start end", 1, NATIVE_POSITIONS},
    {"format", str_format, NULL, 0, NATIVE_ANY},
    {"format_map", str_format_map, "mapping", 1, NATIVE_POSITIONS},
    {"index", str_index, "sub start end", 1, NATIVE_POSITIONS},
    {"isalnum", str_isalnum, "", 0, NATIVE_POSITIONS},
    {"isalpha", str_isalpha, "", 0, NATIVE_POSITIONS},
    {"isascii", str_isascii, "", 0, NATIVE_POSITIONS},
    {"isdecimal", str_isdecimal, "", 0, NATIVE_POSITIONS},
    {"isdigit", str_isdigit, "", 0, NATIVE_POSITIONS},
    {"isidentifier", str_isidentifier, "", 0, NATIVE_POSITIONS},
    {"islower", str_islower, "", 0, NATIVE_POSITIONS},
    {"isnumeric", str_isnumeric, "", 0, NATIVE_POSITIONS},
    {"isprintable", str_isprintable, "", 0, NATIVE_POSITIONS},
    {"isspace", str_isspace, "", 0, NATIVE_POSITIONS},
    {"istitle", str_istitle, "", 0, NATIVE_POSITIONS},
    {"isupper", str_isupper, "", 0, NATIVE_POSITIONS},
    {"join", str_join, "iterable", 1, NATIVE_POSITIONS},
    {"ljust", str_ljust, "width fillchar", 1, NATIVE_POSITIONS},
    {"lower", str_lower, "", 0, NATIVE_POSITIONS},
    {"lstrip", str_lstrip, "chars", 0, NATIVE_POSITIONS},
    {"maketrans", str_encode, NULL, 0, NATIVE_ANY},
    {"partition", str_partition, "sep", 1, NATIVE_POSITIONS},
    {"removeprefix", str_removeprefix, "prefix", 1, NATIVE_POSITIONS},
    {"removesuffix", str_removesuffix, "suffix", 1, NATIVE_POSITIONS},
    {"replace", str_replace, "old new count", 2, NATIVE_POSITIONS},
    {"rfind", str_rfind, "sub start end", 1, NATIVE_POSITIONS},
    {"rindex", str_rindex, "sub start end", 1, NATIVE_POSITIONS},
    {"rjust", str_rjust, "width fillchar", 1, NATIVE_POSITIONS},
    {"rpartition", str_rpartition, "sep", 1, NATIVE_POSITIONS},
    {"rsplit", str_rsplit, "sep maxsplit", 0, 0},
    {"rstrip", str_rstrip, "chars", 0, NATIVE_POSITIONS},
    {"split", str_split, "sep maxsplit", 0, 0},
    {"splitlines", str_splitlines, "keepends", 0, 0},
    {"startswith", str_startswith, "prefix start end", 1, NATIVE_POSITIONS},
    {"strip", str_strip, "chars", 0, NATIVE_POSITIONS},
    {"swapcase", str_swapcase, "", 0, NATIVE_POSITIONS},
    {"title", str_title, "", 0, NATIVE_POSITIONS},
    {"translate", str_encode, NULL, 0, NATIVE_ANY},
    {"upper", str_upper, "", 0, NATIVE_POSITIONS},
    {"zfill", str_zfill, "width", 1, NATIVE_POSITIONS},
};

static const native list_methods[] = {
    {"append", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"clear", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"copy", list_copy, "", 0, NATIVE_POSITIONS},
    {"count", list_count, "value", 1, NATIVE_POSITIONS},
    {"extend", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"index", list_index, "value start stop", 1, NATIVE_POSITIONS},
    {"insert", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"pop", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"remove", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"reverse", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"sort", filter_refused, NULL, 0, NATIVE_REFUSED},
};

static const native tuple_methods[] = {
    {"count", list_count, "value", 1, NATIVE_POSITIONS},
    {"index", list_index, "value start stop", 1, NATIVE_POSITIONS},
};

static const native dict_methods[] = {
    {"clear", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"copy", dict_copy_method, "", 0, NATIVE_POSITIONS},
    {"get", dict_get, "key default", 1, NATIVE_POSITIONS},
    {"items", dict_items, "", 0, NATIVE_POSITIONS},
    {"keys", dict_keys, "", 0, NATIVE_POSITIONS},
    {"pop", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"popitem", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"setdefault", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"update", filter_refused, NULL, 0, NATIVE_REFUSED},
    {"values", dict_values, "", 0, NATIVE_POSITIONS},
};

static const native float_methods[] = {
    {"is_integer", float_is_integer, "", 0, NATIVE_POSITIONS},
};

static const native int_methods[] = {
    {"bit_length", int_bit_length, "", 0, NATIVE_POSITIONS},
};

static const native cycler_methods[] = {
    {"next", cycler_next, "", 0, 0},
    {"reset", cycler_reset, "", 0, 0},
};

const table filter_table = {"filter", filters, COUNT(filters)};
const table test_table = {"test", tests, COUNT(tests)};
const table global_table = {"function", globals, COUNT(globals)};

const table *method_table(value_kind kind)
{
    static const table tables[] = {
        [VALUE_STRING] = {"method", str_methods, COUNT(str_methods)},
        [VALUE_LIST] = {"method", list_methods, COUNT(list_methods)},
        [VALUE_TUPLE] = {"method", tuple_methods, COUNT(tuple_methods)},
        [VALUE_DICT] = {"method", dict_methods, COUNT(dict_methods)},
        [VALUE_FLOAT] = {"method", float_methods, COUNT(float_methods)},
        [VALUE_BOOL] = {"method", int_methods, COUNT(int_methods)},
        [VALUE_INT] = {"method", int_methods, COUNT(int_methods)},
        [VALUE_BIG] = {"method", int_methods, COUNT(int_methods)},
        [VALUE_CYCLER] = {"method", cycler_methods, COUNT(cycler_methods)},
    };

    if (kind == VALUE_LOOP)
        return loop_methods();
    return kind < COUNT(tables) && tables[kind].rows != NULL ? &tables[kind] : NULL;
}
