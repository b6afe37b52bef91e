/* Vocabularies of pieces as tokenizer.json has them: BPE that falls back to bytes, which is how models
 * of SentencePiece look there.  Tokens are those of the model, over which added ones are laid. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/tokenizers/reading.h"
#include "text/pipeline/steps/step_reading.h"
#include "text/pipeline/models/token_model.h"

#include <string.h>

enum { LONGEST_JOINED = 256 }; /* bytes; those of real vocabularies are half of that */

typedef struct piece_reading {
    tokenizer_reading *r;
    const tokenizer_file *vocab; /* tokenizer.json */
    json_t *special;             /* texts of special tokens */
    gufo_str unknown;            /* the text of the unknown token; empty: none */
    uint64_t size;               /* tokens of the model; 0: the files say it */
    uint64_t largest, count;
    uint64_t beyond; /* added tokens with an id that the model does not have */
    token_list list;
} piece_reading;

/* ---- special tokens ------------------------------------------------------------------------- */

static gufo_status add_special(piece_reading *p, const json_t *value)
{
    gufo_str text = reading_content(value);

    return text.len == 0 || json_object_setn_new(p->special, text.data, text.len, json_true()) == 0
               ? GUFO_OK
               : fail_memory(p->r->error);
}

static gufo_status collect_special(piece_reading *p, const json_t *file)
{
    static const char *const fields[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                         "pad_token", "cls_token", "mask_token"};
    const json_t *more = json_member(file, "additional_special_tokens");
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < sizeof fields / sizeof *fields; i++)
        status = add_special(p, json_member(file, fields[i]));
    for (size_t i = 0; status == GUFO_OK && i < json_array_size(more); i++)
        status = add_special(p, json_array_get(more, i));
    return status;
}

static bool is_special(const piece_reading *p, gufo_str text)
{
    return json_object_getn(p->special, text.data, text.len) != NULL;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool is_token(const tokenizer_file *vocab, gufo_str text)
{
    return tokenizer_file_find(vocab, text) != NULL;
}

/* A token of the model's vocabulary has the id that it has there, whatever a file says. */
static uint64_t id_of(const piece_reading *p, const named_token *token)
{
    const file_entry *known = tokenizer_file_find(p->vocab, token->text);

    return known != NULL ? known->id : token->id;
}

static gufo_status measure_added(void *context, const named_token *token)
{
    piece_reading *p = context;

    p->count++;
    if (p->size == 0)
        p->largest = larger(p->largest, id_of(p, token));
    return GUFO_OK;
}

static gufo_status measure(piece_reading *p)
{
    tokenizer_reading *r = p->r;
    gufo_status status;

    p->largest = reading_largest_id(p->vocab);
    p->count = p->vocab->vocab_count;
    if (p->size != 0 && p->largest >= p->size)
        return reading_fail_id(r, "tokenizer.json", p->largest, p->size);
    status = reading_each_added(r, measure_added, p);
    if (status == GUFO_OK)
        status = reading_each_decoded(r, measure_added, p);
    return status == GUFO_OK ? token_list_make(&p->list, p->size != 0 ? p->size : p->largest + 1,
                                               p->count, ADDED_SCORE, r->allocator, r->error)
                             : status;
}

static int32_t type_of(const piece_reading *p, gufo_str text)
{
    return token_is_byte(text)                ? TOKEN_BYTE
           : gufo_str_equal(text, p->unknown) ? TOKEN_UNKNOWN
           : is_special(p, text)              ? TOKEN_CONTROL
                                              : TOKEN_NORMAL;
}

static gufo_status place_vocab(piece_reading *p)
{
    const tokenizer_file *f = p->vocab;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && i < f->vocab_count; i++) {
        gufo_str text = f->vocab[i].text;

        status =
            reading_place(p->r, "tokenizer.json", &p->list, f->vocab[i].id, text, type_of(p, text));
    }
    return status;
}

/* U+2581 in an added token is that character, which texts hardly have, and not the space that it is in
 * pieces: runs of spaces are merged as the model does it.  Were they user-defined, readers would print
 * U+2581 for them. */
static bool stays_piece(const piece_reading *p, const named_token *token)
{
    return !token->special && is_token(p->vocab, token->text) &&
           str_search(token->text, gufo_str_of(WORD_START)) != NULL;
}

/* Lays a token over that of its id. */
static void lay(piece_reading *p, listed_token *laid, const named_token *token)
{
    bool control = token->special || token_looks_special(token->text);

    laid->text = token->text;
    laid->type = type_of(p, token->text);
    if (laid->type == TOKEN_NORMAL && !stays_piece(p, token))
        laid->type = control ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
}

/* The token with its id, or NULL: the model does not have it. */
static listed_token *find_place(piece_reading *p, const named_token *token)
{
    uint64_t id = id_of(p, token);

    p->beyond += id >= p->list.count;
    return id < p->list.count ? &p->list.tokens[id] : NULL;
}

static gufo_status place_added(void *context, const named_token *token)
{
    piece_reading *p = context;
    listed_token *place = find_place(p, token);
    gufo_status status = GUFO_OK;

    if (place == NULL)
        return GUFO_OK;
    status = reading_place(p->r, token->file, &p->list, (uint64_t)(place - p->list.tokens),
                           token->text, place->type);
    if (status == GUFO_OK)
        lay(p, place, token);
    return status;
}

/* What tokenizer_config.json calls a token of the vocabulary is its name. */
static gufo_status place_decoded(void *context, const named_token *token)
{
    piece_reading *p = context;
    listed_token *place = find_place(p, token);

    if (place != NULL)
        lay(p, place, token);
    return GUFO_OK;
}

static gufo_status place_all(piece_reading *p)
{
    tokenizer_reading *r = p->r;
    gufo_status status = collect_special(p, r->special_map);
    uint64_t beyond;

    if (status == GUFO_OK)
        status = collect_special(p, r->config->tokenizer);
    if (status == GUFO_OK)
        status = place_vocab(p);
    if (status == GUFO_OK)
        status = reading_each_added(r, place_added, p);
    beyond = p->beyond; /* most are in both files */
    p->beyond = 0;
    if (status == GUFO_OK)
        status = reading_each_decoded(r, place_decoded, p);
    p->beyond = larger(p->beyond, beyond);
    return status == GUFO_OK && p->beyond > 0
               ? import_warn(
                     r->import, r->error,
                     "%s added tokens are beyond the %s tokens of the model: they are skipped",
                     GROUPED(p->beyond), GROUPED(p->list.count))
               : status;
}

/* ---- runs of spaces ------------------------------------------------------------------------- */

typedef struct space_runs {
    piece_reading *p;
    gufo_str *texts;
    uint64_t count, room;
} space_runs;

static gufo_status add_run(void *context, const named_token *token)
{
    space_runs *runs = context;
    piece_reading *p = runs->p;
    gufo_str *grown;

    if (!stays_piece(p, token))
        return GUFO_OK;
    grown = mem_grow(p->r->allocator, runs->texts, runs->count, &runs->room, sizeof *grown);
    if (grown == NULL)
        return fail_memory(p->r->error);
    runs->texts = grown;
    grown[runs->count++] = token->text;
    return GUFO_OK;
}

/* Types are for readers; this list says what the original finds in texts. */
static gufo_status set_runs(piece_reading *p)
{
    tokenizer_reading *r = p->r;
    space_runs runs = {.p = p};
    gufo_status status = reading_each_added(r, add_run, &runs);

    if (status == GUFO_OK && runs.count > 0)
        status = gufo_document_set_array(r->document, TOKENIZER_KEY("added_tokens"),
                                         &(gufo_items){GUFO_VALUE_STRING, runs.count, runs.texts},
                                         r->error);
    mem_free(r->allocator, runs.texts);
    return status;
}

/* ---- what GGUF cannot express ------------------------------------------------------------------- */

/* In how many ways two tokens of the vocabulary make this one, which is not a very long one. */
static uint64_t joins_of(const tokenizer_file *vocab, gufo_str text)
{
    uint64_t joins = 0;

    for (size_t at = 1; text.len <= LONGEST_JOINED && at < text.len; at++)
        joins += is_token(vocab, (gufo_str){text.data, at}) && is_token(vocab, str_from(text, at));
    return joins;
}

static uint64_t count_joins(const tokenizer_file *vocab)
{
    uint64_t joins = 0;

    for (uint32_t i = 0; i < vocab->vocab_count; i++)
        joins += joins_of(vocab, vocab->vocab[i].text);
    return joins;
}

/* No merge makes the token: the original never gives it. */
static bool is_unmade(const piece_reading *p, const listed_token *token)
{
    const uint32_t merges = p->vocab->merge_count;

    return token->type == TOKEN_NORMAL && !token_is_padding(token) &&
           token->score <= -(float)merges &&
           !json_is_true(json_object_get(p->r->model, "ignore_merges"));
}

/* With spaces for U+2581 a token has the same meaning, but readers do not join two others to it: texts
 * have no space when they look.  *hidden is the number of joins that are left out so. */
static gufo_status hide_unmade(piece_reading *p, uint64_t *hidden)
{
    *hidden = 0;
    for (uint32_t id = 0; id < p->list.count; id++) {
        listed_token *token = &p->list.tokens[id];
        uint64_t joins = is_unmade(p, token) ? joins_of(p->vocab, token->text) : 0;
        gufo_str text;

        if (joins == 0 || !is_token(p->vocab, token->text))
            continue;
        if (token_list_with_spaces(&p->list, token->text, &text, p->r->error) != GUFO_OK)
            return GUFO_E_MEMORY;
        if (is_token(p->vocab, text))
            continue; /* it has no U+2581, or the other text is a token, too */
        token->text = text;
        *hidden += joins;
    }
    return GUFO_OK;
}

/* Readers join all neighbours that make a token.  The merges of SentencePiece are just these. */
static gufo_status settle_joins(piece_reading *p)
{
    const uint64_t merges = p->vocab->merge_count, joins = count_joins(p->vocab);
    uint64_t hidden;
    gufo_status status = GUFO_OK;

    if (joins <= merges)
        return GUFO_OK;
    status = hide_unmade(p, &hidden);
    return status != GUFO_OK || joins - hidden <= merges
               ? status
               : import_warn(p->r->import, p->r->error,
                             "readers join %s pairs of tokens that no merge of "
                             "tokenizer.json joins: ids of texts with them differ from the "
                             "original's",
                             GROUPED(joins - hidden - merges));
}

/* tokenizer_config.json decides before what tokenizer.json does to the beginnings of texts. */
static gufo_status set_space_prefix(tokenizer_reading *r)
{
    static const char key[] = TOKENIZER_KEY("add_space_prefix");
    gufo_document_entry said;
    bool is_said = gufo_document_find(r->document, key, &said), value = is_said && said.value.as.b;
    gufo_status status = space_rules_write(r, PIECES);

    return status == GUFO_OK && is_said ? gufo_document_set_bool(r->document, key, value, r->error)
                                        : status;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Instead of merges the file has scores that say the same. */
static gufo_status write_scored(piece_reading *p)
{
    tokenizer_reading *r = p->r;
    gufo_status status = merges_score(r, p->vocab, &p->list);

    r->has_pieces = true;
    if (status == GUFO_OK)
        status = settle_joins(p);
    if (status == GUFO_OK)
        status = reading_set_names(r, "llama", "default");
    if (status == GUFO_OK)
        status = token_list_write(&p->list, true, r->document, r->error);
    return status == GUFO_OK ? set_space_prefix(r) : status;
}

static gufo_status write_with_merges(piece_reading *p)
{
    tokenizer_reading *r = p->r;
    gufo_status status = reading_set_names(r, "gemma4", NULL);

    if (status == GUFO_OK)
        status = token_list_write(&p->list, true, r->document, r->error);
    return status == GUFO_OK ? merges_write(r, p->vocab) : status;
}

static gufo_status read_pieces(tokenizer_reading *r, gufo_status (*write)(piece_reading *p))
{
    piece_reading p = {.r = r,
                       .vocab = r->json,
                       .special = json_object(),
                       .unknown = reading_content(json_member(r->model, "unk_token")),
                       .size = reading_size(r, "vocab_size_per_layer_input vocab_size")};
    gufo_status status =
        p.special == NULL ? fail_memory(r->error)
        : r->json->has_vocab && !r->json->vocab_is_list
            ? measure(&p)
            : reading_fail(r, GUFO_E_MALFORMED, "tokenizer.json", "the model has no \"vocab\"");

    if (status == GUFO_OK)
        status = place_all(&p);
    if (status == GUFO_OK)
        status = set_runs(&p);
    if (status == GUFO_OK)
        status = write(&p);
    token_list_free(&p.list);
    json_decref(p.special);
    return status;
}

/* ---- readers -------------------------------------------------------------------------------- */

/* Whether normalizer or pre-tokenizer make bytes of texts. */
static bool is_byte_level(tokenizer_reading *r)
{
    return reading_has_step(r, NORMALIZER, "ByteLevel") ||
           reading_has_step(r, PRE_TOKENIZER, "ByteLevel");
}

bool json_has_pieces(tokenizer_reading *r)
{
    return r->json != NULL && token_model_is(r->json, "BPE") &&
           json_is_true(json_object_get(r->model, "byte_fallback")) && !is_byte_level(r);
}

/* tokenizer.model has the scores themselves, from which the merges were made. */
gufo_status read_hf(tokenizer_reading *r)
{
    gufo_status status;

    if (r->json == NULL)
        return reading_pass(r, "tokenizer.json", NULL);
    if (!json_has_pieces(r))
        return reading_pass(r, "tokenizer.json", "its model is not BPE that falls back to bytes");
    status = read_spm(r);
    return status == GUFO_E_NOT_FOUND ? read_pieces(r, write_scored) : status;
}

gufo_status read_gemma4(tokenizer_reading *r)
{
    return r->json != NULL ? read_pieces(r, write_with_merges)
                           : reading_pass(r, "tokenizer.json", NULL);
}
