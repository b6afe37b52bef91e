/* The page of `gufo report`, from the same C. */
#include "module.h"

#include "gufo/report.h"

#include <stdlib.h>

static gufo_report_finding shown_finding(const gufo_finding *finding)
{
    return (gufo_report_finding){.rule = finding->rule,
                                 .severity = finding->rule->severity,
                                 .offset = finding->offset,
                                 .subject = finding->subject,
                                 .message = gufo_str_of(finding->message),
                                 .hint = gufo_str_of(finding->hint)};
}

/* The caller frees the list. */
static gufo_report_finding *shown_findings(const gufo_finding_list *found)
{
    gufo_report_finding *list = calloc((size_t)gufo_finding_list_count(found) + 1, sizeof *list);
    gufo_finding finding;

    for (uint64_t i = 0; list != NULL && gufo_finding_list_at(found, i, &finding); i++)
        list[i] = shown_finding(&finding);
    return list;
}

static gufo_status write_content(const viewer_model *m, const gufo_report_finding *list, FILE *out,
                                 gufo_error *error)
{
    const gufo_report_model model = {
        .model = m->model,
        .name = gufo_str_of(m->files[0].name),
        .is_checked = findings_are_complete(m->findings),
        .findings = list,
        .finding_count = (size_t)gufo_finding_list_count(findings_list(m->findings))};
    const gufo_report_content content = {.models = &model, .model_count = 1};
    gufo_text page = {0};
    gufo_status status = gufo_report_write(&content, &page, error);

    if (status == GUFO_OK)
        (void)fwrite(page.data, 1, page.len, out);
    gufo_text_free(&page);
    return status;
}

gufo_status page_write(const viewer_model *m, FILE *out, gufo_error *error)
{
    gufo_report_finding *list = shown_findings(findings_list(m->findings));
    gufo_status status = list != NULL
                             ? write_content(m, list, out, error)
                             : viewer_refuse(error, GUFO_E_MEMORY, "no memory for findings");

    free(list);
    return status;
}
