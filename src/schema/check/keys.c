/* Keys: the architecture's name, then each key by itself: is it known, spelt as readers want it, of
 * the right kind of value, and, where it is not known, whose is it?
 *
 * An unknown key is not a fault: communities have their own, under their own name.  It is reported
 * where it looks like a slip of the hand (a known key is nearly the same, and not there), and where
 * it is in a namespace that belongs to the standard. */
#include "schema/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/value/value.h"
#include "schema/registry/key.h"
#include "schema/registry/tables.h"

/* Looking for the nearest key costs more than all other checks of a key: after so many unknown ones
 * more would not help the user. */
enum { MOST_GUESSES = 32 };

/* ---- the architecture ----------------------------------------------------------------------- */

static gufo_str architecture_at(const void *table, size_t index)
{
    (void)table;
    return gufo_str_of(gufo_arch_at(index)->id);
}

static bool is_plain(char c)
{
    return is_lower(c) || is_digit(c);
}

static void check_architecture_name(check_context *c)
{
    gufo_entry entry;
    gufo_finding finding;
    size_t nearest;

    if (c->architecture.len == 0 || !gufo_model_find(c->model, "general.architecture", &entry))
        return;
    finding = at_entry(&entry);
    if (str_span(c->architecture, 0, is_plain) < c->architecture.len)
        schema_report(c,
                      c->arch != NULL && c->level == GUFO_LEVEL_SPEC ? RULE_UNSPECIFIED
                                                                     : RULE_ARCHITECTURE_CHARACTERS,
                      finding, "architecture %s has other characters than a-z and 0-9",
                      QUOTED(c->architecture));
    if (c->arch != NULL)
        return;
    if (gufo_text_nearest(c->architecture, architecture_at, NULL, schema_arch_count(), &nearest))
        finding.fix = fix_text(GUFO_FIX_SET, entry.key, gufo_str_of(gufo_arch_at(nearest)->id));
    schema_report(c, RULE_ARCHITECTURE_UNKNOWN, finding, "architecture %s is not known",
                  QUOTED(c->architecture));
}

/* ---- keys that are known -------------------------------------------------------------------- */

static const char *type_of(const gufo_value *value, char out[64])
{
    if (value->type == GUFO_VALUE_ARRAY)
        (void)snprintf(out, 64, "array[%s]", gufo_value_type_name(value->as.array.type));
    else
        (void)snprintf(out, 64, "%s", gufo_value_type_name(value->type));
    return out;
}

/* Keys that decide how the rest of the file, or a set, is read.  Readers ignored the misspelt name:
 * with the right one the file may be read in another way, and the user has to know that. */
static bool says_layout(const char *key)
{
    return strcmp(key, "general.alignment") == 0 || strncmp(key, "split.", 6) == 0;
}

/* Whether no element changes but for rounding. */
static bool all_convert(const gufo_array *array, gufo_value_type type)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    while (gufo_array_next(&iter, &element))
        if (value_convert(&element, type, &element, NULL) != GUFO_OK)
            return false;
    return true;
}

/* The same number, or numbers, in that type. */
static bool convert(gufo_value *value, gufo_value_type type, gufo_fix_kind *kind)
{
    bool is_array = value->type == GUFO_VALUE_ARRAY;

    if (is_array ? !all_convert(&value->as.array, type)
                 : value_convert(value, type, value, NULL) != GUFO_OK)
        return false;
    *kind = is_array ? GUFO_FIX_RETYPE : GUFO_FIX_SET;
    if (is_array)
        *value = (gufo_value){.type = type};
    return true;
}

/* In the first type of the row, as writers write it, that is an array like the value, or none like
 * it: of the same kind, or else (`any`) of another one. */
static bool convert_to_written(const gufo_key_info *info, bool any, gufo_fix *fix)
{
    bool wants_array = fix->value.type == GUFO_VALUE_ARRAY;
    gufo_value_type type, own = wants_array ? fix->value.as.array.type : fix->value.type;
    const char *types = info->type;

    while (*types != '\0') {
        gufo_str name = str_piece(&types, '|');

        if (key_strip_array(&name) == wants_array && gufo_value_type_by_name_str(name, &type) &&
            (any || key_same_kind(own, type)) && convert(&fix->value, type, &fix->kind))
            return true;
    }
    return false;
}

/* A number may even be in a text: "4096". */
static gufo_fix fix_type(const gufo_entry *entry, const gufo_key_info *info)
{
    gufo_fix fix = {.key = entry->key, .value = entry->value};
    uint64_t number;

    if (entry->value.type == GUFO_VALUE_STRING) {
        if (!str_number(entry->value.as.str, &number))
            return fix;
        fix.value = (gufo_value){GUFO_VALUE_UINT64, .as.u = number};
    }
    fix.certain = (convert_to_written(info, false, &fix) || convert_to_written(info, true, &fix)) &&
                  !says_layout(info->key);
    return fix;
}

/* Programs take a list, one element for each block, where the specification has a number. */
static bool is_list_of_blocks(const gufo_entry *entry, const gufo_key_info *info)
{
    return entry->value.type == GUFO_VALUE_ARRAY && strncmp(info->specified, "array", 5) != 0;
}

/* Models that the specification describes have no need of such a list. */
static bool is_addition(const check_context *c, const gufo_entry *entry, const gufo_key_info *info)
{
    return is_list_of_blocks(entry, info) && c->arch != NULL &&
           strcmp(c->arch->status, "standard") != 0;
}

/* The right kind of value in an unexpected type. */
static void check_type(check_context *c, const gufo_entry *entry, const gufo_key_info *info,
                       gufo_type_fit fit)
{
    bool specified =
        info->specified[0] != '\0' && (fit == GUFO_FIT_TYPE || c->level == GUFO_LEVEL_SPEC);
    gufo_finding finding = at_entry(entry);
    char type[64];

    if (!specified || !is_list_of_blocks(entry, info))
        finding.fix = fix_type(entry, info);
    if (specified)
        schema_report(c, is_addition(c, entry, info) ? RULE_UNSPECIFIED : RULE_KEY_TYPE_SPECIFIED,
                      finding, "key %s has type %s; in the specification it is %s",
                      QUOTED(entry->key), type_of(&entry->value, type), info->specified);
    else
        schema_report(c, RULE_KEY_TYPE_READ, finding, "key %s has type %s; readers take %s",
                      QUOTED(entry->key), type_of(&entry->value, type), info->type);
}

static void check_value(check_context *c, const gufo_entry *entry, const gufo_key_info *info)
{
    gufo_type_fit fit = gufo_key_fit(info, &entry->value);
    char type[64];
    int64_t number;

    if (fit == GUFO_FIT_EXACT)
        return;
    if (fit != GUFO_FIT_NONE) {
        check_type(c, entry, info, fit);
        return;
    }
    if (gufo_value_i64(&entry->value, &number, NULL) == GUFO_OK && number < 0 &&
        strstr(info->type, "uint") != NULL)
        schema_report(c, RULE_KEY_VALUE_TYPE, at_entry(entry),
                      "key %s is %" PRId64 ", but %s is never negative", QUOTED(entry->key), number,
                      info->type);
    else
        schema_report(c, RULE_KEY_VALUE_TYPE, with_fix(at_entry(entry), fix_type(entry, info)),
                      "key %s has type %s, not %s", QUOTED(entry->key),
                      type_of(&entry->value, type), info->type);
}

static void report_contradiction(check_context *c, const gufo_entry *one, const gufo_entry *other)
{
    schema_report(c, RULE_KEY_CONTRADICTION,
                  with_fix(with_hint(at_entry(one), "remove the wrong one"), fix_remove(one->key)),
                  "keys %s and %s mean the same, but have different values", QUOTED(one->key),
                  QUOTED(other->key));
}

/* Reports a key and the right one.  Where both are there, one is too many. */
static void report_other_name(check_context *c, rule_number rule, const gufo_entry *entry,
                              const char *relation, const char *right, bool certain)
{
    gufo_finding finding = at_entry(entry);
    gufo_str name = gufo_str_of(right);

    finding.fix = gufo_model_find(c->model, right, NULL)
                      ? fix_remove(entry->key)
                      : fix_text(GUFO_FIX_RENAME, entry->key, name);
    finding.fix.certain = certain && !says_layout(right);
    schema_report(c, rule, finding, "key %s %s %s", QUOTED(entry->key), relation, QUOTED(name));
}

/* A section of the specification has this name, programs have another one. */
static bool is_standard(const gufo_key_info *info)
{
    return strcmp(info->status, "standard") == 0;
}

/* Some keys have a younger name that says the same in another way: only a name that should not be
 * used any more is reported. */
static bool is_outdated(const gufo_key_info *info, bool safe)
{
    return safe || strcmp(info->status, "deprecated") == 0 || strcmp(info->status, "misspelt") == 0;
}

/* Whether the value is that of the key of today as it is. */
static bool means_the_same(const gufo_key_info *info)
{
    const key_alias *alias = key_alias_find(info->key);

    return alias != NULL && alias->front[0] == '\0';
}

static void check_spelling(check_context *c, const gufo_entry *entry, const gufo_key_info *info)
{
    bool both, safe;
    const gufo_key_info *today = gufo_key_replacement(info, &safe);
    gufo_entry other;
    char right[KEY_SIZE];

    if (today == NULL || !key_in_file(today, c->architecture, right))
        return;
    both = gufo_model_find(c->model, right, &other);
    if (both && means_the_same(info) && !schema_same_value(&entry->value, &other.value))
        report_contradiction(c, entry, &other);
    else if (is_outdated(info, safe) && !is_standard(info))
        report_other_name(c, RULE_KEY_OUTDATED, entry, "is an old name of", right,
                          !both && safe && gufo_key_accepts(today, &entry->value));
    else if (!both && is_standard(info))
        report_other_name(c, RULE_KEY_UNREAD, entry,
                          "has a name of the specification; programs know it as", right,
                          safe && gufo_key_accepts(today, &entry->value));
}

/* ---- keys that are not known ---------------------------------------------------------------- */

static gufo_str first_segment(gufo_str key)
{
    const char *dot = memchr(key.data, '.', key.len);

    return (gufo_str){key.data, dot != NULL ? (size_t)(dot - key.data) : key.len};
}

/* Whether one letter too many, too few or another one makes the difference, or two that changed
 * places; capitals do not count. */
static bool is_one_slip(gufo_str a, gufo_str b)
{
    size_t front = 0, back = 0, left_a, left_b;

    while (front < a.len && front < b.len && to_lower(a.data[front]) == to_lower(b.data[front]))
        front++;
    while (back < a.len - front && back < b.len - front &&
           to_lower(a.data[a.len - back - 1]) == to_lower(b.data[b.len - back - 1]))
        back++;
    left_a = a.len - front - back;
    left_b = b.len - front - back;
    if (left_a <= 1 && left_b <= 1)
        return true;
    return left_a == 2 && left_b == 2 && to_lower(a.data[front]) == to_lower(b.data[front + 1]) &&
           to_lower(a.data[front + 1]) == to_lower(b.data[front]);
}

/* A known key that is nearly this one, fits its value and is not there itself: then this one is
 * hardly another community's key. */
static bool check_slip(check_context *c, const gufo_entry *entry, unsigned *guesses)
{
    char right[KEY_SIZE];
    bool own = gufo_str_equal(first_segment(entry->key), c->architecture);
    const gufo_key_info *nearest;

    if (*guesses == 0 || (own && c->arch == NULL))
        return false;
    --*guesses;
    nearest = gufo_key_nearest_str(entry->key, c->architecture, right);
    if (nearest == NULL || !gufo_key_accepts(nearest, &entry->value) ||
        gufo_model_find(c->model, right, NULL))
        return false;
    report_other_name(c, RULE_KEY_MISSPELT, entry, "is not known, but is nearly", right,
                      is_one_slip(entry->key, gufo_str_of(right)));
    return true;
}

/* A key of another architecture than the file's.  Where that is not known, it is what is wrong. */
static bool check_foreign(check_context *c, const gufo_entry *entry, gufo_str first)
{
    if (c->architecture.len == 0 || first.len == entry->key.len ||
        gufo_str_equal(first, c->architecture) || gufo_arch_find_str(first) == NULL ||
        gufo_key_find_str(entry->key, first) == NULL)
        return false;
    if (c->arch != NULL)
        schema_report(c, RULE_KEY_FOREIGN, at_entry(entry),
                      "key %s belongs to another architecture than that of the file, %s",
                      QUOTED(entry->key), QUOTED(c->architecture));
    return true;
}

static void check_prefix(check_context *c, const gufo_entry *entry, gufo_str first)
{
    gufo_finding finding =
        with_hint(at_entry(entry),
                  "begin keys of your own with the name of your community, as in 'community.key'");

    if (c->arch != NULL && gufo_str_equal(first, c->architecture))
        schema_report(c, RULE_KEY_UNKNOWN, at_entry(entry),
                      "key %s is not known for architecture %s", QUOTED(entry->key), c->arch->id);
    else if (first.len == entry->key.len)
        schema_report(c, RULE_KEY_UNPREFIXED, finding,
                      "key %s is not known and has no prefix that names its owner",
                      QUOTED(entry->key));
    else if (str_is_word(first, "general tokenizer split adapter imatrix"))
        schema_report(c, RULE_KEY_UNPREFIXED, finding,
                      "key %s is not known, but begins with \"%.*s.\", which belongs to the "
                      "standard",
                      QUOTED(entry->key), (int)first.len, first.data);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void check_key(check_context *c, const gufo_entry *entry, unsigned *guesses)
{
    gufo_str first = first_segment(entry->key);
    const gufo_key_info *info;

    if (entry->key.len == 0 || check_foreign(c, entry, first))
        return;
    info = gufo_key_find_str(entry->key, c->architecture);
    if (info != NULL) {
        check_value(c, entry, info);
        check_spelling(c, entry, info);
    } else if (!check_slip(c, entry, guesses)) {
        check_prefix(c, entry, first);
    }
}

void schema_check_keys(check_context *c)
{
    unsigned guesses = MOST_GUESSES;
    gufo_entry entry;

    check_architecture_name(c);
    for (uint64_t i = 0; gufo_model_entry_at(c->model, i, &entry); i++)
        check_key(c, &entry, &guesses);
}
