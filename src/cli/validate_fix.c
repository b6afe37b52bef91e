/* gufo validate --fix: faults with one right answer are fixed in a new file. */
#include "cli/validate.h"

#include "cli/progress.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/signals.h"
#include "cli/text.h"

#include "gufo/edit.h"

/* ---- fixing --------------------------------------------------------------------------------- */

static bool needs_rewrite(const fix_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->fixes[i].kind == GUFO_FIX_REWRITE)
            return true;
    return false;
}

static int write_mended(gufo_edit *edit, const report *r)
{
    const shared_options *shared = r->options->base.shared;
    progress bar;
    const gufo_edit_target target = {
        .output = r->options->output, .replace = shared->force, .pack = needs_rewrite(r->fixes)};
    const gufo_run how = progress_run(&bar, shared);
    gufo_error error;
    gufo_status status;

    signals_defer();
    progress_start(&bar, shared->quiet);
    status = gufo_edit_apply(edit, &target, &how, NULL, NULL, &error);
    progress_end(&bar);
    if (status == GUFO_OK)
        return CODE_OK;
    if (status == GUFO_E_STOPPED) {
        report_message(r->options->output, "interrupted; nothing was written");
        return CODE_INTERRUPTED;
    }
    return save_report(r->options->output, &error);
}

static int make_changes(gufo_edit *edit, const report *r)
{
    gufo_error error;

    for (size_t i = 0; i < r->fixes->count; i++)
        if (gufo_document_fix(gufo_edit_document(edit), &r->fixes->fixes[i], &error) != GUFO_OK)
            return report_error(r->path, &error);
    return CODE_OK;
}

int fix_file(const report *r, report *output)
{
    const shared_options *shared = r->options->base.shared;
    const gufo_edit_options read_only = {.flags = GUFO_EDIT_READ_ONLY};
    gufo_error error;
    int code;

    if (r->fixes->failed)
        return report_memory(r->path);
    gufo_edit *edit = gufo_edit_open(r->path, &read_only, &error);

    if (edit == NULL)
        return report_error(r->path, &error);
    code = make_changes(edit, r);
    if (code == CODE_OK)
        code = write_mended(edit, r);
    gufo_edit_close(edit);
    if (code != CODE_OK)
        return code;
    for (size_t i = 0; i < r->fixes->count && !shared->quiet && !shared->json; i++) {
        text_put(stdout, gufo_str_of(output->path), TEXT_PLAIN);
        fputs(": ", stdout);
        fix_print(&r->fixes->fixes[i]);
    }
    output->silent = true;
    return check_input(output, 0);
}
