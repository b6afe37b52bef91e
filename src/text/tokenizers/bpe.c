/* Byte-pair encoding: tokenizer models gpt2 and gemma4.
 *
 *     text     " Hello"        a piece of the pre-tokenizer
 *     symbols  Ġ H e l l o     its bytes in the byte alphabet; or its characters (raw text)
 *     merged   ĠH ell o, ĠHello     pair by pair, as the list of merges says
 *     ids      18435
 *
 * Pieces do not depend on each other: what short ones gave is remembered. */

#include "base/error.h"
#include "base/memory.h"
#include "text/tokenizers/bpe_piece.h"
#include "text/characters/composition.h"
#include "text/tokenizers/original.h"
#include "text/characters/characters.h"
#include "text/vocabulary/vocabulary.h"

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status fill_bytes(bpe_tables *t, const gufo_vocab *v, gufo_error *error)
{
    if (v->byte_alphabet)
        byte_alphabet_fill(&t->alphabet);
    else
        byte_alphabet_none(&t->alphabet);
    for (unsigned byte = 0; byte < 256; byte++) {
        gufo_str one = {(const char *)&(uint8_t){(uint8_t)byte}, 1};
        gufo_str shown = {t->alphabet.text[byte], t->alphabet.len[byte]};

        t->fallback[byte] = v->byte_alphabet ? vocab_find(v, one.data, 1)
                                             : text_table_find_byte(&v->texts, (uint8_t)byte);
        t->symbols[byte] = v->byte_alphabet ? merge_table_add(&t->merges, v, shown)
                           : byte < 0x80    ? merge_table_find(&t->merges, v, one)
                                            : NO_SYMBOL;
        if (v->byte_alphabet && t->symbols[byte] == NO_SYMBOL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

/* Most look-ups are those of pairs of bytes. */
static gufo_status fill_ranks(bpe_tables *t, const gufo_vocab *v, gufo_error *error)
{
    t->ranks = mem_array(&v->allocator, 256 * 256, sizeof *t->ranks);
    if (t->ranks == NULL)
        return fail_memory(error);
    for (unsigned pair = 0; pair < 256 * 256; pair++)
        t->ranks[pair] =
            merge_rank(&t->merges.pairs, t->symbols[pair >> 8], t->symbols[pair & 255]);
    return GUFO_OK;
}

static const char *choose_shape(gufo_vocab *v, bpe_tables *t, const gufo_model *model)
{
    const original_rules *original = original_find(v, model);

    if (original == NULL)
        return v->pre->shape;
    v->differs = original->differs;
    if (!v->original)
        return v->pre->shape;
    if (original->drops_padding)
        original_drop_padding(v);
    t->composes = original->composes;
    return original->shape;
}

/* Without a list of merges no token is made of others: a piece of text is a token, or each of its
 * symbols is. */
static gufo_status make_atomic(gufo_vocab *v, gufo_error *error)
{
    if (v->pre->no_merges)
        return GUFO_OK;
    v->ignore_merges = true;
    return vocab_warn(v, error,
                      "\"tokenizer.ggml.merges\" is missing: tokens are atomic, so a piece of text "
                      "that is not a token becomes single %s",
                      v->byte_alphabet ? "bytes" : "characters");
}

static gufo_status open_bpe(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    bpe_tables *t = mem_zero(&v->allocator, sizeof *t);
    bool merges;
    gufo_status status;

    if (t == NULL)
        return fail_memory(error);
    v->tables = t;
    t->pre = pretokenizer_new(choose_shape(v, t, model), &v->allocator, error);
    if (t->pre == NULL)
        return error != NULL ? error->code : GUFO_E_MEMORY;
    status = merge_table_open(&t->merges, v, model, &merges, error);
    if (status == GUFO_OK && !merges)
        status = make_atomic(v, error);
    if (status == GUFO_OK)
        status = fill_bytes(t, v, error);
    if (status == GUFO_OK && v->byte_alphabet)
        status = fill_ranks(t, v, error);
    for (uint32_t i = 0; status == GUFO_OK && !v->byte_alphabet && i < t->merges.pairs.count; i++)
        byte_pairs_add(&t->pairs, merge_table_text(&t->merges, v, t->merges.pairs.results[i]));
    return status;
}

static void close_bpe(gufo_vocab *v)
{
    bpe_tables *t = v->tables;

    pretokenizer_free(t->pre);
    merge_table_close(&t->merges, v);
    mem_free(&v->allocator, t->ranks);
    mem_free(&v->allocator, t);
}

static void free_scratch(algorithm_scratch *s, const gufo_allocator *allocator)
{
    piece_cache_free(&s->cache);
    pre_scratch_free(s->pre);
    merging_free(&s->merging);
    buffer_free(&s->parts);
    gufo_text_free(&s->composed);
    gufo_text_free(&s->escaped);
    buffer_free(&s->shown);
    buffer_free(&s->offsets);
    mem_free(allocator, s);
}

static algorithm_scratch *new_scratch(const gufo_vocab *v, const gufo_allocator *allocator,
                                      gufo_error *error)
{
    const bpe_tables *t = v->tables;
    algorithm_scratch *s = mem_zero(allocator, sizeof *s);

    if (s == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    s->vocab = v;
    s->cache.allocator = allocator;
    s->merging.table = &t->merges.pairs;
    s->merging.links.allocator = s->merging.heap.allocator = allocator;
    s->parts.allocator = s->escaped.allocator = s->composed.allocator = allocator;
    s->shown.allocator = s->offsets.allocator = allocator;
    s->pre = pre_scratch_new(t->pre, allocator, error);
    if (s->pre != NULL)
        return s;
    free_scratch(s, allocator);
    return NULL;
}

/* ---- encoding ------------------------------------------------------------------------------- */

static gufo_status take_piece(void *context, gufo_str piece, gufo_error *error)
{
    return bpe_add_piece(context, piece, error);
}

static gufo_status encode_bpe(tokenizing *work, fragment_part part, gufo_ids *out,
                              gufo_error *error)
{
    algorithm_scratch *s = work->scratch;
    const bpe_tables *t = s->vocab->tables;

    s->work = work;
    s->out = out;
    if (t->composes) {
        s->composed.len = 0;
        if (!add_composed(&s->composed, part.text))
            return fail_memory(error);
        part.text = (gufo_str){s->composed.data, s->composed.len};
    }
    return pretokenizer_run(s->pre, part.text, take_piece, s, error);
}

/* Of raw text: where no merge crosses.  Bytes that are not UTF-8 will be others when merges see them,
 * so that they say nothing; newlines may be a token together. */
static size_t cut_raw(const bpe_tables *t, gufo_str text)
{
    for (size_t end = text.len, at; (at = last_piece(&t->pairs, (gufo_str){text.data, end})) > 0;
         end = at)
        if ((text.data[at] != '\n' || text.data[at - 1] != '\n') && is_plain_character(text, at) &&
            is_plain_character((gufo_str){text.data, at}, character_before(text, at)))
            return at;
    return 0;
}

static size_t cut_bpe(const gufo_vocab *v, gufo_str text)
{
    const bpe_tables *t = v->tables;
    size_t at = v->byte_alphabet ? 0 : cut_raw(t, text);

    return at > 0 ? at : pretokenizer_cut(t->pre, text);
}

const token_algorithm algorithm_bpe = {
    .name = "BPE",
    .open = open_bpe,
    .close = close_bpe,
    .scratch_new = new_scratch,
    .scratch_free = free_scratch,
    .encode = encode_bpe,
    .cut = cut_bpe,
    .parallel = true,
};
