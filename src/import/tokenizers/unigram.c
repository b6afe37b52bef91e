/* Vocabularies of unigram models: tokenizer.model as T5 has it, and those of XLM-RoBERTa, which
 * begin with four tokens of their own. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "import/tokenizers/pieces.h"
#include "import/tokenizers/readers.h"
#include "import/tokenizers/space_rules.h"

#define PADDING_SCORE (-10000.0f)

/* ---- keys ----------------------------------------------------------------------------------- */

static gufo_status set_token_types(tokenizer_reading *r)
{
    uint64_t types = reading_size(r, "type_vocab_size");

    return types == 0 || types > UINT32_MAX
               ? GUFO_OK
               : gufo_document_set_u32(r->document, TOKENIZER_KEY("token_type_count"),
                                       (uint32_t)types, r->error);
}

static gufo_status set_normalizer(tokenizer_reading *r, const sentencepiece *model, bool has_types)
{
    gufo_items charsmap = {GUFO_VALUE_UINT8, model->charsmap.len, model->charsmap.data};
    gufo_status status = gufo_document_set_bool(r->document, TOKENIZER_KEY("add_space_prefix"),
                                                model->add_dummy_prefix, r->error);

    if (status == GUFO_OK && has_types)
        status = set_token_types(r);
    if (status == GUFO_OK)
        status = gufo_document_set_bool(r->document, TOKENIZER_KEY("remove_extra_whitespaces"),
                                        model->remove_extra_whitespaces, r->error);
    return status == GUFO_OK && charsmap.count > 0
               ? gufo_document_set_array(r->document, TOKENIZER_KEY("precompiled_charsmap"),
                                         &charsmap, r->error)
               : status;
}

static gufo_status write_list(tokenizer_reading *r, token_list *list)
{
    gufo_status status = reading_set_names(r, "t5", "default");

    return status == GUFO_OK ? token_list_write(list, true, r->document, r->error) : status;
}

/* ---- T5 ------------------------------------------------------------------------------------- */

static gufo_status write_ugm(tokenizer_reading *r, const sentencepiece *model)
{
    token_list list = {.tokens = NULL};
    uint64_t size = reading_size(r, "vocab_size");
    gufo_status status = token_list_make(&list, size != 0 ? size : model->count, model->count,
                                         PADDING_SCORE, r->allocator, r->error);

    if (status == GUFO_OK)
        status = pieces_place(r, model, &list);
    if (status == GUFO_OK)
        status = pieces_place_added(r, &list);
    if (status == GUFO_OK)
        status = write_list(r, &list);
    if (status == GUFO_OK)
        status = set_normalizer(r, model, false);
    token_list_free(&list);
    return status;
}

gufo_status read_ugm(tokenizer_reading *r)
{
    piece_file file;
    gufo_status status = piece_file_open(r, "tokenizer.model spiece.model", &file);

    if (status == GUFO_OK)
        status = file.model.model_type == SENTENCEPIECE_UNIGRAM ? write_ugm(r, &file.model)
                 : file.model.model_type == SENTENCEPIECE_BPE
                     ? reading_pass_to(r, "spm")
                     : reading_pass(r, file.name, "its model is neither unigram nor BPE");
    piece_file_close(&file);
    return status;
}

/* ---- XLM-RoBERTa ---------------------------------------------------------------------------- */

enum { OWN_TOKENS = 4, MASK_ID = 250001 };

/* Pieces from 3 on move up by one, behind the four tokens. */
static void shift_pieces(token_list *list, bool with_mask)
{
    static const listed_token own[OWN_TOKENS] = {
        {{"<s>", 3}, 0, TOKEN_CONTROL},
        {{"<pad>", 5}, 0, TOKEN_CONTROL},
        {{"</s>", 4}, 0, TOKEN_CONTROL},
        {{"<unk>", 5}, 0, TOKEN_UNKNOWN},
    };

    for (uint32_t id = list->count; id-- > 0;)
        list->tokens[id] = id < OWN_TOKENS ? own[id] : list->tokens[id - 1];
    if (with_mask && list->count > MASK_ID)
        list->tokens[MASK_ID] = (listed_token){{"<mask>", 6}, 0, TOKEN_CONTROL};
}

static gufo_status write_shifted(tokenizer_reading *r, const sentencepiece *model, bool with_mask)
{
    token_list list = {.tokens = NULL};
    gufo_status status = token_list_make(&list, larger(reading_size(r, "vocab_size"), model->count),
                                         model->count, PADDING_SCORE, r->allocator, r->error);

    if (status == GUFO_OK)
        status = pieces_place(r, model, &list);
    if (status == GUFO_OK) {
        shift_pieces(&list, with_mask);
        status = write_list(r, &list);
    }
    if (status == GUFO_OK)
        status = set_normalizer(r, model, true);
    token_list_free(&list);
    return status;
}

/* In tokenizer.json the vocabulary is a list of texts and scores. */
static void place_pairs(tokenizer_reading *r, token_list *list)
{
    const tokenizer_file *f = r->json;
    uint64_t unknown;
    bool has_unknown = reading_id(json_member(r->model, "unk_id"), &unknown);

    for (uint32_t id = 0; id < f->vocab_count; id++)
        list->tokens[id] =
            (listed_token){f->vocab[id].text, (float)f->scores[id],
                           has_unknown && id == unknown ? TOKEN_UNKNOWN : TOKEN_NORMAL};
}

typedef struct added_reading {
    tokenizer_reading *r;
    token_list *list;
    uint64_t largest;
} added_reading;

static gufo_status measure_added(void *context, const named_token *token)
{
    added_reading *a = context;

    a->largest = larger(a->largest, token->id);
    return GUFO_OK;
}

static gufo_status place_added(void *context, const named_token *token)
{
    added_reading *a = context;
    listed_token *known = &a->list->tokens[token->id];

    if (token_is_padding(known))
        known->score = 0;
    return reading_place(a->r, token->file, a->list, token->id, token->text,
                         known->type == TOKEN_UNKNOWN ? TOKEN_UNKNOWN
                         : token->special             ? TOKEN_CONTROL
                                                      : TOKEN_USER_DEFINED);
}

static gufo_status write_pairs(tokenizer_reading *r)
{
    token_list list = {.tokens = NULL};
    added_reading a = {.r = r, .list = &list};
    uint64_t known = r->json->vocab_count, size = larger(reading_size(r, "vocab_size"), known);
    gufo_status status = reading_each_added(r, measure_added, &a);

    if (status == GUFO_OK)
        status =
            token_list_make(&list, larger(size, a.largest < UINT32_MAX ? a.largest + 1 : a.largest),
                            known, PADDING_SCORE, r->allocator, r->error);
    if (status == GUFO_OK) {
        place_pairs(r, &list);
        status = reading_each_added(r, place_added, &a);
    }
    if (status == GUFO_OK)
        status = write_list(r, &list);
    if (status == GUFO_OK)
        status = space_rules_write(r, UNIGRAM);
    if (status == GUFO_OK)
        status = set_token_types(r);
    token_list_free(&list);
    return status;
}

static gufo_status read_roberta(tokenizer_reading *r, bool with_mask)
{
    piece_file file;
    gufo_status status = piece_file_open(r, "sentencepiece.bpe.model", &file);

    if (status == GUFO_OK)
        status = write_shifted(r, &file.model, with_mask);
    piece_file_close(&file);
    if (status != GUFO_E_NOT_FOUND || r->json == NULL)
        return status;
    return r->json->vocab_is_list ? write_pairs(r)
                                  : reading_pass(r, "tokenizer.json", "its model is not Unigram");
}

gufo_status read_xlmr(tokenizer_reading *r)
{
    return read_roberta(r, false);
}

/* Token 250001 is a mask, which the file does not say. */
gufo_status read_nomic(tokenizer_reading *r)
{
    return read_roberta(r, true);
}
