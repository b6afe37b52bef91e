/* Vocabularies of SentencePiece, BPE and unigram: the pieces of tokenizer.model, over which the tokens are laid that
 * the JSON files beside it add.  Later files win. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/tokenizers/reading.h"
#include "import/tokenizers/sentencepiece.h"

#include <inttypes.h>
#include <string.h>

/* A SentencePiece model with the bytes of its file. */
typedef struct piece_file {
    const char *name;
    buffer bytes;
    sentencepiece model;
} piece_file;

static const float PADDING_SCORE = -10000;

/* ---- the file ------------------------------------------------------------------------------- */

static gufo_status piece_file_open(tokenizer_reading *r, const char *names, piece_file *file)
{
    const char *const candidates[] = {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"};
    gufo_status status = GUFO_OK;
    bool found = false;

    *file = (piece_file){.bytes = {.allocator = r->allocator}};
    for (size_t i = 0; !found && status == GUFO_OK && i < sizeof candidates / sizeof *candidates;
         i++)
        if (str_is_word(gufo_str_of(candidates[i]), names)) {
            file->name = candidates[i];
            status = reading_file(r, file->name, &file->bytes, &found);
        }
    if (status != GUFO_OK)
        return status;
    if (!found)
        return reading_pass(r, names, NULL);
    status = sentencepiece_read((gufo_str){(const char *)file->bytes.data, file->bytes.len},
                                r->allocator, &file->model, r->error);
    if (status != GUFO_OK)
        reading_name_file(r, file->name);
    return status;
}

static void piece_file_close(piece_file *file)
{
    sentencepiece_free(&file->model);
    buffer_free(&file->bytes);
}

/* ---- laying tokens over one another --------------------------------------------------------- */

static gufo_status pieces_place(tokenizer_reading *r, const sentencepiece *model, token_list *list)
{
    for (uint64_t id = 0; id < model->count && id < list->count; id++) {
        const sentence_piece *from = &model->pieces[id];

        list->tokens[id] = (listed_token){
            from->text, from->score, from->type == TOKEN_USER_DEFINED ? TOKEN_NORMAL : from->type};
    }
    return model->count > list->count
               ? import_warn(r->import, r->error,
                             "%s pieces of tokenizer.model are beyond the %s tokens of the model: "
                             "they are skipped",
                             GROUPED(model->count - list->count), GROUPED(list->count))
               : GUFO_OK;
}

/* How the tokens of a file are laid over what the list has. */
typedef struct overlay {
    tokenizer_reading *r;
    token_list *list;
    bool looks;     /* texts that look special are control tokens; U+2581 is a space in others */
    bool must_fit;  /* an id beyond the list is a failure; otherwise it is skipped */
    bool has_kind;  /* the file says which tokens are special */
    gufo_str found; /* the id of this text is wanted: found_id */
    uint64_t found_id;
} overlay;

static gufo_status lay(void *context, const named_token *added)
{
    overlay *o = context;
    bool control =
        o->has_kind && (added->special || (o->looks && token_looks_special(added->text)));
    listed_token token = {added->text, ADDED_SCORE, control ? TOKEN_CONTROL : TOKEN_USER_DEFINED};
    gufo_status status = GUFO_OK;

    if (added->id >= o->list->count)
        return !o->must_fit
                   ? GUFO_OK
                   : reading_fail(o->r, GUFO_E_RANGE, added->file,
                                  "token %s has id %" PRIu64 ", but the model has %s tokens",
                                  QUOTED(added->text), added->id, GROUPED(o->list->count));
    if (o->has_kind && o->looks && !control)
        status = token_list_with_spaces(o->list, added->text, &token.text, o->r->error);
    if (gufo_str_equal(added->text, o->found))
        o->found_id = added->id;
    o->list->tokens[added->id] = token;
    return status;
}

/* Tokens of added_tokens.json, with score -1000, as user-defined ones. */
static gufo_status pieces_place_added(tokenizer_reading *r, token_list *list)
{
    overlay o = {.r = r, .list = list};

    return reading_each_listed(r, lay, &o);
}

static gufo_status lay_missing(void *context, const named_token *added)
{
    const overlay *o = context;

    return added->id >= o->list->count || !token_is_padding(&o->list->tokens[added->id])
               ? GUFO_OK
               : lay(context, added);
}

/* Tokens that were added later may be in tokenizer.json alone. */
static gufo_status place_missing(tokenizer_reading *r, token_list *list)
{
    overlay o = {.r = r, .list = list, .looks = true, .has_kind = true};

    return reading_each_added(r, lay_missing, &o);
}

static gufo_status place_decoded(tokenizer_reading *r, token_list *list)
{
    overlay o = {.r = r, .list = list, .looks = true, .has_kind = true};

    return reading_each_decoded(r, lay, &o);
}

/* As phi3 and internlm2 have it: all files must agree with the size. */
static gufo_status place_strictly(overlay *o)
{
    gufo_status status;

    o->must_fit = true;
    status = reading_each_listed(o->r, lay, o);
    o->has_kind = true;
    if (status == GUFO_OK)
        status = reading_each_decoded(o->r, lay, o);
    return status == GUFO_OK ? reading_each_added(o->r, lay, o) : status;
}

/* ---- readers -------------------------------------------------------------------------------- */

typedef gufo_status place_tokens(tokenizer_reading *r, const sentencepiece *model,
                                 token_list *list);

static uint64_t size_or(uint64_t size, uint64_t otherwise)
{
    return size != 0 ? size : otherwise;
}

static gufo_status read_pieces(tokenizer_reading *r, const char *sizes, float padding_score,
                               const char *pre, place_tokens *place)
{
    token_list list = {.tokens = NULL};
    piece_file file;
    gufo_status status = piece_file_open(r, "tokenizer.model", &file);

    if (status == GUFO_OK)
        status = token_list_make(&list, size_or(reading_size(r, sizes), file.model.count),
                                 file.model.count, padding_score, r->allocator, r->error);
    if (status == GUFO_OK)
        status = place(r, &file.model, &list);
    if (status == GUFO_OK)
        status = reading_set_names(r, "llama", pre);
    if (status == GUFO_OK)
        status = token_list_write(&list, true, r->document, r->error);
    token_list_free(&list);
    piece_file_close(&file);
    return status;
}

static gufo_status place_spm(tokenizer_reading *r, const sentencepiece *model, token_list *list)
{
    gufo_status status = pieces_place(r, model, list);

    if (status == GUFO_OK && model->model_type == SENTENCEPIECE_UNIGRAM)
        status = import_warn(r->import, r->error,
                             "tokenizer.model is of the type unigram, which the tokenizer model "
                             "\"llama\" does not follow");
    if (status == GUFO_OK)
        status = pieces_place_added(r, list);
    if (status == GUFO_OK)
        status = place_missing(r, list);
    r->is_bare = !model->add_dummy_prefix;
    return status == GUFO_OK ? place_decoded(r, list) : status;
}

gufo_status read_spm(tokenizer_reading *r)
{
    return read_pieces(r, "vocab_size_per_layer_input vocab_size", PADDING_SCORE, "default",
                       place_spm);
}

static gufo_status place_phi3(tokenizer_reading *r, const sentencepiece *model, token_list *list)
{
    overlay o = {.r = r, .list = list};
    gufo_status status = pieces_place(r, model, list);

    return status == GUFO_OK ? place_strictly(&o) : status;
}

gufo_status read_phi3(tokenizer_reading *r)
{
    return read_pieces(r, "vocab_size", PADDING_SCORE, "default", place_phi3);
}

/* A NUL, which GGUF readers end texts at, becomes a dragon; the eos of chats is a token of theirs. */
static gufo_status place_internlm2(tokenizer_reading *r, const sentencepiece *model,
                                   token_list *list)
{
    overlay o = {.r = r, .list = list, .found = gufo_str_of("<|im_end|>"), .found_id = UINT64_MAX};
    gufo_status status = pieces_place(r, model, list);

    for (uint32_t id = 0; id < list->count; id++) {
        listed_token *token = &list->tokens[id];

        if (token->text.len == 1 && token->text.data[0] == '\0')
            token->text = gufo_str_of("\xf0\x9f\x90\x89");
        else if (str_begins(token->text, "[UNUSED"))
            token->type = TOKEN_UNUSED;
    }
    if (status == GUFO_OK)
        status = place_strictly(&o);
    if (status == GUFO_OK)
        status = gufo_document_set_bool(r->document, TOKENIZER_KEY("add_space_prefix"),
                                        model->add_dummy_prefix, r->error);
    return status == GUFO_OK && o.found_id != UINT64_MAX
               ? gufo_document_set_u32(r->document, TOKENIZER_KEY("eos_token_id"),
                                       (uint32_t)o.found_id, r->error)
               : status;
}

gufo_status read_internlm2(tokenizer_reading *r)
{
    return read_pieces(r, "vocab_size", PADDING_SCORE, "default", place_internlm2);
}

typedef struct arctic_overlay {
    tokenizer_reading *r;
    token_list *list;
    gufo_str unknown;
} arctic_overlay;

static gufo_status lay_arctic(void *context, const named_token *added)
{
    arctic_overlay *o = context;
    listed_token token = {added->text, PADDING_SCORE, TOKEN_USER_DEFINED};

    if (added->id >= o->list->count)
        return GUFO_OK;
    if (added->special) {
        token.score = 0;
        token.type = gufo_str_equal(added->text, o->unknown) ? TOKEN_UNKNOWN : TOKEN_CONTROL;
    }
    o->list->tokens[added->id] = token;
    return GUFO_OK;
}

static gufo_status place_arctic(tokenizer_reading *r, const sentencepiece *model, token_list *list)
{
    arctic_overlay o = {r, list, reading_content(json_member(r->config->tokenizer, "unk_token"))};
    gufo_status status = pieces_place(r, model, list);

    return status == GUFO_OK ? reading_each_decoded(r, lay_arctic, &o) : status;
}

gufo_status read_arctic(tokenizer_reading *r)
{
    return read_pieces(r, "vocab_size", PADDING_SCORE, "default", place_arctic);
}

static gufo_status place_chatglm3(tokenizer_reading *r, const sentencepiece *model,
                                  token_list *list)
{
    static const char *const first[] = {"<unk>", "<bos>", "<eos>"};
    static const char control[] = "[MASK] [gMASK] [sMASK] sop eop <|system|> <|user|> "
                                  "<|assistant|> <|observation|>";
    gufo_status status = pieces_place(r, model, list);

    for (uint32_t id = 0; id < 3 && id < list->count; id++)
        list->tokens[id].text = gufo_str_of(first[id]);
    if (status == GUFO_OK)
        status = pieces_place_added(r, list);
    if (status == GUFO_OK)
        status = place_decoded(r, list);
    for (uint32_t id = 0; id < list->count; id++) {
        listed_token *token = &list->tokens[id];

        if (id < model->count || token_is_padding(token))
            continue;
        token->score = 0;
        token->type = str_is_word(token->text, control) ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
    }
    return status;
}

gufo_status read_chatglm3(tokenizer_reading *r)
{
    return read_pieces(r, "vocab_size", 0, "chatglm-spm", place_chatglm3);
}

/* ==== unigram ================================================================================== */

/* Vocabularies of unigram models: tokenizer.model as T5 has it, and those of XLM-RoBERTa, which
 * begin with four tokens of their own. */

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
