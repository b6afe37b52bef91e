/* Findings, and what the checks ask of a file. */
#include "schema/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/rules/rules.h"
#include "schema/registry/key.h"

/* ---- findings ------------------------------------------------------------------------------- */

static void emit(check_context *c, rule_number number, gufo_finding finding, const char *message)
{
    finding.rule = gufo_rule_at((size_t)number);
    finding.message = message;
    if (c->found != NULL)
        c->found(c->context, &finding);
}

void schema_report(check_context *c, rule_number number, gufo_finding finding, const char *format,
                   ...)
{
    char message[sizeof c->error->message];
    va_list args;

    if (gufo_rule_at((size_t)number)->level > c->level)
        return;
    if (!c->every && c->listed[number]++ >= FINDINGS_OF_A_RULE)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    emit(c, number, finding, message);
}

const char *schema_text(check_context *c, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(c->text, sizeof c->text, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof c->text)
        c->text[0] = '\0';
    return c->text;
}

const char *schema_and_more(check_context *c, uint64_t count)
{
    c->more[0] = '\0';
    if (count > 1)
        (void)snprintf(c->more, sizeof c->more, " (and %s more)", GROUPED(count - 1));
    return c->more;
}

void schema_report_rest(check_context *c)
{
    char message[RULE_REST_SIZE];

    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (rule_rest(c->listed[i], message))
            emit(c, (rule_number)i, at_missing(""), message);
        c->listed[i] = 0;
    }
}

/* ---- what is checked ------------------------------------------------------------------------ */

bool schema_arch_entry(const check_context *c, gufo_entry *out, const char *name, ...)
{
    static const char front[] = KEY_ARCH ".";
    const size_t room = KEY_SIZE - strlen(front);
    char key[KEY_SIZE];
    va_list args;
    int len;

    memcpy(key, front, sizeof front);
    va_start(args, name);
    len = vsnprintf(key + strlen(front), room, name, args);
    va_end(args);
    return len >= 0 && (size_t)len < room && key_entry_of(c->model, c->architecture, key, out);
}

bool schema_check_number(const check_context *c, const char *key, gufo_entry *entry, uint64_t *out)
{
    return key_entry_of(c->model, c->architecture, key, entry) &&
           gufo_value_u64(&entry->value, out, NULL) == GUFO_OK;
}

void schema_each_text(const gufo_entry *entry,
                      void (*take)(void *context, gufo_str text, uint64_t at), void *context)
{
    const gufo_array *array = &entry->value.as.array;
    gufo_array_iter iter;
    gufo_value text;

    if (entry->value.type == GUFO_VALUE_STRING)
        take(context, entry->value.as.str, entry->value_offset);
    if (entry->value.type != GUFO_VALUE_ARRAY || array->type != GUFO_VALUE_STRING)
        return;
    iter = gufo_array_start(array);
    while (gufo_array_next(&iter, &text))
        take(context, text.as.str,
             entry->value_offset + (uint64_t)(text.as.str.data - (const char *)array->data));
}
