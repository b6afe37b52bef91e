/* What a model is to token_model.c: a row of functions, and tables of its own. */
#ifndef TEXT_MODEL_H
#define TEXT_MODEL_H

#include "text/pipeline/models/token_model.h"
#include "text/vocabulary/ids.h"
#include "text/vocabulary/text_table.h"

/* What one thread needs beside the cache; what it is, only the model knows. */
typedef struct model_room model_room;

/* Where tokens go: to one of both lists.  Places are counted from `base` on, which is moved behind what
 * a part of a piece stands for. */
typedef struct token_sink {
    gufo_ids *ids;
    piece_tokens *tokens;
    uint32_t base;
} token_sink;

typedef struct model_class {
    const char *name; /* as "type" says it */
    /* Whether a file without "type" means this model; rows are asked in order. */
    bool (*looks_so)(const tokenizer_file *f);
    gufo_status (*open)(token_model *m, const tokenizer_file *f, gufo_error *error);
    void (*close)(token_model *m); /* of what was opened, all or in part */
    /* NULL, both: it needs no room. */
    model_room *(*room_new)(const token_model *m, const gufo_allocator *allocator,
                            gufo_error *error);
    void (*room_free)(model_room *room, const gufo_allocator *allocator);
    /* The tokens of a piece, or of a part of one, not empty, valid UTF-8; moves out->base. */
    gufo_status (*encode)(const token_model *m, model_room *room, gufo_str piece, token_sink *out,
                          gufo_error *error);
    /* Where a piece can be cut without changing any id: the length of its first part, which is not
     * empty.  NULL: nowhere. */
    size_t (*part)(const token_model *m, gufo_str piece);
} model_class;

struct token_model {
    gufo_allocator allocator;
    const model_class *kind;
    unsigned threads;  /* for opening */
    text_table texts;  /* of the vocabulary */
    uint32_t *ids;     /* of each text; NULL: its number */
    uint32_t verbatim; /* token_model_verbatim */
    void *tables;      /* of the kind */
};

extern const model_class model_bpe, model_wordpiece, model_unigram, model_word_level;

static inline uint32_t model_id(const token_model *m, uint32_t number)
{
    return m->ids == NULL || number == GUFO_NO_TOKEN ? number : m->ids[number];
}

/* The token with this text; GUFO_NO_TOKEN. */
static inline uint32_t model_find(const token_model *m, gufo_str text)
{
    return model_id(m, text_table_find(&m->texts, text));
}

bool token_sink_grow(token_sink *out, model_token token);

/* Appends a token; false without memory. */
static inline bool token_sink_add(token_sink *out, uint32_t id, size_t begin, size_t end)
{
    if (out->tokens == NULL && out->ids->count < out->ids->room) {
        out->ids->ids[out->ids->count++] = id;
        return true;
    }
    return token_sink_grow(
        out, (model_token){id, out->base + (uint32_t)begin, out->base + (uint32_t)end});
}

static inline uint64_t token_sink_count(const token_sink *out)
{
    return out->tokens != NULL ? out->tokens->count : out->ids->count;
}

/* Drops all tokens behind the first `count`. */
static inline void token_sink_cut(token_sink *out, uint64_t count)
{
    if (out->tokens != NULL)
        out->tokens->count = count;
    else
        out->ids->count = (size_t)count;
}

/* ---- members of "model" --------------------------------------------------------------------- */

/* A text; {NULL, 0} if it is missing.  GUFO_E_MALFORMED for another type, or if it is `required`. */
gufo_status model_read_text(const tokenizer_file *f, const char *name, bool required, gufo_str *out,
                            gufo_error *error);
/* False if it is missing; GUFO_E_MALFORMED for another type. */
gufo_status model_read_flag(const tokenizer_file *f, const char *name, bool *out,
                            gufo_error *error);
/* A number that is not negative; *found: it is there.  GUFO_E_MALFORMED for another type. */
gufo_status model_read_count(const tokenizer_file *f, const char *name, uint64_t *out, bool *found,
                             gufo_error *error);
/* GUFO_E_MALFORMED: the model has no vocabulary, or one of the other form. */
gufo_status model_vocab(const tokenizer_file *f, bool list, gufo_error *error);
/* GUFO_E_MALFORMED: a required member is missing. */
gufo_status model_lacks(const tokenizer_file *f, const char *name, gufo_error *error);

#endif
