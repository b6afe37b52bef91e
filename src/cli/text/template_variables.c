/* The variables of a rendering, from files, from options and from the model's vocabulary. */
#include "cli/text/template.h"

#include "cli/core/files/path.h"
#include "gufo/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_INPUT = 1 << 30 };

/* Sets a variable, or with NULL one for each member of an object, to JSON that came `from` somewhere. */
static int set(templating *t, const char *name, gufo_str json, const char *from)
{
    gufo_error error;
    const gufo_status status = name != NULL
                                   ? gufo_template_values_set(t->values, name, json, &error)
                                   : gufo_template_values_set_all(t->values, json, &error);

    if (status == GUFO_OK)
        return CODE_OK;
    error.offset = GUFO_NO_OFFSET; /* the line and the column say more */
    return report_error(from, &error);
}

/* Reads a file of JSON; the caller frees it with small_file_free. */
static int read_json(const char *path, gufo_str *json)
{
    return small_file_read(path, LARGEST_INPUT, "more than 1 GiB of JSON", json);
}

/* Sets a variable, or all of them (NULL), from a file of JSON. */
static int set_from_file(templating *t, const char *name, const char *path)
{
    gufo_str json = {0};
    int code = path != NULL ? read_json(path, &json) : CODE_OK;

    if (path == NULL || code != CODE_OK)
        return code;
    code = set(t, name, json, path);
    small_file_free(&json);
    return code;
}

/* ---- where it comes from -------------------------------------------------------------------- */

/* Whether somebody sends a file or the output of a program; a terminal is not asked. */
static bool is_sent_input(void)
{
    struct stat info;

    return fstat(STDIN_FILENO, &info) == 0 && (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode));
}

static bool sets_messages(const option_texts *variables)
{
    static const char name[] = "messages=";

    for (size_t i = 0; i < variables->count; i++)
        if (strncmp(variables->items[i], name, sizeof name - 1) == 0)
            return true;
    return false;
}

const char *template_messages_path(const templating *t)
{
    const template_options *o = t->options;
    const shared_options *shared = o->base.shared;

    return o->messages != NULL     ? o->messages
           : shared->arg_count > 1 ? shared->args[1]
           : o->context != NULL || o->lint || path_is_standard(t->path) ||
                   sets_messages(&o->variables) ||
                   (o->tools != NULL && path_is_standard(o->tools)) || !is_sent_input()
               ? NULL
               : "-";
}

/* Standard input that nobody named, and that has nothing. */
static bool is_unused(const templating *t, gufo_str text)
{
    const template_options *o = t->options;

    return o->messages == NULL && o->base.shared->arg_count == 1 &&
           strspn(text.data, " \t\r\n") == text.len;
}

static int set_messages(templating *t)
{
    const char *path = template_messages_path(t);
    gufo_str json = {0};
    gufo_error error;
    int code = path != NULL ? read_json(path, &json) : CODE_OK;

    if (path == NULL || code != CODE_OK)
        return code;
    if (!is_unused(t, json) && gufo_chat_values_messages(t->values, json, &error) != GUFO_OK)
        code = report_error(path, &error);
    small_file_free(&json);
    return code;
}

/* ---- what transformers sets ----------------------------------------------------------------- */

/* A vocabulary that cannot be opened leaves the keys of the model. */
static int set_defaults(templating *t)
{
    gufo_error error;

    if (t->model != NULL && t->vocab == NULL)
        t->vocab = gufo_vocab_open(t->model, NULL, NULL);
    return gufo_chat_values_from(t->values, t->model, t->vocab, &error) == GUFO_OK
               ? CODE_OK
               : report_error(t->path, &error);
}

/* ---- what options give ---------------------------------------------------------------------- */

static int set_variable(templating *t, const char *text)
{
    const char *equals = strchr(text, '=');
    char *name;
    int code;

    if (equals == NULL || equals == text)
        return report_usage("--set: VAR=JSON is expected, not '%s'", text);
    name = strndup(text, (size_t)(equals - text));
    if (name == NULL)
        return report_memory(NULL);
    code = set(t, name, gufo_str_of(equals + 1), text);
    free(name);
    return code == CODE_FAILED ? CODE_USAGE : code;
}

int template_set_variables(templating *t)
{
    const template_options *o = t->options;
    gufo_error error;
    int code;

    t->values = gufo_template_values_new(NULL, &error);
    if (t->values == NULL)
        return report_memory(NULL);
    code = o->context != NULL ? set_from_file(t, NULL, o->context) : set_defaults(t);
    if (code == CODE_OK)
        code = set_messages(t);
    if (code == CODE_OK)
        code = set_from_file(t, "tools", o->tools);
    if (code == CODE_OK && o->no_prompt)
        code = set(t, "add_generation_prompt", gufo_str_of("false"), t->path);
    for (size_t i = 0; code == CODE_OK && i < o->variables.count; i++)
        code = set_variable(t, o->variables.items[i]);
    return code;
}
