/* From a list of changes to a file. */
#include <stdio.h>

#include "base/error.h"
#include "edit/edit.h"

static const gufo_edit_target the_file_itself = {0};

gufo_status gufo_edit_plan_for(gufo_edit *edit, const gufo_edit_target *target, gufo_edit_plan *out,
                               gufo_error *error)
{
    new_header h;
    gufo_status status = new_header_make(&h, edit, error);

    if (status != GUFO_OK)
        return status;
    status = edit_choose(edit, &h, target != NULL ? target : &the_file_itself, out, error);
    edit_give_back(edit);
    new_header_free(&h);
    return status;
}

const char *gufo_edit_failed_path(const gufo_edit *edit)
{
    return edit->failed_path;
}

/* A way in place that turned out to be closed leads to a rewrite. */
static gufo_status write_planned(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                                 gufo_edit_plan *plan, bool *recover, gufo_error *error)
{
    in_place_outcome outcome;
    gufo_error reason;
    gufo_status status;

    if (plan->way == GUFO_EDIT_NOTHING)
        return GUFO_OK;
    if (plan->way == GUFO_EDIT_REWRITE)
        return edit_rewrite(edit, h, target, plan, error);
    status = edit_write_in_place(edit, h, plan, &outcome, &reason);
    *recover = outcome == IN_PLACE_BROKEN;
    if (outcome == IN_PLACE_CLOSED && target->in_place != GUFO_EDIT_IN_PLACE_ALWAYS) {
        snprintf(plan->way == GUFO_EDIT_INSERT ? plan->not_inserted : plan->not_overwritten,
                 sizeof plan->not_inserted, "%.*s", (int)sizeof plan->not_inserted - 1,
                 reason.message);
        status = edit_choose_rewrite(edit, h, target, plan, error);
        return status == GUFO_OK ? edit_rewrite(edit, h, target, plan, error) : status;
    }
    if (status != GUFO_OK && error != NULL)
        *error = reason;
    return status;
}

gufo_status gufo_edit_apply(gufo_edit *edit, const gufo_edit_target *target, gufo_edit_plan *done,
                            bool *recover, gufo_error *error)
{
    gufo_edit_plan plan = {0};
    bool ignored;
    new_header h;
    gufo_status status;

    if (target == NULL)
        target = &the_file_itself;
    if (recover == NULL)
        recover = &ignored;
    *recover = false;
    if (edit->applied)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "the edit was applied already");
    if (edit->fd < 0 && target->output == NULL)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "the file was opened to be read only");
    status = new_header_make(&h, edit, error);
    if (status != GUFO_OK)
        return status;
    edit->applied = true;
    status = edit_choose(edit, &h, target, &plan, error);
    if (status == GUFO_OK)
        status = write_planned(edit, &h, target, &plan, recover, error);
    edit_give_back(edit);
    new_header_free(&h);
    if (status == GUFO_OK && done != NULL)
        *done = plan;
    return status;
}
