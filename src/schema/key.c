/* The table of keys (registry/keys.tsv): which row a key of a file belongs to, which values it
 * takes, and what it is called today (registry/key_aliases.tsv). */
#include "schema/key.h"

#include "schema/tables.h"
#include "schema/template.h"

#include <string.h>

static const gufo_key_info keys[] = {
#define ROW(key, type, unit, fallback, since, status, group, summary) \
    {key, type, unit, fallback, since, status, group, summary},
#include "registry/keys.inc"
#undef ROW
};

enum { KEY_COUNT = sizeof keys / sizeof *keys };

typedef struct key_alias {
    const char *old;
    const char *today;
    const char *fix; /* "fix" where renaming is right for every reader in use, "" where not */
} key_alias;

static const key_alias aliases[] = {
#define ROW(old, today, fix) {old, today, fix},
#include "registry/key_aliases.inc"
#undef ROW
};

enum { ALIAS_COUNT = sizeof aliases / sizeof *aliases };

size_t schema_key_count(void)
{
    return KEY_COUNT;
}

const gufo_key_info *gufo_key_at(size_t index)
{
    return index < KEY_COUNT ? &keys[index] : NULL;
}

/* ---- which row a key belongs to
 * --------------------------------------------------------------- */

static const gufo_key_info *find(const template_name *name)
{
    return template_find(keys, KEY_COUNT, sizeof *keys, name);
}

/* The row with "{arch}" for the architecture that the key begins with. */
static const gufo_key_info *find_of_architecture(gufo_str key, gufo_str architecture)
{
    template_name name = {.count = 0};
    const char *dot = memchr(key.data, '.', key.len);
    size_t prefix = dot != NULL ? (size_t)(dot - key.data) : key.len;

    /* The name of an architecture may have dots itself. */
    if (architecture.len > 0)
        prefix = architecture.len;
    if (prefix == 0 || prefix >= key.len || key.data[prefix] != '.')
        return NULL;
    if (architecture.len > 0 && memcmp(key.data, architecture.data, prefix) != 0)
        return NULL;
    template_append(&name, gufo_str_of("{arch}"));
    template_append(&name, (gufo_str){key.data + prefix, key.len - prefix});
    return find(&name);
}

/* The row with "{id}" for a number. */
static const gufo_key_info *find_numbered(gufo_str key)
{
    static const char *const placeholders[2] = {"{id}", NULL};
    template_number number;
    template_name name = template_numbers(key, placeholders, &number);

    return number.found ? find(&name) : NULL;
}

/* The row with "{name}" for the last segment. */
static const gufo_key_info *find_named(gufo_str key)
{
    template_name name = {.count = 0};
    size_t start = key.len;

    while (start > 0 && key.data[start - 1] != '.')
        start--;
    if (start == key.len)
        return NULL;
    template_append(&name, (gufo_str){key.data, start});
    template_append(&name, gufo_str_of("{name}"));
    return find(&name);
}

const gufo_key_info *gufo_key_find(gufo_str key, gufo_str architecture)
{
    template_name whole = {.parts = {key}, .count = 1};
    const gufo_key_info *info;

    if (key.len == 0 || memchr(key.data, '{', key.len) != NULL)
        return NULL;
    info = find(&whole);
    if (info == NULL)
        info = find_of_architecture(key, architecture);
    if (info == NULL)
        info = find_numbered(key);
    if (info == NULL)
        info = find_named(key);
    return info;
}

static const key_alias *find_alias(const gufo_key_info *info)
{
    return template_find_text(aliases, ALIAS_COUNT, sizeof *aliases, gufo_str_of(info->key));
}

const gufo_key_info *gufo_key_replacement(const gufo_key_info *info, bool *safe)
{
    const key_alias *alias = find_alias(info);

    if (safe != NULL)
        *safe = alias != NULL && alias->fix[0] != '\0';
    return alias != NULL
               ? template_find_text(keys, KEY_COUNT, sizeof *keys, gufo_str_of(alias->today))
               : NULL;
}

const gufo_key_info *key_old_name(const gufo_key_info *info, size_t *from)
{
    const gufo_key_info *old = NULL;

    while (old == NULL && *from < ALIAS_COUNT) {
        const key_alias *alias = &aliases[(*from)++];

        if (strcmp(alias->today, info->key) == 0)
            old = template_find_text(keys, KEY_COUNT, sizeof *keys, gufo_str_of(alias->old));
    }
    return old;
}

/* ---- which values it takes
 * -------------------------------------------------------------------- */

typedef enum kind { KIND_OTHER, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT } kind;

static const kind kinds[GUFO_VALUE_TYPE_COUNT] = {
    [GUFO_VALUE_UINT8] = KIND_UNSIGNED,  [GUFO_VALUE_INT8] = KIND_SIGNED,
    [GUFO_VALUE_UINT16] = KIND_UNSIGNED, [GUFO_VALUE_INT16] = KIND_SIGNED,
    [GUFO_VALUE_UINT32] = KIND_UNSIGNED, [GUFO_VALUE_INT32] = KIND_SIGNED,
    [GUFO_VALUE_UINT64] = KIND_UNSIGNED, [GUFO_VALUE_INT64] = KIND_SIGNED,
    [GUFO_VALUE_FLOAT32] = KIND_FLOAT,   [GUFO_VALUE_FLOAT64] = KIND_FLOAT,
};

static kind kind_of(gufo_value_type type)
{
    return (size_t)type < GUFO_VALUE_TYPE_COUNT ? kinds[type] : KIND_OTHER;
}

static bool is_integer(gufo_value_type type)
{
    return kind_of(type) == KIND_UNSIGNED || kind_of(type) == KIND_SIGNED;
}

/* Whether both are integers, both floats, or the same. */
static bool same_kind(gufo_value_type a, gufo_value_type b)
{
    return a == b || (is_integer(a) && is_integer(b)) ||
           (kind_of(a) == KIND_FLOAT && kind_of(b) == KIND_FLOAT);
}

/* Takes "array[" off the front and "]" off the back of a type. */
static bool strip_array(gufo_str *type)
{
    static const char front[] = "array[";

    if (type->len < sizeof front || memcmp(type->data, front, sizeof front - 1) != 0)
        return false;
    *type = (gufo_str){type->data + sizeof front - 1, type->len - sizeof front};
    return true;
}

static bool type_named(gufo_str name, gufo_value_type *out)
{
    for (int i = 0; i < GUFO_VALUE_TYPE_COUNT; i++)
        if (gufo_str_equal(name, gufo_str_of(gufo_value_type_name((gufo_value_type)i)))) {
            *out = (gufo_value_type)i;
            return true;
        }
    return false;
}

/* Elements are judged by their type only: an array may have millions of them. */
static bool accepts_array(gufo_str elements, const gufo_array *array)
{
    gufo_value_type type;

    if (array->count == 0)
        return true;
    if (strip_array(&elements))
        return array->type == GUFO_VALUE_ARRAY;
    return type_named(elements, &type) && same_kind(type, array->type);
}

static bool accepts(gufo_str type, const gufo_value *value)
{
    gufo_value_type declared;
    uint64_t number;

    if (strip_array(&type))
        return value->type == GUFO_VALUE_ARRAY && accepts_array(type, &value->as.array);
    if (!type_named(type, &declared) || !same_kind(declared, value->type))
        return false;
    /* What counts is not negative. */
    return kinds[declared] != KIND_UNSIGNED || gufo_value_u64(value, &number, NULL) == GUFO_OK;
}

bool gufo_key_accepts(const gufo_key_info *info, const gufo_value *value)
{
    const char *type = info->type;

    while (*type != '\0') {
        size_t len = strcspn(type, "|");

        if (accepts((gufo_str){type, len}, value))
            return true;
        type += len + (type[len] == '|');
    }
    return false;
}
