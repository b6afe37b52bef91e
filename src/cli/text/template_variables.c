/* The variables of a rendering, from files, from options and from the model's vocabulary. */
#include "cli/text/template.h"

#include "cli/core/files/path.h"
#include "gufo/schema.h"

#include <stdlib.h>
#include <string.h>

/* Sets a variable, or all of them (NULL), from a file of JSON. */
static int set_from_file(templating *t, const char *name, const char *path)
{
    gufo_str json = {0};
    int code = path != NULL ? template_read_json(path, &json) : CODE_OK;

    if (path == NULL || code != CODE_OK)
        return code;
    code = template_set(t, name, json, path);
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
        gufo_str name = gufo_str_of(special_tokens[i].variable), text;
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
        code = template_set(t, presets[i][0], gufo_str_of(presets[i][1]), t->path);
    if (code == CODE_OK)
        code = template_set(t, "add_generation_prompt", gufo_str_of("true"), t->path);
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
    code = template_set(t, name, gufo_str_of(equals + 1), text);
    free(name);
    return code == CODE_FAILED ? CODE_USAGE : code;
}

int template_set_variables(templating *t)
{
    const template_options *o = t->options;
    gufo_error error;
    int code;

    t->values = gufo_template_values_new(NULL, 0, &error);
    if (t->values == NULL)
        return report_memory(NULL);
    code = o->context != NULL ? set_from_file(t, NULL, o->context) : set_defaults(t);
    if (code == CODE_OK)
        code = template_set_messages(t);
    if (code == CODE_OK)
        code = set_from_file(t, "tools", o->tools);
    if (code == CODE_OK && o->no_prompt)
        code = template_set(t, "add_generation_prompt", gufo_str_of("false"), t->path);
    for (size_t i = 0; code == CODE_OK && i < o->variables.count; i++)
        code = set_variable(t, o->variables.items[i]);
    return code;
}
