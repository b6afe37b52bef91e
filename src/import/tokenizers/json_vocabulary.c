/* Vocabularies of tokenizer.json that have ids in a table: byte-level BPE and WordPiece.  Tokens are
 * those of the model, and added ones, which may repeat them. Without tokenizer.json there are
 * vocab.json and merges.txt, or vocab.txt. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/tokenizers/reading.h"
#include "import/tokenizers/pre.h"
#include "text/formats/tokenizer_file.h"
#include "text/pipeline/models/token_model.h"

#include <inttypes.h>
#include <string.h>

/* ---- ids ------------------------------------------------------------------------------------ */

typedef struct id_reading {
    tokenizer_reading *r;
    const char *file; /* of the vocabulary */
    const tokenizer_file *vocab;
    json_t *added;    /* text: id, of added tokens */
    uint64_t count;   /* of different texts */
    uint64_t largest; /* the largest id */
    token_list list;
} id_reading;

/* A text has one id, wherever it is named. */
static gufo_status count_added(void *context, const named_token *token)
{
    id_reading *v = context;
    const file_entry *entry = tokenizer_file_find(v->vocab, token->text);
    const json_t *added = json_object_getn(v->added, token->text.data, token->text.len);
    uint64_t known = entry != NULL ? entry->id : (uint64_t)json_integer_value(added);

    if (entry != NULL || added != NULL)
        return known == token->id ? GUFO_OK
                                  : reading_fail(v->r, GUFO_E_MALFORMED, token->file,
                                                 "token %s has two ids, %" PRIu64 " and %" PRIu64,
                                                 QUOTED(token->text), known, token->id);
    v->count++;
    v->largest = larger(v->largest, token->id);
    return json_object_setn_new(v->added, token->text.data, token->text.len,
                                json_integer((json_int_t)token->id)) == 0
               ? GUFO_OK
               : fail_memory(v->r->error);
}

static gufo_status count_tokens(id_reading *v)
{
    tokenizer_reading *r = v->r;
    uint64_t size = reading_size(r, "vocab_size");
    gufo_status status;

    v->largest = reading_largest_id(v->vocab);
    v->count = v->vocab->vocab_count;
    status = reading_each_added(r, count_added, v);
    if (status == GUFO_OK && r->json == NULL)
        status = reading_each_listed(r, count_added, v);
    if (status == GUFO_OK)
        status = reading_each_decoded(r, count_added, v);
    if (status != GUFO_OK)
        return status;
    if (v->count == 0)
        return reading_fail(r, GUFO_E_MALFORMED, v->file, "the vocabulary is empty");
    if (size == 0)
        size = v->count;
    if (v->largest >= size)
        return reading_fail_id(r, v->file, v->largest, size);
    return token_list_make(&v->list, size, v->count, 0, r->allocator, r->error);
}

static gufo_status place_vocab(id_reading *v)
{
    const tokenizer_file *f = v->vocab;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && i < f->vocab_count; i++)
        status =
            reading_place(v->r, v->file, &v->list, f->vocab[i].id, f->vocab[i].text, TOKEN_NORMAL);
    return status;
}

static gufo_status place_added(void *context, const named_token *token)
{
    id_reading *v = context;
    bool control = token->special || token_looks_special(token->text);

    return reading_place(v->r, token->file, &v->list, token->id, token->text,
                         control ? TOKEN_CONTROL : TOKEN_USER_DEFINED);
}

static gufo_status read_ids(id_reading *v)
{
    tokenizer_reading *r = v->r;
    gufo_status status;

    if (!v->vocab->has_vocab || v->vocab->vocab_is_list)
        return reading_fail(r, GUFO_E_MALFORMED, v->file, "the model has no \"vocab\"");
    status = v->added != NULL ? count_tokens(v) : fail_memory(r->error);
    if (status == GUFO_OK)
        status = place_vocab(v);
    if (status == GUFO_OK)
        status = reading_each_added(r, place_added, v);
    if (status == GUFO_OK && r->json == NULL)
        status = reading_each_listed(r, place_added, v);
    if (status == GUFO_OK)
        status = reading_each_decoded(r, place_added, v);
    return status;
}

static void close_ids(id_reading *v)
{
    token_list_free(&v->list);
    json_decref(v->added);
}

/* ---- byte-level BPE ------------------------------------------------------------------------- */

static gufo_status set_bpe(id_reading *v)
{
    tokenizer_reading *r = v->r;
    gufo_str pre = {"", 0};
    gufo_status status = token_list_finish(&v->list, false, r->error);

    if (status == GUFO_OK)
        status = pre_choose(r, &v->list, &pre);
    if (status == GUFO_OK)
        status = reading_set_names(r, "gpt2", NULL);
    if (status == GUFO_OK)
        status = gufo_document_set_str(r->document, TOKENIZER_KEY("pre"), pre, r->error);
    if (status == GUFO_OK)
        status = token_list_write(&v->list, false, r->document, r->error);
    return status == GUFO_OK ? merges_write(r, v->vocab) : status;
}

static gufo_status read_bpe_of(tokenizer_reading *r, const char *file, const tokenizer_file *vocab)
{
    id_reading v = {.r = r, .file = file, .vocab = vocab, .added = json_object()};
    gufo_status status = read_ids(&v);

    if (status == GUFO_OK)
        status = set_bpe(&v);
    close_ids(&v);
    return status;
}

/* vocab.json is an object of ids, without anything around it. */
static gufo_status read_plain_bpe(tokenizer_reading *r)
{
    tokenizer_file *vocab;
    gufo_status status = reading_tables(r, "vocab.json", vocab_json_read, &vocab);

    if (status == GUFO_OK)
        status = vocab != NULL ? read_bpe_of(r, "vocab.json", vocab)
                               : reading_pass(r, "vocab.json", NULL);
    tokenizer_file_free(vocab);
    return status;
}

static gufo_status read_merged_bpe(tokenizer_reading *r)
{
    return reading_has(r, "merges.txt") ? read_plain_bpe(r) : reading_pass(r, "merges.txt", NULL);
}

/* Other tokenizers have a vocab.json, too: that it is one of tokens without merges is the last guess. */
gufo_status read_atomic(tokenizer_reading *r)
{
    return r->json == NULL ? read_plain_bpe(r) : reading_pass(r, "tokenizer.json", NULL);
}

gufo_status read_bpe(tokenizer_reading *r)
{
    if (r->json == NULL)
        return read_merged_bpe(r);
    if (!token_model_is(r->json, "BPE"))
        return reading_pass(r, "tokenizer.json", "its model is not BPE");
    if (json_has_pieces(r))
        return read_hf(r);
    return read_bpe_of(r, "tokenizer.json", r->json);
}

/* ---- WordPiece ------------------------------------------------------------------------------ */

static gufo_status set_wordpiece(id_reading *v)
{
    tokenizer_reading *r = v->r;
    uint64_t types = reading_size(r, "type_vocab_size");
    gufo_status status = token_list_finish(&v->list, true, r->error);

    if (status == GUFO_OK)
        status =
            reading_set_names(r, "bert", r->request->pre != NULL ? r->request->pre : "bert-bge");
    if (status == GUFO_OK)
        status =
            gufo_document_set_u32(r->document, TOKENIZER_KEY("token_type_count"),
                                  types == 0 || types > UINT32_MAX ? 1 : (uint32_t)types, r->error);
    return status == GUFO_OK ? token_list_write(&v->list, false, r->document, r->error) : status;
}

static gufo_status read_words_of(tokenizer_reading *r, const char *file,
                                 const tokenizer_file *vocab)
{
    id_reading v = {.r = r, .file = file, .vocab = vocab, .added = json_object()};
    gufo_status status = read_ids(&v);

    for (uint32_t id = 0; status == GUFO_OK && r->json == NULL && id < v.list.count; id++)
        if (!token_is_padding(&v.list.tokens[id]) &&
            str_is_word(v.list.tokens[id].text, "[UNK] [SEP] [PAD] [CLS] [MASK]"))
            v.list.tokens[id].type = TOKEN_CONTROL;
    if (status == GUFO_OK)
        status = set_wordpiece(&v);
    close_ids(&v);
    return status;
}

static gufo_status read_lines(tokenizer_reading *r)
{
    tokenizer_file *vocab;
    gufo_status status = reading_tables(r, "vocab.txt", vocab_txt_read, &vocab);

    if (status == GUFO_OK)
        status = vocab != NULL ? read_words_of(r, "vocab.txt", vocab)
                               : reading_pass(r, "vocab.txt", NULL);
    tokenizer_file_free(vocab);
    return status;
}

/* Models of the BERT family come with other vocabularies, too. */
gufo_status read_wpm(tokenizer_reading *r)
{
    if (r->json == NULL)
        return reading_has(r, "vocab.txt")                 ? read_lines(r)
               : reading_has(r, "sentencepiece.bpe.model") ? reading_pass_to(r, "xlmr")
                                                           : read_merged_bpe(r);
    if (token_model_is(r->json, "WordPiece"))
        return read_words_of(r, "tokenizer.json", r->json);
    if (token_model_is(r->json, "Unigram"))
        return reading_pass_to(r, "xlmr");
    return read_bpe(r);
}
