/* The conversation of a rendering: a list of messages, or an object that holds one and other variables. */
#include "cli/text/template.h"

#include "base/pull.h"
#include "cli/core/files/path.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- shape ---------------------------------------------------------------------------------- */

static bool fail_shape(pull *p, size_t at)
{
    return pull_fail(p, GUFO_E_MALFORMED, at,
                     "expected a list of messages, or an object with \"messages\"");
}

static bool check_list(pull *p)
{
    if (pull_peek(p) != '[')
        return fail_shape(p, p->at);
    (void)pull_mark(p, '[');
    for (bool first = true; pull_next(p, ']', &first); (void)pull_skip(p, NULL))
        if (pull_peek(p) != '{')
            return pull_fail(p, GUFO_E_MALFORMED, p->at,
                             "expected a message, an object such as "
                             "{\"role\": \"user\", \"content\": \"Hello\"}");
    return p->status == GUFO_OK;
}

static bool check_object(pull *p)
{
    bool found = false;
    gufo_str name;

    (void)pull_mark(p, '{');
    for (bool first = true; pull_next(p, '}', &first);) {
        if (!pull_name(p, &name))
            return false;
        if (!gufo_str_equal(name, gufo_str_of("messages"))) {
            (void)pull_skip(p, NULL);
        } else if (check_list(p)) {
            found = true;
        }
    }
    return p->status == GUFO_OK && (found || fail_shape(p, 0));
}

/* Whether JSON, in which escapes are decoded where they are, has the shape of a conversation. */
static int check_shape(gufo_str json, const char *path)
{
    gufo_error error;
    pull p = {.text = json.data, .len = json.len, .decoded = (char *)json.data, .error = &error};

    (void)(pull_peek(&p) == '{' ? check_object(&p) : check_list(&p));
    return p.status == GUFO_E_MALFORMED ? report_error(path, &error) : CODE_OK;
}

/* ---- source --------------------------------------------------------------------------------- */

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

int template_set_messages(templating *t)
{
    const char *path = template_messages_path(t);
    gufo_str json = {0};
    int code = path != NULL ? template_read_json(path, &json) : CODE_OK;

    if (path == NULL || code != CODE_OK)
        return code;
    if (!is_unused(t, json)) {
        code = json.data[strspn(json.data, " \t\r\n")] == '{'
                   ? template_set(t, NULL, json, path)
                   : template_set(t, "messages", json, path);
        if (code == CODE_OK)
            code = check_shape(json, path);
    }
    small_file_free(&json);
    return code;
}
