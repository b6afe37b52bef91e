/* Values from JSON, of a type that is given.
 *
 * Numbers are read as numbers of the type, never through a double, so that every uint64 is exact.
 * TYPE is that of the innermost values; brackets make arrays of it.  The reader takes what the
 * command writes with --json: "nan", "inf" and "-inf" for floats, large integers as strings,
 * {"base64": "..."} for strings that are not UTF-8, {"text": "..."} for others.
 *
 * The value is encoded while it is read: an array is its elements as a file stores them.  Where ids
 * of tokens are wanted, texts may be among them. */
#include "gufo/value.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pull.h"
#include "gufo/print.h"
#include "format/value/value.h"

#include <stdio.h>
#include <string.h>

/* The position of the reader.  A failure is reported once. */
typedef struct reader {
    gufo_value_type type;
    const char *text, *at, *end;
    gufo_text *to;
    gufo_value_texts *texts; /* NULL: none are allowed */
    gufo_error *error;
    gufo_status status;
} reader;

static bool fail(reader *r, const char *what)
{
    const char *line = r->text;
    char where[32] = "";
    size_t number = 1;

    if (r->status != GUFO_OK)
        return false;
    for (const char *end; (end = memchr(line, '\n', (size_t)(r->at - line))) != NULL;
         line = end + 1)
        (void)snprintf(where, sizeof where, "line %zu, ", ++number);
    r->status = fail_with(r->error, GUFO_E_MALFORMED, (uint64_t)(r->at - r->text),
                          "%scharacter %zu: %s", where, (size_t)(r->at - line) + 1, what);
    return false;
}

static bool without_memory(reader *r)
{
    if (r->status == GUFO_OK)
        r->status = fail_memory(r->error);
    return false;
}

static bool put(reader *r, const void *bytes, size_t count)
{
    return text_add(r->to, bytes, count) || without_memory(r);
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

/* ---- strings --------------------------------------------------------------------------- */

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
    return form == JSON_ESCAPE ? put(r, bytes, gufo_utf8_encode(code_point, bytes))
                               : fail(r, faults[form]);
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
    gufo_text *out = r->to;
    const gufo_str text = {out->data + start, out->len - start};
    size_t size;
    bool good = base64_decode(text, (uint8_t *)out->data + start, &size);

    out->len = start + size;
    return good || fail(r, "not base64");
}

static bool skip_value(reader *r)
{
    pull p = {.text = r->at, .len = (size_t)(r->end - r->at)};
    bool good = pull_skip(&p, NULL);

    r->at += p.at;
    return good || fail(r, "expected a value");
}

/* Reads the name of a member, with its colon: *is_text or *is_coded if it is the text. */
static bool read_member_name(reader *r, bool *is_text, bool *is_coded)
{
    gufo_text *out = r->to;
    const size_t start = out->len;
    gufo_str name;

    if (!take(r, '"'))
        return fail(r, "expected the name of a member");
    if (!read_string(r))
        return false;
    name = (gufo_str){out->data + start, out->len - start};
    *is_text = gufo_str_equal(name, gufo_str_of("text"));
    *is_coded = gufo_str_equal(name, gufo_str_of("base64"));
    out->len = start;
    return take(r, ':') || fail(r, "expected :");
}

/* Behind "{": the text that a member is, and what else the object has. */
static bool read_object(reader *r)
{
    const size_t start = r->to->len;
    bool found = false, is_text = false, is_coded = false;

    do {
        if (!read_member_name(r, &is_text, &is_coded))
            return false;
        if (!is_text && !is_coded) {
            if (!skip_value(r))
                return false;
            continue;
        }
        if (found)
            return fail(r, "the text is there twice");
        found = true;
        if (!take(r, '"'))
            return fail(r, "expected a string");
        if (!read_string(r) || (is_coded && !decode_base64(r, start)))
            return false;
    } while (take(r, ','));
    if (!take(r, '}'))
        return fail(r, "expected , or }");
    return found || fail(r, "expected an object with \"text\" or \"base64\"");
}

/* "text", or an object. */
static bool read_text(reader *r)
{
    if (take(r, '{'))
        return read_object(r);
    return take(r, '"') ? read_string(r) : fail(r, "expected a string");
}

/* ---- values ---------------------------------------------------------------------------- */

/* A number or bool, as a word. */
static bool read_word(reader *r, gufo_value *out)
{
    char word[64], what[80];
    bool quoted = *r->at == '"' && r->type != GUFO_VALUE_BOOL;
    const char *begin = r->at + quoted;
    size_t len = strcspn(begin, " \t\r\n,]}\"");

    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), begin);
    if (len >= sizeof word || (quoted && begin[len] != '"') ||
        !gufo_value_read(r->type, word, out)) {
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
    gufo_value_texts *texts = r->texts;
    const gufo_allocator *allocator = mem_allocator(texts->allocator);
    size_t start = r->to->len;
    gufo_value_text *list;
    char *kept;

    if (!read_text(r))
        return false;
    list = mem_grow(allocator, texts->list, texts->count, &texts->room, sizeof *list);
    texts->list = list != NULL ? list : texts->list;
    kept = list != NULL ? mem_text(allocator, (gufo_str){r->to->data + start, r->to->len - start})
                        : NULL;
    if (kept == NULL)
        return without_memory(r);
    list[texts->count++] =
        (gufo_value_text){.index = index, .type = r->type, .text = {kept, r->to->len - start}};
    r->to->len = start;
    return put(r, zeros, gufo_value_type_size(r->type));
}

static bool read_array(reader *r, unsigned depth, gufo_value_type *type, uint64_t *count);

/* Inside an array, a string comes after its length. */
static bool read_inner_text(reader *r)
{
    size_t start = r->to->len;

    if (!put(r, zeros, 8) || !read_text(r))
        return false;
    store_u64(r->to->data + start, r->to->len - start - 8, false);
    return true;
}

/* And an array after the type of its elements and their number. */
static bool read_inner_array(reader *r, unsigned depth)
{
    size_t start = r->to->len;
    gufo_value_type type;
    uint64_t count;

    if (!put(r, zeros, 4 + 8) || !read_array(r, depth, &type, &count))
        return false;
    store_u32(r->to->data + start, type, false);
    store_u64(r->to->data + start + 4, count, false);
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
    return len > 0 && (len >= sizeof word || !gufo_value_is_decimal(word));
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
    gufo_array *array = &out->as.array;
    bool good;

    skip_space(r);
    if (*r->at == '[') {
        out->type = GUFO_VALUE_ARRAY;
        good = read_array(r, 1, &array->type, &array->count);
        array->data = (const uint8_t *)r->to->data;
        array->size = r->to->len;
        array->encoding = (gufo_encoding){3, HOST_IS_BIG_ENDIAN};
        return good;
    }
    if (r->type != GUFO_VALUE_STRING)
        return read_word(r, out);
    good = read_text(r);
    *out = (gufo_value){r->type, .as.str = {r->to->data, r->to->len}};
    return good;
}

gufo_status gufo_value_read_json(gufo_value_type type, const char *text, gufo_value *out,
                                 gufo_text *bytes, gufo_value_texts *texts, gufo_error *error)
{
    reader r = {type, text, text, text + strlen(text), bytes, texts, error, GUFO_OK};

    bytes->len = 0;
    if (put(&r, "", 0) && read_value(&r, out)) { /* even nothing has an address */
        skip_space(&r);
        if (*r.at != '\0')
            (void)fail(&r, "there is text after the value");
    }
    return r.status;
}

void gufo_value_texts_free(gufo_value_texts *texts)
{
    const gufo_allocator *allocator = mem_allocator(texts->allocator);

    for (uint64_t i = 0; i < texts->count; i++)
        mem_free(allocator, (char *)texts->list[i].text.data);
    mem_free(allocator, texts->list);
    *texts = (gufo_value_texts){.allocator = texts->allocator};
}
