/* Failures of gufo quantize, with advice. */
#include "cli/quantize/quantize.h"

#include "cli/core/jobs/job_run.h"

int quantize_failed(const quantize_options *o, const char *path, const gufo_error *error,
                    bool planning)
{
    static const struct {
        gufo_status status;
        bool planning;
        int code;
        const char *hint;
    } cases[] = {
        {GUFO_E_ARGUMENT, true, CODE_USAGE, ""},
        {GUFO_E_TYPE, true, CODE_USAGE, " (--allow-requantize accepts it)"},
        {GUFO_E_NOT_FOUND, true, CODE_USAGE, " (--imatrix)"},
        {GUFO_E_LIMIT, true, CODE_USAGE, ""},
        {GUFO_E_ARGUMENT, false, CODE_USAGE, ""},
        {GUFO_E_LIMIT, false, CODE_USAGE, " (--memory)"},
        {GUFO_E_EXISTS, false, CODE_USAGE, ""},
        {GUFO_E_RANGE, false, CODE_FAILED, " (--keep-nonfinite accepts it)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *hint = cases[i].hint;

        if (cases[i].status != error->code || cases[i].planning != planning)
            continue;
        if (error->code == GUFO_E_TYPE && o->plan.recipe.allow_requantize)
            hint = "";
        if (error->code == GUFO_E_EXISTS)
            hint = resume_hint(path);
        report_message(path, "%s%s", error->message, hint);
        return cases[i].code;
    }
    return report_error(path, error);
}
