/* A reader of SentencePiece models, which are protocol buffers: fields, each a key (number << 3 |
 * wire type) and a value.
 *
 *     0A 0E  0A 05 3C 75 6E 6B 3E  15 00 00 00 00  18 02
 *     |      |  5 bytes: "<unk>"   |  score 0.0    type 2
 *     field 1 of the model: a piece of 14 bytes
 *
 * A message knows the fields that its table lists; it skips all others.  The last of several values
 * of a field wins, as everywhere in protocol buffers. */
#include "import/tokenizers/sentencepiece.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

typedef enum wire_type { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 } wire_type;

typedef struct field_value {
    uint64_t at; /* of the field, in the file */
    uint64_t number;
    gufo_str bytes; /* of WIRE_BYTES and the fixed ones */
} field_value;

typedef struct message_reader {
    gufo_str file;
    uint64_t at, end; /* of the message */
    gufo_error *error;
} message_reader;

/* ---- fields --------------------------------------------------------------------------------- */

static gufo_status read_varint(message_reader *r, uint64_t *out)
{
    uint64_t start = r->at;

    *out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (r->at == r->end)
            return fail_with(r->error, GUFO_E_TRUNCATED, start,
                             "the SentencePiece model ends inside a number");
        byte = (uint8_t)r->file.data[r->at++];
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return GUFO_OK;
    }
    return fail_with(r->error, GUFO_E_MALFORMED, start,
                     "a number of the SentencePiece model has more than 64 bits");
}

static gufo_status read_bytes(message_reader *r, uint64_t size, field_value *out)
{
    if (size > r->end - r->at)
        return fail_with(r->error, GUFO_E_TRUNCATED, out->at,
                         "a field of the SentencePiece model has %s bytes, but only %s are left",
                         GROUPED(size), GROUPED(r->end - r->at));
    out->bytes = (gufo_str){r->file.data + r->at, (size_t)size};
    r->at += size;
    return GUFO_OK;
}

static gufo_status read_value(message_reader *r, wire_type wire, field_value *out)
{
    uint64_t size;
    gufo_status status;

    switch (wire) {
    case WIRE_VARINT:
        return read_varint(r, &out->number);
    case WIRE_FIXED64:
        return read_bytes(r, 8, out);
    case WIRE_FIXED32:
        return read_bytes(r, 4, out);
    case WIRE_BYTES:
        status = read_varint(r, &size);
        return status == GUFO_OK ? read_bytes(r, size, out) : status;
    default:
        return fail_with(r->error, GUFO_E_MALFORMED, out->at,
                         "not a SentencePiece model: wire type %u of a field is unknown",
                         (unsigned)wire);
    }
}

/* ---- messages ------------------------------------------------------------------------------- */

typedef gufo_status take_field(void *target, const field_value *value, gufo_error *error);

typedef struct field_row {
    uint64_t number;
    wire_type wire;
    take_field *take;
} field_row;

typedef struct message_kind {
    const field_row *rows;
    size_t count;
} message_kind;

#define MESSAGE(table) ((message_kind){table, sizeof(table) / sizeof *(table)})

static gufo_status read_message(gufo_str file, gufo_str message, message_kind kind, void *target,
                                gufo_error *error)
{
    uint64_t start = (uint64_t)(message.data - file.data);
    message_reader r = {file, start, start + message.len, error};
    gufo_status status = GUFO_OK;

    while (status == GUFO_OK && r.at < r.end) {
        field_value value = {.at = r.at};
        uint64_t key;
        wire_type wire;

        status = read_varint(&r, &key);
        wire = (wire_type)(key & 7);
        if (status == GUFO_OK && key >> 3 == 0)
            status = fail_with(error, GUFO_E_MALFORMED, value.at,
                               "not a SentencePiece model: a field has number 0");
        if (status == GUFO_OK)
            status = read_value(&r, wire, &value);
        for (size_t i = 0; status == GUFO_OK && i < kind.count; i++)
            if (kind.rows[i].number == key >> 3 && kind.rows[i].wire == wire)
                status = kind.rows[i].take(target, &value, error);
    }
    return status;
}

/* ---- pieces --------------------------------------------------------------------------------- */

typedef struct model_reading {
    sentencepiece *model;
    gufo_str file;
} model_reading;

static gufo_status take_text(void *target, const field_value *value, gufo_error *error)
{
    (void)error;
    ((sentence_piece *)target)->text = value->bytes;
    return GUFO_OK;
}

static gufo_status take_score(void *target, const field_value *value, gufo_error *error)
{
    uint32_t bits = load_u32(value->bytes.data, bytes_swapped(false));

    (void)error;
    memcpy(&((sentence_piece *)target)->score, &bits, sizeof bits);
    return GUFO_OK;
}

static gufo_status take_type(void *target, const field_value *value, gufo_error *error)
{
    if (value->number < 1 || value->number > 6)
        return fail_with(error, GUFO_E_MALFORMED, value->at,
                         "a piece of the SentencePiece model has the unknown type %" PRIu64,
                         value->number);
    ((sentence_piece *)target)->type = (int32_t)value->number;
    return GUFO_OK;
}

static const field_row piece_fields[] = {
    {1, WIRE_BYTES, take_text},
    {2, WIRE_FIXED32, take_score},
    {3, WIRE_VARINT, take_type},
};

static gufo_status take_piece(void *target, const field_value *value, gufo_error *error)
{
    const model_reading *reading = target;
    sentencepiece *model = reading->model;
    sentence_piece *list =
        mem_grow(model->allocator, model->pieces, model->count, &model->room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    model->pieces = list;
    list[model->count] = (sentence_piece){.text = {"", 0}, .type = 1};
    return read_message(reading->file, value->bytes, MESSAGE(piece_fields), &list[model->count++],
                        error);
}

/* ---- specifications ------------------------------------------------------------------------- */

static gufo_status take_model_type(void *target, const field_value *value, gufo_error *error)
{
    if (value->number < 1 || value->number > 4)
        return fail_with(error, GUFO_E_MALFORMED, value->at,
                         "the SentencePiece model is of the unknown type %" PRIu64, value->number);
    ((sentencepiece *)target)->model_type = (int64_t)value->number;
    return GUFO_OK;
}

static gufo_status take_charsmap(void *target, const field_value *value, gufo_error *error)
{
    (void)error;
    ((sentencepiece *)target)->charsmap = value->bytes;
    return GUFO_OK;
}

static gufo_status take_dummy_prefix(void *target, const field_value *value, gufo_error *error)
{
    (void)error;
    ((sentencepiece *)target)->add_dummy_prefix = value->number != 0;
    return GUFO_OK;
}

static gufo_status take_extra_spaces(void *target, const field_value *value, gufo_error *error)
{
    (void)error;
    ((sentencepiece *)target)->remove_extra_whitespaces = value->number != 0;
    return GUFO_OK;
}

static gufo_status take_escape(void *target, const field_value *value, gufo_error *error)
{
    (void)error;
    ((sentencepiece *)target)->escape_whitespaces = value->number != 0;
    return GUFO_OK;
}

static const field_row trainer_fields[] = {{3, WIRE_VARINT, take_model_type}};
static const field_row normalizer_fields[] = {
    {2, WIRE_BYTES, take_charsmap},
    {3, WIRE_VARINT, take_dummy_prefix},
    {4, WIRE_VARINT, take_extra_spaces},
    {5, WIRE_VARINT, take_escape},
};

static gufo_status take_trainer(void *target, const field_value *value, gufo_error *error)
{
    const model_reading *reading = target;

    return read_message(reading->file, value->bytes, MESSAGE(trainer_fields), reading->model,
                        error);
}

static gufo_status take_normalizer(void *target, const field_value *value, gufo_error *error)
{
    const model_reading *reading = target;

    return read_message(reading->file, value->bytes, MESSAGE(normalizer_fields), reading->model,
                        error);
}

static const field_row model_fields[] = {
    {1, WIRE_BYTES, take_piece},
    {2, WIRE_BYTES, take_trainer},
    {3, WIRE_BYTES, take_normalizer},
};

/* ---- the whole ------------------------------------------------------------------------------ */

gufo_status sentencepiece_read(gufo_str bytes, const gufo_allocator *allocator, sentencepiece *out,
                               gufo_error *error)
{
    model_reading reading = {out, bytes};
    gufo_status status;

    *out = (sentencepiece){.allocator = allocator,
                           .model_type = SENTENCEPIECE_UNIGRAM,
                           .add_dummy_prefix = true,
                           .remove_extra_whitespaces = true,
                           .escape_whitespaces = true};
    status = read_message(bytes, bytes, MESSAGE(model_fields), &reading, error);
    if (status == GUFO_OK && out->count == 0)
        return refuse(error, GUFO_E_MALFORMED, "the SentencePiece model has no pieces");
    return status;
}

void sentencepiece_free(sentencepiece *model)
{
    if (model->pieces != NULL)
        mem_free(model->allocator, model->pieces);
    model->pieces = NULL;
}
