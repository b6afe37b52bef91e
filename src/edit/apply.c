/* From a document to a file: tries one way after another. */
#include <stdio.h>

#include "base/error.h"
#include "edit/edit.h"

static const gufo_edit_target the_file_itself = {0};

gufo_status gufo_edit_plan_for(gufo_edit *edit, const gufo_edit_target *target, gufo_edit_plan *out,
                               gufo_error *error)
{
    gufo_edit_plan plan = {0};
    uint8_t version = edit->document->encoding.version;
    gufo_status status;

    target = target != NULL ? target : &the_file_itself;
    status = edit_check_call(edit, target, error);
    if (status == GUFO_OK)
        status = edit_choose(edit, target, &plan, error);
    edit_give_back(edit);
    if (edit->document->encoding.version != version) {
        edit->document->encoding.version = version;
        document_touch(edit->document);
    }
    if (status == GUFO_OK && out != NULL)
        *out = plan;
    return model_fail(edit->model, status, error);
}

/* If an edit in place proves impossible, the file is rewritten. */
static gufo_status write_planned(gufo_edit *edit, const gufo_edit_target *target,
                                 const gufo_run *run, gufo_edit_plan *plan, bool *recover,
                                 gufo_error *error)
{
    in_place_outcome outcome;
    gufo_error reason;
    gufo_status status;

    if (plan->way == GUFO_EDIT_NOTHING)
        return GUFO_OK;
    if (plan->way == GUFO_EDIT_REWRITE)
        return edit_rewrite(edit, target, run, plan, error);
    status = edit_write_in_place(edit, plan, &outcome, &reason);
    *recover = outcome == IN_PLACE_BROKEN;
    if (outcome == IN_PLACE_CLOSED && target->in_place != GUFO_EDIT_IN_PLACE_ALWAYS) {
        snprintf(plan->way == GUFO_EDIT_INSERT ? plan->not_inserted : plan->not_overwritten,
                 sizeof plan->not_inserted, "%.*s", (int)sizeof plan->not_inserted - 1,
                 reason.message);
        status = edit_choose_rewrite(edit, target, false, plan, error);
        return status == GUFO_OK ? edit_rewrite(edit, target, run, plan, error) : status;
    }
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

gufo_status gufo_edit_apply(gufo_edit *edit, const gufo_edit_target *target, const gufo_run *run,
                            gufo_edit_plan *done, bool *recover, gufo_error *error)
{
    gufo_edit_plan plan = {0};
    bool ignored;
    gufo_status status;

    target = target != NULL ? target : &the_file_itself;
    recover = recover != NULL ? recover : &ignored;
    *recover = false;
    status = edit_check_call(edit, target, error);
    if (status != GUFO_OK)
        return model_fail(edit->model, status, error);
    edit->applied = true;
    status = edit_choose(edit, target, &plan, error);
    if (status == GUFO_OK)
        status = write_planned(edit, target, run, &plan, recover, error);
    edit_give_back(edit);
    if (status == GUFO_OK && done != NULL)
        *done = plan;
    return model_fail(edit->model, status, error);
}
