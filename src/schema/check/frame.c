/* Findings, and what the checks ask of a file. */
#include "schema/check/frame.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/rules/rules.h"

static const gufo_level rule_levels[] = {
#define RULE(constant, id, name, severity, level, clause, summary) GUFO_LEVEL_##level,
#include "format/rules/rules_of_meaning.def"
#undef RULE
};

/* ---- findings ------------------------------------------------------------------------------- */

void schema_report(check_context *c, schema_rule number, finding_place place, const char *format,
                   ...)
{
    const gufo_rule *rule = gufo_rule_at(RULE_FIRST_OF_MEANING + (size_t)number);
    char message[sizeof c->error->message], text[sizeof message + 128];
    gufo_finding finding = {.rule = rule,
                            .offset = place.offset,
                            .subject = place.subject,
                            .message = text,
                            .hint = place.hint,
                            .fix = place.fix,
                            .shard = place.shard};
    va_list args;

    if ((place.many && c->listed[number]++ >= FINDINGS_OF_A_RULE) || rule_levels[number] > c->level)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(text, sizeof text, "%s (%s)", message, rule->clause);
    if (c->found != NULL)
        c->found(c->context, &finding);
}

const char *schema_hint(check_context *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(c->hint, sizeof c->hint, format, args);
    va_end(args);
    return c->hint;
}

void schema_report_rest(check_context *c)
{
    for (size_t i = 0; i < SCHEMA_RULE_COUNT; i++) {
        if (c->listed[i] > FINDINGS_OF_A_RULE)
            schema_report(c, (schema_rule)i, at_missing(""),
                          "%" PRIu64 " more findings like the ones before are not listed",
                          c->listed[i] - FINDINGS_OF_A_RULE);
        c->listed[i] = 0;
    }
}

/* ---- what is checked ------------------------------------------------------------------------ */

bool schema_arch_entry(const check_context *c, gufo_entry *out, const char *name, ...)
{
    gufo_str own = c->architecture;
    char key[256];
    size_t len = (size_t)snprintf(key, sizeof key, "%.*s.", (int)(own.len & 0xff), own.data);
    va_list args;

    va_start(args, name);
    len += (size_t)vsnprintf(key + len, sizeof key - len, name, args);
    va_end(args);
    return own.len < 128 && len < sizeof key &&
           gufo_metadata_find_str(c->model, (gufo_str){key, len}, out);
}

bool schema_check_number(const check_context *c, const char *key, gufo_entry *entry, uint64_t *out)
{
    return gufo_metadata_find(c->model, key, entry) &&
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
