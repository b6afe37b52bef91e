/* What a step of a decoder is to decoder.c: a row of functions. */
#ifndef TEXT_DECODERS_DECODING_H
#define TEXT_DECODERS_DECODING_H

#include "gufo/vocab.h"
#include "text/pipeline/step_reading.h"
#include "base/buffer.h"

/* Texts, one behind the other. */
typedef struct token_texts {
    gufo_text bytes;
    size_t *ends;
    uint64_t count, room;
} token_texts;

static inline gufo_str token_at(const token_texts *t, uint64_t index)
{
    size_t begin = index == 0 ? 0 : t->ends[index - 1];

    return (gufo_str){t->bytes.data + begin, t->ends[index] - begin};
}

/* What was appended to t->bytes is a token; false without memory. */
bool token_end(token_texts *t);

static inline bool token_put(token_texts *t, gufo_str text)
{
    return text_add(&t->bytes, text.data, text.len);
}

/* A run of a decoder: a step makes `out` of `in`. */
typedef struct decoding {
    token_texts in, out;
    gufo_text spare[2];
    expression_scratch *scratch;
    gufo_error *error;
} decoding;

typedef struct decoder_step decoder_step;

typedef struct decoder_kind {
    const char *type;
    void (*read)(step_reading *r, decoder_step *step); /* failures are r->status */
    /* Appends what becomes of one token; or, where this is NULL, all tokens. */
    gufo_status (*run_token)(const decoder_step *step, decoding *d, uint64_t index, gufo_str token);
    gufo_status (*run)(const decoder_step *step, decoding *d);
} decoder_kind;

/* Each kind uses what it needs. */
struct decoder_step {
    const decoder_kind *kind;
    expression *pattern, *delimiter;
    gufo_str text; /* its own */
    uint64_t start, stop;
    bool cleanup, keeps_first;
};

extern const decoder_kind decoder_byte_level, decoder_byte_fallback; /* bytes.c */
extern const decoder_kind decoder_metaspace, decoder_wordpiece, decoder_bpe,
    decoder_ctc;                                                        /* words.c */
extern const decoder_kind decoder_replace, decoder_strip, decoder_fuse; /* texts.c */

/* Appends a text with `content` for all matches. */
gufo_status decoder_put_replaced(const expression *pattern, decoding *d, gufo_str text,
                                 gufo_str content, gufo_text *out);

#endif
