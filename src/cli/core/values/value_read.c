/* Values from text and from JSON, and the types that they may have. */
#include "base/base64.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/pull.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value_read.h"
#include "schema/registry/key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- integers -------------------------------------------------------------------------------- */

/* The range of an integer type: how far below and above zero. */
static const struct {
    gufo_value_type type;
    uint64_t lowest, highest;
} ranges[] = {
    {GUFO_VALUE_UINT8, 0, UINT8_MAX},
    {GUFO_VALUE_UINT16, 0, UINT16_MAX},
    {GUFO_VALUE_UINT32, 0, UINT32_MAX},
    {GUFO_VALUE_UINT64, 0, UINT64_MAX},
    {GUFO_VALUE_INT8, (uint64_t)INT8_MAX + 1, INT8_MAX},
    {GUFO_VALUE_INT16, (uint64_t)INT16_MAX + 1, INT16_MAX},
    {GUFO_VALUE_INT32, (uint64_t)INT32_MAX + 1, INT32_MAX},
    {GUFO_VALUE_INT64, (uint64_t)INT64_MAX + 1, INT64_MAX},
};

/* False for types that are not integer types. */
static bool integer_fits(gufo_value_type type, bool negative, uint64_t size)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].type == type)
            return size <= (negative ? ranges[i].lowest : ranges[i].highest);
    return false;
}

bool value_read_integer(const gufo_value_type *types, size_t count, const char *text,
                        gufo_value *out)
{
    bool negative = *text == '-';
    const char *at = text + negative;
    uint64_t size;

    if (!number_read(&at, &size) || *at != '\0')
        return false;
    out->as.u = negative ? 0 - size : size; /* `as.i` has the same bits */
    for (size_t i = 0; i < count; i++) {
        out->type = types[i];
        if (integer_fits(types[i], negative, size))
            return true;
    }
    return false;
}

/* ---- other types ----------------------------------------------------------------------------- */

/* strtod accepts more. */
bool value_is_decimal(const char *text)
{
    static const char digits[] = "0123456789";
    const char *at = text + (*text == '-');
    size_t whole = strspn(at, digits), fraction = 0, exponent;

    at += whole;
    if (*at == '.') {
        fraction = strspn(at + 1, digits);
        at += 1 + fraction;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        exponent = strspn(at, digits);
        if (exponent == 0)
            return false;
        at += exponent;
    }
    return *at == '\0' && whole + fraction > 0;
}

static bool is_named_number(const char *text)
{
    return strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0;
}

static bool make_float(gufo_value_type type, const char *text, gufo_value *out)
{
    bool named = is_named_number(text);

    if (!named && !value_is_decimal(text))
        return false;
    out->type = type;
    out->as.f = strtod(text, NULL);
    return named || !isinf(type == GUFO_VALUE_FLOAT32 ? (double)(float)out->as.f : out->as.f);
}

static bool make_bool(const char *text, gufo_value *out)
{
    *out = (gufo_value){.type = GUFO_VALUE_BOOL, .as.b = strcmp(text, "true") == 0};
    return out->as.b || strcmp(text, "false") == 0;
}

bool value_read(gufo_value_type type, const char *text, gufo_value *out)
{
    switch (type) {
    case GUFO_VALUE_STRING:
        *out = (gufo_value){.type = type, .as.str = gufo_str_of(text)};
        return true;
    case GUFO_VALUE_BOOL:
        return make_bool(text, out);
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return make_float(type, text, out);
    default:
        return value_read_integer(&type, 1, text, out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Values of a type that is given.
 *
 * Numbers are read as numbers of the type, never through a double, so that every uint64 is exact.
 * TYPE is that of the innermost values; brackets make arrays of it.  The reader takes what the
 * command writes with --json: "nan", "inf" and "-inf" for floats, large integers as strings,
 * {"base64": "..."} for strings that are not UTF-8.
 *
 * The value is encoded while it is read: an array is its elements as a file stores them.  Where ids
 * of tokens are wanted, texts may be among them. */

/* The position of the reader.  A failure is reported once, in `message`. */
typedef struct reader {
    gufo_value_type type;
    const char *text, *at, *end;
    encoder *to;
    value_json_texts *texts; /* NULL: none are allowed */
    char *message;
} reader;

static bool fail(reader *r, const char *what)
{
    const char *line = r->text;
    char where[32] = "";
    size_t number = 1;

    if (r->message[0] != '\0')
        return false;
    for (const char *end; (end = memchr(line, '\n', (size_t)(r->at - line))) != NULL;
         line = end + 1)
        snprintf(where, sizeof where, "line %zu, ", ++number);
    snprintf(r->message, VALUE_JSON_MESSAGE, "%scharacter %zu: %s", where,
             (size_t)(r->at - line) + 1, what);
    return false;
}

static bool put(reader *r, const void *bytes, size_t count)
{
    return encode_bytes(r->to, bytes, count) || fail(r, "out of memory");
}

static void skip_space(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool take(reader *r, char wanted)
{
    skip_space(r);
    if (*r->at != wanted)
        return false;
    r->at++;
    return true;
}

/* ---- JSON: strings --------------------------------------------------------------------------- */

static bool read_escape(reader *r)
{
    static const char *const faults[] = {[JSON_ESCAPE_UNKNOWN] = "unknown escape",
                                         [JSON_ESCAPE_DIGITS] = "\\u needs four hex digits",
                                         [JSON_ESCAPE_HALF] = "half of a surrogate pair"};
    const gufo_str text = {r->at, (size_t)(r->end - r->at)};
    size_t len = 0;
    uint32_t code_point;
    char bytes[4];
    json_escape_form form = json_escape_read(text, &len, &code_point);

    r->at += len;
    return form == JSON_ESCAPE ? put(r, bytes, utf8_put(code_point, bytes)) : fail(r, faults[form]);
}

/* After the opening quote. */
static bool read_string(reader *r)
{
    while (*r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return fail(r, *r->at == '\0' ? "the string has no end"
                                          : "control characters must be escaped");
        if (*r->at == '\\') {
            if (!read_escape(r))
                return false;
        } else if (!put(r, r->at++, 1))
            return false;
    }
    r->at++;
    return true;
}

/* Replaces what was read since `start` by the bytes that it encodes. */
static bool decode_base64(reader *r, size_t start)
{
    buffer *out = &r->to->out;
    const gufo_str text = {(const char *)out->data + start, out->len - start};
    size_t size;
    bool good = base64_decode(text, out->data + start, &size);

    out->len = start + size;
    return good || fail(r, "not base64");
}

/* "text" or {"base64": "..."}: any bytes. */
static bool read_text(reader *r)
{
    static const char form[] = "expected {\"base64\": \"...\"}", key[] = "base64";
    bool coded = take(r, '{');
    buffer *out = &r->to->out;
    size_t start = out->len;

    if (!take(r, '"'))
        return fail(r, coded ? form : "expected a string");
    if (!read_string(r))
        return false;
    if (!coded)
        return true;
    if (out->len - start != strlen(key) || memcmp(out->data + start, key, strlen(key)) != 0 ||
        !take(r, ':') || !take(r, '"'))
        return fail(r, form);
    out->len = start;
    return read_string(r) && (take(r, '}') || fail(r, "expected }")) && decode_base64(r, start);
}

/* ---- JSON: values ---------------------------------------------------------------------------- */

/* A number or bool, as a word. */
static bool read_word(reader *r, gufo_value *out)
{
    char word[64], what[80];
    bool quoted = *r->at == '"' && r->type != GUFO_VALUE_BOOL;
    const char *begin = r->at + quoted;
    size_t len = strcspn(begin, " \t\r\n,]}\"");

    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), begin);
    if (len >= sizeof word || (quoted && begin[len] != '"') || !value_read(r->type, word, out)) {
        snprintf(what, sizeof what, "expected a value of type %s", gufo_value_type_name(r->type));
        return fail(r, what);
    }
    r->at = begin + len + quoted;
    return true;
}

static const uint8_t zeros[12]; /* until a length or number is known */

/* A text in the place of number `index`. */
static bool read_text_for_number(reader *r, uint64_t index)
{
    buffer *out = &r->to->out;
    size_t start = out->len;
    value_json_text *added;
    char *kept;

    if (!read_text(r))
        return false;
    kept = malloc(out->len - start + 1);
    added = kept != NULL ? array_add(&r->texts->list, &r->texts->count, sizeof *added) : NULL;
    if (added == NULL) {
        free(kept);
        return fail(r, "out of memory");
    }
    memcpy(kept, out->data + start, out->len - start);
    *added = (value_json_text){
        .index = index, .type = r->type, .text = {kept, out->len - start}, .kept = kept};
    out->len = start;
    return put(r, zeros, gufo_value_type_size(r->type));
}

static bool read_array(reader *r, unsigned depth, gufo_value_type *type, uint64_t *count);

/* Inside an array, a string comes after its length. */
static bool read_inner_text(reader *r)
{
    size_t start = r->to->out.len;

    if (!put(r, zeros, 8) || !read_text(r))
        return false;
    store_u64(r->to->out.data + start, r->to->out.len - start - 8, false);
    return true;
}

/* And an array after the type of its elements and their number. */
static bool read_inner_array(reader *r, unsigned depth)
{
    size_t start = r->to->out.len;
    gufo_value_type type;
    uint64_t count;

    if (!put(r, zeros, 4 + 8) || !read_array(r, depth, &type, &count))
        return false;
    store_u32(r->to->out.data + start, type, false);
    store_u64(r->to->out.data + start + 4, count, false);
    return true;
}

/* Whether a text comes that is neither empty nor a number in quotes. */
static bool has_text(const reader *r)
{
    size_t len = *r->at == '"' ? strcspn(r->at + 1, "\"") : 0;
    char word[64];

    if (*r->at != '"')
        return *r->at == '{';
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1),
             r->at + 1);
    return len > 0 && (len >= sizeof word || !value_is_decimal(word));
}

static bool read_element(reader *r, unsigned depth, gufo_value_type type, uint64_t index)
{
    gufo_value value;
    uint8_t bytes[8];

    skip_space(r);
    if ((*r->at == '[') != (type == GUFO_VALUE_ARRAY))
        return fail(r, "an array holds either arrays or values, not both");
    if (type == GUFO_VALUE_ARRAY)
        return read_inner_array(r, depth + 1);
    if (type == GUFO_VALUE_STRING)
        return read_inner_text(r);
    if (r->texts != NULL && depth == 1 && has_text(r))
        return read_text_for_number(r, index);
    if (!read_word(r, &value))
        return false;
    number_bytes(&value, bytes);
    return put(r, bytes, gufo_value_type_size(type));
}

/* After "[" has been seen. */
static bool read_array(reader *r, unsigned depth, gufo_value_type *type, uint64_t *count)
{
    if (depth > GUFO_MAX_DEPTH)
        return fail(r, "arrays are nested too deep");
    r->at++;
    skip_space(r);
    *type = *r->at == '[' ? GUFO_VALUE_ARRAY : r->type;
    *count = 0;
    if (take(r, ']'))
        return true;
    do {
        if (!read_element(r, depth, *type, *count))
            return false;
        ++*count;
    } while (take(r, ','));
    return take(r, ']') || fail(r, "expected , or ]");
}

static bool read_value(reader *r, gufo_value *out)
{
    const buffer *bytes = &r->to->out;
    gufo_array *array = &out->as.array;
    bool good;

    skip_space(r);
    if (*r->at == '[') {
        out->type = GUFO_VALUE_ARRAY;
        good = read_array(r, 1, &array->type, &array->count);
        array->data = bytes->data;
        array->size = bytes->len;
        array->encoding = (gufo_encoding){3, HOST_IS_BIG_ENDIAN};
        return good;
    }
    if (r->type != GUFO_VALUE_STRING)
        return read_word(r, out);
    good = read_text(r);
    *out = (gufo_value){r->type, .as.str = {(const char *)bytes->data, bytes->len}};
    return good;
}

bool value_json_read(gufo_value_type type, const char *text, gufo_value *out, encoder *to,
                     value_json_texts *texts, char message[VALUE_JSON_MESSAGE])
{
    reader r = {type, text, text, text + strlen(text), to, texts, message};

    *to = (encoder){.out.allocator = &default_allocator, .big = HOST_IS_BIG_ENDIAN};
    message[0] = '\0';
    if (!put(&r, "", 0) || !read_value(&r, out)) /* even nothing has an address */
        return false;
    skip_space(&r);
    return *r.at == '\0' || fail(&r, "there is text after the value");
}

void value_json_texts_free(value_json_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->list[i].kept);
    free(texts->list);
    *texts = (value_json_texts){0};
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Finds the types that a value without TYPE may have.  The first is that of the value in the file,
 * unless the registry knows that readers do not take it; then follow those that the registry gives
 * to the key, in the order in which writers prefer them ("uint32|array[int32]"). */

/* ---- types: the registry --------------------------------------------------------------------- */

gufo_str key_type_architecture(const gufo_document *document)
{
    gufo_document_entry entry;
    bool found = gufo_document_find(document, "general.architecture", &entry) &&
                 entry.value.type == GUFO_VALUE_STRING;

    return found ? entry.value.as.str : (gufo_str){"", 0};
}

const gufo_key_info *key_type_info(const gufo_document *document, gufo_str key)
{
    const gufo_key_info *info = gufo_key_find(key, key_type_architecture(document));

    /* A key of another architecture has the same type there. */
    return info != NULL ? info : gufo_key_find(key, (gufo_str){"", 0});
}

/* Reads the next type of a list, and moves *at past it. */
static bool next_type(const char **at, key_type *out)
{
    gufo_str type = str_piece(at, '|');

    for (out->is_array = false; key_strip_array(&type);)
        out->is_array = true;
    return key_type_named(type, &out->type);
}

/* ---- types: the value that is there ---------------------------------------------------------- */

/* The type of a value; false for an empty array of arrays, which has none. */
static bool type_of(gufo_value value, key_type *out)
{
    *out = (key_type){value.type, value.type == GUFO_VALUE_ARRAY};
    while (value.type == GUFO_VALUE_ARRAY) {
        gufo_array_iter iter = gufo_array_start(&value.as.array);

        out->type = value.as.array.type;
        if (out->type != GUFO_VALUE_ARRAY)
            return true;
        if (!gufo_array_next(&iter, &value))
            return false;
    }
    return true;
}

key_types key_types_of(const gufo_document *document, const char *key)
{
    const gufo_key_info *info = key_type_info(document, gufo_str_of(key));
    const char *at = info != NULL ? info->type : "";
    key_types types = {.count = 0};
    key_type *next = types.list;
    gufo_document_entry old;
    bool kept = gufo_document_find(document, key, &old) &&
                (info == NULL || gufo_key_accepts(info, &old.value)) && type_of(old.value, next);

    for (next += kept; *at != '\0' && next < types.list + KEY_MOST_TYPES;)
        if (next_type(&at, next) && !(kept && next->is_array == types.list[0].is_array))
            next++;
    types.count = (size_t)(next - types.list);
    return types;
}

/* ---- types: text ----------------------------------------------------------------------------- */

gufo_value_type key_type_guess(const char *text)
{
    /* The first that holds the value. */
    static const gufo_value_type tried[] = {GUFO_VALUE_BOOL, GUFO_VALUE_UINT32, GUFO_VALUE_INT32,
                                            GUFO_VALUE_UINT64, GUFO_VALUE_INT64};
    gufo_value value;

    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (value_read(tried[i], text, &value))
            return tried[i];
    if (value_is_decimal(text) && isfinite(strtod(text, NULL)))
        return GUFO_VALUE_FLOAT32;
    return GUFO_VALUE_STRING;
}

size_t key_type_prefix(const char *text, gufo_value_type *type)
{
    size_t len = strcspn(text, ":");

    return text[len] == ':' && key_type_named((gufo_str){text, len}, type) ? len + 1 : 0;
}

key_types key_types_read(const gufo_document *document, const char *key, const char **text)
{
    key_types given = {.count = 1};
    size_t prefix = key_type_prefix(*text, &given.list[0].type);

    *text += prefix;
    return prefix > 0 ? given : key_types_of(document, key);
}

key_types key_types_of_shape(const key_types *types, bool is_array)
{
    key_types kept = {.count = 0};

    for (size_t i = 0; i < types->count; i++)
        if (types->list[i].is_array == is_array)
            kept.list[kept.count++] = types->list[i];
    return kept;
}

key_types_text key_types_name(const key_types *types)
{
    key_types_text names = {""};
    size_t len = 0;

    for (size_t i = 0; i < types->count && len < sizeof names.text; i++)
        len += (size_t)snprintf(names.text + len, sizeof names.text - len,
                                types->list[i].is_array ? "%sarray[%s]" : "%s%s",
                                i > 0 ? " or " : "", gufo_value_type_name(types->list[i].type));
    return names;
}
