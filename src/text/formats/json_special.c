/* Special tokens of a tokenizer.json: what its post-processor puts before and behind a text, and
 * well-known texts, for the file itself does not say what they are. */
#include "text/formats/json_reading.h"

#include <string.h>

#include "base/error.h"

typedef struct frame {
    gufo_str before, behind; /* empty: nothing */
    unsigned before_count, behind_count;
    bool separates; /* the token behind a text is between two texts, too */
} frame;

/* ---- post-processor ------------------------------------------------------------------------- */

static gufo_status take_template(json_reading *r, const json_t *step, frame *f)
{
    const json_t *single = json_member(step, "single");
    bool met = false;
    json_t *piece;
    size_t index;

    if (!json_is_array(single))
        return json_wrong(r, "TemplateProcessing has no list \"single\"");
    json_array_foreach(single, index, piece)
    {
        gufo_str id = json_word(r, json_member(piece, "SpecialToken"), "id");

        if (json_member(piece, "Sequence") != NULL) {
            met = true;
        } else if (id.len == 0) {
            return json_wrong(r, "a piece of TemplateProcessing is neither text nor token");
        } else if (!met) {
            f->before = id;
            f->before_count++;
        } else {
            f->behind = id;
            f->behind_count++;
        }
    }
    return met ? r->status : json_wrong(r, "TemplateProcessing has no place for a text");
}

/* {"sep": ["</s>", 2], "cls": ["<s>", 0]} */
static gufo_status take_pair(json_reading *r, const json_t *step, frame *f)
{
    const json_t *before = json_array_get(json_member(step, "cls"), 0),
                 *behind = json_array_get(json_member(step, "sep"), 0);

    if (!json_is_string(before) || !json_is_string(behind))
        return json_wrong(r, "the post-processor has no \"cls\" and \"sep\"");
    *f = (frame){json_text(before), json_text(behind), 1, 1, true};
    return GUFO_OK;
}

static gufo_status take(json_reading *r, const json_t *step, gufo_str type, void *context)
{
    if (str_is(type, "TemplateProcessing"))
        return take_template(r, step, context);
    if (str_is(type, "BertProcessing") || str_is(type, "RobertaProcessing"))
        return take_pair(r, step, context);
    if (str_is(type, "ByteLevel"))
        return r->status;
    return json_unsayable(r, "GGUF cannot express that the post-processor is %s", QUOTED(type));
}

static gufo_status set_id(json_reading *r, const char *key, gufo_str text)
{
    uint32_t id = json_find_token(r, text);

    return id != GUFO_NO_TOKEN
               ? gufo_document_set_u32(r->document, key, id, r->error)
               : json_wrong(r, "the post-processor adds %s, which is not a token", QUOTED(text));
}

/* BERT has no flags: encoding always adds BOS and SEP. */
static gufo_status set_wordpiece(json_reading *r, const frame *f)
{
    gufo_status status = GUFO_OK;

    if (f->before_count > 0)
        status = set_id(r, KEY("bos_token_id"), f->before);
    if (status == GUFO_OK && f->behind_count > 0)
        status = set_id(r, KEY("seperator_token_id"), f->behind);
    return status;
}

static gufo_status set_flags(json_reading *r, const frame *f)
{
    gufo_status status =
        gufo_document_set_bool(r->document, KEY("add_bos_token"), f->before_count == 1, r->error);

    if (status == GUFO_OK)
        status = gufo_document_set_bool(r->document, KEY("add_eos_token"), f->behind_count == 1,
                                        r->error);
    if (status == GUFO_OK && f->separates)
        status = gufo_document_set_bool(r->document, KEY("add_sep_token"), true, r->error);
    return status;
}

static gufo_status set_frame(json_reading *r, const frame *f)
{
    gufo_status status = GUFO_OK;

    if (f->before_count > 1 || f->behind_count > 1)
        status = json_unsayable(r, "GGUF cannot express that the post-processor adds more than one "
                                   "token before or after a text");
    if (status == GUFO_OK && r->kind == WORDPIECE)
        return set_wordpiece(r, f);
    if (status == GUFO_OK && f->before_count > 0)
        status = set_id(r, KEY("bos_token_id"), f->before);
    if (status == GUFO_OK && f->behind_count > 0)
        status = set_id(r, KEY("eos_token_id"), f->behind);
    if (status == GUFO_OK && f->separates)
        status = set_id(r, KEY("seperator_token_id"), f->behind);
    return status == GUFO_OK ? set_flags(r, f) : status;
}

/* ---- well-known texts ----------------------------------------------------------------------- */

/* Of one key, the first text that a special token has. */
static const struct {
    const char *key, *text;
} known[] = {
    {KEY("bos_token_id"), "<s>"},
    {KEY("bos_token_id"), "<bos>"},
    {KEY("bos_token_id"), "<|begin_of_text|>"},
    {KEY("bos_token_id"), "<|startoftext|>"},
    {KEY("bos_token_id"), "<\xef\xbd\x9c"
                          "begin\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"},
    {KEY("bos_token_id"), "[CLS]"},
    {KEY("eos_token_id"), "</s>"},
    {KEY("eos_token_id"), "<eos>"},
    {KEY("eos_token_id"), "<|end_of_text|>"},
    {KEY("eos_token_id"), "<|endoftext|>"},
    {KEY("eos_token_id"), "<\xef\xbd\x9c"
                          "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"},
    {KEY("eos_token_id"), "<|im_end|>"},
    {KEY("eos_token_id"), "<|end|>"},
    {KEY("unknown_token_id"), "<unk>"},
    {KEY("unknown_token_id"), "[UNK]"},
    {KEY("seperator_token_id"), "[SEP]"},
    {KEY("padding_token_id"), "<pad>"},
    {KEY("padding_token_id"), "[PAD]"},
    {KEY("padding_token_id"), "<|padding|>"},
    {KEY("mask_token_id"), "[MASK]"},
    {KEY("mask_token_id"), "<mask>"},
};

static gufo_status set_known(json_reading *r)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < sizeof known / sizeof *known; i++) {
        const file_added *token = tokenizer_file_find_added(r->file, gufo_str_of(known[i].text));

        if (token != NULL && !gufo_document_find(r->document, known[i].key, NULL))
            status = gufo_document_set_u32(r->document, known[i].key, token->id, r->error);
    }
    return status;
}

/* Readers take token 11 of a gpt2 vocabulary that does not say: better a control token than that. */
static gufo_status set_ends(json_reading *r)
{
    gufo_status status = GUFO_OK;
    gufo_document_entry entry;
    uint32_t id = 0;

    if (gufo_document_find(r->document, KEY("eos_token_id"), &entry))
        id = (uint32_t)entry.value.as.u;
    else
        while (id < r->list.count && r->list.tokens[id].type != TOKEN_CONTROL)
            id++;
    if (id == r->list.count)
        return GUFO_OK;
    if (!gufo_document_find(r->document, KEY("bos_token_id"), NULL))
        status = gufo_document_set_u32(r->document, KEY("bos_token_id"), id, r->error);
    return status == GUFO_OK ? gufo_document_set_u32(r->document, KEY("eos_token_id"), id, r->error)
                             : status;
}

gufo_status json_read_special(json_reading *r)
{
    frame f = {.before_count = 0};
    gufo_status status = json_each_step(r, "post_processor", "processors", take, &f);

    if (status == GUFO_OK)
        status = set_frame(r, &f);
    if (status == GUFO_OK)
        status = set_known(r);
    return status == GUFO_OK && r->kind == BYTE_LEVEL ? set_ends(r) : status;
}
