/* The variables of a rendering, from files, from options and from the model's vocabulary. */
#include "cli/text/template.h"

#include "base/pull.h"
#include "cli/core/files/path.h"
#include "gufo/schema.h"

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

/* ---- the conversation: messages, and its shape ---------------------------------------------- */

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
    int code = path != NULL ? read_json(path, &json) : CODE_OK;

    if (path == NULL || code != CODE_OK)
        return code;
    if (!is_unused(t, json)) {
        code = json.data[strspn(json.data, " \t\r\n")] == '{' ? set(t, NULL, json, path)
                                                              : set(t, "messages", json, path);
        if (code == CODE_OK)
            code = check_shape(json, path);
    }
    small_file_free(&json);
    return code;
}

/* ---- what transformers sets ----------------------------------------------------------------- */

static const struct {
    const char *variable, *key;
    gufo_special special;
} special_tokens[] = {
    {"bos_token", "tokenizer.ggml.bos_token_id", GUFO_SPECIAL_BOS},
    {"eos_token", "tokenizer.ggml.eos_token_id", GUFO_SPECIAL_EOS},
    {"unk_token", "tokenizer.ggml.unknown_token_id", GUFO_SPECIAL_UNKNOWN},
    {"sep_token", "tokenizer.ggml.separator_token_id", GUFO_SPECIAL_SEPARATOR},
    {"pad_token", "tokenizer.ggml.padding_token_id", GUFO_SPECIAL_PADDING},
    {"mask_token", "tokenizer.ggml.mask_token_id", GUFO_SPECIAL_MASK},
};

/* The text of a special token: of the vocabulary, which knows what the file leaves out, or where it
 * cannot be opened, of the key. */
static bool find_token(const templating *t, size_t i, gufo_str *text)
{
    gufo_value element;
    gufo_token token;
    gufo_array tokens;
    uint64_t id;

    if (t->vocab != NULL) {
        id = gufo_vocab_describe(t->vocab).special[special_tokens[i].special];
        if (id == GUFO_NO_TOKEN || !gufo_vocab_token(t->vocab, (uint32_t)id, &token))
            return false;
        *text = token.text;
        return true;
    }
    if (gufo_key_array(t->model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) !=
            GUFO_OK ||
        gufo_key_u64(t->model, special_tokens[i].key, &id, NULL) != GUFO_OK ||
        gufo_array_at(&tokens, id, &element, NULL) != GUFO_OK)
        return false;
    *text = element.as.str;
    return true;
}

static int set_special_tokens(templating *t)
{
    int code = CODE_OK;

    if (t->model != NULL && t->vocab == NULL)
        t->vocab = gufo_vocab_open(t->model, NULL, NULL);
    for (size_t i = 0;
         t->model != NULL && code == CODE_OK && i < sizeof special_tokens / sizeof *special_tokens;
         i++) {
        const char *name = special_tokens[i].variable;
        gufo_str text;
        gufo_error error;

        if (find_token(t, i, &text) && gufo_utf8_valid_prefix(text) == text.len &&
            gufo_template_values_set_text(t->values, name, text, &error) != GUFO_OK)
            code = report_error(t->path, &error);
    }
    return code;
}

static int set_defaults(templating *t)
{
    static const char *const presets[][2] = {
        {"messages", "[]"}, {"tools", "null"}, {"documents", "null"}};
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && i < sizeof presets / sizeof *presets; i++)
        code = set(t, presets[i][0], gufo_str_of(presets[i][1]), t->path);
    if (code == CODE_OK)
        code = set(t, "add_generation_prompt", gufo_str_of("true"), t->path);
    return code == CODE_OK ? set_special_tokens(t) : code;
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
