/* Tensors whose names differ in a number alone, as one line. */
#include "cli/inspect/show.h"

#include "cli/core/options/names.h"
#include "cli/core/terminal/report.h"
#include "cli/core/values/number.h"

#include <stdio.h>

static bool is_shown(void *glob, gufo_str name)
{
    return glob_matches(glob, name);
}

bool fold_tensors(fold *f, const gufo_model *model, const char *glob)
{
    const gufo_tensor_groups_options options = {.keep = is_shown, .keep_context = (void *)glob};
    gufo_error error;

    *f = (fold){.groups = gufo_tensor_groups_new(model, &options, &error)};
    if (f->groups == NULL)
        (void)report_error(NULL, &error);
    return f->groups != NULL;
}

void fold_free(fold *f)
{
    gufo_tensor_groups_free(f->groups);
    gufo_text_free(&f->name);
}

/* ---- rows ----------------------------------------------------------------------------------- */

enum { FOR_PEOPLE = 1, FOR_MARKDOWN = 2 };

/* A long list of numbers must not be shortened: the number of tensors goes first. */
static const record_field fields[] = {
    {NULL, "name", RECORD_STR, RECORD_AT(fold_row, tensor.name), .width = -1},
    {NULL, "type", RECORD_TYPE, RECORD_AT(fold_row, tensor.type), .width = -1},
    {NULL, "shape", RECORD_SHAPE, RECORD_AT(fold_row, tensor), .width = -1, .drop = 1},
    {NULL, "tensors", RECORD_CHARS, RECORD_AT(fold_row, counted), .part = FOR_PEOPLE, .instead = "",
     .drop = 2},
    {NULL, "tensors", RECORD_COUNT, RECORD_AT(fold_row, count), .part = FOR_MARKDOWN},
    {NULL, "size", RECORD_BYTES, RECORD_AT(fold_row, tensor.size), .width = 1},
};
const record_type fold_text = RECORD_OF(fold_row, fields, FOR_PEOPLE);
const record_type fold_markdown = RECORD_OF(fold_row, fields, FOR_MARKDOWN);

bool fold_make(const void *context, uint64_t index, void *record)
{
    fold *f = *(fold *const *)context;
    fold_row *row = record;
    gufo_tensor_group group;

    if (!gufo_tensor_groups_at(f->groups, index, &group) ||
        gufo_tensor_groups_name(f->groups, index, &f->name, NULL) != GUFO_OK)
        return false;
    row->tensor = group.first;
    row->tensor.name = (gufo_str){f->name.data, f->name.len};
    row->tensor.size = group.size;
    row->count = group.count;
    if (group.count > 1)
        snprintf(row->counted, sizeof row->counted, "%.24s tensors",
                 human_grouped(group.count).text);
    return true;
}
