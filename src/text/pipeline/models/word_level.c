/* WordLevel: a piece is a token, or it is the unknown token. */
#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/models/model.h"

typedef struct word_level {
    uint32_t unknown; /* GUFO_NO_TOKEN: "unk_token" is not in the vocabulary */
} word_level;

static bool looks_so(const tokenizer_file *f)
{
    return f->has_vocab && !f->vocab_is_list;
}

static gufo_status open_words(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    word_level *w = mem_zero(&m->allocator, sizeof *w);
    gufo_str unknown;
    gufo_status status;

    m->tables = w;
    if (w == NULL)
        return fail_memory(error);
    status = model_vocab(f, false, error);
    if (status == GUFO_OK)
        status = model_read_text(f, "unk_token", true, &unknown, error);
    if (status == GUFO_OK)
        w->unknown = model_find(m, unknown);
    return status;
}

static void close_words(token_model *m)
{
    mem_free(&m->allocator, m->tables);
}

static gufo_status encode_word(const token_model *m, model_room *room, gufo_str piece,
                               token_sink *out, gufo_error *error)
{
    const word_level *w = m->tables;
    uint32_t id = model_find(m, piece);

    (void)room;
    if (id == GUFO_NO_TOKEN)
        id = w->unknown;
    if (id == GUFO_NO_TOKEN)
        return refuse(error, GUFO_E_MALFORMED, "the vocabulary has neither %s nor \"unk_token\"",
                      QUOTED(piece));
    return token_sink_add(out, id, 0, piece.len) ? GUFO_OK : fail_memory(error);
}

const model_class model_word_level = {
    .name = "WordLevel",
    .looks_so = looks_so,
    .open = open_words,
    .close = close_words,
    .encode = encode_word,
};
