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
#include "import/architectures/configuration/config.h"
#include "import/json_file.h"

enum { LARGEST_FILE = 256 << 20 };

/* ---- files ---------------------------------------------------------------------------------- */

bool reading_has(const tokenizer_reading *r, const char *name)
{
    return config_has_file(r->config, gufo_str_of(name));
}

gufo_status reading_file(tokenizer_reading *r, const char *name, buffer *out, bool *found)
{
    return source_folder_read(&r->config->folder, name, LARGEST_FILE, out, found, r->error);
}

gufo_status reading_json(tokenizer_reading *r, const char *name, json_t **json)
{
    return config_read_json(r->config, name, LARGEST_FILE, json, r->error);
}

/* With its text a table takes at most the seventeenfold of that, where it is merges of letters: `"a b",` is a row of
 * 32, and a list that doubles is there twice while it grows.  Other files take less. */
gufo_status reading_tables(tokenizer_reading *r, const char *name, read_tokenizer_file *read,
                           tokenizer_file **out)
{
    enum { MEMORY = 17 };
    buffer bytes = {.allocator = r->allocator};
    bool found = false;
    gufo_status status = reading_file(r, name, &bytes, &found);

    *out = NULL;
    if (status == GUFO_OK && found)
        status = import_bounds_take(r->config->bounds, MEMORY * (uint64_t)bytes.len, r->error);
    if (status == GUFO_OK && found) {
        gufo_error reason = {.code = GUFO_OK};

        *out = read((gufo_str){(const char *)bytes.data, bytes.len}, r->allocator, &reason);
        if (*out != NULL)
            tokenizer_file_keep(*out, &bytes);
        else
            status = fail_as(r->error, &reason);
    }
    if (status != GUFO_OK)
        reading_name_file(r, name);
    buffer_free(&bytes);
    return status;
}

gufo_status reading_open(tokenizer_reading *r)
{
    gufo_status status = reading_tables(r, "tokenizer.json", tokenizer_file_read, &r->json);

    r->model = r->json != NULL ? tokenizer_file_part(r->json, "model") : NULL;
    return status;
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
    char text[GUFO_MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    code = refuse(r->error, code, "%s", text);
    reading_name_file(r, file);
    return code;
}

void reading_name_file(tokenizer_reading *r, const char *file)
{
    source_folder_fail_in(&r->config->folder, file, r->error);
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

uint64_t reading_largest_id(const tokenizer_file *f)
{
    uint64_t largest = 0;

    for (uint32_t i = 0; i < f->vocab_count; i++)
        largest = larger(largest, f->vocab[i].id);
    return largest;
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

gufo_status reading_fail_id(tokenizer_reading *r, const char *file, uint64_t id, uint64_t size)
{
    bool is_told = reading_size(r, "vocab_size_per_layer_input vocab_size") == size;

    return reading_fail(r, GUFO_E_RANGE, file,
                        is_told
                            ? "a token has id %" PRIu64 ", but by vocab_size in the configuration "
                              "the model has %" PRIu64 " tokens"
                            : "a token has id %" PRIu64 ", but the model has %" PRIu64 " tokens",
                        id, size);
}

static gufo_status take_listed(tokenizer_reading *r, const json_t *value, named_token *token,
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
    named_token token = {.file = "tokenizer_config.json"};
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
    static const char file[] = "tokenizer.json";
    const tokenizer_file *f = r->json;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; f != NULL && status == GUFO_OK && i < f->added_count; i++) {
        named_token token = {f->added[i].id, f->added[i].content, f->added[i].special, file};

        status = token.text.len > 0 ? take(context, &token)
                                    : reading_fail(r, GUFO_E_MALFORMED, file,
                                                   "added token %" PRIu64 " has no text", token.id);
    }
    return status;
}

gufo_status reading_each_listed(tokenizer_reading *r, take_added *take, void *context)
{
    named_token token = {.file = "added_tokens.json"};
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

/* ---- steps ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *list;
} parts[] = {{"normalizer", "normalizers"}, {"pre_tokenizer", "pretokenizers"}};

static gufo_status each_step(const tokenizer_reading *r, reading_part part, const json_t *steps,
                             step_taker *take, void *context, gufo_error *error)
{
    step_reading s = {.allocator = r->allocator, .part = parts[part].name, .error = error};

    return step_each(&s, steps, parts[part].list, take, context);
}

static const json_t *part_of(const tokenizer_reading *r, reading_part part)
{
    return r->json != NULL ? tokenizer_file_part(r->json, parts[part].name) : NULL;
}

gufo_status reading_each_step(tokenizer_reading *r, reading_part part, step_taker *take,
                              void *context)
{
    gufo_status status = each_step(r, part, part_of(r, part), take, context, r->error);

    if (status != GUFO_OK)
        reading_name_file(r, "tokenizer.json");
    return status;
}

json_t *reading_copy_steps(tokenizer_reading *r, reading_part part, step_taker *take, void *context)
{
    json_t *copy = json_deep_copy(part_of(r, part));

    (void)each_step(r, part, copy, take, context, NULL);
    return copy;
}

const char *reading_list_name(reading_part part)
{
    return parts[part].list;
}

typedef struct wanted_step {
    const char *type;
    bool found;
} wanted_step;

static gufo_status find_step(step_reading *r, void *context)
{
    wanted_step *wanted = context;

    wanted->found |= step_is(r, wanted->type);
    return r->status;
}

bool reading_has_step(tokenizer_reading *r, reading_part part, const char *type)
{
    wanted_step wanted = {.type = type};

    (void)each_step(r, part, part_of(r, part), find_step, &wanted, NULL);
    return wanted.found;
}

/* ---- tokens --------------------------------------------------------------------------------- */

gufo_status reading_place(tokenizer_reading *r, const char *file, token_list *list, uint64_t id,
                          gufo_str text, int32_t type)
{
    listed_token *token = &list->tokens[id];

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
