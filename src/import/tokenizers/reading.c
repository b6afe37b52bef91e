/* What the readers of vocabularies share. */
#include "import/tokenizers/reading.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/config_files.h"
#include "import/json_file.h"
#include "import/open_regular.h"

enum { LARGEST_FILE = 256 << 20 };

/* ---- files ---------------------------------------------------------------------------------- */

/* FOLDER/NAME, which the caller frees; NULL without memory. */
static char *path_of(const tokenizer_reading *r, const char *name)
{
    return path_in(r->config->folder, name, r->allocator);
}

bool reading_has(const tokenizer_reading *r, const char *name)
{
    return config_has_file(r->config, gufo_str_of(name));
}

gufo_status reading_file(tokenizer_reading *r, const char *name, buffer *out, bool *found)
{
    return config_read_bytes(r->config, name, LARGEST_FILE, out, found, r->error);
}

gufo_status reading_json(tokenizer_reading *r, const char *name, json_t **json)
{
    return config_read_json(r->config, name, LARGEST_FILE, json, r->error);
}

/* Writes \uffff for each \u0000; false: there was none.  A backslash in front makes it two characters. */
static bool spell_nul(gufo_str text, char *out)
{
    bool found = false;

    for (size_t at = 0; at + 1 < text.len; at++) {
        if (text.data[at] != '\\')
            continue;
        at++;
        if (str_begins(str_from(text, at), "u0000")) {
            memcpy(out + at, "uffff", 5);
            found = true;
        }
    }
    return found;
}

/* Names of JSON cannot have a NUL in memory, which is a token of some vocabularies: U+FFFF, a
 * noncharacter, replaces it. */
static gufo_status read_with_nul(tokenizer_reading *r, const char *name, json_t **json,
                                 gufo_error *reason)
{
    buffer bytes = {.allocator = r->allocator};
    bool found = false;
    gufo_status status = reading_file(r, name, &bytes, &found);
    char *path = path_of(r, name);

    if (status == GUFO_OK && path == NULL)
        status = fail_memory(r->error);
    if (status == GUFO_OK) {
        gufo_str text = {(const char *)bytes.data, bytes.len};

        r->has_nul = found && spell_nul(text, (char *)bytes.data);
        status = r->has_nul ? json_read_text(text, path, 0, r->config->bounds, json, r->error)
                            : fail_as(r->error, reason);
    }
    mem_free(r->allocator, path);
    buffer_free(&bytes);
    return status;
}

gufo_status reading_open(tokenizer_reading *r)
{
    static const char name[] = "tokenizer.json";
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status = config_read_json(r->config, name, LARGEST_FILE, &r->json, &reason);

    return status == GUFO_OK            ? GUFO_OK
           : status == GUFO_E_MALFORMED ? read_with_nul(r, name, &r->json, &reason)
                                        : fail_as(r->error, &reason);
}

gufo_str reading_text(const tokenizer_reading *r, gufo_str text)
{
    static const char nul[1] = "";

    return r->has_nul && gufo_str_equal(text, gufo_str_of("\xef\xbf\xbf")) ? (gufo_str){nul, 1}
                                                                           : text;
}

gufo_status reading_pass(tokenizer_reading *r, const char *file, const char *why)
{
    if (why != NULL) {
        r->unfit = file;
        r->unfit_why = why;
    }
    return GUFO_E_NOT_FOUND;
}

gufo_status reading_pass_to(tokenizer_reading *r, const char *reader)
{
    r->instead = reader;
    return GUFO_E_NOT_FOUND;
}

gufo_status reading_fail(tokenizer_reading *r, gufo_status code, const char *file,
                         const char *format, ...)
{
    char text[GUFO_MESSAGE_SIZE], *path = path_of(r, file);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    code = refuse(r->error, code, "%s", text);
    fail_in(r->error, GUFO_FILE_INPUT, 0, path != NULL ? path : file);
    mem_free(r->allocator, path);
    return code;
}

void reading_name_file(tokenizer_reading *r, const char *file)
{
    char *path = path_of(r, file);

    fail_in(r->error, GUFO_FILE_INPUT, 0, path != NULL ? path : file);
    mem_free(r->allocator, path);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

gufo_str reading_content(const json_t *value)
{
    if (json_is_object(value))
        value = json_object_get(value, "content");
    return json_str(value);
}

bool reading_id(const json_t *value, uint64_t *id)
{
    json_int_t number = json_integer_value(value);

    *id = (uint64_t)number;
    return json_is_integer(value) && number >= 0;
}

gufo_status reading_largest_id(tokenizer_reading *r, const char *file, const json_t *vocab,
                               uint64_t *largest)
{
    const char *text;
    json_t *value;
    uint64_t id;

    json_object_foreach((json_t *)vocab, text, value)
    {
        if (!reading_id(value, &id))
            return reading_fail(r, GUFO_E_MALFORMED, file, "token %s has no id",
                                QUOTED(gufo_str_of(text)));
        *largest = larger(*largest, id);
    }
    return GUFO_OK;
}

uint64_t reading_size(const tokenizer_reading *r, const char *names)
{
    const json_t *fields = r->config->edited != NULL ? r->config->edited : r->config->fields;
    uint64_t size;

    for (gufo_str name = str_piece(&names, ' '); name.len > 0; name = str_piece(&names, ' '))
        if (reading_id(json_object_getn(fields, name.data, name.len), &size) && size > 0)
            return size;
    return 0;
}

static gufo_status take_listed(tokenizer_reading *r, const json_t *value, added_token *token,
                               take_added *take, void *context)
{
    token->text = reading_content(value);
    token->special = json_is_true(json_object_get(value, "special"));
    if (!json_is_object(value) || token->text.len == 0)
        return reading_fail(r, GUFO_E_MALFORMED, token->file, "added token %" PRIu64 " has no text",
                            token->id);
    return take(context, token);
}

gufo_status reading_each_decoded(tokenizer_reading *r, take_added *take, void *context)
{
    added_token token = {.file = "tokenizer_config.json"};
    json_t *list = (json_t *)json_member(r->config->tokenizer, "added_tokens_decoder");
    gufo_status status = GUFO_OK;
    const char *key;
    json_t *value;

    if (list != NULL && !json_is_object(list))
        return reading_fail(r, GUFO_E_MALFORMED, token.file,
                            "\"added_tokens_decoder\" is not an object");
    json_object_foreach(list, key, value)
    {
        gufo_str digits = gufo_str_of(key);

        if (digits.len == 0 || str_digits(digits, 0) != digits.len ||
            !str_number(digits, &token.id))
            return reading_fail(r, GUFO_E_MALFORMED, token.file,
                                "\"added_tokens_decoder\": %s is not an id", QUOTED(digits));
        status = take_listed(r, value, &token, take, context);
        if (status != GUFO_OK)
            break;
    }
    return status;
}

gufo_status reading_each_added(tokenizer_reading *r, take_added *take, void *context)
{
    added_token token = {.file = "tokenizer.json"};
    json_t *list = (json_t *)json_member(r->json, "added_tokens");
    gufo_status status = GUFO_OK;
    size_t index;
    json_t *value;

    if (list != NULL && !json_is_array(list))
        return reading_fail(r, GUFO_E_MALFORMED, token.file, "\"added_tokens\" is not a list");
    json_array_foreach(list, index, value)
    {
        if (!reading_id(json_object_get(value, "id"), &token.id))
            return reading_fail(r, GUFO_E_MALFORMED, token.file, "added token %zu has no id",
                                index);
        status = take_listed(r, value, &token, take, context);
        if (status != GUFO_OK)
            break;
    }
    return status;
}

gufo_status reading_each_listed(tokenizer_reading *r, take_added *take, void *context)
{
    added_token token = {.file = "added_tokens.json"};
    gufo_status status = GUFO_OK;
    const char *text;
    json_t *value;

    if (r->added != NULL && !json_is_object(r->added))
        return reading_fail(r, GUFO_E_MALFORMED, token.file, "it is not an object");
    json_object_foreach(r->added, text, value)
    {
        token.text = gufo_str_of(text);
        if (!reading_id(value, &token.id) || token.text.len == 0)
            return reading_fail(r, GUFO_E_MALFORMED, token.file, "token %s has no id",
                                QUOTED(token.text));
        status = take(context, &token);
        if (status != GUFO_OK)
            break;
    }
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

gufo_status reading_place(tokenizer_reading *r, const char *file, token_list *list, uint64_t id,
                          gufo_str text, int32_t type)
{
    listed_token *token = &list->tokens[id];

    text = reading_text(r, text);
    if (!token_is_padding(token) && !gufo_str_equal(token->text, text))
        return reading_fail(r, GUFO_E_MALFORMED, file, "tokens %s and %s have the same id %" PRIu64,
                            QUOTED(token->text), QUOTED(text), id);
    token->text = text;
    token->type = type;
    return GUFO_OK;
}

/* ---- keys ----------------------------------------------------------------------------------- */

gufo_status reading_set_names(tokenizer_reading *r, const char *model, const char *pre)
{
    gufo_status status =
        gufo_document_set_text(r->document, TOKENIZER_KEY("model"), model, r->error);

    return status == GUFO_OK && pre != NULL
               ? gufo_document_set_text(r->document, TOKENIZER_KEY("pre"), pre, r->error)
               : status;
}
