/* The changes that the options ask for, in their order, and what is said against them. */
#include "cli/edit.h"

#include "cli/input.h"
#include "cli/report.h"
#include "format/document/document.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file that become a value, which is kept in memory. */
#define LARGEST_VALUE (UINT64_C(256) << 20)

/* ---- one change ----------------------------------------------------------------------------- */

/* An operation on its way into the document. */
typedef struct change {
    gufo_document *document;
    const edit_options *options;
    const char *option;        /* "--set" */
    edit_operation *operation; /* its text is KEY=REST, except where there is no key: */
    const char *key, *rest;    /* NULL */
} change;

/* What the library says of an option about `text`.  Returns the exit code. */
static int check(const change *c, const char *text, gufo_status status, const gufo_error *error)
{
    if (status == GUFO_OK)
        return CODE_OK;
    report_message(c->options->path, "%s %s: %s", c->option, text, error->message);
    return status == GUFO_E_MEMORY ? CODE_FAILED : CODE_USAGE;
}

/* ---- values --------------------------------------------------------------------------------- */

static int report_unfit(const char *text, edit_value_result result, gufo_value_type type)
{
    if (result == EDIT_VALUE_ARRAY)
        return report_usage("edit", "--set %s: use --set-json for arrays", text);
    return report_usage("edit", "--set %s: not a value of type %s", text,
                        gufo_value_type_name(type));
}

static int set(const change *c)
{
    const char *text = c->operation->text;
    edit_value_result result;
    gufo_document_entry old;
    gufo_value value;
    gufo_value_type type;
    gufo_error error;

    result = edit_read_value(
        c->rest, gufo_document_find(c->document, c->key, &old) ? &old.value : NULL, &value, &type);
    if (result != EDIT_VALUE_GOOD)
        return report_unfit(text, result, type);
    return check(c, text, gufo_document_set(c->document, gufo_str_of(c->key), &value, &error),
                 &error);
}

static int set_text(const change *c, gufo_str text)
{
    gufo_error error;

    return check(c, c->key, gufo_document_set_str(c->document, c->key, text, &error), &error);
}

static int set_string(const change *c)
{
    return set_text(c, gufo_str_of(c->rest));
}

/* Copies all of `in`, unless it is too large for a value, as a device without an end is. */
static bool copy_value(FILE *in, FILE *out, bool *too_large)
{
    char piece[1 << 14];
    uint64_t total = 0;
    size_t got;

    while (total <= LARGEST_VALUE && (got = fread(piece, 1, sizeof piece, in)) > 0) {
        (void)fwrite(piece, 1, got, out);
        total += got;
    }
    *too_large = total > LARGEST_VALUE;
    return !*too_large && !ferror(in) && !ferror(out);
}

/* The bytes of a file; false after a report. */
static bool read_file(const char *path, char **bytes, size_t *len)
{
    FILE *in = fopen(path, "rb"), *out;
    bool good = false, too_large = false;

    *bytes = NULL;
    out = in != NULL ? open_memstream(bytes, len) : NULL;
    if (out != NULL) {
        good = copy_value(in, out, &too_large);
        good = fclose(out) == 0 && good;
    }
    if (too_large)
        report_message(path, "there are more than 256 MiB, too many for the value of a key");
    else if (!good)
        report_system(path, errno);
    if (in != NULL)
        fclose(in);
    return good;
}

static int set_file(const change *c)
{
    char *bytes;
    size_t len;
    int code = CODE_FAILED;

    if (read_file(c->rest, &bytes, &len))
        code = set_text(c, (gufo_str){bytes, len});
    free(bytes);
    return code;
}

/* TYPE: before JSON; NULL after a report. */
static const char *read_json_type(const char *text, const char *rest, gufo_value_type *type)
{
    const char *colon = strchr(rest, ':');
    char name[16];

    snprintf(name, sizeof name, "%.*s", colon != NULL ? (int)(colon - rest) : 0, rest);
    if (colon != NULL && gufo_value_type_by_name(name, type) && *type != GUFO_VALUE_ARRAY)
        return colon + 1;
    report_usage("edit",
                 "--set-json %s: the type of the values has to come before the JSON, as in "
                 "KEY=uint32:[1,2]",
                 text);
    return NULL;
}

static int set_json(const change *c)
{
    char message[EDIT_JSON_MESSAGE];
    gufo_value_type type;
    const char *text = read_json_type(c->operation->text, c->rest, &type);
    gufo_error error;
    edit_json json;
    int code;

    if (text == NULL)
        return CODE_USAGE;
    if (!edit_json_read(type, text, &json, message))
        return report_usage("edit", "--set-json %s: %s", c->key, message);
    code = check(c, c->key,
                 json.is_array
                     ? gufo_document_set_array(c->document, c->key, &json.array, &error)
                     : gufo_document_set(c->document, gufo_str_of(c->key), &json.value, &error),
                 &error);
    edit_json_free(&json);
    return code;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* `context` points to the pattern. */
static bool matches(void *context, gufo_str key)
{
    const char *const *glob = context;
    char *text = strndup(key.data, key.len);
    bool match = text != NULL && fnmatch(*glob, text, 0) == 0;

    free(text);
    return match;
}

static int remove_keys(const change *c)
{
    const char *glob = c->operation->text;
    uint64_t removed;

    gufo_document_remove(c->document, matches, &glob, &removed);
    if (removed == 0)
        report_warning(c->options->path, "--remove %s: there is no such key", glob);
    return CODE_OK;
}

static int rename_key(const change *c)
{
    gufo_error error;

    return check(
        c, c->operation->text,
        gufo_document_rename(c->document, gufo_str_of(c->key), gufo_str_of(c->rest), &error),
        &error);
}

static int rename_tensor(const change *c)
{
    gufo_error error;

    return check(
        c, c->operation->text,
        gufo_document_rename_tensor(c->document, gufo_str_of(c->key), gufo_str_of(c->rest), &error),
        &error);
}

static int copy_keys(const change *c)
{
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    edit_operation *operation = c->operation;
    gufo_error error;
    uint64_t copied;
    int code;

    if (input_is_pending(operation->text))
        return CODE_FAILED;
    operation->source = gufo_open(operation->text, &just_this, &error);
    if (operation->source == NULL)
        return report_error(operation->text, &error);
    code = check(c, operation->text,
                 gufo_document_copy_entries(c->document, operation->source, matches,
                                            &operation->glob, &copied, &error),
                 &error);
    if (code == CODE_OK && copied == 0)
        report_warning(operation->text, "there is no key '%s'", operation->glob);
    return code;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const struct {
    const char *option;
    int (*make)(const change *c);
    bool no_key;
} kinds[] = {
    [EDIT_SET] = {"--set", set, false},
    [EDIT_SET_STRING] = {"--set-string", set_string, false},
    [EDIT_SET_FILE] = {"--set-file", set_file, false},
    [EDIT_SET_JSON] = {"--set-json", set_json, false},
    [EDIT_REMOVE] = {"--remove", remove_keys, true},
    [EDIT_RENAME] = {"--rename", rename_key, false},
    [EDIT_RENAME_TENSOR] = {"--rename-tensor", rename_tensor, false},
    [EDIT_COPY] = {"--copy-from", copy_keys, true},
};

static int apply_operation(gufo_document *document, const edit_options *options,
                           edit_operation *operation)
{
    const char *text = operation->text, *equals = strchr(text, '=');
    change c = {document, options, kinds[operation->kind].option, operation, NULL, NULL};
    char *key;
    int code;

    if (kinds[operation->kind].no_key)
        return kinds[operation->kind].make(&c);
    if (equals == NULL || equals == text)
        return report_usage("edit", "%s needs a name, = and a value, not '%s'", c.option, text);
    c.key = key = strndup(text, (size_t)(equals - text));
    c.rest = equals + 1;
    code = key != NULL ? kinds[operation->kind].make(&c) : report_memory(NULL);
    free(key);
    return code;
}

int edit_apply_operations(gufo_edit *edit, edit_options *options)
{
    int code = CODE_OK;

    for (size_t i = 0; i < options->count && code == CODE_OK; i++)
        code = apply_operation(gufo_edit_document(edit), options, &options->operations[i]);
    return code;
}

/* ---- what is said against them -------------------------------------------------------------- */

/* What the changes touch. */
typedef struct touched {
    char split_key[64]; /* the first one; empty: none */
    bool alignment;
} touched;

static void look_at(touched *t, gufo_str name)
{
    if (!document_is_model_key(NULL, name) && t->split_key[0] == '\0')
        snprintf(t->split_key, sizeof t->split_key, "%.*s", (int)name.len, name.data);
    t->alignment = t->alignment || gufo_str_equal(name, gufo_str_of("general.alignment"));
}

static void look_at_change(void *context, const gufo_change *made)
{
    if (made->kind == GUFO_CHANGE_TENSOR_RENAMED)
        return;
    look_at(context, made->old_name);
    look_at(context, made->new_name);
}

/* Keys without which a model cannot be used. */
static void warn_of_losses(gufo_edit *edit, const char *path)
{
    static const char *const needed[] = {"general.architecture", "tokenizer.ggml.model",
                                         "tokenizer.ggml.tokens"};
    gufo_entry entry;

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (gufo_metadata_find(gufo_edit_model(edit), needed[i], &entry) &&
            !gufo_document_find(gufo_edit_document(edit), needed[i], NULL))
            report_warning(path, "without key '%s' programs will not load the model", needed[i]);
}

/* The number of shards of the set that the file belongs to; 1 for a single file. */
static uint64_t shard_count(const gufo_edit *edit, const char *path, uint32_t *number)
{
    uint64_t keyed = 1;
    size_t prefix_len;
    uint32_t count;

    if (gufo_shard_path_parse(path, &prefix_len, number, &count))
        return count;
    *number = 1;
    return gufo_get_u64(gufo_edit_model(edit), "split.count", &keyed, NULL) == GUFO_OK ? keyed : 1;
}

int edit_check_changes(gufo_edit *edit, const edit_options *options)
{
    touched t = {0};
    gufo_error error = {0};
    uint32_t number;
    uint64_t shards = shard_count(edit, options->path, &number);

    if (gufo_document_changes(gufo_edit_document(edit), look_at_change, &t, &error) != GUFO_OK)
        return report_error(options->path, &error);
    if (t.split_key[0] != '\0' && !options->base.shared->force)
        return report_usage("edit", "'%s' ties the shards of a set together; --force changes it",
                            t.split_key);
    if (t.alignment && shards > 1)
        return report_usage("edit", "all shards of a set have the same 'general.alignment', and "
                                    "this would change one of them; merge them first");
    if (shards > 1)
        report_warning(options->path, "this is shard %u of %ju; only its own metadata is changed",
                       (unsigned)number, (uintmax_t)shards);
    warn_of_losses(edit, options->path);
    return CODE_OK;
}
