/* tokenizer.json into keys of a GGUF file, part by part: the model's type decides which tokenizer
 * model it becomes.
 *
 *     BPE with byte_fallback  llama     WordPiece  bert
 *     BPE with ByteLevel      gpt2      Unigram    t5
 *
 * The file's texts stay where they are until the document has them. */
#include "text/formats/tokenizer_json.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/formats/json_reading.h"

static const struct {
    model_kind kind;
    const char *model, *pre; /* pre NULL: it depends */
} kinds[] = {
    {BYTE_LEVEL, "gpt2", NULL},
    {PIECES, "llama", "default"},
    {WORDPIECE, "bert", "bert-bge"},
    {UNIGRAM, "t5", "default"},
};

static const json_t *model_of(const json_reading *r)
{
    return tokenizer_file_part(r->file, "model");
}

static gufo_status check_bpe(json_reading *r)
{
    const json_t *model = model_of(r), *dropout = json_member(model, "dropout");

    if (json_word(r, model, "continuing_subword_prefix").len > 0)
        return json_unsayable(r, "GGUF cannot express continuing_subword_prefix of BPE");
    if (json_word(r, model, "end_of_word_suffix").len > 0)
        return json_unsayable(r, "GGUF cannot express end_of_word_suffix of BPE");
    if (dropout != NULL && json_number_value(dropout) != 0.0)
        return json_unsayable(r, "GGUF cannot express dropout of BPE");
    if (r->kind == PIECES && json_flag(r, model, "ignore_merges", false))
        return json_unsayable(r, "GGUF cannot express ignore_merges of BPE with byte_fallback");
    return r->status;
}

static gufo_status check_wordpiece(json_reading *r)
{
    gufo_str prefix = json_word(r, model_of(r), "continuing_subword_prefix");

    if (prefix.len > 0 && !str_is(prefix, "##"))
        return json_unsayable(r, "GGUF cannot express that WordPiece continues words with %s",
                              QUOTED(prefix));
    return r->status;
}

static gufo_status check_unigram(json_reading *r)
{
    if (json_flag(r, model_of(r), "byte_fallback", false))
        return json_unsayable(r, "GGUF cannot express byte_fallback of Unigram");
    return r->status;
}

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
    gufo_str type = json_word(r, model_of(r), "type");
    size_t row = 0;

    while (row < sizeof types / sizeof *types &&
           !json_is_model(r->file, types[row].type, types[row].member))
        row++;
    if (row == sizeof types / sizeof *types)
        return type.len > 0
                   ? refuse(r->error, GUFO_E_TYPE,
                            "tokenizer.json: a model of type %s is not supported", QUOTED(type))
                   : json_wrong(r, "the model has no type");
    r->kind = types[row].kind;
    if (r->kind == BYTE_LEVEL && json_flag(r, model_of(r), "byte_fallback", false))
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

    if (model_of(r) == NULL)
        return json_wrong(r, "it has no \"model\"");
    status = check_model(r);
    if (status == GUFO_OK)
        status = set_names(r);
    if (status == GUFO_OK)
        status = json_read_tokens(r);
    if (status == GUFO_OK && (r->kind & (BYTE_LEVEL | PIECES)) != 0)
        status = json_read_merges(r);
    if (status == GUFO_OK)
        status = json_read_special(r);
    if (status == GUFO_OK)
        status = json_set_tokens(r);
    if (status == GUFO_OK)
        status = json_read_normalizer(r);
    return status != GUFO_OK ? status : r->status;
}

gufo_status tokenizer_json_read(gufo_str text, const tokenizer_json_options *options,
                                gufo_document *document, gufo_error *error)
{
    json_reading r = {.document = document, .error = error};
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status;
    tokenizer_file *file;

    if (options != NULL)
        r.options = *options;
    r.allocator = *mem_allocator(r.options.allocator);
    file = tokenizer_file_read(text, &r.allocator, &reason);
    if (file == NULL)
        return reason.code == GUFO_E_MEMORY
                   ? fail_memory(error)
                   : refuse(error, reason.code, "tokenizer.json: byte %" PRIu64 ": %s",
                            reason.offset, reason.message);
    r.file = r.merges = file;
    status = read_parts(&r);
    tokenizer_file_free(file);
    token_list_free(&r.list);
    return status;
}
