/* Rules about tensors by their names. */
#include "cli/quantize/name_rules.h"

#include "cli/core/terminal/report.h"
#include "cli/core/values/array.h"

#include <stdlib.h>
#include <string.h>

int name_rules_add(name_rules *rules, const char *option, const char *text, size_t len,
                   name_rule **added)
{
    char message[PATTERN_MESSAGE];
    name_rule *rule = array_add(&rules->list, &rules->count, sizeof *rule);

    if (rule == NULL)
        return CODE_FAILED;
    rules->option = option;
    rule->text = strndup(text, len);
    if (rule->text == NULL)
        return report_memory(NULL);
    rule->pattern = pattern_new(rule->text, message);
    if (rule->pattern == NULL)
        report_message(NULL, "--%s: pattern '%s': %s", option, rule->text, message);
    *added = rule;
    return rule->pattern != NULL ? CODE_OK : CODE_USAGE;
}

void name_rules_free(name_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        pattern_free(rules->list[i].pattern);
        free(rules->list[i].text);
    }
    free(rules->list);
}

/* One pattern that is too costly would be so for every tensor. */
const name_rule *name_rules_find(name_rules *rules, gufo_str name)
{
    for (size_t i = 0; i < rules->count && rules->costly == NULL; i++) {
        pattern_answer answer = pattern_match(rules->list[i].pattern, name);

        if (answer == PATTERN_YES)
            return &rules->list[i];
        if (answer == PATTERN_TOO_COSTLY)
            rules->costly = &rules->list[i];
    }
    return NULL;
}

static bool rule_matches(const name_rule *rule, const gufo_model *model)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++)
        if (pattern_match(rule->pattern, tensor.name) == PATTERN_YES)
            return true;
    return false;
}

int name_rules_check(const name_rules *rules, const char *input, const gufo_model *model)
{
    size_t matching = 0;

    for (size_t i = 0; i < rules->count; i++) {
        if (rule_matches(&rules->list[i], model))
            matching++;
        else
            report_warning(input, "no tensor matches '%s'", rules->list[i].text);
    }
    if (matching > 0 || rules->count == 0)
        return CODE_OK;
    return report_as(CODE_NO, input, "no tensor matches a --%s pattern; nothing was written",
                     rules->option);
}
