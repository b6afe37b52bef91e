/* The variables of a rendering, from files, from options and from the model's vocabulary. */
#include "cli/text/template.h"

#include "cli/core/json.h"
#include "cli/core/small_file.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_INPUT = 1 << 30 };

static int set(templating *t, const char *name, gufo_str json, const char *from)
{
    gufo_error error;

    if (gufo_template_values_set(t->values, gufo_str_of(name), json, &error) == GUFO_OK)
        return CODE_OK;
    error.offset = GUFO_NO_OFFSET;
    return report_error(from, &error);
}

/* Sets a variable, or all of them (NULL), from a file of JSON. */
static int set_from_file(templating *t, const char *name, const char *path)
{
    gufo_str json = {0};
    gufo_error error;
    int code;

    if (path == NULL)
        return CODE_OK;
    code = small_file_read(path, LARGEST_INPUT, "more than 1 GiB of JSON", &json);
    if (code != CODE_OK)
        return code;
    if (name != NULL) {
        code = set(t, name, json, path);
    } else if (gufo_template_values_set_all(t->values, json, &error) != GUFO_OK) {
        error.offset = GUFO_NO_OFFSET;
        code = report_error(path, &error);
    }
    small_file_free(&json);
    return code;
}

/* ---- what transformers sets ----------------------------------------------------------------- */

static const struct {
    const char *variable, *key;
} special_tokens[] = {
    {"bos_token", "tokenizer.ggml.bos_token_id"},
    {"eos_token", "tokenizer.ggml.eos_token_id"},
    {"unk_token", "tokenizer.ggml.unknown_token_id"},
    {"sep_token", "tokenizer.ggml.seperator_token_id"}, /* as it is spelt there */
    {"sep_token", "tokenizer.ggml.separator_token_id"},
    {"pad_token", "tokenizer.ggml.padding_token_id"},
    {"cls_token", "tokenizer.ggml.cls_token_id"},
    {"mask_token", "tokenizer.ggml.mask_token_id"},
};

/* Sets a variable to a text. */
static int set_text(templating *t, const char *name, gufo_str text)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    json_writer j;
    int code;

    if (out == NULL)
        return report_memory(t->path);
    j = json_writer_start(out);
    json_write_str(&j, NULL, text);
    code =
        fclose(out) == 0 ? set(t, name, (gufo_str){bytes, size}, t->path) : report_memory(t->path);
    free(bytes);
    return code;
}

static int set_special_tokens(templating *t)
{
    int code = CODE_OK;
    gufo_array tokens;

    if (t->model == NULL || gufo_get_array(t->model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING,
                                           &tokens, NULL) != GUFO_OK)
        return CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < sizeof special_tokens / sizeof *special_tokens; i++) {
        gufo_value text;
        uint64_t id;

        if (gufo_get_u64(t->model, special_tokens[i].key, &id, NULL) == GUFO_OK &&
            gufo_array_at(&tokens, id, &text, NULL) == GUFO_OK && text.type == GUFO_VALUE_STRING &&
            gufo_utf8_valid_prefix(text.as.str) == text.as.str.len)
            code = set_text(t, special_tokens[i].variable, text.as.str);
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
        code = set_from_file(t, "messages", o->messages);
    if (code == CODE_OK)
        code = set_from_file(t, "tools", o->tools);
    if (code == CODE_OK && o->no_prompt)
        code = set(t, "add_generation_prompt", gufo_str_of("false"), t->path);
    for (size_t i = 0; code == CODE_OK && i < o->variables.count; i++)
        code = set_variable(t, o->variables.items[i]);
    return code;
}
