/* Makes SentencePiece models: the bytes of tokenizer.model. */
#ifndef TEST_IMPORT_SENTENCEPIECE_MAKER_H
#define TEST_IMPORT_SENTENCEPIECE_MAKER_H

#include "../support/builder.h"

typedef struct made_piece {
    const char *text;
    float score;
    int type; /* 0: the field is missing */
} made_piece;

static inline void put_varint(builder *b, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        builder_u8(b, (uint8_t)(number | 0x80));
    builder_u8(b, (uint8_t)number);
}

/* A field of bytes: number, length, content. */
static inline void put_field(builder *b, unsigned number, const void *data, size_t len)
{
    put_varint(b, number << 3 | 2);
    put_varint(b, len);
    builder_raw(b, data, len);
}

static inline void put_number(builder *b, unsigned number, uint64_t value)
{
    put_varint(b, number << 3);
    put_varint(b, value);
}

static inline void put_message(builder *b, unsigned number, builder *message)
{
    put_field(b, number, message->data, message->len);
    builder_free(message);
}

static inline void put_piece(builder *b, const made_piece *made)
{
    builder message = builder_new((encoding){3, false});

    put_field(&message, 1, made->text, strlen(made->text));
    put_varint(&message, 2 << 3 | 5);
    builder_f32(&message, made->score);
    if (made->type != 0)
        put_number(&message, 3, (uint64_t)made->type);
    put_message(b, 1, &message);
}

/* model_type: 1 unigram, 2 BPE; 0: not said. */
static inline builder make_sentencepiece(const made_piece *pieces, size_t count,
                                         unsigned model_type)
{
    builder b = builder_new((encoding){3, false}), trainer = builder_new(b.encoding);

    for (size_t i = 0; i < count; i++)
        put_piece(&b, &pieces[i]);
    put_field(&trainer, 1, "input", 5); /* unknown here */
    if (model_type != 0)
        put_number(&trainer, 3, model_type);
    put_message(&b, 2, &trainer);
    return b;
}

#endif
