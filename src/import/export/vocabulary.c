/* The files of a tokenizer.
 *
 * A vocabulary may have several forms.  Each is tried until one gives the same tokens when it is
 * converted; where none does, the first one stays for other programs, and gguf-metadata.json has the
 * tokens. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/half.h"
#include "gufo/schema.h"
#include "gufo/vocab.h"
#include "import/export/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A SentencePiece model as a protocol buffer: each field is a key (number << 3 | wire type) and a value;
 * a message within another one has its length in front.
 *
 *     1  pieces      1 text   2 score   3 type, which is 1 without
 *     2  trainer     3 type of the model   4 size   35 bytes for unknown characters   40 ... 43 ids
 *     3  normalizer  1 name   2 map of characters   3 4 5 what becomes of spaces */

enum { WIRE_VARINT, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum { MODEL_UNIGRAM = 1, MODEL_BPE = 2 };

/* ---- fields --------------------------------------------------------------------------------- */

static bool put_varint(buffer *out, uint64_t number)
{
    uint8_t bytes[10];
    size_t count = 0;

    do {
        bytes[count] = (uint8_t)((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
        count++;
        number >>= 7;
    } while (number > 0);
    return buffer_append(out, bytes, count);
}

static bool put_key(buffer *out, unsigned number, unsigned wire)
{
    return put_varint(out, (uint64_t)number << 3 | wire);
}

static bool put_number(buffer *out, unsigned field, uint64_t number)
{
    return put_key(out, field, WIRE_VARINT) && put_varint(out, number);
}

static bool put_bytes(buffer *out, unsigned field, const void *bytes, size_t size)
{
    return put_key(out, field, WIRE_BYTES) && put_varint(out, size) &&
           buffer_append(out, bytes, size);
}

static bool put_real(buffer *out, unsigned field, float number)
{
    uint8_t bytes[4];

    store_u32(bytes, float_to_bits(number), bytes_swapped(false));
    return put_key(out, field, WIRE_FIXED32) && buffer_append(out, bytes, sizeof bytes);
}

/* Puts a message, which is emptied for the next one. */
static bool put_message(buffer *out, unsigned field, buffer *message)
{
    bool done = put_bytes(out, field, message->data, message->len);

    message->len = 0;
    return done;
}

/* ---- messages ------------------------------------------------------------------------------- */

static uint32_t sentencepiece_count(const model_tokens *tokens)
{
    uint32_t count = tokens->count;

    while (count > 1 &&
           (tokens->types[count - 1] == TOKEN_IS_UNUSED || token_is_added(tokens, count - 1)))
        count--;
    return count;
}

static bool put_piece(buffer *out, buffer *message, const model_tokens *t, uint32_t id)
{
    bool known = t->types[id] >= TOKEN_IS_NORMAL && t->types[id] <= TOKEN_IS_BYTE;
    int32_t type = known ? t->types[id] : TOKEN_IS_NORMAL;

    return put_bytes(message, 1, t->texts[id].data, t->texts[id].len) &&
           put_real(message, 2, t->scores != NULL ? t->scores[id] : 0) &&
           (type == TOKEN_IS_NORMAL || put_number(message, 3, (uint64_t)type)) &&
           put_message(out, 1, message);
}

static bool has_bytes(const model_tokens *t)
{
    for (uint32_t id = 0; id < t->count; id++)
        if (t->types[id] == TOKEN_IS_BYTE)
            return true;
    return false;
}

static bool put_trainer(buffer *out, buffer *message, const gufo_model *model,
                        const model_tokens *t, bool unigram)
{
    static const struct {
        unsigned field;
        const char *key;
    } ids[] = {{40, "tokenizer.ggml.unknown_token_id"},
               {41, "tokenizer.ggml.bos_token_id"},
               {42, "tokenizer.ggml.eos_token_id"},
               {43, "tokenizer.ggml.padding_token_id"}};
    bool done = put_number(message, 3, unigram ? MODEL_UNIGRAM : MODEL_BPE) &&
                put_number(message, 4, sentencepiece_count(t)) &&
                put_number(message, 35, has_bytes(t));

    for (size_t i = 0; done && i < sizeof ids / sizeof *ids; i++) {
        uint32_t id;

        /* -1 is none, of 64 bits as all negative numbers. */
        done =
            put_number(message, ids[i].field, model_id(model, ids[i].key, &id) ? id : UINT64_MAX);
    }
    return done && put_message(out, 2, message);
}

static gufo_status read_charsmap(const gufo_model *model, buffer *out, gufo_error *error)
{
    gufo_entry entry;
    gufo_array map;
    void *room;

    if (!gufo_model_key_entry(model, "tokenizer.ggml.precompiled_charsmap", &entry) ||
        entry.value.type != GUFO_VALUE_ARRAY ||
        gufo_value_type_size(entry.value.as.array.type) != 1)
        return GUFO_OK;
    map = entry.value.as.array;
    room = buffer_extend(out, map.count);
    return room != NULL ? gufo_array_read(&map, 0, map.count, room, error) : fail_memory(error);
}

/* Readers of llama models know neither maps of characters nor spaces that are removed. */
static gufo_status put_normalizer(buffer *out, buffer *message, const gufo_model *model,
                                  gufo_error *error)
{
    static const char plain[] = "identity";
    buffer map = {.allocator = &default_allocator};
    gufo_status status = read_charsmap(model, &map, error);
    bool prefix = model_flag(model, "tokenizer.ggml.add_space_prefix", true);
    bool removed = model_flag(model, "tokenizer.ggml.remove_extra_whitespaces", false);

    if (status == GUFO_OK && !(put_bytes(message, 1, plain, map.len > 0 ? 0 : sizeof plain - 1) &&
                               (map.len == 0 || put_bytes(message, 2, map.data, map.len)) &&
                               put_number(message, 3, prefix) && put_number(message, 4, removed) &&
                               put_number(message, 5, true) && put_message(out, 3, message)))
        status = fail_memory(error);
    buffer_free(&map);
    return status;
}

/* Appends the file.  `unigram`: the model of T5; else BPE.  GUFO_E_MEMORY, failures of reading keys. */
static gufo_status sentencepiece_write(const gufo_model *model, const model_tokens *tokens,
                                       bool unigram, buffer *out, gufo_error *error)
{
    buffer message = {.allocator = &default_allocator};
    uint32_t count = sentencepiece_count(tokens);
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; status == GUFO_OK && id < count; id++)
        if (!put_piece(out, &message, tokens, id))
            status = fail_memory(error);
    if (status == GUFO_OK && !put_trainer(out, &message, model, tokens, unigram))
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = put_normalizer(out, &message, model, error);
    buffer_free(&message);
    return status;
}

/* The tokens of RWKV World are bytes, which a GGUF file has as Python writes them inside quotes: a line
 * is that with the quotes around it.  Python takes the double ones for bytes with a single quote. */

/* The bytes that the inside of a literal means; false: it is not one. */
static bool count_bytes(gufo_str inside, size_t *count, char *quote)
{
    *count = 0;
    *quote = '\'';
    for (size_t at = 0; at < inside.len; (*count)++) {
        char c = inside.data[at++];

        if ((unsigned char)c < ' ' || (unsigned char)c > '~')
            return false;
        if (c == '\'')
            *quote = '"';
        if (c != '\\')
            continue;
        if (at == inside.len)
            return false;
        c = inside.data[at++];
        if (c == 'x')
            at += 2;
        else if (strchr("\\'\"tnr", c) == NULL)
            return false;
        if (at > inside.len)
            return false;
    }
    return true;
}

static gufo_status write_line(uint32_t id, gufo_str inside, buffer *out, gufo_error *error)
{
    char front[32], behind[32], quote;
    size_t bytes;
    int before, after;

    if (!count_bytes(inside, &bytes, &quote) || bytes == 0)
        return refuse(error, GUFO_E_TYPE, "token %" PRIu32 ", %s, is not the inside of a literal",
                      id, QUOTED(inside));
    before = snprintf(front, sizeof front, "%" PRIu32 " b%c", id, quote);
    after = snprintf(behind, sizeof behind, "%c %zu\n", quote, bytes);
    return buffer_append(out, front, (size_t)before) &&
                   buffer_append(out, inside.data, inside.len) &&
                   buffer_append(out, behind, (size_t)after)
               ? GUFO_OK
               : fail_memory(error);
}

/* Appends a line "ID LITERAL LENGTH" for each normal token.  GUFO_E_TYPE: a text that is not the inside of
 * a literal; GUFO_E_MEMORY. */
static gufo_status world_write(const model_tokens *tokens, buffer *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; id < tokens->count && status == GUFO_OK; id++)
        if (tokens->types[id] == TOKEN_IS_NORMAL)
            status = write_line(id, tokens->texts[id], out, error);
    return status;
}

/* ---- forms ----------------------------------------------------------------------------------- */

typedef gufo_status write_form(const gufo_model *model, const model_tokens *tokens, buffer *out,
                               gufo_error *error);

static gufo_status write_bpe_pieces(const gufo_model *model, const model_tokens *tokens,
                                    buffer *out, gufo_error *error)
{
    return sentencepiece_write(model, tokens, false, out, error);
}

static gufo_status write_unigram(const gufo_model *model, const model_tokens *tokens, buffer *out,
                                 gufo_error *error)
{
    return sentencepiece_write(model, tokens, true, out, error);
}

static gufo_status write_json(const gufo_model *model, const model_tokens *tokens, buffer *out,
                              gufo_error *error)
{
    const gufo_vocab_source source = {.model = model};
    gufo_vocab *vocab = gufo_vocab_open(model, NULL, error);
    gufo_text text = {0};
    gufo_status status = vocab != NULL   ? gufo_vocab_export_json(vocab, &source, &text, error)
                         : error != NULL ? error->code
                                         : GUFO_E_MEMORY;

    (void)tokens;
    gufo_vocab_free(vocab);
    *out = (buffer){(uint8_t *)text.data, text.len, text.room, &default_allocator};
    return status;
}

static gufo_status write_world(const gufo_model *model, const model_tokens *tokens, buffer *out,
                               gufo_error *error)
{
    (void)model;
    return world_write(tokens, out, error);
}

/* The forms of each model of tokenizers, in the order in which they are tried. */
static const struct form_row {
    const char *model;
    const char *file;
    write_form *write;
    bool with_added; /* it does not say which tokens were added */
} forms[] = {
    {"llama", "tokenizer.model", write_bpe_pieces, true},
    {"llama", "tokenizer.json", write_json, false},
    {"gpt2", "tokenizer.json", write_json, false},
    {"bert", "tokenizer.json", write_json, false},
    {"t5", "tokenizer.model", write_unigram, true},
    {"t5", "tokenizer.json", write_json, false},
    {"rwkv", "rwkv_vocab_v20230424.txt", write_world, false},
};

enum { FORMS = sizeof forms / sizeof *forms };

/* ---- trying ---------------------------------------------------------------------------------- */

static gufo_status add_form(const gufo_model *model, const model_tokens *tokens,
                            const struct form_row *form, export_files *files, gufo_error *error)
{
    buffer bytes = {.allocator = &default_allocator};
    gufo_status status = form->write(model, tokens, &bytes, error);

    if (status != GUFO_OK) {
        buffer_free(&bytes);
        return status;
    }
    status = export_add(files, form->file, &bytes, error);
    return status == GUFO_OK ? export_tokenizer_config(model, form->with_added, files, error)
                             : status;
}

/* The forms of the model's tokenizer until one is right.  *best: the first one that could be written;
 * *tried: the last. */
static gufo_status try_forms(const gufo_model *model, const model_tokens *tokens,
                             export_files *files, size_t *best, bool *right, gufo_error *error)
{
    gufo_str name = model_text(model, "tokenizer.ggml.model");
    const uint32_t before = files->count;
    gufo_status status = GUFO_OK;

    *best = FORMS;
    *right = false;
    for (size_t i = 0; i < FORMS && status == GUFO_OK && !*right; i++) {
        gufo_error reason;

        if (!gufo_str_equal(name, gufo_str_of(forms[i].model)))
            continue;
        export_drop(files, before);
        status = add_form(model, tokens, &forms[i], files, &reason);
        if (status == GUFO_E_MEMORY)
            return fail_memory(error);
        if (status == GUFO_OK) {
            *best = *best == FORMS ? i : *best;
            status = same_vocabulary(model, files, right, error);
        } else {
            status = export_warn(files, error, "%s cannot be written: %s", forms[i].file,
                                 reason.message);
        }
    }
    return status;
}

static gufo_status add_forms(const gufo_model *model, const model_tokens *tokens,
                             export_files *files, gufo_error *error)
{
    const uint32_t before = files->count;
    size_t best;
    bool right;
    gufo_status status = try_forms(model, tokens, files, &best, &right, error);

    if (status != GUFO_OK || right)
        return status;
    export_drop(files, before);
    if (best < FORMS)
        status = add_form(model, tokens, &forms[best], files, error);
    else
        status = export_tokenizer_config(model, false, files, error);
    return status == GUFO_OK ? export_warn(files, error,
                                           "no file of a tokenizer holds all of this vocabulary: "
                                           "gguf-metadata.json has what is missing")
                             : status;
}

/* The tokenizer.json that the model was made with. */
static gufo_status add_original(const gufo_model *model, gufo_str text, export_files *files,
                                gufo_error *error)
{
    buffer bytes = {.allocator = &default_allocator};
    gufo_status status;

    if (!buffer_append(&bytes, text.data, text.len))
        return fail_memory(error);
    status = export_add(files, "tokenizer.json", &bytes, error);
    return status == GUFO_OK ? export_tokenizer_config(model, false, files, error) : status;
}

gufo_status export_vocabulary(const gufo_model *model, export_files *files, gufo_error *error)
{
    gufo_str original = model_text(model, "tokenizer.huggingface.json");
    model_tokens tokens;
    gufo_status status;

    if (original.len > 0)
        return add_original(model, original, files, error);
    status = model_tokens_read(model, &tokens, error);
    if (status == GUFO_OK && tokens.count > 0)
        status = add_forms(model, &tokens, files, error);
    model_tokens_free(&tokens);
    return status;
}
