/* A vocabulary as a tokenizer.json: of tokens, merges and flags.
 *
 * The parts are made as values of Jansson, which writes them.  All tokens are in the model's
 * vocabulary, so that the ids of added tokens are certain; padding at the end is missing, as in the
 * file that a model came with. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "text/export/json_writing.h"
#include "text/formats/source.h"
#include "text/vocabulary/vocabulary.h"

/* ---- tokens --------------------------------------------------------------------------------- */

static bool is_added(unsigned type)
{
    return type == TOKEN_UNKNOWN || type == TOKEN_CONTROL || type == TOKEN_USER_DEFINED;
}

/* Without padding at the end, unless it is a special token. */
static uint32_t count_tokens(const gufo_vocab *v)
{
    uint32_t count = v->size, least = 0;

    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++)
        if (v->special[i] != GUFO_NO_TOKEN && v->special[i] >= least)
            least = v->special[i] + 1;
    while (count > least && vocab_type(v, count - 1) == TOKEN_UNUSED)
        count--;
    return count;
}

static gufo_status add_token(json_export *e, uint32_t id)
{
    unsigned type = vocab_type(e->vocab, id), attributes = e->vocab->attributes[id];
    json_t *token;

    if (!is_added(type))
        return GUFO_OK;
    token = json_pack("{s:I, s:o, s:b, s:b, s:b, s:b, s:b}", "id", (json_int_t)id, "content",
                      json_token_text(e, id), "single_word", 0, "lstrip",
                      (attributes & GUFO_TOKEN_LSTRIP) != 0, "rstrip",
                      (attributes & GUFO_TOKEN_RSTRIP) != 0, "normalized", 0, "special",
                      type != TOKEN_USER_DEFINED);
    return json_array_append_new(e->added, token) == 0 ? GUFO_OK : fail_memory(e->error);
}

static gufo_status make_tokens(json_export *e)
{
    gufo_status status = GUFO_OK;

    e->count = count_tokens(e->vocab);
    e->added = json_array();
    if (e->added == NULL)
        return fail_memory(e->error);
    for (uint32_t id = 0; status == GUFO_OK && id < e->count; id++) {
        gufo_str text = vocab_text(e->vocab, id);

        if (gufo_utf8_valid_prefix(text) != text.len || memchr(text.data, '\0', text.len) != NULL)
            return refuse(e->error, GUFO_E_MALFORMED,
                          "token %" PRIu32 ", %s, has bytes that JSON cannot have", id,
                          QUOTED(text));
        status = add_token(e, id);
    }
    return status;
}

/* ---- around a text -------------------------------------------------------------------------- */

static json_t *special_token(const json_export *e, uint32_t id, int type)
{
    return json_pack("{s:{s:o, s:i}}", "SpecialToken", "id", json_token_text(e, id), "type_id",
                     type);
}

static json_t *sequence(const char *name, int type)
{
    return json_pack("{s:{s:s, s:i}}", "Sequence", "id", name, "type_id", type);
}

/* {text: {"id": text, "ids": [id], "tokens": [text]}}; not 0 without memory. */
static int add_ids(const json_export *e, json_t *out, uint32_t id)
{
    json_t *text;
    int failed;

    if (id == GUFO_NO_TOKEN)
        return 0;
    text = json_token_text(e, id);
    failed = json_object_set_new(
        out, json_string_value(text),
        json_pack("{s:O, s:[I], s:[O]}", "id", text, "ids", (json_int_t)id, "tokens", text));
    json_decref(text);
    return failed;
}

/* The tokens that encoding adds: GUFO_NO_TOKEN where it adds none. */
static void frame_of(const gufo_vocab *v, uint32_t *before, uint32_t *behind)
{
    bool always = v->frame == FRAME_ALWAYS;

    *before = always || (v->frame == FRAME_FLAGS && v->add_bos) ? v->special[GUFO_SPECIAL_BOS]
                                                                : GUFO_NO_TOKEN;
    *behind = always                                  ? v->special[GUFO_SPECIAL_SEPARATOR]
              : v->frame == FRAME_FLAGS && v->add_eos ? v->special[GUFO_SPECIAL_EOS]
                                                      : GUFO_NO_TOKEN;
}

/* [before] A [behind], and for pairs [before] A [behind] B [behind]. */
static json_t *make_template(const json_export *e, const char *const *texts, uint32_t before,
                             uint32_t behind)
{
    json_t *list = json_array();
    int failed = 0;

    if (before != GUFO_NO_TOKEN)
        failed |= json_array_append_new(list, special_token(e, before, 0));
    for (int i = 0; texts[i] != NULL; i++) {
        failed |= json_array_append_new(list, sequence(texts[i], i));
        if (behind != GUFO_NO_TOKEN)
            failed |= json_array_append_new(list, special_token(e, behind, i));
    }
    if (failed == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *make_post_processor(const json_export *e)
{
    static const char *const one[] = {"A", NULL}, *const two[] = {"A", "B", NULL};
    uint32_t before, behind;
    json_t *tokens;
    int failed;

    frame_of(e->vocab, &before, &behind);
    if (before == GUFO_NO_TOKEN && behind == GUFO_NO_TOKEN)
        return json_null();
    tokens = json_object();
    failed = add_ids(e, tokens, before) | add_ids(e, tokens, behind);
    if (failed != 0) {
        json_decref(tokens);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "type", "TemplateProcessing", "single",
                     make_template(e, one, before, behind), "pair",
                     make_template(e, two, before, behind), "special_tokens", tokens);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int take_bytes(const char *bytes, size_t size, void *context)
{
    return text_add(context, bytes, size) ? 0 : -1;
}

static const struct {
    const char *model;
    gufo_status (*make)(json_export *e);
} makers[] = {
    {"gpt2", json_make_byte_level},
    {"llama", json_make_pieces},
    {"bert", json_make_wordpiece},
    {"t5", json_make_unigram},
};

static gufo_status make_model(json_export *e)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(e->vocab->model, makers[i].model) == 0)
            return makers[i].make(e);
    return refuse(e->error, GUFO_E_TYPE, "a vocabulary of the model \"%s\" has no tokenizer.json",
                  e->vocab->model);
}

static gufo_status write_all(json_export *e, gufo_text *out)
{
    json_t *post = make_post_processor(e);
    json_t *root;
    gufo_status status = GUFO_OK;

    root = json_pack("{s:s, s:n, s:n, s:O, s:O, s:O, s:o, s:O, s:O}", "version", "1.0",
                     "truncation", "padding", "added_tokens", e->added, "normalizer", e->normalizer,
                     "pre_tokenizer", e->pre_tokenizer, "post_processor", post, "decoder",
                     e->decoder, "model", e->model);
    if (root == NULL ||
        json_dump_callback(root, take_bytes, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 ||
        take_bytes("\n", 1, out) != 0)
        status = fail_memory(e->error);
    json_decref(root);
    return status;
}

/* The text that the vocabulary was opened from. */
static gufo_status copy_text(const gufo_vocab_source *source, gufo_text *out, gufo_error *error)
{
    gufo_str text;
    gufo_status status = source_json(source, &text, error);

    return status != GUFO_OK || text_add(out, text.data, text.len) ? status : fail_memory(error);
}

static gufo_status make_text(const gufo_vocab *vocab, const gufo_model *model, gufo_text *out,
                             gufo_error *error)
{
    json_export e = {.vocab = vocab, .source = model, .error = error};
    gufo_status status = make_tokens(&e);

    if (status == GUFO_OK)
        status = make_model(&e);
    if (status == GUFO_OK &&
        (e.normalizer == NULL || e.pre_tokenizer == NULL || e.decoder == NULL || e.model == NULL))
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = write_all(&e, out);
    json_decref(e.added);
    json_decref(e.normalizer);
    json_decref(e.pre_tokenizer);
    json_decref(e.decoder);
    json_decref(e.model);
    return status;
}

gufo_status gufo_vocab_export_json(const gufo_vocab *vocab, const gufo_vocab_source *source,
                                   gufo_text *out, gufo_error *error)
{
    const size_t start = out->len;
    gufo_status status = source_check(source, vocab, error);

    if (status == GUFO_OK)
        status = vocab->pipeline != NULL ? copy_text(source, out, error)
                                         : make_text(vocab, source->model, out, error);
    if (status != GUFO_OK)
        out->len = start;
    return status;
}
