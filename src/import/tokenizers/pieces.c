/* Vocabularies of SentencePiece: the pieces of tokenizer.model, over which the tokens are laid that
 * the JSON files beside it add.  Later files win. */
#include "import/tokenizers/pieces.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/tokenizers/readers.h"

static const float ADDED_SCORE = -1000, PADDING_SCORE = -10000;

/* ---- the file ------------------------------------------------------------------------------- */

gufo_status piece_file_open(tokenizer_reading *r, const char *names, piece_file *file)
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

void piece_file_close(piece_file *file)
{
    sentencepiece_free(&file->model);
    buffer_free(&file->bytes);
}

/* ---- laying tokens over one another --------------------------------------------------------- */

gufo_status pieces_place(tokenizer_reading *r, const sentencepiece *model, token_list *list)
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

gufo_status pieces_place_added(tokenizer_reading *r, token_list *list)
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
