/* The tokens of a tokenizer.json: the vocabulary of its model, and added tokens, which may repeat
 * entries of it.  Ids without a token become padding. */
#include "text/formats/json_reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum {
    LARGEST_GAP = 1 << 16, /* ids beyond the number of tokens */
    PADDING_ROOM = 16,     /* "[PAD4294967295]", and more than one U+2581 */
};

/* ---- reading -------------------------------------------------------------------------------- */

static gufo_status place(json_reading *r, uint32_t id, gufo_str text, int32_t type, bool added)
{
    read_token *token = &r->tokens[id];

    if (text.len == 0)
        return json_wrong(r, "token %" PRIu32 " is empty", id);
    if (token->text.len > 0 && !gufo_str_equal(token->text, text))
        return json_wrong(r, "tokens %s and %s have the same id %" PRIu32, QUOTED(token->text),
                          QUOTED(text), id);
    token->text = text;
    token->type = type;
    token->added = added;
    return GUFO_OK;
}

/* The number of tokens: one more than the largest id. */
static gufo_status count_tokens(json_reading *r)
{
    const tokenizer_file *f = r->file;
    uint64_t known = (uint64_t)f->vocab_count + f->added_count, largest = 0, room;

    for (uint32_t i = 0; i < f->vocab_count; i++)
        largest = larger(largest, UINT64_C(1) + f->vocab[i].id);
    for (uint32_t i = 0; i < f->added_count; i++)
        largest = larger(largest, UINT64_C(1) + f->added[i].id);
    if (r->options.size != 0 && largest > r->options.size)
        return refuse(r->error, GUFO_E_RANGE,
                      "tokenizer.json: a token has id %" PRIu64 ", but the model has %" PRIu32
                      " tokens",
                      largest - 1, r->options.size);
    room = larger(largest, r->options.size);
    if (largest > known + LARGEST_GAP || room >= GUFO_MAX_COUNT)
        return refuse(r->error, GUFO_E_LIMIT,
                      "tokenizer.json: a token has id %" PRIu64 ", but it has only %" PRIu64
                      " tokens",
                      largest - 1, known);
    if (room == 0)
        return json_wrong(r, "the vocabulary is empty");
    r->count = (uint32_t)room;
    r->tokens = mem_array(&r->allocator, room, sizeof *r->tokens);
    return r->tokens != NULL ? GUFO_OK : fail_memory(r->error);
}

static int32_t type_of(const json_reading *r, gufo_str text)
{
    if (r->kind == PIECES && text.len == 6 && str_begins(text, "<0x") && str_ends(text, ">") &&
        is_hex(text.data[3]) && is_hex(text.data[4]))
        return TYPE_BYTE;
    return TYPE_NORMAL;
}

static gufo_status read_vocab(json_reading *r)
{
    const tokenizer_file *f = r->file;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && i < f->vocab_count; i++) {
        gufo_str text = file_str(f, f->vocab[i].text);

        status = place(r, f->vocab[i].id, text, type_of(r, text), false);
        if (f->vocab_is_list)
            r->tokens[f->vocab[i].id].score = (float)f->scores[i];
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
        json_note(r, "GGUF files do not say where %s takes white space, or stands alone",
                  QUOTED(text));
    return place(r, token->id, text, special ? TYPE_CONTROL : TYPE_USER_DEFINED, true);
}

static gufo_status mark_unknown(json_reading *r)
{
    const json_t *model = tokenizer_file_part(r->file, "model"),
                 *unknown = json_member(model, r->kind == UNIGRAM ? "unk_id" : "unk_token");
    json_int_t number = json_integer_value(unknown);
    uint32_t id;

    if (unknown == NULL)
        return GUFO_OK;
    if (r->kind == UNIGRAM && (!json_is_integer(unknown) || number < 0 || number >= r->count))
        return json_wrong(r, "\"unk_id\" is not the id of a token");
    id = r->kind == UNIGRAM ? (uint32_t)number
                            : json_find_token(r, json_word(r, model, "unk_token"));
    if (id == GUFO_NO_TOKEN)
        return r->status != GUFO_OK ? r->status : json_wrong(r, "\"unk_token\" is not a token");
    if (r->kind == UNIGRAM || (r->kind != BYTE_LEVEL && !r->tokens[id].added))
        r->tokens[id].type = TYPE_UNKNOWN;
    return gufo_document_set_u32(r->document, KEY("unknown_token_id"), id, r->error);
}

gufo_status json_read_tokens(json_reading *r)
{
    const tokenizer_file *f = r->file;
    gufo_status status;

    if (!f->has_vocab || f->vocab_is_list != (r->kind == UNIGRAM))
        return json_wrong(r, "the model has no \"vocab\"");
    status = count_tokens(r);
    if (status == GUFO_OK)
        status = read_vocab(r);
    for (uint32_t i = 0; status == GUFO_OK && i < f->added_count; i++)
        status = read_added(r, &f->added[i]);
    return status != GUFO_OK ? status : mark_unknown(r);
}

uint32_t json_find_token(const json_reading *r, gufo_str text)
{
    for (uint32_t id = 0; id < r->count; id++)
        if (gufo_str_equal(r->tokens[id].text, text))
            return id;
    return GUFO_NO_TOKEN;
}

/* ---- setting -------------------------------------------------------------------------------- */

static size_t copy(char *out, gufo_str text)
{
    memcpy(out, text.data, text.len);
    return text.len;
}

/* U+2581 becomes a space. */
static size_t copy_with_spaces(char *out, gufo_str text)
{
    size_t len = 0;

    for (size_t i = 0; i < text.len;)
        if (str_begins(str_from(text, i), WORD_START)) {
            out[len++] = ' ';
            i += strlen(WORD_START);
        } else {
            out[len++] = text.data[i++];
        }
    return len;
}

/* How GGUF has the text of a token. */
static size_t write_text(const json_reading *r, uint32_t id, char *out)
{
    const read_token *token = &r->tokens[id];

    if (token->text.len == 0)
        return (size_t)snprintf(out, PADDING_ROOM, "[PAD%" PRIu32 "]", id);
    if (r->kind == WORDPIECE && token->type != TYPE_CONTROL && token->type != TYPE_UNKNOWN) {
        if (str_begins(token->text, "##") && token->text.len > 2)
            return copy(out, str_from(token->text, 2));
        memcpy(out, WORD_START, strlen(WORD_START));
        return strlen(WORD_START) + copy(out + strlen(WORD_START), token->text);
    }
    if (token->added && token->type == TYPE_USER_DEFINED)
        return copy_with_spaces(out, token->text);
    return copy(out, token->text);
}

static gufo_status set_lists(json_reading *r, gufo_str *texts, float *scores, int32_t *types)
{
    gufo_items tokens = {GUFO_VALUE_STRING, r->count, texts},
               score = {GUFO_VALUE_FLOAT32, r->count, scores},
               type = {GUFO_VALUE_INT32, r->count, types};
    gufo_status status = gufo_document_set_array(r->document, KEY("tokens"), &tokens, r->error);

    for (uint32_t id = 0; id < r->count; id++) {
        bool missing = r->tokens[id].text.len == 0;

        scores[id] = r->tokens[id].score;
        types[id] = missing ? TYPE_UNUSED : r->tokens[id].type;
    }
    if (status == GUFO_OK && (r->kind == UNIGRAM || r->kind == PIECES))
        status = gufo_document_set_array(r->document, KEY("scores"), &score, r->error);
    if (status == GUFO_OK)
        status = gufo_document_set_array(r->document, KEY("token_type"), &type, r->error);
    return status;
}

gufo_status json_set_tokens(json_reading *r)
{
    uint64_t bytes = (uint64_t)r->count * PADDING_ROOM, at = 0;
    gufo_str *texts = mem_array(&r->allocator, r->count, sizeof *texts);
    float *scores = mem_array(&r->allocator, r->count, sizeof *scores);
    int32_t *types = mem_array(&r->allocator, r->count, sizeof *types);
    char *data;
    gufo_status status;

    for (uint32_t id = 0; id < r->count; id++)
        bytes += r->tokens[id].text.len;
    data = mem_array(&r->allocator, bytes, 1);
    status = texts == NULL || scores == NULL || types == NULL || data == NULL
                 ? fail_memory(r->error)
                 : GUFO_OK;
    if (status == GUFO_OK) {
        for (uint32_t id = 0; id < r->count; id++) {
            texts[id] = (gufo_str){data + at, write_text(r, id, data + at)};
            at += texts[id].len;
        }
        status = set_lists(r, texts, scores, types);
    }
    mem_free(&r->allocator, texts);
    mem_free(&r->allocator, scores);
    mem_free(&r->allocator, types);
    mem_free(&r->allocator, data);
    return status;
}
