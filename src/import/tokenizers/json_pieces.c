/* Vocabularies of pieces as tokenizer.json has them: BPE that falls back to bytes.  Ids of the model
 * come first, those of added tokens follow. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "import/tokenizers/merges.h"
#include "import/tokenizers/readers.h"

#define PIECE_SCORE (-1000.0f)

typedef struct piece_reading {
    tokenizer_reading *r;
    const json_t *vocab; /* text: id */
    json_t *special;     /* texts of special tokens */
    uint64_t base, largest, count;
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

static gufo_status measure_added(void *context, const added_token *token)
{
    piece_reading *p = context;

    p->largest = larger(p->largest, token->id);
    p->count++;
    return GUFO_OK;
}

static gufo_status place(piece_reading *p, uint64_t id, gufo_str text, int32_t type)
{
    return reading_place(p->r, "tokenizer.json", &p->list, id, text, type);
}

static gufo_status place_vocab(piece_reading *p)
{
    gufo_status status = GUFO_OK;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)p->vocab, key, value)
    {
        gufo_str text = gufo_str_of(key);

        status = place(p, (uint64_t)json_integer_value(value), text,
                       token_is_byte(text)   ? TOKEN_BYTE
                       : is_special(p, text) ? TOKEN_CONTROL
                                             : TOKEN_NORMAL);
        if (status != GUFO_OK)
            break;
    }
    return status;
}

static gufo_status place_added(void *context, const added_token *token)
{
    piece_reading *p = context;

    return token->id < p->base
               ? GUFO_OK
               : place(p, token->id, token->text,
                       is_special(p, token->text) ? TOKEN_CONTROL : TOKEN_USER_DEFINED);
}

static gufo_status read_tokens(piece_reading *p)
{
    tokenizer_reading *r = p->r;
    uint64_t size = reading_size(r, "vocab_size_per_layer_input vocab_size");
    gufo_status status = p->special == NULL
                             ? fail_memory(r->error)
                             : reading_largest_id(r, "tokenizer.json", p->vocab, &p->largest);

    p->base = p->count = json_object_size(p->vocab);
    if (status == GUFO_OK)
        status = reading_each_added(r, measure_added, p);
    if (status == GUFO_OK)
        status = collect_special(p, r->special_map);
    if (status == GUFO_OK)
        status = collect_special(p, r->config->tokenizer);
    if (status == GUFO_OK && size != 0 && p->largest >= size)
        return reading_fail(r, GUFO_E_RANGE, "tokenizer.json",
                            "a token has id %" PRIu64 ", but the model has %" PRIu64 " tokens",
                            p->largest, size);
    if (status == GUFO_OK)
        status = token_list_make(&p->list, size != 0 ? size : p->largest + 1, p->count, PIECE_SCORE,
                                 r->allocator, r->error);
    if (status == GUFO_OK)
        status = place_vocab(p);
    return status == GUFO_OK ? reading_each_added(r, place_added, p) : status;
}

static gufo_status read_pieces(tokenizer_reading *r, const char *model, const char *pre,
                               bool with_merges)
{
    piece_reading p = {.r = r, .vocab = json_member(r->model, "vocab"), .special = json_object()};
    gufo_status status =
        json_is_object(p.vocab)
            ? read_tokens(&p)
            : reading_fail(r, GUFO_E_MALFORMED, "tokenizer.json", "the model has no \"vocab\"");

    if (status == GUFO_OK)
        status = reading_set_names(r, model, pre);
    if (status == GUFO_OK)
        status = token_list_write(&p.list, true, r->document, r->error);
    if (status == GUFO_OK && with_merges)
        status = merges_write(r, p.vocab);
    token_list_free(&p.list);
    json_decref(p.special);
    return status;
}

/* ---- readers -------------------------------------------------------------------------------- */

static bool falls_back_to_bytes(const tokenizer_reading *r)
{
    gufo_str decoder = reading_content(json_object_get(json_member(r->json, "decoder"), "type"));

    return json_is_true(json_object_get(r->model, "byte_fallback")) &&
           gufo_str_equal(decoder, gufo_str_of("Sequence"));
}

gufo_status read_hf(tokenizer_reading *r)
{
    gufo_str type = reading_content(json_member(r->model, "type"));

    if (r->json == NULL)
        return reading_pass(r, "tokenizer.json", NULL);
    if ((type.len > 0 && !gufo_str_equal(type, gufo_str_of("BPE"))) || !falls_back_to_bytes(r))
        return reading_pass(r, "tokenizer.json", "its model is not BPE that falls back to bytes");
    return read_pieces(r, "llama", "default", false);
}

gufo_status read_gemma4(tokenizer_reading *r)
{
    if (r->json == NULL)
        return reading_pass(r, "tokenizer.json", NULL);
    return read_pieces(r, "gemma4", NULL, true);
}
