/* A SentencePiece model as a protocol buffer: each field is a key (number << 3 | wire type) and a value;
 * a message within another one has its length in front.
 *
 *     1  pieces      1 text   2 score   3 type, which is 1 without
 *     2  trainer     3 type of the model   4 size   35 bytes for unknown characters   40 ... 43 ids
 *     3  normalizer  1 name   2 map of characters   3 4 5 what becomes of spaces */
#include "import/export/sentencepiece_write.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"
#include "gufo/schema.h"

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

uint32_t sentencepiece_count(const model_tokens *tokens)
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

    if (!gufo_key_entry(model, "tokenizer.ggml.precompiled_charsmap", &entry) ||
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

gufo_status sentencepiece_write(const gufo_model *model, const model_tokens *tokens, bool unigram,
                                buffer *out, gufo_error *error)
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
