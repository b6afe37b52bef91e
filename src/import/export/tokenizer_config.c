/* tokenizer_config.json and what is beside it: special tokens by their texts, flags, chat templates. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/export/parts.h"
#include "text/formats/token_list.h"

/* ---- the tokens of a model, whose arrays may be of any length that their bytes allow -------- */

/* What conversions give to tokens that were added. */
#define ADDED_SCORE (-1000.0f)

static bool find_array(const gufo_model *model, const char *key, gufo_value_type type,
                       uint64_t count, gufo_array *out)
{
    gufo_entry entry;

    return gufo_model_key_entry(model, key, &entry) &&
           gufo_value_array(&entry.value, type, out, NULL) == GUFO_OK &&
           (count == 0 || out->count == count);
}

static gufo_status read_texts(const gufo_array *array, model_tokens *out, gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;

    out->texts = mem_array(&default_allocator, array->count, sizeof *out->texts);
    out->types = mem_array(&default_allocator, array->count, sizeof *out->types);
    if (out->texts == NULL || out->types == NULL)
        return fail_memory(error);
    for (; out->count < array->count && gufo_array_next(&iter, &value); out->count++) {
        out->texts[out->count] = value.as.str;
        out->types[out->count] = TOKEN_IS_NORMAL;
    }
    return out->count == array->count
               ? GUFO_OK
               : refuse(error, GUFO_E_CHANGED, "the vocabulary changes while it is read");
}

gufo_status model_tokens_read(const gufo_model *model, model_tokens *out, gufo_error *error)
{
    gufo_array array;
    gufo_status status;

    *out = (model_tokens){.count = 0};
    if (!find_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 0, &array) ||
        array.count == 0 || array.count > INT32_MAX)
        return GUFO_OK;
    status = read_texts(&array, out, error);
    if (status == GUFO_OK &&
        find_array(model, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, out->count, &array))
        status = gufo_array_read(&array, 0, out->count, out->types, error);
    if (status != GUFO_OK ||
        !find_array(model, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, out->count, &array))
        return status;
    out->scores = mem_array(&default_allocator, out->count, sizeof *out->scores);
    return out->scores != NULL ? gufo_array_read(&array, 0, out->count, out->scores, error)
                               : fail_memory(error);
}

void model_tokens_free(model_tokens *tokens)
{
    mem_free(&default_allocator, tokens->texts);
    mem_free(&default_allocator, tokens->types);
    mem_free(&default_allocator, tokens->scores);
    *tokens = (model_tokens){.count = 0};
}

bool token_is_added(const model_tokens *t, uint32_t id)
{
    return t->scores != NULL && t->scores[id] == ADDED_SCORE &&
           (t->types[id] == TOKEN_IS_CONTROL || t->types[id] == TOKEN_IS_USER_DEFINED);
}

bool model_id(const gufo_model *model, const char *key, uint32_t *id)
{
    uint64_t number;

    if (gufo_model_key_u64(model, key, &number, NULL) != GUFO_OK || number > UINT32_MAX)
        return false;
    *id = (uint32_t)number;
    return true;
}

bool model_flag(const gufo_model *model, const char *key, bool otherwise)
{
    bool flag = otherwise;

    return gufo_model_key_bool(model, key, &flag, NULL) == GUFO_OK ? flag : otherwise;
}

typedef struct making {
    const gufo_model *model;
    model_tokens tokens;
    json_t *config, *map, *added;
    gufo_error *error;
} making;

/* The result of a function of jansson. */
static gufo_status done(const making *m, int result)
{
    return result == 0 ? GUFO_OK : fail_memory(m->error);
}

/* A text as JSON has it; NULL: it cannot. */
static json_t *text_of(gufo_str text)
{
    return text.len > 0 && memchr(text.data, '\0', text.len) == NULL
               ? json_stringn(text.data, text.len)
               : NULL;
}

/* ---- special tokens -------------------------------------------------------------------------- */

static const struct {
    const char *key, *field;
} specials[] = {
    {TOKENIZER_KEY("bos_token_id"), "bos_token"},
    {TOKENIZER_KEY("eos_token_id"), "eos_token"},
    {TOKENIZER_KEY("unknown_token_id"), "unk_token"},
    {TOKENIZER_KEY("separator_token_id"), "sep_token"},
    {TOKENIZER_KEY("padding_token_id"), "pad_token"},
    {TOKENIZER_KEY("mask_token_id"), "mask_token"},
};

/* Also cls_token of encoders, whose key is that of bos. */
static gufo_status add_specials(making *m)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof specials / sizeof *specials && status == GUFO_OK; i++) {
        uint32_t id;
        json_t *text = NULL;

        if (model_id(m->model, specials[i].key, &id) && id < m->tokens.count)
            text = text_of(m->tokens.texts[id]);
        if (text == NULL)
            continue;
        status = done(m, json_object_set(m->config, specials[i].field, text) |
                             json_object_set(m->map, specials[i].field, text));
        json_decref(text);
    }
    return status;
}

static gufo_status add_flags(making *m)
{
    static const struct {
        const char *key, *field;
    } flags[] = {{TOKENIZER_KEY("add_bos_token"), "add_bos_token"},
                 {TOKENIZER_KEY("add_eos_token"), "add_eos_token"},
                 {TOKENIZER_KEY("add_sep_token"), "add_sep_token"},
                 {TOKENIZER_KEY("add_space_prefix"), "add_prefix_space"}};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof flags / sizeof *flags && status == GUFO_OK; i++) {
        gufo_entry entry;
        bool flag;

        if (gufo_model_key_entry(m->model, flags[i].key, &entry) &&
            gufo_value_bool(&entry.value, &flag, NULL) == GUFO_OK)
            status = done(m, json_object_set_new(m->config, flags[i].field, json_boolean(flag)));
    }
    return status;
}

/* ---- added tokens ---------------------------------------------------------------------------- */

/* Readers take a text that looks special for a special token, and U+2581 for a space: such texts are in
 * added_tokens.json alone, where nothing but the text counts. */
static bool can_be_listed(const model_tokens *t, uint32_t id)
{
    gufo_str text = t->texts[id];

    return t->types[id] == TOKEN_IS_CONTROL ||
           (!token_looks_special(text) && str_search(text, gufo_str_of(WORD_START)) == NULL);
}

static gufo_status add_token(making *m, json_t *decoder, uint32_t id)
{
    bool special = m->tokens.types[id] == TOKEN_IS_CONTROL;
    json_t *text = text_of(m->tokens.texts[id]);
    char number[16];
    int failed = 0;

    if (text == NULL)
        return GUFO_OK;
    (void)snprintf(number, sizeof number, "%" PRIu32, id);
    if (!special)
        failed = json_object_set_new(m->added, json_string_value(text), json_integer(id));
    if (failed == 0 && can_be_listed(&m->tokens, id))
        failed = json_object_set_new(decoder, number,
                                     json_pack("{s:O, s:b, s:b, s:b, s:b, s:b}", "content", text,
                                               "lstrip", 0, "normalized", 0, "rstrip", 0,
                                               "single_word", 0, "special", special));
    json_decref(text);
    return done(m, failed);
}

static gufo_status add_tokens(making *m)
{
    json_t *decoder = json_object();
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; id < m->tokens.count && status == GUFO_OK; id++)
        if (token_is_added(&m->tokens, id))
            status = add_token(m, decoder, id);
    if (status == GUFO_OK && json_object_size(decoder) > 0)
        status = done(m, json_object_set(m->config, "added_tokens_decoder", decoder));
    json_decref(decoder);
    return status;
}

/* ---- chat templates -------------------------------------------------------------------------- */

#define TEMPLATE "tokenizer.chat_template"

static json_t *named_template(const char *name, gufo_str text)
{
    json_t *json = text_of(text);

    return json != NULL ? json_pack("{s:s, s:o}", "name", name, "template", json) : NULL;
}

static gufo_status add_template(making *m, json_t *list, const char *name, gufo_str text)
{
    json_t *template = named_template(name, text);

    return template != NULL ? done(m, json_array_append_new(list, template)) : GUFO_OK;
}

/* One template is a text, several are a list with names; "default" comes first. */
static gufo_status add_templates(making *m)
{
    gufo_str main = model_text(m->model, TEMPLATE);
    json_t *list = json_array(), *value;
    gufo_status status = list != NULL ? GUFO_OK : fail_memory(m->error);
    gufo_entry entry;

    if (status == GUFO_OK && main.len > 0)
        status = add_template(m, list, "default", main);
    for (uint64_t i = 0; status == GUFO_OK && gufo_model_entry_at(m->model, i, &entry); i++)
        if (str_begins(entry.key, TEMPLATE ".") && entry.value.type == GUFO_VALUE_STRING) {
            char name[GUFO_KEY_NAME_SIZE] = "";
            gufo_str rest = str_from(entry.key, strlen(TEMPLATE "."));

            if (rest.len < sizeof name)
                memcpy(name, rest.data, rest.len);
            status = add_template(m, list, name, entry.value.as.str);
        }
    value = json_array_size(list) == 1 && main.len > 0
                ? json_object_get(json_array_get(list, 0), "template")
                : list;
    if (status == GUFO_OK && json_array_size(list) > 0)
        status = done(m, json_object_set(m->config, "chat_template", value));
    json_decref(list);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The class that loads the files, by the tokenizer's model. */
static const char *class_of(gufo_str model)
{
    static const struct {
        const char *model, *name;
    } classes[] = {{"llama", "LlamaTokenizer"},
                   {"gpt2", "GPT2Tokenizer"},
                   {"bert", "BertTokenizer"},
                   {"t5", "T5Tokenizer"}};

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (gufo_str_equal(model, gufo_str_of(classes[i].model)))
            return classes[i].name;
    return "PreTrainedTokenizerFast";
}

static gufo_status make_all(making *m, bool with_added)
{
    const char *name = class_of(model_text(m->model, TOKENIZER_KEY("model")));
    gufo_status status = model_tokens_read(m->model, &m->tokens, m->error);

    if (status == GUFO_OK)
        status = done(m, json_object_set_new(m->config, "tokenizer_class", json_string(name)));
    if (status == GUFO_OK)
        status = add_specials(m);
    if (status == GUFO_OK)
        status = add_flags(m);
    if (status == GUFO_OK && with_added)
        status = add_tokens(m);
    return status == GUFO_OK ? add_templates(m) : status;
}

static gufo_status write_all(const making *m, export_files *files)
{
    gufo_status status = export_add_json(files, "tokenizer_config.json", m->config, m->error);

    if (status == GUFO_OK && json_object_size(m->map) > 0)
        status = export_add_json(files, "special_tokens_map.json", m->map, m->error);
    if (status == GUFO_OK && json_object_size(m->added) > 0)
        status = export_add_json(files, "added_tokens.json", m->added, m->error);
    return status;
}

gufo_status export_tokenizer_config(const gufo_model *model, bool with_added, export_files *files,
                                    gufo_error *error)
{
    making m = {.model = model,
                .config = json_object(),
                .map = json_object(),
                .added = json_object(),
                .error = error};
    gufo_status status = m.config != NULL && m.map != NULL && m.added != NULL
                             ? make_all(&m, with_added)
                             : fail_memory(error);

    if (status == GUFO_OK)
        status = write_all(&m, files);
    model_tokens_free(&m.tokens);
    json_decref(m.config);
    json_decref(m.map);
    json_decref(m.added);
    return status;
}
