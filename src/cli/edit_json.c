/* --set-json KEY=TYPE:JSON: values whose type is given.
 *
 * Numbers are read as numbers of the type, never through a double, so that every uint64 is exact.
 * TYPE is that of the innermost values; brackets make arrays of it.  What the command writes with
 * --json is understood: "nan", "inf" and "-inf" for floats, {"base64": "..."} for strings that are
 * not UTF-8. */
#include "cli/edit.h"

#include "cli/value_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The position of the reader.  A failure is reported once, in `message`. */
typedef struct reader {
    gufo_value_type type;
    const char *text, *at;
    char *message;
} reader;

static bool fail(reader *r, const char *what)
{
    if (r->message[0] == '\0')
        snprintf(r->message, EDIT_JSON_MESSAGE, "character %zu: %s", (size_t)(r->at - r->text) + 1,
                 what);
    return false;
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

/* ---- lists ---------------------------------------------------------------------------------- */

/* What is being collected: elements of `size` bytes. */
typedef struct list {
    char *items;
    uint64_t count, room;
    size_t size;
} list;

static void *list_add(reader *r, list *l)
{
    if (l->count == l->room) {
        uint64_t room = l->room == 0 ? 8 : l->room * 2;
        char *larger = realloc(l->items, (size_t)room * l->size);

        if (larger == NULL) {
            (void)fail(r, "out of memory");
            return NULL;
        }
        l->items = larger;
        l->room = room;
    }
    return memset(l->items + l->count++ * l->size, 0, l->size);
}

/* Lists point to what is constant for others, but was allocated here. */
static void free_own(const void *block)
{
    void *own;

    memcpy(&own, &block, sizeof own);
    free(own);
}

static void free_items(const gufo_items *array)
{
    const gufo_str *strings = array->items;
    const gufo_items *arrays = array->items;

    for (uint64_t i = 0; i < array->count; i++) {
        if (array->type == GUFO_VALUE_STRING)
            free_own(strings[i].data);
        else if (array->type == GUFO_VALUE_ARRAY)
            free_items(&arrays[i]);
    }
    free_own(array->items);
}

/* ---- strings -------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;

    if (found == NULL)
        return -1;
    return (int)(found - digits) < 16 ? (int)(found - digits) : (int)(found - digits) - 6;
}

/* Four hex digits after "\u". */
static bool read_unit(reader *r, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*r->at);

        if (digit < 0)
            return fail(r, "\\u needs four hex digits");
        *unit = *unit << 4 | (uint32_t)digit;
        r->at++;
    }
    return true;
}

/* A code point, from one unit or a pair of surrogates. */
static bool read_code_point(reader *r, uint32_t *code_point)
{
    uint32_t low;

    if (!read_unit(r, code_point))
        return false;
    if (*code_point < 0xd800 || *code_point > 0xdfff)
        return true;
    if (*code_point > 0xdbff || r->at[0] != '\\' || r->at[1] != 'u')
        return fail(r, "half of a surrogate pair");
    r->at += 2;
    if (!read_unit(r, &low))
        return false;
    if (low < 0xdc00 || low > 0xdfff)
        return fail(r, "half of a surrogate pair");
    *code_point = 0x10000 + ((*code_point - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool put_bytes(reader *r, list *out, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *added = list_add(r, out);

        if (added == NULL)
            return false;
        *added = bytes[i];
    }
    return true;
}

static bool put_code_point(reader *r, list *out, uint32_t c)
{
    char bytes[4];
    size_t count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = count - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(leads[count] | c);
    return put_bytes(r, out, bytes, count);
}

static bool read_escape(reader *r, list *out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *found = *r->at != '\0' ? strchr(names, *r->at) : NULL;
    uint32_t code_point;

    if (found != NULL) {
        r->at++;
        return put_bytes(r, out, bytes + (found - names), 1);
    }
    if (*r->at != 'u')
        return fail(r, "unknown escape");
    r->at++;
    return read_code_point(r, &code_point) && put_code_point(r, out, code_point);
}

/* After the opening quote.  The list gets a terminator, which does not count. */
static bool read_string(reader *r, list *out)
{
    while (*r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return fail(r, *r->at == '\0' ? "the string has no end"
                                          : "control characters have to be escaped");
        if (*r->at == '\\') {
            r->at++;
            if (!read_escape(r, out))
                return false;
        } else if (!put_bytes(r, out, r->at++, 1))
            return false;
    }
    r->at++;
    if (!put_bytes(r, out, "", 1))
        return false;
    out->count--;
    return true;
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/* Replaces the text by the bytes that it encodes. */
static bool decode_base64(reader *r, list *text)
{
    uint32_t bits = 0;
    unsigned held = 0;
    uint64_t end = text->count, out = 0;

    while (end > 0 && end + 2 > text->count && text->items[end - 1] == '=')
        end--;
    for (uint64_t i = 0; i < end; i++) {
        int digit = base64_digit(text->items[i]);

        if (digit < 0)
            return fail(r, "not base64");
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            text->items[out++] = (char)(bits >> held);
        }
    }
    if (text->count % 4 != 0 || held >= 6)
        return fail(r, "not base64");
    text->count = out;
    return true;
}

/* "text" or {"base64": "..."}: any bytes, which the caller frees. */
static bool read_text(reader *r, gufo_str *out)
{
    list text = {.size = 1}, key = {.size = 1};
    bool good, coded = take(r, '{');

    good = take(r, '"') || fail(r, coded ? "expected {\"base64\": \"...\"}" : "expected a string");
    if (good && coded) {
        good = read_string(r, &key);
        if (good && (strcmp(key.items, "base64") != 0 || !take(r, ':') || !take(r, '"')))
            good = fail(r, "expected {\"base64\": \"...\"}");
    }
    good = good && read_string(r, &text);
    if (good && coded)
        good = (take(r, '}') || fail(r, "expected }")) && decode_base64(r, &text);
    free(key.items);
    if (good)
        *out = (gufo_str){text.items, (size_t)text.count};
    else
        free(text.items);
    return good;
}

/* ---- values --------------------------------------------------------------------------------- */

/* A number or bool, as a word. */
static bool read_word(reader *r, gufo_value *out)
{
    char word[64], what[80];
    bool quoted = *r->at == '"' && (r->type == GUFO_VALUE_FLOAT32 || r->type == GUFO_VALUE_FLOAT64);
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

/* Stores a number in the C type of its value type. */
static void store(const gufo_value *value, void *to)
{
    float single = (float)(value->type == GUFO_VALUE_FLOAT32 ? value->as.f : 0);
    uint8_t u8 = (uint8_t)value->as.u;
    uint16_t u16 = (uint16_t)value->as.u;
    uint32_t u32 = (uint32_t)value->as.u;

    if (value->type == GUFO_VALUE_FLOAT32)
        memcpy(to, &single, sizeof single);
    else if (value->type == GUFO_VALUE_BOOL)
        memcpy(to, &value->as.b, sizeof value->as.b);
    else if (gufo_value_type_size(value->type) == 8)
        memcpy(to, &value->as, 8);
    else if (gufo_value_type_size(value->type) == 4)
        memcpy(to, &u32, sizeof u32);
    else if (gufo_value_type_size(value->type) == 2)
        memcpy(to, &u16, sizeof u16);
    else
        memcpy(to, &u8, sizeof u8);
}

static bool read_array(reader *r, unsigned depth, gufo_items *out);

static size_t item_size(gufo_value_type type)
{
    if (type == GUFO_VALUE_ARRAY)
        return sizeof(gufo_items);
    return type == GUFO_VALUE_STRING ? sizeof(gufo_str) : gufo_value_type_size(type);
}

static bool read_element(reader *r, unsigned depth, gufo_value_type type, list *l)
{
    gufo_value value;
    void *added;

    skip_space(r);
    if ((*r->at == '[') != (type == GUFO_VALUE_ARRAY))
        return fail(r, "an array holds either arrays or values, not both");
    added = list_add(r, l);
    if (added == NULL)
        return false;
    if (*r->at == '[')
        return read_array(r, depth + 1, added);
    if (r->type == GUFO_VALUE_STRING)
        return read_text(r, added);
    if (!read_word(r, &value))
        return false;
    store(&value, added);
    return true;
}

/* After "[" has been seen.  Fills *out also on failure, so that it can be freed. */
static bool read_array(reader *r, unsigned depth, gufo_items *out)
{
    list l = {0};
    bool good = depth <= GUFO_MAX_DEPTH || fail(r, "arrays are nested too deep"), more;

    r->at++;
    skip_space(r);
    out->type = *r->at == '[' ? GUFO_VALUE_ARRAY : r->type;
    l.size = item_size(out->type);
    more = good && !take(r, ']');
    while (more) {
        good = read_element(r, depth, out->type, &l);
        more = good && take(r, ',');
        if (good && !more)
            good = take(r, ']') || fail(r, "expected , or ]");
    }
    out->count = l.count;
    out->items = l.items;
    return good;
}

bool edit_json_read(gufo_value_type type, const char *text, edit_json *out,
                    char message[EDIT_JSON_MESSAGE])
{
    reader r = {type, text, text, message};
    bool good;

    *out = (edit_json){0};
    message[0] = '\0';
    skip_space(&r);
    out->is_array = *r.at == '[';
    if (out->is_array)
        good = read_array(&r, 1, &out->array);
    else if (type == GUFO_VALUE_STRING) {
        out->value.type = type;
        good = read_text(&r, &out->value.as.str);
    } else
        good = read_word(&r, &out->value);
    skip_space(&r);
    if (good && *r.at != '\0')
        good = fail(&r, "there is text after the value");
    if (!good)
        edit_json_free(out);
    return good;
}

void edit_json_free(edit_json *json)
{
    free_items(&json->array);
    if (json->value.type == GUFO_VALUE_STRING)
        free_own(json->value.as.str.data);
    *json = (edit_json){0};
}
