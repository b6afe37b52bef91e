/* Makes the changes that the options ask for, in their order, and checks them. */
#include "cli/change/edit.h"

#include "cli/core/files/input.h"
#include "cli/core/options/names.h"
#include "cli/core/values/number.h"

#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- one change ----------------------------------------------------------------------------- */

/* `context` points to the pattern. */
static bool matches(void *context, gufo_str key)
{
    return glob_matches(*(const char *const *)context, key);
}

static int remove_keys(edit_change *c)
{
    uint64_t removed;

    gufo_document_remove(c->document, matches, &c->operation->text, &removed);
    if (removed > 0)
        return CODE_OK;
    c->options->unmatched = true;
    report_warning(c->options->path, "--remove %s: no key matches", c->operation->text);
    return CODE_OK;
}

static int rename_one(edit_change *c)
{
    bool is_tensor = c->operation->kind == EDIT_RENAME_TENSOR;

    return edit_check(c, c->operation->text,
                      (is_tensor ? gufo_document_rename_tensor
                                 : gufo_document_rename)(c->document, c->key, c->rest, &c->error));
}

static int copy_keys(edit_change *c)
{
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE,
                                         .max_depth = options_max_depth()};
    edit_operation *operation = c->operation;
    uint64_t copied;
    int code;

    if (input_is_pending(operation->text))
        return CODE_FAILED;
    operation->source = input_open_file(operation->text, &just_this, &c->error);
    if (operation->source == NULL)
        return report_error(operation->text, &c->error);
    code = edit_check(c, operation->text,
                      gufo_document_copy_entries(c->document, operation->source, matches,
                                                 &operation->glob, &copied, &c->error));
    if (code != CODE_OK || copied > 0)
        return code;
    c->options->unmatched = true;
    report_warning(operation->text, "no key matches '%s'", operation->glob);
    return CODE_OK;
}

/* ---- all changes ---------------------------------------------------------------------------- */

/* The effect of an operation on the changes of its key that wait. */
typedef enum waiters { KEEP, DROP, MAKE, MAKE_ALL } waiters;

static const struct {
    const char *option;
    int (*make)(edit_change *c);
    waiters waiters;
    bool no_key, elements; /* takes KEY[i] */
} kinds[] = {
    [EDIT_SET] = {"--set", edit_set, DROP, false, true},
    [EDIT_SET_STRING] = {"--set-string", edit_set_string, DROP, false, true},
    [EDIT_SET_FILE] = {"--set-file", edit_set_file, DROP, false, false},
    [EDIT_SET_JSON] = {"--set-json", edit_set_json, DROP, false, false},
    [EDIT_REMOVE] = {"--remove", remove_keys, MAKE_ALL, true, false},
    [EDIT_RENAME] = {"--rename", rename_one, MAKE, false, false},
    [EDIT_RENAME_TENSOR] = {"--rename-tensor", rename_one, KEEP, false, false},
    [EDIT_COPY] = {"--copy-from", copy_keys, MAKE_ALL, true, false},
};

static int make_change(edit_change *c)
{
    waiters then = kinds[c->operation->kind].waiters;
    int code = CODE_OK;

    if (c->index != EDIT_NO_INDEX)
        return edit_set_element(c);
    if (then == DROP)
        edit_waiting_drop(c->waiting, c->key);
    else if (then == MAKE)
        code = edit_waiting_make(c->waiting, c->key);
    else if (then == MAKE_ALL)
        code = edit_waiting_make_all(c->waiting);
    return code == CODE_OK ? kinds[c->operation->kind].make(c) : code;
}

/* Splits KEY[i], where keys never have brackets; false for other brackets. */
static bool split_index(char *key, uint64_t *index)
{
    char *bracket = strchr(key, '[');
    const char *at = bracket != NULL ? bracket + 1 : "";

    *index = EDIT_NO_INDEX;
    if (bracket == NULL)
        return true;
    *bracket = '\0';
    return gufo_number_read(&at, index) && strcmp(at, "]") == 0 && *index != EDIT_NO_INDEX;
}

static int apply_operation(edit_waiting *waiting, edit_options *options, edit_operation *operation)
{
    const char *text = operation->text, *equals = strchr(text, '=');
    edit_change c = {.document = waiting->document,
                     .waiting = waiting,
                     .options = options,
                     .operation = operation,
                     .option = kinds[operation->kind].option,
                     .index = EDIT_NO_INDEX};
    char *key;
    int code;

    if (kinds[operation->kind].no_key)
        return make_change(&c);
    if (equals == NULL || equals == text)
        return report_usage("%s needs a name, = and a value, not '%s'", c.option, text);
    c.key = key = strndup(text, (size_t)(equals - text));
    c.rest = equals + 1;
    if (key == NULL)
        return report_memory(NULL);
    if (kinds[operation->kind].elements && !split_index(key, &c.index))
        code = report_usage("%s %s: an element is KEY[i], counted from 0", c.option, text);
    else
        code = make_change(&c);
    free(key);
    return code;
}

int edit_apply_operations(gufo_edit *edit, edit_options *options)
{
    edit_waiting waiting = {.options = options, .document = gufo_edit_document(edit)};
    int code = CODE_OK;

    for (size_t i = 0; i < options->count && code == CODE_OK; i++)
        code = apply_operation(&waiting, options, &options->operations[i]);
    if (code == CODE_OK)
        code = edit_waiting_make_all(&waiting);
    edit_waiting_end(&waiting);
    return code;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* The keys that changes touch and that need care. */
typedef struct touched {
    char split_key[64]; /* the first one; empty: none */
    bool alignment;
} touched;

static void look_at(void *context, const gufo_change *made)
{
    const gufo_str alignment = gufo_str_of("general.alignment");
    const gufo_str names[] = {made->old_name, made->new_name};
    touched *t = context;

    for (size_t i = 0; i < 2 && made->kind != GUFO_CHANGE_TENSOR_RENAMED; i++) {
        if (!gufo_key_is_of_model(NULL, names[i]) && t->split_key[0] == '\0')
            snprintf(t->split_key, sizeof t->split_key, "%.*s", (int)names[i].len, names[i].data);
        t->alignment = t->alignment || gufo_str_equal(names[i], alignment);
    }
}

/* Keys without which a model cannot be used. */
static void warn_of_losses(gufo_edit *edit, const char *path)
{
    static const char *const needed[] = {"general.architecture", "tokenizer.ggml.model",
                                         "tokenizer.ggml.tokens"};
    gufo_entry entry;

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (gufo_model_find(gufo_edit_model(edit), needed[i], &entry) &&
            !gufo_document_find(gufo_edit_document(edit), needed[i], NULL))
            report_warning(path, "without key '%s' programs will not load the model", needed[i]);
}

/* The specification allows it, programs in use do not. */
static void warn_of_alignment(gufo_edit *edit, const char *path)
{
    uint32_t alignment = gufo_document_alignment(gufo_edit_document(edit));

    if ((alignment & (alignment - 1)) != 0)
        report_warning(path,
                       "general.alignment %" PRIu32
                       " is not a power of two: programs that use ggml refuse the file",
                       alignment);
}

/* The number of shards of the set that the file belongs to; 1 for a single file. */
static uint64_t shard_count(const gufo_edit *edit, const char *path, uint32_t *number)
{
    uint64_t keyed = 1;
    uint32_t count;

    if (gufo_shard_path_parse(path, NULL, number, &count))
        return count;
    *number = 1;
    return gufo_model_get_u64(gufo_edit_model(edit), "split.count", &keyed, NULL) == GUFO_OK ? keyed
                                                                                             : 1;
}

int edit_check_changes(gufo_edit *edit, const edit_options *options)
{
    touched t = {0};
    gufo_error error = {0};
    uint32_t number;
    uint64_t shards = shard_count(edit, options->path, &number);
    int code = CODE_OK;

    if (gufo_document_changes(gufo_edit_document(edit), look_at, &t, &error) != GUFO_OK)
        return report_error(options->path, &error);
    if (t.split_key[0] != '\0' && !options->as_is)
        return report_usage("'%s' links the shards of a set; --as-is changes it", t.split_key);
    if (t.alignment && shards > 1)
        return report_usage("all shards of a set have the same 'general.alignment', and "
                            "this would change one of them; merge them first");
    if (!options->as_is)
        code = edit_guard(edit, options, shards > 1);
    if (code != CODE_OK)
        return code;
    if (shards > 1)
        report_warning(options->path, "this is shard %u of %ju; only its own metadata is changed",
                       (unsigned)number, (uintmax_t)shards);
    if (t.alignment)
        warn_of_alignment(edit, options->path);
    warn_of_losses(edit, options->path);
    return CODE_OK;
}
