/* The table of all rules: those of the format (format/rules/rules.def), followed by those about
 * what a file means (format/rules/rules_of_meaning.def), which the room schema checks. */
#include "format/rules/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const gufo_rule rules[] = {
#define RULE(constant, id, name, severity, fatal, status, clause, summary) \
    {id, name, GUFO_##severity, fatal, GUFO_E_##status, clause, summary},
#include "format/rules/rules.def"
#undef RULE
#define RULE(constant, id, name, severity, level, clause, summary) \
    {id, name, GUFO_##severity, false, GUFO_E_MALFORMED, clause, summary},
#include "format/rules/rules_of_meaning.def"
#undef RULE
};

enum { ALL_RULE_COUNT = sizeof rules / sizeof *rules };

static const char *const severity_names[] = {
    [GUFO_INFO] = "info", [GUFO_WARNING] = "warning", [GUFO_ERROR] = "error"};

const char *gufo_severity_name(gufo_severity severity)
{
    size_t index = (size_t)severity;

    return index < sizeof severity_names / sizeof *severity_names ? severity_names[index]
                                                                  : "unknown";
}

const gufo_rule *gufo_rule_at(size_t index)
{
    return index < ALL_RULE_COUNT ? &rules[index] : NULL;
}

const gufo_rule *gufo_rule_by_id(const char *id_or_name)
{
    for (size_t i = 0; i < ALL_RULE_COUNT; i++)
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
