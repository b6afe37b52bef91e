/* What a vocabulary holds that its users should know. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/threads.h"
#include "codec/run.h"
#include "text/pipeline/pipeline.h"
#include "base/buffer.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

enum { CHUNK = 2048 }; /* tokens that a thread takes at a time */

/* Types in which a token is found in ordinary text. */
static bool is_written(const gufo_vocab *v, uint32_t id)
{
    return (v->attributes[id] & (GUFO_TOKEN_NORMAL | GUFO_TOKEN_USER_DEFINED)) != 0 &&
           (v->attributes[id] & (GUFO_TOKEN_CONTROL | GUFO_TOKEN_UNKNOWN)) == 0;
}

/* ---- types ---------------------------------------------------------------------------------- */

const char *gufo_token_type_name(int32_t type)
{
    static const char *const names[GUFO_TOKEN_TYPE_COUNT] = {
        [0] = "other",
        [TOKEN_NORMAL] = "normal",
        [TOKEN_UNKNOWN] = "unknown",
        [TOKEN_CONTROL] = "control",
        [TOKEN_USER_DEFINED] = "user-defined",
        [TOKEN_UNUSED] = "unused",
        [TOKEN_BYTE] = "byte",
    };

    return names[type > 0 && type < GUFO_TOKEN_TYPE_COUNT ? type : 0];
}

void gufo_vocab_count_types(const gufo_vocab *v, uint64_t counts[GUFO_TOKEN_TYPE_COUNT])
{
    memset(counts, 0, GUFO_TOKEN_TYPE_COUNT * sizeof *counts);
    for (uint32_t id = 0; id < v->size; id++)
        counts[vocab_type(v, id)]++;
}

/* ---- lists of ids --------------------------------------------------------------------------- */

/* What was appended since `start` stays, or nothing does. */
static gufo_status finish(gufo_ids *out, size_t start, gufo_status status)
{
    if (status != GUFO_OK)
        out->count = start;
    return status;
}

gufo_status gufo_vocab_tokens_with(const gufo_vocab *v, uint32_t attributes, gufo_ids *out,
                                   gufo_error *error)
{
    const size_t start = out->count;

    for (uint32_t id = 0; id < v->size; id++)
        if ((v->attributes[id] & attributes) != 0 && !ids_add(out, id))
            return finish(out, start, fail_memory(error));
    return GUFO_OK;
}

gufo_status gufo_vocab_duplicates(const gufo_vocab *v, gufo_ids *out, gufo_error *error)
{
    const size_t start = out->count;

    for (uint32_t id = 0; id < v->size; id++)
        if (gufo_vocab_find(v, vocab_text(v, id)) != id && !ids_add(out, id))
            return finish(out, start, fail_memory(error));
    return GUFO_OK;
}

/* ---- lengths -------------------------------------------------------------------------------- */

static bool is_longer(const void *owner, uint32_t a, uint32_t b)
{
    const size_t *sizes = owner;

    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
}

/* The bytes that each token gives; 0 for those that are not written in texts. */
static gufo_status measure(const gufo_vocab *v, size_t *sizes, gufo_ids *out, gufo_error *error)
{
    gufo_text piece = {.allocator = &v->allocator};
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; status == GUFO_OK && id < v->size; id++) {
        piece.len = 0;
        if (!is_written(v, id))
            continue;
        status = gufo_token_piece(v, id, &piece, error);
        sizes[id] = piece.len;
        if (status == GUFO_OK && !ids_add(out, id))
            status = fail_memory(error);
    }
    gufo_text_free(&piece);
    return status;
}

gufo_status gufo_vocab_longest(const gufo_vocab *v, size_t count, gufo_ids *out, gufo_error *error)
{
    const size_t start = out->count;
    size_t *sizes = mem_array(&v->allocator, v->size, sizeof *sizes);
    gufo_status status = sizes != NULL ? measure(v, sizes, out, error) : fail_memory(error);

    if (status == GUFO_OK && out->count > start)
        sort_indices(out->ids + start, out->count - start, is_longer, sizes);
    if (out->count - start > count)
        out->count = start + count;
    mem_free(&v->allocator, sizes);
    return finish(out, start, status);
}

gufo_status gufo_vocab_count_lengths(const gufo_vocab *v, uint64_t counts[GUFO_TOKEN_LENGTHS],
                                     gufo_error *error)
{
    gufo_ids written = {.allocator = &v->allocator};
    size_t *sizes = mem_array(&v->allocator, v->size, sizeof *sizes);
    gufo_status status = sizes != NULL ? measure(v, sizes, &written, error) : fail_memory(error);

    memset(counts, 0, GUFO_TOKEN_LENGTHS * sizeof *counts);
    for (size_t i = 0; status == GUFO_OK && i < written.count; i++) {
        size_t size = sizes[written.ids[i]];

        counts[size < GUFO_TOKEN_LENGTHS ? size : GUFO_TOKEN_LENGTHS - 1]++;
    }
    gufo_ids_free(&written);
    mem_free(&v->allocator, sizes);
    return status;
}

/* ---- reach ---------------------------------------------------------------------------------- */

/* How a token fares that is encoded from the text that it gives. */
typedef enum token_reach {
    REACH_ITSELF = 0, /* one id, its own */
    REACH_OTHERS,     /* other ids: the text never gives this token */
    REACH_PART,       /* not a text of its own: bytes, or parts of a character */
    REACH_NO_TEXT,    /* control, unknown and unused tokens */
} token_reach;

typedef struct reaching {
    gufo_vocab vocab; /* of SentencePiece, one that puts no space before a text */
    uint8_t *reach;
} reaching;

/* The work of one part. */
typedef struct reacher {
    const gufo_vocab *vocab;
    gufo_tokenizer *tokenizer;
    gufo_ids ids;
    gufo_text text;
} reacher;

static gufo_status encode(reacher *r, gufo_str text, gufo_error *error)
{
    gufo_status status;

    r->ids.count = 0;
    status = gufo_tokenizer_feed(r->tokenizer, text, &r->ids, error);
    return status == GUFO_OK ? gufo_tokenizer_end(r->tokenizer, &r->ids, error) : status;
}

/* What continues a word follows some letter or digit. */
static gufo_status continue_word(reacher *r, uint32_t id, uint8_t *reach, gufo_error *error)
{
    static const char starts[] = "aeiosnrtlc1xqzbdfghjkmpuvwy023456789";
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && *reach == REACH_OTHERS && starts[i] != '\0'; i++) {
        r->text.data[0] = starts[i];
        status = encode(r, (gufo_str){r->text.data, r->text.len}, error);
        if (r->ids.count > 1 && r->ids.ids[r->ids.count - 1] == id)
            *reach = REACH_ITSELF;
    }
    return status;
}

/* How the text of a token becomes one in which the token can be. */
typedef enum setting {
    SETTING_ALONE,
    SETTING_CONTINUED,
    SETTING_WITHOUT_SPACE,
    SETTING_ANY
} setting;

/* WordPiece, and Unigram with its usual flags, begin every text with a word; a tokenizer.json may. */
static setting setting_of(const gufo_vocab *v, uint32_t id)
{
    bool unigram = v->algorithm == &algorithm_ugm;
    bool begins_word = str_begins(vocab_text(v, id), "\xe2\x96\x81");

    if (v->pipeline != NULL)
        return SETTING_ANY;
    if (v->algorithm != &algorithm_wpm && !(unigram && (v->space_prefix || v->remove_extra_spaces)))
        return SETTING_ALONE;
    if (!begins_word)
        return SETTING_CONTINUED;
    return unigram && !v->remove_extra_spaces ? SETTING_WITHOUT_SPACE : SETTING_ALONE;
}

static gufo_status reach_text(reacher *r, uint32_t id, uint8_t *reach, gufo_error *error)
{
    gufo_str piece = {r->text.data + 1, r->text.len - 1};
    setting how = setting_of(r->vocab, id);
    gufo_status status = GUFO_OK;

    *reach = REACH_OTHERS;
    if (how != SETTING_CONTINUED)
        status = encode(r, str_from(piece, how == SETTING_WITHOUT_SPACE), error);
    if (status == GUFO_OK && how != SETTING_CONTINUED && r->ids.count == 1 && r->ids.ids[0] == id)
        *reach = REACH_ITSELF;
    if (status == GUFO_OK && (how == SETTING_CONTINUED || how == SETTING_ANY))
        status = continue_word(r, id, reach, error);
    /* Decoders of a tokenizer.json write U+FFFD for a part of a character. */
    if (how == SETTING_ANY && *reach == REACH_OTHERS &&
        str_search(piece, gufo_str_of("\xef\xbf\xbd")) != NULL)
        *reach = REACH_PART;
    return status;
}

/* The text that a token gives.  WordPiece writes ## before what continues a word, and its decoder keeps
 * that where no word begins. */
static gufo_status add_piece(const gufo_vocab *v, uint32_t id, gufo_text *out, gufo_error *error)
{
    gufo_str text = vocab_text(v, id);

    if (v->pipeline == NULL || strcmp(pipeline_model_name(v->pipeline), "WordPiece") != 0 ||
        !str_begins(text, "##"))
        return gufo_token_piece(v, id, out, error);
    return text_add(out, text.data + 2, text.len - 2) ? GUFO_OK : fail_memory(error);
}

static gufo_status reach_one(reacher *r, uint32_t id, uint8_t *reach, gufo_error *error)
{
    bool is_byte = (r->vocab->attributes[id] & GUFO_TOKEN_BYTE) != 0;
    gufo_status status;
    gufo_str piece;

    *reach = is_byte ? REACH_PART : REACH_NO_TEXT;
    if (is_byte || !is_written(r->vocab, id))
        return GUFO_OK;
    r->text.len = 0;
    /* A place for the letter that a word begins with. */
    if (!text_add(&r->text, "a", 1))
        return fail_memory(error);
    status = add_piece(r->vocab, id, &r->text, error);
    piece = (gufo_str){r->text.data + 1, r->text.len - 1};
    *reach = REACH_PART;
    if (status != GUFO_OK || piece.len == 0 || gufo_utf8_valid_prefix(piece) < piece.len)
        return status;
    return reach_text(r, id, reach, error);
}

static gufo_status reach_part(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    reaching *all = context;
    reacher r = {.vocab = &all->vocab, .tokenizer = gufo_tokenizer_new(&all->vocab, NULL, error)};
    uint64_t end = (index + 1) * CHUNK < all->vocab.size ? (index + 1) * CHUNK : all->vocab.size;
    gufo_status status = GUFO_OK;

    (void)thread;
    (void)result;
    r.ids.allocator = r.text.allocator = &all->vocab.allocator;
    if (r.tokenizer == NULL)
        return fail_memory(error);
    for (uint64_t id = index * CHUNK; status == GUFO_OK && id < end; id++)
        status = reach_one(&r, (uint32_t)id, &all->reach[id], error);
    gufo_tokenizer_free(r.tokenizer);
    gufo_ids_free(&r.ids);
    gufo_text_free(&r.text);
    return status;
}

/* reach[id] of every token: a token_reach. */
static gufo_status find_reach(const gufo_vocab *vocab, const gufo_run *run, uint8_t *reach,
                              gufo_error *error)
{
    reaching all = {.vocab = *vocab, .reach = reach};
    parallel_loop loop = {.end = (vocab->size + (uint64_t)CHUNK - 1) / CHUNK,
                          .threads = run != NULL ? thread_count(run->threads) : 1,
                          .context = &all,
                          .work = reach_part};

    if (vocab->algorithm == &algorithm_spm)
        all.vocab.space_prefix = false;
    return parallel_run(&loop, &vocab->allocator, error);
}

gufo_status gufo_vocab_unreachable(const gufo_vocab *v, const gufo_run *run, gufo_ids *out,
                                   uint64_t *tested, gufo_error *error)
{
    const size_t start = out->count;
    gufo_status status = run != NULL ? run_check(run, error) : GUFO_OK;
    uint64_t count = 0;
    uint8_t *reach;

    if (status != GUFO_OK)
        return status;
    reach = mem_array(&v->allocator, v->size, sizeof *reach);
    status = reach != NULL ? find_reach(v, run, reach, error) : fail_memory(error);
    for (uint32_t id = 0; status == GUFO_OK && id < v->size; id++) {
        count += reach[id] == REACH_ITSELF || reach[id] == REACH_OTHERS;
        if (reach[id] == REACH_OTHERS && !ids_add(out, id))
            status = fail_memory(error);
    }
    mem_free(&v->allocator, reach);
    if (status == GUFO_OK && tested != NULL)
        *tested = count;
    return finish(out, start, status);
}
