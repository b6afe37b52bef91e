/* tokenizer.json into keys of a GGUF file, part by part: the model's type decides which tokenizer
 * model it becomes.
 *
 *     BPE with byte_fallback  llama     WordPiece  bert
 *     BPE with ByteLevel      gpt2      Unigram    t5
 *
 * Jansson parses; the values stay in its tree until the document has them. */
#include "text/formats/tokenizer_json.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/formats/json_reading.h"
#include "text/formats/json_tree.h"

static const struct {
    model_kind kind;
    const char *model, *pre; /* pre NULL: it depends */
} kinds[] = {
    {BYTE_LEVEL, "gpt2", NULL},
    {PIECES, "llama", "default"},
    {WORDPIECE, "bert", "bert-bge"},
    {UNIGRAM, "t5", "default"},
};

static gufo_status check_bpe(json_reading *r)
{
    const json_t *dropout = json_member(r->model, "dropout");

    if (json_word(r, r->model, "continuing_subword_prefix").len > 0)
        return json_unsayable(r, "GGUF cannot say continuing_subword_prefix of BPE");
    if (json_word(r, r->model, "end_of_word_suffix").len > 0)
        return json_unsayable(r, "GGUF cannot say end_of_word_suffix of BPE");
    if (dropout != NULL && json_number_value(dropout) != 0.0)
        return json_unsayable(r, "GGUF cannot say dropout of BPE");
    if (r->kind == PIECES && json_flag(r, r->model, "ignore_merges", false))
        return json_unsayable(r, "GGUF cannot say ignore_merges of BPE with byte_fallback");
    return r->status;
}

static gufo_status check_wordpiece(json_reading *r)
{
    gufo_str prefix = json_word(r, r->model, "continuing_subword_prefix");

    if (prefix.len > 0 && !str_is(prefix, "##"))
        return json_unsayable(r, "GGUF cannot say that WordPiece continues words with %s",
                              QUOTED(prefix));
    return r->status;
}

static gufo_status check_unigram(json_reading *r)
{
    if (json_flag(r, r->model, "byte_fallback", false))
        return json_unsayable(r, "GGUF cannot say byte_fallback of Unigram");
    return r->status;
}

/* Files of old versions do not say the type; this member does. */
static const struct {
    const char *type, *member;
    model_kind kind;
    gufo_status (*check)(json_reading *r);
} types[] = {
    {"BPE", "merges", BYTE_LEVEL, check_bpe},
    {"WordPiece", "max_input_chars_per_word", WORDPIECE, check_wordpiece},
    {"Unigram", "unk_id", UNIGRAM, check_unigram},
};

static gufo_status check_model(json_reading *r)
{
    gufo_str type = json_word(r, r->model, "type");
    size_t row = 0;

    while (row < sizeof types / sizeof *types &&
           (type.len > 0 ? !str_is(type, types[row].type)
                         : json_object_get(r->model, types[row].member) == NULL))
        row++;
    if (row == sizeof types / sizeof *types)
        return type.len > 0
                   ? refuse(r->error, GUFO_E_TYPE,
                            "tokenizer.json: a model of type %s is not supported", QUOTED(type))
                   : json_wrong(r, "the model has no type");
    r->kind = types[row].kind;
    if (r->kind == BYTE_LEVEL && json_flag(r, r->model, "byte_fallback", false))
        r->kind = PIECES;
    return types[row].check(r);
}

static gufo_status set_names(json_reading *r)
{
    size_t row = 0;
    gufo_status status;

    while (kinds[row].kind != r->kind)
        row++;
    status = gufo_document_set_text(r->document, KEY("model"), kinds[row].model, r->error);
    if (status != GUFO_OK)
        return status;
    if (kinds[row].pre == NULL)
        return json_read_pre(r);
    return gufo_document_set_text(r->document, KEY("pre"),
                                  r->options.pre != NULL ? r->options.pre : kinds[row].pre,
                                  r->error);
}

static gufo_status read_parts(json_reading *r)
{
    gufo_status status;

    r->model = json_member(r->root, "model");
    if (!json_is_object(r->root) || !json_is_object(r->model))
        return json_wrong(r, "it has no \"model\"");
    status = check_model(r);
    if (status == GUFO_OK)
        status = set_names(r);
    if (status == GUFO_OK)
        status = json_read_tokens(r);
    if (status == GUFO_OK && (r->kind & (BYTE_LEVEL | PIECES)) != 0)
        status = json_read_merges(r);
    if (status == GUFO_OK)
        status = json_set_tokens(r);
    if (status == GUFO_OK)
        status = json_read_special(r);
    if (status == GUFO_OK)
        status = json_read_normalizer(r);
    return status != GUFO_OK ? status : r->status;
}

gufo_status tokenizer_json_read(gufo_str text, const tokenizer_json_options *options,
                                gufo_document *document, gufo_error *error)
{
    json_reading r = {.document = document, .error = error};
    gufo_status status;
    json_error_t reason;

    if (options != NULL)
        r.options = *options;
    r.allocator = *mem_allocator(r.options.allocator);
    status = json_tree_check(text, JSON_TREE_MEMORY, NULL, error);
    if (status != GUFO_OK)
        return status;
    r.root =
        json_loadb(text.data != NULL ? text.data : "", text.len, JSON_REJECT_DUPLICATES, &reason);
    if (r.root != NULL)
        status = read_parts(&r);
    else if (json_error_code(&reason) == json_error_out_of_memory)
        status = fail_memory(error);
    else
        status = json_wrong(&r, "line %d: %s", reason.line, QUOTED(gufo_str_of(reason.text)));
    json_decref(r.added);
    json_decref(r.root);
    mem_free(&r.allocator, r.tokens);
    return status;
}
