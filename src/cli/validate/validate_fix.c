/* gufo validate --fix: fixes faults with one right answer in a new file.  The list of fixes grows
 * with the findings. */
#include "cli/validate/validate.h"

#include "base/memory.h"
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

/* ---- the list ------------------------------------------------------------------------------- */

/* The key is a copy after the kind, so that both together are a name; that of REWRITE is empty. */
static gufo_str work_name(const void *list, uint64_t index)
{
    const gufo_fix *fix = &((const fix_list *)list)->fixes[index];

    return (gufo_str){fix->key.data - 1, fix->key.len + 1};
}

static gufo_str new_name(const void *list, uint64_t index)
{
    return ((const fix_list *)list)->fixes[index].value.as.str;
}

static bool copy_key(gufo_fix *fix)
{
    size_t len = fix->kind != GUFO_FIX_REWRITE ? fix->key.len : 0;
    char *copy = mem_alloc(&default_allocator, len + 1);

    if (copy == NULL) {
        fix->key = (gufo_str){NULL, 0};
        return false;
    }
    copy[0] = (char)('A' + (int)fix->kind);
    if (len > 0)
        memcpy(copy + 1, fix->key.data, len);
    fix->key = (gufo_str){copy + 1, len};
    return true;
}

static bool copy_text(gufo_str *text)
{
    const char *copy = mem_text(&default_allocator, *text);

    *text = (gufo_str){copy, copy != NULL ? text->len : 0};
    return copy != NULL;
}

static void free_fix(const gufo_fix *fix)
{
    if (fix->key.data != NULL)
        mem_free(&default_allocator, (char *)fix->key.data - 1); /* copy_key made it */
    if (fix->value.type == GUFO_VALUE_STRING)
        mem_free(&default_allocator, (char *)fix->value.as.str.data);
}

static bool has_room(fix_list *list)
{
    gufo_error error;

    list->index.name_of = work_name;
    list->index.owner = list;
    return name_index_grow(&list->index, list->count - 1, &default_allocator, &error) == GUFO_OK;
}

void fix_list_add(fix_list *list, const gufo_fix *fix)
{
    uint64_t first;
    gufo_fix *copy;
    bool good;

    if (fix->kind == GUFO_FIX_NONE || !fix->certain || list->failed)
        return;
    copy = array_add(&list->fixes, &list->count, sizeof *copy);
    list->failed = copy == NULL;
    if (copy == NULL)
        return;
    *copy = *fix; /* which outlives the finding */
    good = copy_key(copy);
    if (fix->value.type == GUFO_VALUE_STRING)
        good = copy_text(&copy->value.as.str) && good;
    list->failed = !good || !has_room(list);
    if (!list->failed && !name_index_add(&list->index, list->count - 1, &first))
        free_fix(&list->fixes[--list->count]);
}

/* Strikes out renames of several keys to one name. */
static void strike_rivals(fix_list *list)
{
    uint64_t first;
    gufo_error error;
    name_index names;

    if (name_index_new(&names, list->count, new_name, list, &default_allocator, &error) !=
        GUFO_OK) {
        list->failed = true;
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->fixes[i].kind == GUFO_FIX_RENAME && !name_index_add(&names, i, &first))
            list->fixes[i].kind = list->fixes[first].kind = GUFO_FIX_NONE;
    name_index_free(&names, &default_allocator);
}

void fix_list_settle(fix_list *list)
{
    size_t kept = 0;

    if (list->count > 0)
        strike_rivals(list);
    for (size_t i = 0; i < list->count; i++)
        if (list->fixes[i].kind != GUFO_FIX_NONE)
            list->fixes[kept++] = list->fixes[i];
        else
            free_fix(&list->fixes[i]);
    list->count = kept;
}

void fix_list_free(fix_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_fix(&list->fixes[i]);
    name_index_free(&list->index, &default_allocator);
    free(list->fixes);
    *list = (fix_list){0};
}

/* ---- reports -------------------------------------------------------------------------------- */

/* The parts of a fix that count besides its kind. */
typedef enum fix_part {
    PART_NONE,
    PART_KEY,
    PART_VALUE, /* and the key */
    PART_TYPE,  /* and the key: the type of the value */
} fix_part;

static const struct {
    const char *action; /* in JSON */
    fix_part part;
    const char *before, *between;
} wordings[FIX_KINDS] = {
    [GUFO_FIX_REWRITE] = {"rewrite", PART_NONE, "laid out again, with zeros as padding", NULL},
    [GUFO_FIX_SET] = {"set", PART_VALUE, "set ", " to "},
    [GUFO_FIX_RENAME] = {"rename", PART_VALUE, "renamed ", " to "},
    [GUFO_FIX_SHORTEN] = {"shorten", PART_VALUE, "shortened ",
                          " to the number of elements of the others: "},
    [GUFO_FIX_RETYPE] = {"retype", PART_TYPE, "elements of ", " are now of type "},
    [GUFO_FIX_REMOVE] = {"remove", PART_KEY, "removed ", ""},
    [GUFO_FIX_SUPPLY] = {"supply", PART_TYPE, "", ""},
    [GUFO_FIX_RENAME_TENSOR] = {"rename_tensor", PART_VALUE, "renamed tensor ", " to "},
};

/* "OUT: set general.file_type to 15" */
static void fix_print(const char *output, const gufo_fix *fix)
{
    fix_part part = wordings[fix->kind].part;

    text_print("%s: %s", output, wordings[fix->kind].before);
    if (part != PART_NONE) {
        text_put(stdout, fix->key, TEXT_PLAIN);
        fputs(wordings[fix->kind].between, stdout);
    }
    if (part == PART_TYPE)
        fputs(gufo_value_type_name(fix->value.type), stdout);
    else if (part == PART_VALUE && fix->value.type == GUFO_VALUE_STRING)
        text_put(stdout, fix->value.as.str, TEXT_PLAIN);
    else if (part == PART_VALUE)
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
    fix_part part = wordings[fix->kind].part;

    return (fix_row){.action = wordings[fix->kind].action,
                     .key = part != PART_NONE ? fix->key : (gufo_str){NULL, 0},
                     .type = part == PART_TYPE ? gufo_value_type_name(fix->value.type) : NULL,
                     .value = fix->value,
                     .has_value = part == PART_VALUE,
                     .certain = fix->certain};
}

bool fix_make_row(const void *context, uint64_t index, void *record)
{
    const fix_list *list = context;

    if (index < list->count)
        *(fix_row *)record = fix_row_of(&list->fixes[index]);
    return index < list->count;
}

/* ---- fixing --------------------------------------------------------------------------------- */

static int write_fixed(gufo_edit *edit, const report *r)
{
    const shared_options *shared = r->options->base.shared;
    gufo_edit_target target = {.output = r->options->base.output, .replace = shared->force};
    progress bar;
    const gufo_run how = progress_run(&bar, shared);
    gufo_error error;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < r->fixes->count && status == GUFO_OK; i++) {
        const gufo_fix *fix = &r->fixes->fixes[i];

        target.pack = target.pack || fix->kind == GUFO_FIX_REWRITE;
        status = gufo_document_fix(gufo_edit_document(edit), fix, &error);
    }
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
    int code;

    if (r->fixes->failed)
        return report_memory(r->path);
    edit = gufo_edit_open(r->path, &read_only, &error);
    if (edit == NULL)
        return report_error(r->path, &error);
    code = write_fixed(edit, r);
    gufo_edit_free(edit);
    for (size_t i = 0; code == CODE_OK && i < r->fixes->count; i++)
        if (!shared->quiet && !shared->json)
            fix_print(r->options->base.output, &r->fixes->fixes[i]);
    return code;
}
