/* Reading steps: one sentence names the step and the member that is wrong. */
#include "text/pipeline/steps/step_reading.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/characters/characters.h"
#include "text/formats/json_tree.h"

/* ---- failures ------------------------------------------------------------------------------- */

static gufo_status fail_va(step_reading *r, gufo_status code, const char *format, va_list arguments)
{
    char what[GUFO_MESSAGE_SIZE], where[GUFO_QUOTE_SIZE + 8] = "";
    uint64_t at;

    if (r->status != GUFO_OK)
        return r->status;
    (void)vsnprintf(what, sizeof what, format, arguments);
    r->status = code;
    if (r->type.len > 0)
        (void)snprintf(where, sizeof where, ", step %s", QUOTED(r->type));
    return json_place_of(r->places, r->step, &at)
               ? fail_with(r->error, code, at, "%s%s: %s", r->part, where, what)
               : refuse(r->error, code, "%s%s: %s", r->part, where, what);
}

gufo_status step_wrong(step_reading *r, const char *format, ...)
{
    va_list arguments;
    gufo_status status;

    va_start(arguments, format);
    status = fail_va(r, GUFO_E_MALFORMED, format, arguments);
    va_end(arguments);
    return status;
}

gufo_status step_refuse(step_reading *r, gufo_status code, const char *format, ...)
{
    va_list arguments;
    gufo_status status;

    va_start(arguments, format);
    status = fail_va(r, code, format, arguments);
    va_end(arguments);
    return status;
}

gufo_status step_no_memory(step_reading *r)
{
    if (r->status == GUFO_OK)
        r->status = fail_memory(r->error);
    return r->status;
}

/* ---- members -------------------------------------------------------------------------------- */

typedef struct member_type {
    const char *what;
    bool (*is)(const json_t *value);
} member_type;

static bool is_flag(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static const member_type flag_type = {"neither true nor false", is_flag};
static const member_type text_type = {"not a text", is_text};
static const member_type count_type = {"not a number of things", is_count};
static const member_type list_type = {"not a list", is_list};
static const member_type object_type = {"not an object", is_object};

const json_t *step_member(step_reading *r, const char *name)
{
    return r->status == GUFO_OK ? json_member(r->step, name) : NULL;
}

static const json_t *step_required(step_reading *r, const char *name)
{
    const json_t *value = step_member(r, name);

    if (value == NULL)
        (void)step_wrong(r, "\"%s\" is missing", name);
    return value;
}

/* The value, if it is there and of the type; else NULL. */
static const json_t *typed(step_reading *r, const json_t *value, const char *name,
                           const member_type *type)
{
    if (value != NULL && !type->is(value))
        (void)step_wrong(r, "\"%s\" is %s", name, type->what);
    return r->status == GUFO_OK ? value : NULL;
}

bool step_flag(step_reading *r, const char *name)
{
    return json_is_true(typed(r, step_required(r, name), name, &flag_type));
}

bool step_flag_or(step_reading *r, const char *name, bool otherwise)
{
    const json_t *value = typed(r, step_member(r, name), name, &flag_type);

    return value != NULL ? json_is_true(value) : otherwise;
}

static gufo_str text_or(const json_t *value, const char *otherwise)
{
    return value != NULL ? json_str(value) : gufo_str_of(otherwise);
}

gufo_str step_text(step_reading *r, const char *name)
{
    return text_or(typed(r, step_required(r, name), name, &text_type), "");
}

gufo_str step_text_or(step_reading *r, const char *name, const char *otherwise)
{
    return text_or(typed(r, step_member(r, name), name, &text_type), otherwise);
}

uint64_t step_count(step_reading *r, const char *name)
{
    return (uint64_t)json_integer_value(typed(r, step_required(r, name), name, &count_type));
}

const json_t *step_list(step_reading *r, const char *name)
{
    return typed(r, step_required(r, name), name, &list_type);
}

const json_t *step_object(step_reading *r, const char *name)
{
    return typed(r, step_required(r, name), name, &object_type);
}

gufo_str step_character(step_reading *r, const char *name)
{
    gufo_str text = step_text(r, name);

    if (r->status == GUFO_OK &&
        (text.len == 0 || length_by_first_byte(text.data, text.len) != text.len))
        (void)step_wrong(r, "\"%s\" is not one character", name);
    return text;
}

expression *step_pattern(step_reading *r, const char *name)
{
    const json_t *value = step_object(r, name);
    const json_t *text = json_member(value, "String");
    bool literal = text != NULL;
    gufo_error reason;
    expression *e;

    if (!literal)
        text = json_member(value, "Regex");
    if (text == NULL || json_object_size(value) != 1)
        (void)step_wrong(r, "\"%s\" has not one member, \"String\" or \"Regex\"", name);
    text = typed(r, text, name, &text_type);
    if (text == NULL)
        return NULL;
    e = expression_new(json_str(text), literal, r->allocator, &reason);
    if (e == NULL)
        (void)(reason.code == GUFO_E_MEMORY ? step_no_memory(r)
                                            : step_refuse(r, reason.code, "%s", reason.message));
    return e;
}

gufo_str step_copy(step_reading *r, gufo_str text)
{
    char *copy = r->status == GUFO_OK ? mem_text(r->allocator, text) : NULL;

    if (copy == NULL)
        (void)step_no_memory(r);
    return copy != NULL ? (gufo_str){copy, text.len} : (gufo_str){NULL, 0};
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Begins with a step: GUFO_E_MALFORMED for what is not an object, or has a "type" that is not a text. */
static void begin_step(step_reading *r, const json_t *step)
{
    const json_t *type = json_member(step, "type");

    r->step = step;
    r->type = json_is_string(type) ? json_str(type) : (gufo_str){"", 0};
    if (!json_is_object(step))
        (void)step_wrong(r, "a step is not an object");
    else if (type != NULL && !json_is_string(type))
        (void)step_wrong(r, "the \"type\" of a step is not a text");
}

static gufo_status each(step_reading *r, const json_t *step, const char *list, step_taker *take,
                        void *context, unsigned depth)
{
    const json_t *steps;

    begin_step(r, step);
    if (r->status == GUFO_OK && r->type.len == 0)
        return step_wrong(r, "a step has no type");
    if (r->status == GUFO_OK && r->count++ == STEP_MOST)
        return step_refuse(r, GUFO_E_LIMIT, "there are more than %d steps", STEP_MOST);
    if (r->status != GUFO_OK || !step_is(r, "Sequence"))
        return r->status != GUFO_OK ? r->status : take(r, context);
    if (depth == STEP_DEPTH)
        return step_refuse(r, GUFO_E_LIMIT, "more than %d sequences are nested", STEP_DEPTH);
    steps = step_list(r, list);
    for (size_t i = 0; r->status == GUFO_OK && i < json_array_size(steps); i++)
        r->status = each(r, json_array_get(steps, i), list, take, context, depth + 1);
    return r->status;
}

gufo_status step_each(step_reading *r, const json_t *part, const char *list, step_taker *take,
                      void *context)
{
    return part == NULL || json_is_null(part) ? GUFO_OK : each(r, part, list, take, context, 0);
}

/* ---- post-processors: members --------------------------------------------------------------- */

bool processor_is_id(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < UINT32_MAX;
}

static named_id read_named_id(step_reading *r, const char *name)
{
    const json_t *value = step_list(r, name);

    if (r->status == GUFO_OK &&
        (json_array_size(value) != 2 || !json_is_string(json_array_get(value, 0)) ||
         !processor_is_id(json_array_get(value, 1))))
        (void)step_wrong(r, "\"%s\" is not a list of a text and an id", name);
    return r->status == GUFO_OK ? (named_id){json_str(json_array_get(value, 0)),
                                             (uint32_t)json_integer_value(json_array_get(value, 1))}
                                : (named_id){.id = 0};
}

static void read_bert(step_reading *r, processor *p)
{
    p->sep = read_named_id(r, "sep");
    p->cls = read_named_id(r, "cls");
}

static void read_byte_level(step_reading *r, processor *p)
{
    p->prefix_space = step_flag(r, "add_prefix_space");
    p->trim_offsets = step_flag(r, "trim_offsets");
}

static void read_roberta(step_reading *r, processor *p)
{
    read_bert(r, p);
    read_byte_level(r, p);
}

static void read_template(step_reading *r, processor *p)
{
    p->single = step_list(r, "single");
    p->pair = step_list(r, "pair");
    p->specials = step_object(r, "special_tokens");
}

gufo_status template_read_element(step_reading *r, const json_t *json, template_element *out)
{
    const json_t *text = json_object_get(json, "Sequence");
    const json_t *id =
        json_object_get(text != NULL ? text : json_object_get(json, "SpecialToken"), "id");

    if (!json_is_string(id))
        return step_wrong(r, "an element of a template is neither a \"Sequence\" nor a "
                             "\"SpecialToken\" with an \"id\"");
    *out =
        (template_element){text != NULL, text != NULL && str_is(json_str(id), "B"), json_str(id)};
    return !out->is_text || out->is_second || str_is(out->name, "A")
               ? GUFO_OK
               : step_wrong(r, "a template names a text %s: there are \"A\" and \"B\"",
                            QUOTED(out->name));
}

/* ---- post-processors: which kind each step is ----------------------------------------------- */

/* The library takes the first one whose members a step has, for most whatever its "type" says. */
static const struct {
    processor_kind kind;
    const char *type;
    bool is_typed; /* its "type" counts */
    void (*read)(step_reading *r, processor *p);
} processors[] = {
    {PROCESSOR_ROBERTA, "RobertaProcessing", false, read_roberta},
    {PROCESSOR_BERT, "BertProcessing", false, read_bert},
    {PROCESSOR_BYTE_LEVEL, "ByteLevel", true, read_byte_level},
    {PROCESSOR_TEMPLATE, "TemplateProcessing", false, read_template},
};

enum { PROCESSORS = sizeof processors / sizeof *processors };

/* Fails with what is missing for the type that it says it is. */
static gufo_status fail_processor(step_reading *r)
{
    processor p;

    for (size_t i = 0; i < PROCESSORS; i++)
        if (step_is(r, processors[i].type))
            processors[i].read(r, &p);
    return step_refuse(r, GUFO_E_TYPE, "no post-processor is called that, or has its members");
}

static bool find_processor(const step_reading *r, processor *p)
{
    for (size_t i = 0; i < PROCESSORS; i++) {
        step_reading probe = *r;

        if (processors[i].is_typed && !step_is(r, processors[i].type))
            continue;
        probe.error = NULL;
        *p = (processor){.kind = processors[i].kind};
        processors[i].read(&probe, p);
        if (probe.status == GUFO_OK)
            return true;
    }
    return false;
}

static gufo_status each_processor(step_reading *r, const json_t *step, take_processor *take,
                                  void *context, int depth)
{
    const json_t *steps;
    processor p;

    begin_step(r, step);
    if (r->status != GUFO_OK)
        return r->status;
    if (find_processor(r, &p))
        return take(r, &p, context);
    if (!step_is(r, "Sequence"))
        return fail_processor(r);
    if (depth == STEP_DEPTH)
        return step_refuse(r, GUFO_E_LIMIT, "more than %d sequences are nested", STEP_DEPTH);
    steps = step_list(r, "processors");
    for (size_t i = 0; r->status == GUFO_OK && i < json_array_size(steps); i++)
        r->status = each_processor(r, json_array_get(steps, i), take, context, depth + 1);
    return r->status;
}

gufo_status processor_each(step_reading *r, const json_t *part, take_processor *take, void *context)
{
    return part == NULL ? GUFO_OK : each_processor(r, part, take, context, 0);
}
