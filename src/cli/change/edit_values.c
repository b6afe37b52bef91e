/* --set KEY=[TYPE:]VALUE and its kin: values.  Which type a value has:
 *
 *     TYPE:VALUE         that type
 *     an existing key    its type
 *     a known key        the type that the registry gives
 *     true, false        bool
 *     7, -7              uint32, int32; uint64, int64 if they do not fit
 *     0.5, 1e-5          float32
 *     anything else      string
 *
 * An array is JSON, where the key takes one. */
#include "cli/change/edit.h"

#include "cli/core/files/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int edit_check(const edit_change *c, const char *text, gufo_status status)
{
    if (status == GUFO_OK)
        return CODE_OK;
    report_message(c->options->path, "%s %s: %s", c->option, text, c->error.message);
    if (status == GUFO_E_NOT_FOUND)
        return CODE_NO;
    return status == GUFO_E_MEMORY ? CODE_FAILED : CODE_USAGE;
}

/* Bytes of a file that become a value, which is kept in memory. */
#define LARGEST_VALUE ((size_t)256 << 20)

/* ---- types ---------------------------------------------------------------------------------- */

const char *edit_operand(const edit_operation *operation)
{
    const char *equals = strchr(operation->text, '=');
    const char *text = equals != NULL ? equals + 1 : "";
    gufo_value_type type;

    if (operation->kind == EDIT_COPY)
        return operation->text;
    if (operation->kind == EDIT_SET_JSON && *(text += gufo_key_type_prefix(text, &type)) == '@')
        return text + 1;
    return operation->kind == EDIT_SET_FILE && equals != NULL ? text : NULL;
}

/* ---- from the command line ------------------------------------------------------------------ */

static int set_value(edit_change *c, const gufo_value *value)
{
    return edit_check(c, c->key, gufo_document_set(c->document, c->key, value, &c->error));
}

/* Sets the text as a value of the first of these types that holds it. */
static int set_text_as(edit_change *c, const char *text, const gufo_key_types *types)
{
    gufo_value value;

    for (size_t i = 0; i < types->count; i++)
        if (gufo_value_read(types->list[i].type, text, &value))
            return set_value(c, &value);
    return report_usage("%s %s: not a value of type %s", c->option, c->operation->text,
                        gufo_key_types_name(types, (char[GUFO_KEY_TYPES_SIZE]){""}));
}

/* Whether the key names tokens by their ids. */
static bool is_token_key(const edit_change *c)
{
    const gufo_key_info *info = gufo_document_key_info(c->document, c->key);

    return info != NULL && strcmp(info->unit, "token id") == 0;
}

/* Sets an array; its texts wait. */
static int set_with_texts(edit_change *c, const gufo_value *value, const gufo_value_texts *texts)
{
    int code = set_value(c, value);

    for (size_t i = 0; i < texts->count && code == CODE_OK; i++) {
        const gufo_value_text *text = &texts->list[i];
        edit_waiting_change change = {.index = text->index,
                                      .is_token = true,
                                      .type = text->type,
                                      .kept = malloc(text->text.len + 1),
                                      .operation = c->operation};

        if (change.kept == NULL)
            return report_memory(NULL);
        memcpy(change.kept, text->text.data, text->text.len);
        change.value = (gufo_value){GUFO_VALUE_STRING, .as.str = {change.kept, text->text.len}};
        code = edit_wait(c->waiting, c->key, &change);
        if (code != CODE_OK)
            free(change.kept);
    }
    return code;
}

/* `path`: the file that the text is from; NULL: the command line.  Types of another shape than the
 * text are not tried, if there are others. */
static int set_json(edit_change *c, const char *path, const char *text, const gufo_key_types *types)
{
    gufo_key_types fitting = gufo_key_types_of_shape(types, text[strspn(text, " \t\r\n")] == '[');
    const gufo_key_types *tried = fitting.count > 0 ? &fitting : types;
    bool good = false, with_texts = is_token_key(c);
    gufo_value_texts texts = {0};
    gufo_text bytes = {0};
    gufo_value value;
    int code = CODE_USAGE;

    for (size_t i = 0; i < tried->count && !good; i++) {
        good = gufo_value_read_json(tried->list[i].type, text, &value, &bytes,
                                    with_texts ? &texts : NULL, &c->error) == GUFO_OK;
        if (good)
            code = set_with_texts(c, &value, &texts);
        gufo_value_texts_free(&texts);
    }
    gufo_text_free(&bytes);
    if (!good && path != NULL)
        report_message(path, "%s", c->error.message);
    else if (!good)
        report_usage("%s %s: %s", c->option, c->key, c->error.message);
    return code;
}

/* And the text is not a number. */
static bool is_token_text(const edit_change *c, const char *text)
{
    return is_token_key(c) && *text != '\0' && !gufo_value_is_decimal(text);
}

/* The id replaces the text when all other changes are made; a new key takes its place among them at
 * once. */
static int set_token(edit_change *c, const char *text, gufo_value_type type)
{
    const edit_waiting_change change = {.index = EDIT_NO_INDEX,
                                        .value = {GUFO_VALUE_STRING, .as.str = gufo_str_of(text)},
                                        .is_token = true,
                                        .type = type,
                                        .operation = c->operation};
    int code = CODE_OK;

    if (!gufo_document_find(c->document, c->key, NULL))
        code = set_value(c, &(gufo_value){.type = type});
    return code == CODE_OK ? edit_wait(c->waiting, c->key, &change) : code;
}

int edit_set_element(edit_change *c)
{
    edit_waiting_change change = {c->index, .operation = c->operation};
    const char *text = c->operation->text;
    gufo_document_entry old;
    const gufo_array *array = &old.value.as.array;

    if (!gufo_document_find(c->document, c->key, &old) || old.value.type != GUFO_VALUE_ARRAY)
        return report_usage("%s %s: '%s' is not an array of this file", c->option, text, c->key);
    if (array->type == GUFO_VALUE_ARRAY)
        return report_usage("%s %s: the elements are arrays; use --set-json", c->option, text);
    if (c->index >= array->count)
        return report_usage("%s %s: the array has %ju elements, counted from 0", c->option, text,
                            (uintmax_t)array->count);
    change.type = array->type;
    change.is_token = array->type != GUFO_VALUE_STRING && is_token_text(c, c->rest);
    if (!gufo_value_read(change.is_token ? GUFO_VALUE_STRING : array->type, c->rest, &change.value))
        return report_usage("%s %s: not a value of type %s", c->option, text,
                            gufo_value_type_name(array->type));
    return edit_wait(c->waiting, c->key, &change);
}

int edit_set(edit_change *c)
{
    const char *text = c->rest;
    gufo_key_types all = gufo_key_types_read(c->document, c->key, &text), fitting;
    bool has_type = text != c->rest;

    if (!has_type && text[0] == '@' && path_exists(text + 1))
        return report_usage(
            "--set %s: the value would be the text '%s'; --set-file %s=%s takes what "
            "the file holds, --set-string this text",
            c->operation->text, text, c->key, text + 1);
    if (has_type && all.list[0].type == GUFO_VALUE_ARRAY)
        return report_usage("--set %s: use --set-json for arrays", c->operation->text);
    if (all.count == 0)
        all = (gufo_key_types){.list = {{gufo_value_guess(text), false}}, .count = 1};
    if (*text == '[' && gufo_key_types_of_shape(&all, true).count > 0)
        return set_json(c, NULL, text, &all);
    fitting = gufo_key_types_of_shape(&all, false);
    if (fitting.count == 0)
        return report_usage("--set %s: the key takes %s, as in %s=[...] with JSON",
                            c->operation->text,
                            gufo_key_types_name(&all, (char[GUFO_KEY_TYPES_SIZE]){""}), c->key);
    if (!has_type && fitting.list[0].type != GUFO_VALUE_STRING && is_token_text(c, text))
        return set_token(c, text, fitting.list[0].type);
    return set_text_as(c, text, &fitting);
}

static int set_text(edit_change *c, gufo_str text)
{
    return edit_check(c, c->key, gufo_document_set_str(c->document, c->key, text, &c->error));
}

int edit_set_string(edit_change *c)
{
    return set_text(c, gufo_str_of(c->rest));
}

/* ---- from a file ---------------------------------------------------------------------------- */

static int read_file(const char *path, gufo_str *bytes)
{
    return small_file_read(path, LARGEST_VALUE,
                           "the value has more than 256 MiB, the limit for a key", bytes);
}

int edit_set_file(edit_change *c)
{
    gufo_str bytes;
    int code = read_file(c->rest, &bytes);

    if (code == CODE_OK)
        code = set_text(c, bytes);
    small_file_free(&bytes);
    return code;
}

static int set_json_file(edit_change *c, const char *path, const gufo_key_types *types)
{
    gufo_str bytes;
    int code = read_file(path, &bytes);

    if (code == CODE_OK && strlen(bytes.data) < bytes.len)
        code = report_as(CODE_USAGE, path, "byte %zu is NUL, which JSON does not allow",
                         strlen(bytes.data));
    if (code == CODE_OK)
        code = set_json(c, path, bytes.data, types);
    small_file_free(&bytes);
    return code;
}

int edit_set_json(edit_change *c)
{
    const char *text = c->rest;
    gufo_key_types types = gufo_key_types_read(c->document, c->key, &text);

    if (types.count == 0 || types.list[0].type == GUFO_VALUE_ARRAY)
        return report_usage("--set-json %s: write the type of the values before the JSON, as in "
                            "KEY=uint32:[1,2]",
                            c->operation->text);
    return *text == '@' ? set_json_file(c, text + 1, &types) : set_json(c, NULL, text, &types);
}
