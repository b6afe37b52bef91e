#include "json.h"

#include "folder.h"

/* What is being read.  Strings are decoded where they are: no escape is shorter than its bytes. */
typedef struct reader {
    const char *path;
    char *bytes, *at, *end;
    json_value *free; /* the next one that is not used */
} reader;

__attribute__((noreturn)) static void fail_at(const reader *r, const char *wanted)
{
    check_failed(__FILE__, __LINE__, wanted, "%s, byte %td", r->path, r->at - r->bytes);
}

static char peek(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) != NULL)
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

static void expect(reader *r, char c)
{
    if (peek(r) != c)
        fail_at(r, (char[]){'\'', c, '\'', 0});
    r->at++;
}

static bool accept(reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

/* ---- strings -------------------------------------------------------------------------------- */

static uint32_t read_unit(reader *r)
{
    char digits[5] = {0};

    if (r->end - r->at < 4)
        fail_at(r, "four hexadecimal digits");
    memcpy(digits, r->at, 4);
    r->at += 4;
    return (uint32_t)strtoul(digits, NULL, 16);
}

static char *put_utf8(char *out, uint32_t c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};

    *out++ = (char)(first[more] | c >> 6 * more);
    while (more-- > 0)
        *out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return out;
}

/* After the backslash. */
static char *read_escape(reader *r, char *out)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = *r->at++;
    const char *known = strchr(names, c);

    if (c != 'u' && (c == 0 || known == NULL))
        fail_at(r, "an escape");
    if (c != 'u') {
        *out = meant[known - names];
        return out + 1;
    }
    uint32_t unit = read_unit(r);
    if (unit >= 0xd800 && unit < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
        r->at[1] == 'u') {
        r->at += 2;
        unit = 0x10000 + ((unit - 0xd800) << 10) + (read_unit(r) - 0xdc00);
    }
    return put_utf8(out, unit);
}

static gufo_str read_string(reader *r)
{
    expect(r, '"');
    char *start = r->at, *out = r->at;
    while (r->at < r->end && *r->at != '"') {
        if (*r->at != '\\') {
            *out++ = *r->at++;
            continue;
        }
        r->at++;
        out = read_escape(r, out);
    }
    expect(r, '"');
    return (gufo_str){start, (size_t)(out - start)};
}

/* ---- values --------------------------------------------------------------------------------- */

static json_value *read_value(reader *r, unsigned depth);

static void read_inside(reader *r, json_value *value, char last, unsigned depth)
{
    json_value **link = &value->inside;

    if (depth > 100)
        fail_at(r, "less depth");
    r->at++;
    if (accept(r, last))
        return;
    do {
        gufo_str name = {0};

        if (value->kind == JSON_OBJECT) {
            name = read_string(r);
            expect(r, ':');
        }
        *link = read_value(r, depth + 1);
        (*link)->name = name;
        link = &(*link)->next;
    } while (accept(r, ','));
    expect(r, last);
}

static bool accept_word(reader *r, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

static json_value *read_value(reader *r, unsigned depth)
{
    static const char *const words[] = {"null", "false", "true"};
    json_value *value = r->free++;
    char c = peek(r);

    for (int i = 0; i < 3; i++)
        if (accept_word(r, words[i])) {
            value->kind = (json_kind)i;
            return value;
        }
    if (c == '"') {
        value->kind = JSON_STRING;
        value->text = read_string(r);
    } else if (c == '[' || c == '{') {
        value->kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
        read_inside(r, value, c == '[' ? ']' : '}', depth);
    } else {
        value->kind = JSON_NUMBER;
        value->text = (gufo_str){r->at, strspn(r->at, "+-.0123456789eE")};
        r->at += value->text.len;
        if (value->text.len == 0)
            fail_at(r, "a value");
    }
    return value;
}

/* The values of JSON lines. */
static json_value *read_lines(reader *r)
{
    json_value *list = r->free++, **link = &list->inside;

    list->kind = JSON_ARRAY;
    while (peek(r) != 0) {
        *link = read_value(r, 0);
        link = &(*link)->next;
    }
    return list;
}

static json_document load(const char *path, json_value *read(reader *r))
{
    json_document document = {0};
    reader r = {.path = path};
    size_t len, most = 2;
    uint8_t *bytes = read_file(path, &len);

    check(bytes != NULL, "%s", path);
    /* One more byte, which ends numbers. */
    document.bytes = calloc(len + 1, 1);
    check(document.bytes != NULL, "%s", path);
    memcpy(document.bytes, bytes, len);
    free(bytes);
    /* Before each value but the first is one of these. */
    for (size_t i = 0; i < len; i++)
        most += strchr(",[{\n", document.bytes[i]) != NULL;
    document.values = calloc(most, sizeof *document.values);
    check(document.values != NULL, "%s", path);
    r.bytes = r.at = document.bytes;
    r.end = r.at + len;
    r.free = document.values;
    document.root = read(&r);
    if (peek(&r) != 0)
        fail_at(&r, "the end");
    return document;
}

static json_value *read_one(reader *r)
{
    return read_value(r, 0);
}

json_document json_load(const char *path)
{
    return load(path, read_one);
}

json_document json_load_lines(const char *path)
{
    return load(path, read_lines);
}

void json_unload(json_document *document)
{
    free(document->values);
    free(document->bytes);
    *document = (json_document){0};
}

/* ---- looking -------------------------------------------------------------------------------- */

const json_value *json_find(const json_value *value, const char *name)
{
    if (value == NULL || value->kind != JSON_OBJECT)
        return NULL;
    for (const json_value *v = value->inside; v != NULL; v = v->next)
        if (gufo_str_equal(v->name, gufo_str_of(name)))
            return v;
    return NULL;
}

const json_value *json_at(const json_value *value, const char *name)
{
    const json_value *found = json_find(value, name);

    check(found != NULL, "%s", name);
    return found;
}

double json_number(const json_value *value)
{
    check(value->kind == JSON_NUMBER, "%.*s", (int)value->name.len, value->name.data);
    return strtod(value->text.data, NULL);
}

uint64_t json_count(const json_value *value)
{
    uint64_t count = 0;

    for (const json_value *v = value->inside; v != NULL; v = v->next)
        count++;
    return count;
}

bool json_is(const json_value *value, const char *text)
{
    return value->kind == JSON_STRING && gufo_str_equal(value->text, gufo_str_of(text));
}
