/* The table of keys (registry/keys.tsv): which row a key of a file belongs to, which values it
 * takes, and what it is called today. */
#include "schema/registry/key.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/value/value.h"
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

/* ---- the table of other names ------------------------------------------------------------------- */

static const key_alias aliases[] = {
#define ROW(name, today, fix, order, front) {name, today, sizeof today - 1, fix, order, front},
#include "registry/key_aliases.inc"
#undef ROW
};

const key_alias *key_alias_next(gufo_str today, size_t *from)
{
    while (*from < ROW_COUNT(aliases)) {
        const key_alias *alias = &aliases[(*from)++];

        if (alias->length == today.len && memcmp(alias->today, today.data, today.len) == 0)
            return alias;
    }
    return NULL;
}

const key_alias *key_alias_find(const char *name)
{
    return row_find(ROWS(aliases), gufo_str_of(name));
}

/* Sentences are a sixth of the page in web/, which shows none of them. */
#ifdef GUFO_NO_SUMMARIES
#define SUMMARY(text) ""
#else
#define SUMMARY(text) text
#endif

static const gufo_key_info keys[] = {
#define ROW(key, type, specified, unit, fallback, since, status, group, summary) \
    {key, type, specified, unit, fallback, since, status, group, SUMMARY(summary)},
#include "registry/keys.inc"
#undef ROW
};

TABLE(keys, gufo_key_info, schema_key_count, gufo_key_at)

/* ---- which row a key belongs to ------------------------------------------------------------- */

/* The row with "{arch}" for the architecture that the key begins with. */
static const gufo_key_info *find_of_architecture(gufo_str key, gufo_str architecture)
{
    name_parts name = {.count = 0};
    const char *dot = memchr(key.data, '.', key.len);
    size_t prefix = dot != NULL ? (size_t)(dot - key.data) : key.len;

    /* The name of an architecture may have dots itself. */
    if (architecture.len > 0)
        prefix = architecture.len;
    if (prefix == 0 || prefix >= key.len || key.data[prefix] != '.')
        return NULL;
    if (architecture.len > 0 && memcmp(key.data, architecture.data, prefix) != 0)
        return NULL;
    name_parts_add(&name, gufo_str_of("{arch}"));
    name_parts_add(&name, (gufo_str){key.data + prefix, key.len - prefix});
    return row_find_parts(ROWS(keys), &name);
}

/* The row with "{id}" for a number. */
static const gufo_key_info *find_numbered(gufo_str key)
{
    static const char *const placeholders[2] = {"{id}", NULL};
    number_segment number;
    name_parts name = name_parts_read(key, placeholders, &number);

    return number.found ? row_find_parts(ROWS(keys), &name) : NULL;
}

/* The row with "{name}" for the last segment. */
static const gufo_key_info *find_named(gufo_str key)
{
    name_parts name = {.count = 0};
    size_t start = key.len;

    while (start > 0 && key.data[start - 1] != '.')
        start--;
    if (start == key.len)
        return NULL;
    name_parts_add(&name, (gufo_str){key.data, start});
    name_parts_add(&name, gufo_str_of("{name}"));
    return row_find_parts(ROWS(keys), &name);
}

const gufo_key_info *gufo_key_find_str(gufo_str key, gufo_str architecture)
{
    const gufo_key_info *info;

    if (key.len == 0 || memchr(key.data, '{', key.len) != NULL)
        return NULL;
    info = row_find(ROWS(keys), key);
    if (info == NULL)
        info = find_of_architecture(key, architecture);
    if (info == NULL)
        info = find_numbered(key);
    if (info == NULL)
        info = find_named(key);
    return info;
}

const gufo_key_info *gufo_key_find(const char *key, const char *architecture)
{
    return gufo_key_find_str(gufo_str_of(key), gufo_str_of(architecture));
}

const gufo_key_info *key_row(const char *key)
{
    return row_find(ROWS(keys), gufo_str_of(key));
}

const gufo_key_info *gufo_key_replacement(const gufo_key_info *info, bool *safe)
{
    const key_alias *alias = key_alias_find(info->key);

    if (safe != NULL)
        *safe = alias != NULL && alias->fix[0] != '\0';
    return alias != NULL ? key_row(alias->today) : NULL;
}

const gufo_key_info *gufo_key_today_str(gufo_str key, gufo_str architecture)
{
    const gufo_key_info *info = gufo_key_find_str(key, architecture);
    const gufo_key_info *today = info != NULL ? gufo_key_replacement(info, NULL) : NULL;

    return today != NULL ? today : info;
}

const gufo_key_info *gufo_key_today(const char *key, const char *architecture)
{
    return gufo_key_today_str(gufo_str_of(key), gufo_str_of(architecture));
}

const gufo_key_info *key_named(gufo_str name)
{
    name_parts own = {.count = 0};
    const gufo_key_info *info;

    name_parts_add(&own, gufo_str_of(KEY_ARCH "."));
    name_parts_add(&own, name);
    info = row_find_parts(ROWS(keys), &own);
    return info != NULL ? info : row_find(ROWS(keys), name);
}

bool key_put_together(const char *key, gufo_str architecture, char out[KEY_SIZE], size_t *len)
{
    bool own = str_begins(gufo_str_of(key), KEY_ARCH);
    const char *rest = key + (own ? strlen(KEY_ARCH) : 0);
    size_t prefix = own ? architecture.len : 0;

    if (strchr(rest, '{') != NULL || (own && prefix == 0) || prefix >= KEY_SIZE ||
        strlen(rest) >= KEY_SIZE - prefix)
        return false;
    if (prefix > 0)
        memcpy(out, architecture.data, prefix);
    memcpy(out + prefix, rest, strlen(rest) + 1);
    *len = prefix + strlen(rest);
    return true;
}

bool key_in_file(const gufo_key_info *info, gufo_str architecture, char out[KEY_SIZE])
{
    size_t len;

    return key_put_together(info->key, architecture, out, &len);
}

/* ---- which values it takes ------------------------------------------------------------------ */

bool key_is_integer(gufo_value_type type)
{
    const value_type_info *info = value_type_row(type);

    return info != NULL && (info->kind == KIND_UNSIGNED || info->kind == KIND_SIGNED);
}

static bool is_float(gufo_value_type type)
{
    return type == GUFO_VALUE_FLOAT32 || type == GUFO_VALUE_FLOAT64;
}

bool key_same_kind(gufo_value_type a, gufo_value_type b)
{
    return a == b || (key_is_integer(a) && key_is_integer(b)) || (is_float(a) && is_float(b));
}

bool key_strip_array(gufo_str *type)
{
    static const char front[] = "array[";

    if (!str_begins(*type, front) || !str_ends(*type, "]"))
        return false;
    *type = (gufo_str){type->data + strlen(front), type->len - strlen(front) - 1};
    return true;
}

bool gufo_value_type_by_name_str(gufo_str name, gufo_value_type *out)
{
    gufo_str bare = gufo_spelling_bare(GUFO_SPELLING_VALUE_TYPE, name);

    for (int i = 0; i < GUFO_VALUE_TYPE_COUNT; i++) {
        gufo_str known = gufo_str_of(gufo_value_type_name((gufo_value_type)i));

        if (gufo_str_equal(name, known) ||
            (bare.data != name.data && str_same_folded(bare, known))) {
            *out = (gufo_value_type)i;
            return true;
        }
    }
    return false;
}

bool gufo_value_type_by_name(const char *name, gufo_value_type *out)
{
    return gufo_value_type_by_name_str(gufo_str_of(name), out);
}

gufo_str key_scalar_type(const gufo_key_info *info)
{
    const char *types = info->type;
    gufo_str type;

    do
        type = str_piece(&types, '|');
    while (str_begins(type, "array"));
    return type;
}

/* Elements are judged by their type only: an array may have millions of them. */
static bool accepts_array(gufo_str elements, const gufo_array *array)
{
    gufo_value_type type;

    if (array->count == 0)
        return true;
    if (key_strip_array(&elements))
        return array->type == GUFO_VALUE_ARRAY;
    return gufo_value_type_by_name_str(elements, &type) && key_same_kind(type, array->type);
}

static bool accepts(gufo_str type, const gufo_value *value)
{
    gufo_value_type declared;
    uint64_t number;

    if (key_strip_array(&type))
        return value->type == GUFO_VALUE_ARRAY && accepts_array(type, &value->as.array);
    if (!gufo_value_type_by_name_str(type, &declared) || !key_same_kind(declared, value->type))
        return false;
    /* What counts is not negative. */
    return value_type_row(declared)->kind != KIND_UNSIGNED ||
           gufo_value_u64(value, &number, NULL) == GUFO_OK;
}

bool gufo_key_accepts(const gufo_key_info *info, const gufo_value *value)
{
    const char *types = info->type;

    while (*types != '\0')
        if (accepts(str_piece(&types, '|'), value))
            return true;
    return false;
}

/* Whether the value has exactly this type.  Readers take the bytes of elements, so that the sign
 * makes no difference; an empty array has every type. */
static bool has_type(gufo_str type, const gufo_value *value, bool exactly)
{
    gufo_value_type declared, own = value->type;

    if (key_strip_array(&type)) {
        if (own != GUFO_VALUE_ARRAY)
            return false;
        if (value->as.array.count == 0)
            return true;
        own = value->as.array.type;
        if (key_strip_array(&type))
            return own == GUFO_VALUE_ARRAY;
        return gufo_value_type_by_name_str(type, &declared) &&
               (own == declared || (!exactly && key_same_kind(own, declared) &&
                                    gufo_value_type_size(own) == gufo_value_type_size(declared)));
    }
    return gufo_value_type_by_name_str(type, &declared) && own == declared;
}

/* Spec, Standardized key-value pairs: counts are uint64, and readers should support uint32, too. */
static bool is_specified(const gufo_key_info *info, const gufo_value *value)
{
    gufo_str type = gufo_str_of(info->specified);

    return type.len == 0 || has_type(type, value, true) ||
           (gufo_str_equal(type, gufo_str_of("uint64")) && value->type == GUFO_VALUE_UINT32);
}

gufo_type_fit gufo_key_fit(const gufo_key_info *info, const gufo_value *value)
{
    const char *types = info->type;
    bool written = false;

    if (!gufo_key_accepts(info, value))
        return GUFO_FIT_NONE;
    while (*types != '\0')
        written |= has_type(str_piece(&types, '|'), value, false);
    if (is_specified(info, value) && (written || info->specified[0] != '\0'))
        return GUFO_FIT_EXACT;
    return written ? GUFO_FIT_TYPE : GUFO_FIT_KIND;
}

/* ---- the known key that is nearest to an unknown one, for "did you mean" ------------------------ */

/* Names that a key is compared with.  A key that begins with the name of the architecture is
 * compared with keys of the architecture only, and without that name, which would hide
 * differences. */
typedef struct key_names {
    gufo_str architecture;
    size_t skip; /* "ARCHITECTURE.", or 0 for a key that does not begin with that */
    char *name;  /* of KEY_SIZE: of the row that was asked for last, where it is put together */
} key_names;

static gufo_str name_at(const void *table, size_t index)
{
    static const char own[] = "{arch}.";
    const key_names *names = table;
    const gufo_key_info *info = gufo_key_at(index);
    const char *key = info->key;
    bool of_architecture = key[0] == '{';

    if (of_architecture && names->skip == 0)
        return key_in_file(info, names->architecture, names->name) ? gufo_str_of(names->name)
                                                                   : (gufo_str){"", 0};
    if (of_architecture)
        key += strlen(own);
    else if (names->skip > 0)
        key = "";
    return strchr(key, '{') == NULL ? gufo_str_of(key) : (gufo_str){"", 0};
}

/* Where a word without a namespace is a key: "name" is general.name, "eos" tokenizer.ggml.eos_token_id. */
static const struct {
    const char *before, *behind;
    bool of_architecture; /* its name comes first */
} namespaces[] = {
    {"general.", "", false},        {".", "", true},
    {"tokenizer.ggml.", "", false}, {"tokenizer.ggml.", "_token_id", false},
    {"tokenizer.", "", false},      {".attention.", "", true},
    {".rope.", "", true},
};

static const gufo_key_info *find_in_namespace(gufo_str word, gufo_str architecture,
                                              char out[GUFO_KEY_NAME_SIZE])
{
    const gufo_key_info *found = NULL;

    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces && found == NULL; i++) {
        gufo_str owner = namespaces[i].of_architecture ? architecture : (gufo_str){"", 0};
        int len;

        if (namespaces[i].of_architecture && owner.len == 0)
            continue;
        len = snprintf(out, GUFO_KEY_NAME_SIZE, "%.*s%s%.*s%s", (int)owner.len, owner.data,
                       namespaces[i].before, (int)word.len, word.data, namespaces[i].behind);
        if (len > 0 && len < GUFO_KEY_NAME_SIZE)
            found = gufo_key_find_str(gufo_str_of(out), architecture);
    }
    return found;
}

const gufo_key_info *gufo_key_nearest_str(gufo_str key, gufo_str architecture,
                                          char out[GUFO_KEY_NAME_SIZE])
{
    size_t front = architecture.len, index;
    bool own = front > 0 && key.len > front && key.data[front] == '.' &&
               memcmp(key.data, architecture.data, front) == 0;
    key_names names = {architecture, own ? front + 1 : 0, out};
    const gufo_key_info *found = NULL;

    if (key.len > 0 && key.len < GUFO_KEY_NAME_SIZE && architecture.len < GUFO_KEY_NAME_SIZE &&
        memchr(key.data, '.', key.len) == NULL)
        found = find_in_namespace(key, architecture, out);
    if (found != NULL)
        return found;

    if (!gufo_text_nearest((gufo_str){key.data + names.skip, key.len - names.skip}, name_at, &names,
                           schema_key_count(), &index))
        return NULL;
    return key_in_file(gufo_key_at(index), architecture, out) ? gufo_key_at(index) : NULL;
}

const gufo_key_info *gufo_key_nearest(const char *key, const char *architecture,
                                      char out[GUFO_KEY_NAME_SIZE])
{
    return gufo_key_nearest_str(gufo_str_of(key), gufo_str_of(architecture), out);
}
