/* What the readers of the parts of a tokenizer.json share: failures, members, steps. */
#include "text/formats/json_reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { MAX_DEPTH = 8 };

static gufo_status fail_va(json_reading *r, gufo_status code, const char *format, va_list arguments)
{
    char text[GUFO_MESSAGE_SIZE];

    (void)vsnprintf(text, sizeof text, format, arguments);
    return refuse(r->error, code, "tokenizer.json: %s", text);
}

gufo_status json_wrong(json_reading *r, const char *format, ...)
{
    va_list arguments;
    gufo_status status;

    va_start(arguments, format);
    status = fail_va(r, GUFO_E_MALFORMED, format, arguments);
    va_end(arguments);
    return status;
}

static void note_va(json_reading *r, const char *format, va_list arguments)
{
    char text[GUFO_MESSAGE_SIZE];

    (void)vsnprintf(text, sizeof text, format, arguments);
    r->note(r->note_context, text);
}

gufo_status json_unsayable(json_reading *r, const char *format, ...)
{
    gufo_status status = GUFO_OK;
    va_list arguments;

    va_start(arguments, format);
    if (r->note != NULL)
        note_va(r, format, arguments);
    else
        status = fail_va(r, GUFO_E_TYPE, format, arguments);
    va_end(arguments);
    return status;
}

void json_note(json_reading *r, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (r->note != NULL)
        note_va(r, format, arguments);
    va_end(arguments);
}

const json_t *json_member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_null(value) ? NULL : value;
}

gufo_str json_text(const json_t *string)
{
    return (gufo_str){json_string_value(string), json_string_length(string)};
}

bool json_flag(json_reading *r, const json_t *object, const char *name, bool otherwise)
{
    const json_t *value = json_member(object, name);

    if (value == NULL)
        return otherwise;
    if (!json_is_boolean(value) && r->status == GUFO_OK)
        r->status = json_wrong(r, "\"%s\" is neither true nor false", name);
    return json_is_true(value);
}

gufo_str json_word(json_reading *r, const json_t *object, const char *name)
{
    const json_t *value = json_member(object, name);

    if (value != NULL && !json_is_string(value) && r->status == GUFO_OK)
        r->status = json_wrong(r, "\"%s\" is not a string", name);
    return json_is_string(value) ? json_text(value) : (gufo_str){"", 0};
}

static gufo_status walk(json_reading *r, const json_t *step, const char *list, take_step *take,
                        void *context, int depth)
{
    gufo_str type = json_word(r, step, "type");
    const json_t *inner = json_object_get(step, list);
    gufo_status status = r->status;

    if (!json_is_object(step) || type.len == 0)
        return json_wrong(r, "a step of \"%s\" has no type", list);
    if (!str_is(type, "Sequence"))
        return status != GUFO_OK ? status : take(r, step, type, context);
    if (!json_is_array(inner) || depth == MAX_DEPTH)
        return json_wrong(r, "a Sequence has no list \"%s\", or is one of too many", list);
    for (size_t i = 0; status == GUFO_OK && i < json_array_size(inner); i++)
        status = walk(r, json_array_get(inner, i), list, take, context, depth + 1);
    return status;
}

gufo_status json_each_step(json_reading *r, const char *part, const char *list, take_step *take,
                           void *context)
{
    const json_t *step = r->file != NULL ? tokenizer_file_part(r->file, part) : NULL;

    return step == NULL ? GUFO_OK : walk(r, step, list, take, context, 0);
}
