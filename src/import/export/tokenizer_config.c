/* tokenizer_config.json and what is beside it: special tokens by their texts, flags, chat templates. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/export/parts.h"
#include "text/formats/token_list.h"

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

        if (gufo_key_entry(m->model, flags[i].key, &entry) &&
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
    for (uint64_t i = 0; status == GUFO_OK && gufo_metadata_at(m->model, i, &entry); i++)
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
