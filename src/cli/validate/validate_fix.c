/* gufo validate --fix: faults with one right answer are fixed in a new file.  What there is to do
 * is a list, which grows with the findings. */
#include "cli/validate/validate.h"

#include "base/memory.h"
#include "cli/core/array.h"
#include "cli/core/progress.h"
#include "cli/core/report.h"
#include "cli/core/save.h"
#include "cli/core/signals.h"
#include "cli/core/text.h"
#include "cli/core/value.h"

#include "gufo/edit.h"

#include <stdlib.h>

/* ---- the list ------------------------------------------------------------------------------- */

static bool same_work(const gufo_fix *a, const gufo_fix *b)
{
    return a->kind == b->kind && (a->kind == GUFO_FIX_REWRITE || gufo_str_equal(a->key, b->key));
}

static bool copy_text(gufo_str *text)
{
    const char *copy = mem_text(&default_allocator, *text);

    *text = (gufo_str){copy, copy != NULL ? text->len : 0};
    return copy != NULL;
}

static void free_fix(const gufo_fix *fix)
{
    mem_free(&default_allocator, (char *)fix->key.data); /* copy_text made it */
    if (fix->value.type == GUFO_VALUE_STRING)
        mem_free(&default_allocator, (char *)fix->value.as.str.data);
}

void fix_list_add(fix_list *list, const gufo_fix *fix)
{
    gufo_fix *copy;
    bool good;

    if (fix->kind == GUFO_FIX_NONE || !fix->certain)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (same_work(&list->fixes[i], fix))
            return;
    copy = array_add(&list->fixes, &list->count, sizeof *copy);
    good = copy != NULL;
    if (good) {
        *copy = *fix; /* which outlives the finding */
        good = copy_text(&copy->key);
        if (fix->value.type == GUFO_VALUE_STRING)
            good = copy_text(&copy->value.as.str) && good;
    }
    list->failed = list->failed || !good;
}

/* Whether another key is to get the same name.  A fix that was struck out is NONE, and still
 * counts. */
static bool has_rival(const fix_list *list, size_t index)
{
    const gufo_fix *fix = &list->fixes[index];

    for (size_t i = 0; i < list->count && fix->kind == GUFO_FIX_RENAME; i++)
        if (i != index && list->fixes[i].value.type == GUFO_VALUE_STRING &&
            (list->fixes[i].kind == GUFO_FIX_RENAME || list->fixes[i].kind == GUFO_FIX_NONE) &&
            gufo_str_equal(list->fixes[i].value.as.str, fix->value.as.str))
            return true;
    return false;
}

void fix_list_settle(fix_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (has_rival(list, i))
            list->fixes[i].kind = GUFO_FIX_NONE;
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
    free(list->fixes);
    *list = (fix_list){0};
}

/* ---- reports -------------------------------------------------------------------------------- */

/* What of a fix counts besides its kind. */
typedef enum fix_part {
    PART_NONE,
    PART_KEY,
    PART_VALUE, /* and the key */
    PART_TYPE,  /* likewise; of the value */
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

void fix_write(json_writer *j, const char *name, const gufo_fix *fix, const char *command)
{
    fix_part part = wordings[fix->kind].part;

    json_begin_object(j, name);
    json_write_text(j, "action", wordings[fix->kind].action);
    if (part != PART_NONE)
        json_write_str(j, "key", fix->key);
    if (part == PART_TYPE)
        json_write_text(j, "type", gufo_value_type_name(fix->value.type));
    else if (part == PART_VALUE)
        value_write_json(j, "value", &fix->value, VALUE_ALL);
    if (name != NULL)
        json_write_bool(j, "certain", fix->certain);
    if (command != NULL)
        json_write_text(j, "command", command);
    json_end_object(j);
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
    gufo_edit_close(edit);
    for (size_t i = 0; code == CODE_OK && i < r->fixes->count; i++)
        if (!shared->quiet && !shared->json)
            fix_print(r->options->base.output, &r->fixes->fixes[i]);
    return code;
}
