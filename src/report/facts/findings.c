/* Findings in the order in which the page has them: the worst first, those of a rule beside each other, for
 * many of one rule are folded. */
#include "report/facts/facts.h"

#include "base/memory.h"
#include "base/sort.h"

gufo_report_finding gufo_report_finding_of(const gufo_finding *finding, const gufo_model *model)
{
    bool is_set = model != NULL && gufo_model_shard_count(model) > 1;

    return (gufo_report_finding){.rule = finding->rule,
                                 .severity = finding->rule->severity,
                                 .offset = finding->offset,
                                 .shard = is_set ? finding->shard + 1 : 0,
                                 .subject = finding->subject,
                                 .message = gufo_str_of(finding->message),
                                 .hint = gufo_str_of(finding->hint)};
}

static const char *rule_of(const gufo_report_finding *finding)
{
    return finding->rule != NULL ? finding->rule->id : "";
}

/* Those of a rule stay in the order of the caller. */
static bool is_before(const void *a, const void *b)
{
    const gufo_report_finding *first = *(const gufo_report_finding *const *)a;
    const gufo_report_finding *second = *(const gufo_report_finding *const *)b;
    int order = strcmp(rule_of(first), rule_of(second));

    if (first->severity != second->severity)
        return first->severity > second->severity;
    return order != 0 ? order < 0 : first < second;
}

bool facts_sort_findings(model_facts *facts, const gufo_report_model *model)
{
    facts->findings = mem_array(facts->allocator, model->finding_count, sizeof(void *));
    if (facts->findings == NULL)
        return false;
    for (size_t i = 0; i < model->finding_count; i++)
        facts->findings[i] = &model->findings[i];
    sort_items(facts->findings, model->finding_count, sizeof(void *), is_before);
    return true;
}
