/* The page of `gufo report`, from the same C. */
#include "module.h"

#include "cli/report/report_facts.h"
#include "gufo/summary.h"

#include <stdlib.h>

enum { MOST_TEMPLATES = 16 };

/* The command reports that it has no memory; here the page lacks what it was for. */
int report_memory(const char *path)
{
    (void)path;
    return CODE_FAILED;
}

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

/* The texts of chat templates; nobody here judges or renders them. */
static void add_templates(report_store *store, gufo_report_model *shown)
{
    gufo_report_template *list = report_store_room(store, MOST_TEMPLATES, sizeof *list);
    uint64_t place = 0;

    while (list != NULL && shown->template_count < MOST_TEMPLATES &&
           gufo_model_next_chat_template(shown->model, &place, &list[shown->template_count].name,
                                         &list[shown->template_count].source))
        shown->template_count++;
    shown->templates = list;
}

static gufo_status write_content(gufo_report_model *shown, FILE *out, gufo_error *error)
{
    const gufo_report_content content = {.models = shown, .model_count = 1};
    report_store store = {.pieces = NULL};
    gufo_text page = {0};
    gufo_status status;

    (void)report_add_memory(&store, NULL, NULL, shown);
    add_templates(&store, shown);
    status = gufo_report_write(&content, &page, error);
    if (status == GUFO_OK)
        (void)fwrite(page.data, 1, page.len, out);
    gufo_text_free(&page);
    report_store_free(&store);
    return status;
}

gufo_status page_write(const viewer_model *m, FILE *out, gufo_error *error)
{
    const gufo_finding_list *found = findings_list(m->findings);
    gufo_report_finding *list = shown_findings(found);
    gufo_report_model shown = {.model = m->model,
                               .name = gufo_str_of(m->files[0].name),
                               .is_checked = findings_are_complete(m->findings),
                               .findings = list,
                               .finding_count = (size_t)gufo_finding_list_count(found)};
    gufo_status status = list != NULL
                             ? write_content(&shown, out, error)
                             : viewer_refuse(error, GUFO_E_MEMORY, "no memory for findings");

    free(list);
    return status;
}
