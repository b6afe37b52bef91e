/* JSON of strangers.
 *
 * Jansson does the reading.  Before, the text is weighed, because a value takes up to a hundred times
 * the memory of its two bytes, and looked at: objects inside one another are read by recursion, NaN is
 * something that Jansson cannot say well, and whole numbers beyond 64 bits, which tokenizer_config.json
 * has for "no limit", it refuses without need. */
#include "import/json_file.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/formats/json_tree.h"

enum { MAX_DEPTH = 64, TEXT_LIMIT = 256 << 20 };

/* ---- a look at the text --------------------------------------------------------------------- */

typedef struct look {
    gufo_str text;
    /* A copy of the text, where numbers beyond 64 bits become reals; NULL: none yet. */
    char *changed;
    bool has_large;
    uint64_t base;
    unsigned depth;
    gufo_error *error;
} look;

static gufo_status fail_at(const look *l, gufo_status code, size_t at, const char *what)
{
    return fail_with(l->error, code, l->base + at, "%s", what);
}

/* Behind the string that begins at `at`, or the end of the text. */
static size_t skip_string(gufo_str text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

static bool is_of_number(char c)
{
    return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool is_large(gufo_str digits)
{
    static const char largest[] = "9223372036854775807";
    const size_t most = sizeof largest - 1;

    return digits.len > most || (digits.len == most && memcmp(digits.data, largest, most) > 0);
}

/* A whole number of 20 digits loses nothing that a double has when 1234...90 becomes 1234...e2. */
static size_t look_at_number(look *l, size_t at)
{
    size_t len = str_span(l->text, at, is_of_number);
    gufo_str digits = str_from((gufo_str){l->text.data, at + len}, at + (l->text.data[at] == '-'));

    if (str_digits(digits, 0) == digits.len && is_large(digits)) {
        l->has_large = true;
        if (l->changed != NULL)
            memcpy(l->changed + at + len - 2, "e2", 2);
    }
    return at + len;
}

static gufo_status look_at_word(const look *l, size_t *at)
{
    gufo_str word = {l->text.data + *at, str_span(l->text, *at, is_letter)};

    if (!str_is_word(word, "true false null"))
        return fail_with(l->error, GUFO_E_MALFORMED, l->base + *at, "JSON has no %s", QUOTED(word));
    *at += word.len;
    return GUFO_OK;
}

static gufo_status look_at_mark(look *l, char mark, size_t at)
{
    if (mark == '{' || mark == '[')
        l->depth++;
    else if ((mark == '}' || mark == ']') && l->depth > 0)
        l->depth--;
    if (memchr("{}[],: \t\r\n", mark, 10) == NULL)
        return fail_with(l->error, GUFO_E_MALFORMED, l->base + at, "JSON has no %s",
                         QUOTED(((gufo_str){&mark, 1})));
    if (l->depth > MAX_DEPTH)
        return fail_at(l, GUFO_E_LIMIT, at, "more than 64 nested objects and arrays");
    return GUFO_OK;
}

static gufo_status look_at_text(look *l)
{
    gufo_status status = GUFO_OK;

    l->depth = 0;
    for (size_t at = 0; at < l->text.len && status == GUFO_OK;) {
        char c = l->text.data[at];

        if (c == '"')
            at = skip_string(l->text, at);
        else if (is_digit(c) || c == '-')
            at = look_at_number(l, at);
        else if (is_letter(c))
            status = look_at_word(l, &at);
        else
            status = look_at_mark(l, c, at++);
    }
    return status;
}

/* ---- values --------------------------------------------------------------------------------- */

/* What Jansson's failures are here; after all others the text is not JSON. */
static const struct reason_row {
    enum json_error_code code;
    gufo_status status;
    const char *sentence;
} reasons[] = {
    {json_error_out_of_memory, GUFO_E_MEMORY, "out of memory"},
    {json_error_premature_end_of_input, GUFO_E_TRUNCATED, "the JSON ends before its value does"},
    {json_error_end_of_input_expected, GUFO_E_MALFORMED, "more text follows the value of the JSON"},
    {json_error_invalid_utf8, GUFO_E_MALFORMED, "the JSON is not UTF-8"},
    {json_error_duplicate_key, GUFO_E_MALFORMED, "a name occurs twice in an object of the JSON"},
    {json_error_null_byte_in_key, GUFO_E_MALFORMED, "a name in the JSON holds a NUL byte"},
    {json_error_numeric_overflow, GUFO_E_RANGE, "a number of the JSON does not fit a double"},
};

static gufo_status fail_reading(const look *l, const json_error_t *reason)
{
    enum json_error_code code = json_error_code(reason);
    size_t at = reason->position > 0 ? (size_t)reason->position : 0;

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == code)
            return fail_at(l, reasons[i].status, at, reasons[i].sentence);
    return fail_with(l->error, GUFO_E_MALFORMED, l->base + at, "not JSON: %s",
                     QUOTED(gufo_str_of(reason->text)));
}

static gufo_status read_values(look *l, json_t **json)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
    gufo_status status = look_at_text(l);
    json_error_t reason;

    if (status == GUFO_OK && l->has_large) {
        l->changed = mem_text(&default_allocator, l->text);
        if (l->changed == NULL)
            return fail_memory(l->error);
        status = look_at_text(l);
    }
    if (status == GUFO_OK) {
        *json =
            json_loadb(l->changed != NULL ? l->changed : l->text.data, l->text.len, flags, &reason);
        status = *json != NULL ? GUFO_OK : fail_reading(l, &reason);
    }
    mem_free(&default_allocator, l->changed);
    return status;
}

/* ---- memory --------------------------------------------------------------------------------- */

gufo_status import_bounds_take(import_bounds *bounds, uint64_t bytes, gufo_error *error)
{
    if (bounds == NULL)
        return GUFO_OK;
    if (bytes > bounds->left)
        return import_advise(refuse(error, GUFO_E_LIMIT,
                                    "%s more bytes of memory are needed, but only %s may be used",
                                    GROUPED(bytes), GROUPED(bounds->left)),
                             GUFO_ADVICE_MEMORY, error);
    bounds->left -= bytes;
    return GUFO_OK;
}

/* Takes the memory of the tree of a text. */
static gufo_status take_tree(const look *l, import_bounds *bounds)
{
    const uint64_t left = bounds != NULL ? bounds->left : JSON_TREE_MEMORY;
    uint64_t bytes;
    gufo_status status = json_tree_check(l->text, left, &bytes, l->error);

    if (status == GUFO_OK)
        return import_bounds_take(bounds, bytes, l->error);
    return bytes > json_tree_allowed(l->text.len)
               ? status
               : import_advise(status, GUFO_ADVICE_MEMORY, l->error);
}

gufo_status json_read_text(gufo_str text, const char *name, uint64_t base_offset,
                           import_bounds *bounds, json_t **json, gufo_error *error)
{
    look l = {.text = text, .base = base_offset, .error = error};
    gufo_status status = GUFO_OK;

    *json = NULL;
    if (text.len > TEXT_LIMIT)
        status =
            fail_with(error, GUFO_E_LIMIT, base_offset, "the JSON text has %s bytes, more than %s",
                      GROUPED(text.len), GROUPED(TEXT_LIMIT));
    if (status == GUFO_OK)
        status = take_tree(&l, bounds);
    if (status == GUFO_OK)
        status = read_values(&l, json);
    if (status != GUFO_OK && name != NULL)
        fail_in(error, GUFO_FILE_INPUT, 0, name);
    return status;
}

/* ---- files ---------------------------------------------------------------------------------- */

gufo_status json_file_read(const source_folder *folder, const char *name, uint64_t limit,
                           import_bounds *bounds, json_t **json, gufo_error *error)
{
    buffer bytes = {.allocator = &default_allocator};
    bool found;
    gufo_status status = source_folder_read(folder, name, limit, &bytes, &found, error);

    *json = NULL;
    if (status == GUFO_OK && found) {
        gufo_str text = {bytes.len > 0 ? (const char *)bytes.data : "", bytes.len};

        status = json_read_text(text, NULL, 0, bounds, json, error);
        if (status != GUFO_OK)
            source_folder_fail_in(folder, name, error);
    }
    buffer_free(&bytes);
    return status;
}
