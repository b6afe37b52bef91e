/* The page of `gufo report`, from the same C. */
#include "module.h"

#include "cli/core/terminal/text.h"
#include "gufo/report.h"

#include <stdlib.h>

/* The caller frees the list. */
static gufo_report_finding *shown_findings(const gufo_model *model, const gufo_finding_list *found)
{
    gufo_report_finding *list = calloc((size_t)gufo_finding_list_count(found) + 1, sizeof *list);
    gufo_finding finding;

    for (uint64_t i = 0; list != NULL && gufo_finding_list_at(found, i, &finding); i++)
        list[i] = gufo_report_finding_of(&finding, model);
    return list;
}

/* The command that shows what the page does not read.  False without memory. */
static bool name_command(const viewer_model *m, answer *command)
{
    if (!answer_begin(command))
        return false;
    fputs("gufo report --stats", command->out);
    shell_put_file(command->out, m->files[0].name);
    fputs(" -o OUT.html", command->out);
    return answer_end(command);
}

static gufo_status write_content(gufo_report_model *shown, FILE *out, gufo_error *error)
{
    const gufo_report_content content = {.models = shown, .model_count = 1};
    gufo_report_curves *curves = gufo_report_curves_new(shown->model, NULL, error);
    gufo_text page = {0};
    gufo_status status;

    if (curves == NULL)
        return error->code;
    shown->memory = gufo_report_curves_list(curves, &shown->memory_count);
    status = gufo_report_write(&content, &page, error);
    if (status == GUFO_OK)
        (void)fwrite(page.data, 1, page.len, out);
    gufo_text_free(&page);
    gufo_report_curves_free(curves);
    return status;
}

gufo_status page_write(const viewer_model *m, FILE *out, gufo_error *error)
{
    const gufo_finding_list *found = findings_list(m->findings);
    gufo_report_finding *list = shown_findings(m->model, found);
    gufo_report_model shown = {.model = m->model,
                               .name = gufo_str_of(m->files[0].name),
                               .is_checked = findings_are_complete(m->findings),
                               .findings = list,
                               .finding_count = (size_t)gufo_finding_list_count(found)};
    answer command;
    bool named = name_command(m, &command);
    gufo_status status = GUFO_OK;

    shown.hints[GUFO_REPORT_STATS] = command.text;
    if (list == NULL || !named)
        status = viewer_refuse(error, GUFO_E_MEMORY, "no memory for the page");
    else
        status = write_content(&shown, out, error);
    answer_free(&command);
    free(list);
    return status;
}
