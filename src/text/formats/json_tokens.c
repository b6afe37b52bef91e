/* The tokens of a tokenizer.json: the vocabulary of its model, and added tokens, which may repeat
 * entries of it.  Ids without a token become padding. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "text/formats/json_reading.h"

static gufo_status place(json_reading *r, uint32_t id, gufo_str text, int32_t type)
{
    listed_token *token = &r->list.tokens[id];

    if (text.len == 0)
        return json_wrong(r, "token %" PRIu32 " is empty", id);
    if (!token_is_padding(token) && !gufo_str_equal(token->text, text))
        return json_wrong(r, "tokens %s and %s have the same id %" PRIu32, QUOTED(token->text),
                          QUOTED(text), id);
    token->text = text;
    token->type = type;
    return GUFO_OK;
}

/* As many tokens as one more than the largest id. */
static gufo_status make_list(json_reading *r)
{
    const tokenizer_file *f = r->file;
    uint64_t known = (uint64_t)f->vocab_count + f->added_count, count = 0;
    gufo_error reason = {.code = GUFO_OK};

    for (uint32_t i = 0; i < f->vocab_count; i++)
        count = larger(count, UINT64_C(1) + f->vocab[i].id);
    for (uint32_t i = 0; i < f->added_count; i++)
        count = larger(count, UINT64_C(1) + f->added[i].id);
    if (token_list_make(&r->list, count, known, 0, &r->allocator, &reason) == GUFO_OK)
        return GUFO_OK;
    return reason.code == GUFO_E_MEMORY
               ? fail_memory(r->error)
               : refuse(r->error, reason.code, "tokenizer.json: %s", reason.message);
}

static gufo_status read_vocab(json_reading *r)
{
    const tokenizer_file *f = r->file;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && i < f->vocab_count; i++) {
        gufo_str text = file_str(f, f->vocab[i].text);
        bool is_byte = r->kind == PIECES && token_is_byte(text);

        status = place(r, f->vocab[i].id, text, is_byte ? TOKEN_BYTE : TOKEN_NORMAL);
        if (f->vocab_is_list)
            r->list.tokens[i].score = (float)f->scores[i];
    }
    return status;
}

bool token_looks_special(gufo_str text)
{
    static const struct {
        const char *begin, *end;
    } shapes[] = {
        {"<|", "|>"},
        {"<\xef\xbd\x9c", "\xef\xbd\x9c>"}, /* U+FF5C */
        {"<unused", ">"},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (str_begins(text, shapes[i].begin) && str_ends(text, shapes[i].end))
            return true;
    return str_is_word(text, "<pad> <mask> <2mass> [@BOS@]");
}

static gufo_status read_added(json_reading *r, const file_added *token)
{
    const tokenizer_file *f = r->file;
    gufo_str text = file_str(f, token->content);
    bool special = token->special || token_looks_special(text);
    const file_entry *entry = f->vocab_is_list ? NULL : tokenizer_file_find(f, text);

    if (tokenizer_file_find_added(f, text) != token || (entry != NULL && entry->id != token->id))
        return json_wrong(r, "token %s has two ids", QUOTED(text));
    if (token->single_word || token->lstrip || token->rstrip)
        json_note(r,
                  "GGUF files do not record that %s strips white space or matches whole words only",
                  QUOTED(text));
    return place(r, token->id, text, special ? TOKEN_CONTROL : TOKEN_USER_DEFINED);
}

static gufo_status mark_unknown(json_reading *r)
{
    const json_t *model = tokenizer_file_part(r->file, "model"),
                 *unknown = json_member(model, r->kind == UNIGRAM ? "unk_id" : "unk_token");
    json_int_t number = json_integer_value(unknown);
    listed_token *token;
    uint32_t id;

    if (unknown == NULL)
        return GUFO_OK;
    if (r->kind == UNIGRAM &&
        (!json_is_integer(unknown) || number < 0 || number >= r->file->vocab_count))
        return json_wrong(r, "\"unk_id\" is not the id of a token");
    id = r->kind == UNIGRAM ? (uint32_t)number
                            : json_find_token(r, json_word(r, model, "unk_token"));
    if (id == GUFO_NO_TOKEN)
        return r->status != GUFO_OK ? r->status : json_wrong(r, "\"unk_token\" is not a token");
    token = &r->list.tokens[id];
    if (r->kind == UNIGRAM || (r->kind != BYTE_LEVEL && token->type != TOKEN_CONTROL &&
                               token->type != TOKEN_USER_DEFINED))
        token->type = TOKEN_UNKNOWN;
    return gufo_document_set_u32(r->document, KEY("unknown_token_id"), id, r->error);
}

gufo_status json_read_tokens(json_reading *r)
{
    const tokenizer_file *f = r->file;
    gufo_status status;

    if (!f->has_vocab || f->vocab_is_list != (r->kind == UNIGRAM))
        return json_wrong(r, "the model has no \"vocab\"");
    status = make_list(r);
    if (status == GUFO_OK)
        status = read_vocab(r);
    for (uint32_t i = 0; status == GUFO_OK && i < f->added_count; i++)
        status = read_added(r, &f->added[i]);
    return status != GUFO_OK ? status : mark_unknown(r);
}

uint32_t json_find_token(const json_reading *r, gufo_str text)
{
    for (uint32_t id = 0; text.len > 0 && id < r->list.count; id++)
        if (gufo_str_equal(r->list.tokens[id].text, text))
            return id;
    return GUFO_NO_TOKEN;
}

gufo_status json_set_tokens(json_reading *r)
{
    gufo_status status = token_list_finish(&r->list, r->kind == WORDPIECE, r->error);

    return status == GUFO_OK ? token_list_write(&r->list, (r->kind & (UNIGRAM | PIECES)) != 0,
                                                r->document, r->error)
                             : status;
}
