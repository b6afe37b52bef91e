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

#include "cli/core/small_file.h"
#include "cli/core/value_read.h"
#include "schema/registry/key.h"

#include <math.h>
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

/* The type that a new key gets. */
static gufo_value_type guess(const char *text)
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

/* Reads "TYPE:" at the beginning of the text; its length, 0 without a type. */
static size_t type_prefix(const char *text, gufo_value_type *type)
{
    size_t len = strcspn(text, ":");

    return text[len] == ':' && key_type_named((gufo_str){text, len}, type) ? len + 1 : 0;
}

const char *edit_operand(const edit_operation *operation)
{
    const char *equals = strchr(operation->text, '=');
    const char *text = equals != NULL ? equals + 1 : "";
    gufo_value_type type;

    if (operation->kind == EDIT_COPY)
        return operation->text;
    if (operation->kind == EDIT_SET_JSON && *(text += type_prefix(text, &type)) == '@')
        return text + 1;
    return operation->kind == EDIT_SET_FILE && equals != NULL ? text : NULL;
}

/* The types that a value may have, in their order: the one in front, "TYPE:", which *text moves
 * past, else those of the key. */
static edit_types read_types(const edit_change *c, const char **text)
{
    edit_types given = {.count = 1};
    size_t prefix = type_prefix(*text, &given.list[0].type);

    *text += prefix;
    return prefix > 0 ? given : edit_types_of(c);
}

/* Of these types, keeps those that are arrays, or the others. */
static edit_types of_shape(const edit_types *types, bool is_array)
{
    edit_types kept = {.count = 0};

    for (size_t i = 0; i < types->count; i++)
        if (types->list[i].is_array == is_array)
            kept.list[kept.count++] = types->list[i];
    return kept;
}

/* Types in words: "uint32 or array[int32]". */
typedef struct type_names {
    char text[96];
} type_names;

static type_names name_types(const edit_types *types)
{
    type_names names = {""};
    size_t len = 0;

    for (size_t i = 0; i < types->count && len < sizeof names.text; i++)
        len += (size_t)snprintf(names.text + len, sizeof names.text - len,
                                types->list[i].is_array ? "%sarray[%s]" : "%s%s",
                                i > 0 ? " or " : "", gufo_value_type_name(types->list[i].type));
    return names;
}

/* ---- from the command line ------------------------------------------------------------------ */

static int set_value(edit_change *c, const gufo_value *value)
{
    return edit_check(c, c->key,
                      gufo_document_set(c->document, gufo_str_of(c->key), value, &c->error));
}

/* Sets the text as a value of the first of these types that holds it. */
static int set_text_as(edit_change *c, const char *text, const edit_types *types)
{
    gufo_value value;

    for (size_t i = 0; i < types->count; i++)
        if (value_read(types->list[i].type, text, &value))
            return set_value(c, &value);
    return report_usage("%s %s: not a value of type %s", c->option, c->operation->text,
                        name_types(types).text);
}

/* Whether the key names tokens by their ids. */
static bool is_token_key(const edit_change *c)
{
    const gufo_key_info *info = edit_key_info(c->document, gufo_str_of(c->key));

    return info != NULL && strcmp(info->unit, "token id") == 0;
}

/* An array, of which some elements wait; nothing of `texts` is lost. */
static int set_with_texts(edit_change *c, const gufo_value *value, edit_json_texts *texts)
{
    int code = set_value(c, value);

    for (size_t i = 0; i < texts->count && code == CODE_OK; i++) {
        texts->list[i].operation = c->operation;
        code = edit_wait(c->waiting, c->key, &texts->list[i]);
        if (code == CODE_OK)
            texts->list[i].kept = NULL;
    }
    return code;
}

/* `path`: the file that the text is from; NULL: the command line.  Types of another shape than the
 * text are not tried, if there are others. */
static int set_json(edit_change *c, const char *path, const char *text, const edit_types *types)
{
    edit_types fitting = of_shape(types, text[strspn(text, " \t\r\n")] == '[');
    const edit_types *tried = fitting.count > 0 ? &fitting : types;
    char message[EDIT_JSON_MESSAGE];
    bool good = false, with_texts = is_token_key(c);
    edit_json_texts texts = {0};
    int code = CODE_USAGE;

    for (size_t i = 0; i < tried->count && !good; i++) {
        gufo_value value;
        encoder bytes;

        good = edit_json_read(tried->list[i].type, text, &value, &bytes, with_texts ? &texts : NULL,
                              message);
        if (good)
            code = set_with_texts(c, &value, &texts);
        buffer_free(&bytes.out);
        edit_json_texts_free(&texts);
    }
    if (!good && path != NULL)
        report_message(path, "%s", message);
    else if (!good)
        report_usage("%s %s: %s", c->option, c->key, message);
    return code;
}

/* And the text is not a number. */
static bool is_token_text(const edit_change *c, const char *text)
{
    return is_token_key(c) && *text != '\0' && !value_is_decimal(text);
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
    if (!value_read(change.is_token ? GUFO_VALUE_STRING : array->type, c->rest, &change.value))
        return report_usage("%s %s: not a value of type %s", c->option, text,
                            gufo_value_type_name(array->type));
    return edit_wait(c->waiting, c->key, &change);
}

int edit_set(edit_change *c)
{
    const char *text = c->rest;
    edit_types all = read_types(c, &text), fitting;
    bool has_type = text != c->rest;

    if (has_type && all.list[0].type == GUFO_VALUE_ARRAY)
        return report_usage("--set %s: use --set-json for arrays", c->operation->text);
    if (all.count == 0)
        all = (edit_types){{{guess(text), false}}, 1};
    if (*text == '[' && of_shape(&all, true).count > 0)
        return set_json(c, NULL, text, &all);
    fitting = of_shape(&all, false);
    if (fitting.count == 0)
        return report_usage("--set %s: the key takes %s, as in %s=[...] with JSON",
                            c->operation->text, name_types(&all).text, c->key);
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
                           "there are more than 256 MiB, too many for the value of a key", bytes);
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

static int set_json_file(edit_change *c, const char *path, const edit_types *types)
{
    gufo_str bytes;
    int code = read_file(path, &bytes);

    if (code == CODE_OK && strlen(bytes.data) < bytes.len)
        code = report_as(CODE_USAGE, path, "byte %zu is NUL, which JSON does not have",
                         strlen(bytes.data));
    if (code == CODE_OK)
        code = set_json(c, path, bytes.data, types);
    small_file_free(&bytes);
    return code;
}

int edit_set_json(edit_change *c)
{
    const char *text = c->rest;
    edit_types types = read_types(c, &text);

    if (types.count == 0 || types.list[0].type == GUFO_VALUE_ARRAY)
        return report_usage("--set-json %s: the type of the values has to come before the JSON, as "
                            "in KEY=uint32:[1,2]",
                            c->operation->text);
    return *text == '@' ? set_json_file(c, text + 1, &types) : set_json(c, NULL, text, &types);
}
