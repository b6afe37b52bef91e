/* The table of all rules, of every level (format/rules/rules.def). */
#include "format/rules/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const gufo_rule rules[] = {
#define RULE(constant, id, name, severity, spec, level, opening, clause, summary) \
    {id,                                                                          \
     name,                                                                        \
     GUFO_##severity,                                                             \
     GUFO_##spec,                                                                 \
     GUFO_LEVEL_##level,                                                          \
     GUFO_##opening != GUFO_OK,                                                   \
     GUFO_##opening != GUFO_OK ? GUFO_##opening : GUFO_E_MALFORMED,               \
     clause,                                                                      \
     summary},
#include "format/rules/rules.def"
#undef RULE
};

static const char *const severity_names[] = {
    [GUFO_INFO] = "info", [GUFO_WARNING] = "warning", [GUFO_ERROR] = "error"};

const char *gufo_severity_name(gufo_severity severity)
{
    size_t index = (size_t)severity;

    return index < sizeof severity_names / sizeof *severity_names ? severity_names[index]
                                                                  : "unknown";
}

static const char *const level_names[] = {[GUFO_LEVEL_DEFAULT] = "model",
                                          [GUFO_LEVEL_STRUCTURE] = "structure",
                                          [GUFO_LEVEL_STANDARD] = "standard",
                                          [GUFO_LEVEL_MODEL] = "model",
                                          [GUFO_LEVEL_SPEC] = "spec"};

enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

const char *gufo_level_name(gufo_level level)
{
    return (size_t)level < LEVEL_COUNT ? level_names[level] : "unknown";
}

bool gufo_level_by_name(const char *name, gufo_level *level)
{
    for (size_t i = GUFO_LEVEL_STRUCTURE; i < LEVEL_COUNT; i++)
        if (strcmp(level_names[i], name) == 0) {
            if (level != NULL)
                *level = (gufo_level)i;
            return true;
        }
    return false;
}

const gufo_rule *gufo_rule_at(size_t index)
{
    return index < RULE_COUNT ? &rules[index] : NULL;
}

const gufo_rule *gufo_rule_by_id(const char *id_or_name)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rules[i].id, id_or_name) == 0 || strcmp(rules[i].name, id_or_name) == 0)
            return &rules[i];
    return NULL;
}

gufo_status rule_failure(gufo_error *error, rule_number number, const char *format, ...)
{
    const gufo_rule *rule = &rules[number];
    va_list args;

    if (error == NULL)
        return rule->status;
    *error = (gufo_error){.code = rule->status, .offset = GUFO_NO_OFFSET, .rule = rule};
    va_start(args, format);
    (void)vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return rule->status;
}

bool rule_rest(uint64_t found, char message[RULE_REST_SIZE])
{
    if (found <= FINDINGS_OF_A_RULE)
        return false;
    (void)snprintf(message, RULE_REST_SIZE, "%s more findings like the ones before are not listed",
                   GROUPED(found - FINDINGS_OF_A_RULE));
    return true;
}
