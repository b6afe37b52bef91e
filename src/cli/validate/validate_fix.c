/* gufo validate --fix: fixes faults with one right answer in a new file. */
#include "cli/validate/validate.h"

#include "cli/core/files/progress.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"
#include "cli/core/values/value.h"

#include "gufo/edit.h"

#include <stdlib.h>
#include <string.h>

/* ---- reports -------------------------------------------------------------------------------- */

static const struct {
    const char *before, *between;
} wordings[FIX_KINDS] = {
    [GUFO_FIX_REWRITE] = {"laid out again, with zeros as padding", NULL},
    [GUFO_FIX_SET] = {"set ", " to "},
    [GUFO_FIX_RENAME] = {"renamed ", " to "},
    [GUFO_FIX_SHORTEN] = {"shortened ", " to the number of elements of the others: "},
    [GUFO_FIX_RETYPE] = {"elements of ", " are now of type "},
    [GUFO_FIX_REMOVE] = {"removed ", ""},
    [GUFO_FIX_SUPPLY] = {"", ""},
    [GUFO_FIX_RENAME_TENSOR] = {"renamed tensor ", " to "},
};

/* "OUT: set general.file_type to 15" */
static void fix_print(const char *output, const gufo_fix *fix)
{
    gufo_fix_part part = gufo_fix_part_of(fix->kind);

    text_print("%s: %s", output, wordings[fix->kind].before);
    if (part != GUFO_FIX_PART_NONE) {
        text_put(stdout, fix->key, TEXT_PLAIN);
        fputs(wordings[fix->kind].between, stdout);
    }
    if (part == GUFO_FIX_PART_TYPE)
        fputs(gufo_value_type_name(fix->value.type), stdout);
    else if (part == GUFO_FIX_PART_VALUE && fix->value.type == GUFO_VALUE_STRING)
        text_put(stdout, fix->value.as.str, TEXT_PLAIN);
    else if (part == GUFO_FIX_PART_VALUE)
        value_put_number(stdout, &fix->value);
    putc('\n', stdout);
}

static const record_field fix_fields[] = {
    {"action", NULL, RECORD_TEXT, RECORD_AT(fix_row, action)},
    {"key", NULL, RECORD_STR, RECORD_AT(fix_row, key), .none = RECORD_OR_OUT},
    {"type", NULL, RECORD_TEXT, RECORD_AT(fix_row, type), .none = RECORD_OR_OUT},
    {"value", NULL, RECORD_SCALAR, RECORD_AT(fix_row, value), RECORD_GIVEN(fix_row, has_value)},
    {"certain", NULL, RECORD_FLAG, RECORD_AT(fix_row, certain), RECORD_GIVEN(fix_row, is_advice)},
    {"command", NULL, RECORD_TEXT, RECORD_AT(fix_row, command), .none = RECORD_OR_OUT},
};
const record_type fix_type = RECORD_OF(fix_row, fix_fields, 0);

fix_row fix_row_of(const gufo_fix *fix)
{
    gufo_fix_part part = gufo_fix_part_of(fix->kind);

    return (fix_row){.action = gufo_fix_name(fix->kind),
                     .key = part != GUFO_FIX_PART_NONE ? fix->key : (gufo_str){NULL, 0},
                     .type =
                         part == GUFO_FIX_PART_TYPE ? gufo_value_type_name(fix->value.type) : NULL,
                     .value = fix->value,
                     .has_value = part == GUFO_FIX_PART_VALUE,
                     .certain = fix->certain};
}

bool fix_make_row(const void *context, uint64_t index, void *record)
{
    gufo_fix fix;
    bool found = gufo_fixes_at(context, index, &fix);

    if (found)
        *(fix_row *)record = fix_row_of(&fix);
    return found;
}

/* ---- fixing --------------------------------------------------------------------------------- */

static int write_fixed(gufo_edit *edit, const report *r)
{
    const shared_options *shared = r->options->base.shared;
    gufo_edit_target target = {.output = r->options->base.output, .replace = shared->force};
    progress bar;
    const gufo_run how = progress_run(&bar, shared);
    gufo_error error;
    gufo_status status = gufo_fixes_apply(r->fixes, gufo_edit_document(edit), &target.pack, &error);

    if (status != GUFO_OK)
        return report_error(r->path, &error);
    signals_defer();
    progress_start(&bar, shared->quiet);
    status = gufo_edit_apply(edit, &target, &how, NULL, NULL, &error);
    progress_end(&bar);
    return status == GUFO_OK ? CODE_OK : save_report(target.output, &error);
}

int fix_file(const report *r)
{
    const shared_options *shared = r->options->base.shared;
    const gufo_edit_options read_only = {.flags = GUFO_EDIT_READ_ONLY};
    gufo_edit *edit;
    gufo_error error;
    gufo_fix fix;
    int code;

    edit = gufo_edit_open(r->path, &read_only, &error);
    if (edit == NULL)
        return report_error(r->path, &error);
    code = write_fixed(edit, r);
    gufo_edit_free(edit);
    for (uint64_t i = 0; code == CODE_OK && gufo_fixes_at(r->fixes, i, &fix); i++)
        if (!shared->quiet && !shared->json)
            fix_print(r->options->base.output, &fix);
    return code;
}
