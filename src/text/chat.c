/* From a conversation to the ids that a model reads: the chat template, its variables, the prompt.
 *
 *     messages    [{"role": "user", "content": "Hi"}]        and what transformers sets
 *     prompt      <s>[INST] Hi [/INST]                        the template writes special tokens
 *     ids         1 733 16289 28793 15359 733 28748 16289 28793     so none is added
 */
#include "gufo/text.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pull.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "gufo/summary.h"
#include "text/vocabulary/ids.h"

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

enum { SPECIAL_TOKENS = sizeof special_tokens / sizeof *special_tokens };

/* The text of a special token: of the vocabulary, which knows what the file leaves out, or of the key. */
static bool find_token(const gufo_model *model, const gufo_vocab *vocab, size_t i, gufo_str *text)
{
    gufo_value element;
    gufo_token token;
    gufo_array tokens;
    uint64_t id;

    if (vocab != NULL) {
        id = gufo_vocab_describe(vocab).special[special_tokens[i].special];
        if (id == GUFO_NO_TOKEN || !gufo_vocab_token(vocab, (uint32_t)id, &token))
            return false;
        *text = token.text;
        return true;
    }
    if (model == NULL ||
        gufo_model_key_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) !=
            GUFO_OK ||
        gufo_model_key_u64(model, special_tokens[i].key, &id, NULL) != GUFO_OK ||
        gufo_array_at(&tokens, id, &element, NULL) != GUFO_OK)
        return false;
    *text = element.as.str;
    return true;
}

gufo_status gufo_chat_values_from(gufo_template_values *values, const gufo_model *model,
                                  const gufo_vocab *vocab, gufo_error *error)
{
    static const char *const presets[][2] = {{"messages", "[]"},
                                             {"tools", "null"},
                                             {"documents", "null"},
                                             {"add_generation_prompt", "true"}};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < sizeof presets / sizeof *presets; i++)
        status = gufo_template_values_set(values, presets[i][0], gufo_str_of(presets[i][1]), error);
    for (size_t i = 0; status == GUFO_OK && i < SPECIAL_TOKENS; i++) {
        gufo_str text;

        if (find_token(model, vocab, i, &text) && gufo_utf8_valid_prefix(text) == text.len)
            status = gufo_template_values_set_text(values, special_tokens[i].variable, text, error);
    }
    return status;
}

/* ---- messages, and their shape -------------------------------------------------------------- */

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

/* Whether JSON, which was read before, has the shape of a conversation.  What is too deep for this
 * reader is left to the template. */
static gufo_status check_shape(gufo_str json, bool object, const gufo_allocator *allocator,
                               gufo_error *error)
{
    gufo_error wrong;
    char *room = mem_alloc(allocator, json.len);
    pull p = {.text = json.data, .len = json.len, .decoded = room, .error = &wrong};

    if (room == NULL)
        return fail_memory(error);
    (void)(object ? check_object(&p) : check_list(&p));
    mem_free(allocator, room);
    return p.status == GUFO_E_MALFORMED ? fail_as(error, &wrong) : GUFO_OK;
}

/* Sets a variable, or with NULL one for each member of an object.  The message has the line and the
 * column of what is wrong, which say more than the byte. */
static gufo_status set_json(gufo_template_values *values, const char *name, gufo_str json,
                            gufo_error *error)
{
    gufo_status status = name != NULL ? gufo_template_values_set(values, name, json, error)
                                      : gufo_template_values_set_all(values, json, error);

    if (status != GUFO_OK && error != NULL)
        error->offset = GUFO_NO_OFFSET;
    return status;
}

static gufo_status set_messages(gufo_template_values *values, gufo_str json,
                                const gufo_allocator *allocator, gufo_error *error)
{
    size_t at = 0;
    bool object;
    gufo_status status;

    while (at < json.len && strchr(" \t\r\n", json.data[at]) != NULL && json.data[at] != '\0')
        at++;
    object = at < json.len && json.data[at] == '{';
    status = set_json(values, object ? NULL : "messages", json, error);
    return status == GUFO_OK ? check_shape(json, object, allocator, error) : status;
}

gufo_status gufo_chat_values_messages(gufo_template_values *values, gufo_str json,
                                      gufo_error *error)
{
    return set_messages(values, json, &default_allocator, error);
}

/* ---- the prompt ----------------------------------------------------------------------------- */

static gufo_status set_values(gufo_template_values *values, const gufo_model *model,
                              const gufo_vocab *vocab, gufo_str messages,
                              const gufo_chat_options *o, gufo_error *error)
{
    const gufo_allocator *allocator = o->rendering != NULL ? o->rendering->allocator : NULL;
    gufo_status status = gufo_chat_values_from(values, model, vocab, error);

    if (status == GUFO_OK)
        status = set_messages(values, messages, mem_allocator(allocator), error);
    if (status == GUFO_OK && o->tools.len > 0)
        status = set_json(values, "tools", o->tools, error);
    if (status == GUFO_OK && (o->flags & GUFO_CHAT_NO_PROMPT) != 0)
        status = set_json(values, "add_generation_prompt", gufo_str_of("false"), error);
    if (status == GUFO_OK && o->variables.len > 0)
        status = set_json(values, NULL, o->variables, error);
    return status;
}

static gufo_status check_options(const gufo_chat_options *options, gufo_error *error)
{
    gufo_status status =
        flags_check(options->flags, GUFO_CHAT_NO_PROMPT, "gufo_chat_options", error);

    return status == GUFO_OK ? reserved_check(options->reserved, "gufo_chat_options", error)
                             : status;
}

gufo_status gufo_chat_render(const gufo_model *model, const gufo_vocab *vocab, gufo_str messages,
                             const gufo_chat_options *options, gufo_text *out, gufo_error *error)
{
    const gufo_chat_options none = {0};
    gufo_template_values_options memory = {0};
    gufo_parse_options parsing = {0};
    gufo_template_values *values = NULL;
    gufo_template *parsed = NULL;
    gufo_str source = {0};
    gufo_error first = {.code = GUFO_E_MEMORY};
    gufo_status status;

    if (options == NULL)
        options = &none;
    if (options->rendering != NULL) {
        memory.allocator = parsing.allocator = options->rendering->allocator;
        memory.memory = options->rendering->memory;
    }
    status = check_options(options, &first);
    if (status == GUFO_OK)
        status = gufo_model_chat_template(model, options->name, &source, &first);
    if (status == GUFO_OK && (parsed = gufo_template_parse(source, &parsing, NULL, &first)) == NULL)
        status = first.code;
    if (status == GUFO_OK && (values = gufo_template_values_new(&memory, &first)) == NULL)
        status = first.code;
    if (status == GUFO_OK)
        status = set_values(values, model, vocab, messages, options, &first);
    if (status == GUFO_OK)
        status = gufo_template_render(parsed, values, options->rendering, out, NULL, &first);
    gufo_template_values_free(values);
    gufo_template_free(parsed);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &first);
}

/* ---- its tokens ----------------------------------------------------------------------------- */

gufo_status gufo_tokenize_prompt(const gufo_vocab *vocab, gufo_str prompt, const gufo_run *run,
                                 gufo_ids *out, gufo_error *error)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL, .run = run};
    const gufo_vocab_facts facts = gufo_vocab_describe(vocab);
    uint32_t bos = facts.special[GUFO_SPECIAL_BOS];
    gufo_ids ids = {.allocator = out->allocator};
    gufo_status status = gufo_tokenize(vocab, prompt, &options, &ids, error);
    bool lacks_bos = facts.add_bos && bos != GUFO_NO_TOKEN && (ids.count == 0 || ids.ids[0] != bos);

    if (status == GUFO_OK && !(ids_reserve(out, ids.count + 1) &&
                               (!lacks_bos || ids_add(out, bos)) && ids_append(out, &ids)))
        status = fail_memory(error);
    gufo_ids_free(&ids);
    return status;
}

gufo_status gufo_chat_tokenize(const gufo_model *model, const gufo_vocab *vocab, gufo_str messages,
                               const gufo_chat_options *options, gufo_ids *out, gufo_error *error)
{
    gufo_text prompt = {.allocator = out->allocator};
    gufo_status status = gufo_chat_render(model, vocab, messages, options, &prompt, error);

    if (status == GUFO_OK)
        status = gufo_tokenize_prompt(vocab, (gufo_str){prompt.data, prompt.len},
                                      options != NULL ? options->run : NULL, out, error);
    gufo_text_free(&prompt);
    return status;
}
