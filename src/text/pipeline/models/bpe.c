/* BPE: the symbols of a piece are merged pair by pair.
 *
 *     piece        zéa                 z is not in the vocabulary, é neither
 *     symbols      <0xC3> <0xA9> <unk> a
 *
 * A character of the vocabulary is a symbol; another one becomes its bytes if all of them have tokens,
 * else an unknown token, or nothing.  An unknown token waits for the next character of the vocabulary,
 * so that bytes overtake it; all are merged alike. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "text/pipeline/models/model.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/merging.h"
#include "base/buffer.h"
#include "text/vocabulary/joined_texts.h"

/* Characters of one or two bytes, and most others. */
#define TABLE_CHARACTERS 0x10000u

/* Many times what prefixes and suffixes have. */
enum { MOST_AFFIX = 255 };

/* Merges of a part that one thread looks up, and how many merges ahead their place is asked for. */
enum { MERGES = 1024, AHEAD = 16 };

typedef struct bpe {
    merge_pairs merges;
    gufo_text prefix, suffix;
    bool byte_fallback, fuse_unknown, ignore_merges;
    bool has_unknown;
    uint32_t unknown;    /* GUFO_NO_TOKEN: "unk_token" is not in the vocabulary */
    uint32_t bytes[256]; /* tokens of bytes; GUFO_NO_TOKEN */
    uint32_t *symbols;   /* by character */
    bool can_cut;
    byte_pairs joined; /* which bytes merges bring together, where it can cut */
} bpe;

struct model_room {
    buffer parts;
    merging merging;
    gufo_text spelled; /* a character with prefix and suffix */
    uint32_t waiting;  /* bytes that the unknown token which waits stands for; 0: none does */
    uint32_t placed;   /* bytes that symbols stand for */
};

/* ---- merges --------------------------------------------------------------------------------- */

static gufo_status fail_merge(uint64_t index, const char *what, gufo_str text, gufo_error *error)
{
    return refuse(error, GUFO_E_MALFORMED, "merge %" PRIu64 " of the model %s: %s", index, what,
                  QUOTED(text));
}

/* Merges are looked up part by part, by several threads, and put into the table in their order. */
typedef struct merge_reading {
    token_model *m;
    const tokenizer_file *f;
} merge_reading;

/* The numbers of the texts of a part: left and right ones in turn, and what they become. */
typedef struct merge_numbers {
    uint32_t parts[2 * MERGES], results[MERGES];
} merge_numbers;

static uint32_t merges_of(const merge_reading *r, uint64_t part)
{
    return (uint32_t)smaller(r->f->merge_count - part * MERGES, MERGES);
}

/* What a merge gives is its first text and the second one without the prefix.  The first merge whose second text is
 * shorter, and those behind it, give nothing: put_merge refuses them in their turn. */
static gufo_status find_batch(const merge_reading *r, joined_texts *joined, uint64_t first,
                              uint32_t count, uint32_t *parts, uint32_t *results, gufo_error *error)
{
    const file_merge *merges = &r->f->merges[first];
    gufo_str texts[2 * JOINED_BATCH];
    uint32_t good = 0;

    for (; good < count && merges[good].right.len >= joined->prefix; good++) {
        texts[2 * good] = merges[good].left;
        texts[2 * good + 1] = merges[good].right;
    }
    for (uint32_t i = good; i < count; i++)
        parts[2 * i] = parts[2 * i + 1] = results[i] = GUFO_NO_TOKEN;
    text_table_find_batch(joined->texts, texts, 2 * (size_t)good, parts);
    return joined_find(joined, texts, good, results) ? GUFO_OK : fail_memory(error);
}

static joined_texts joining(const merge_reading *r)
{
    const bpe *b = r->m->tables;

    return (joined_texts){
        .texts = &r->m->texts, .prefix = b->prefix.len, .joined.allocator = &r->m->allocator};
}

static gufo_status find_merges(void *context, unsigned thread, uint64_t part, void *result,
                               gufo_error *error)
{
    const merge_reading *r = context;
    const uint32_t count = merges_of(r, part);
    joined_texts joined = joining(r);
    merge_numbers *numbers = result;
    gufo_status status = GUFO_OK;

    (void)thread;
    for (uint32_t at = 0; status == GUFO_OK && at < count; at += JOINED_BATCH)
        status =
            find_batch(r, &joined, part * MERGES + at, (uint32_t)smaller(count - at, JOINED_BATCH),
                       numbers->parts + 2 * at, numbers->results + at, error);
    gufo_text_free(&joined.joined);
    return status;
}

static gufo_status fail_unknown(const merge_reading *r, merge_pair pair, gufo_error *error)
{
    const file_merge *merge = &r->f->merges[pair.rank];
    joined_texts joined = joining(r);
    gufo_status status;
    gufo_str made;

    if (merge->right.len < joined.prefix)
        return fail_merge(pair.rank, "has a second part that is shorter than the prefix",
                          merge->right, error);
    if (pair.left == GUFO_NO_TOKEN)
        return fail_merge(pair.rank, "has a first part that is not a token", merge->left, error);
    if (pair.right == GUFO_NO_TOKEN)
        return fail_merge(pair.rank, "has a second part that is not a token", merge->right, error);
    made = joined_text(&joined, (const gufo_str[2]){merge->left, merge->right});
    status = made.data != NULL ? fail_merge(pair.rank, "gives what is not a token", made, error)
                               : fail_memory(error);
    gufo_text_free(&joined.joined);
    return status;
}

/* Of equal pairs the last one counts. */
static gufo_status put_merge(const merge_reading *r, merge_pair pair, uint32_t result,
                             gufo_error *error)
{
    const file_merge *merge = &r->f->merges[pair.rank];
    bpe *b = r->m->tables;

    if (pair.left == GUFO_NO_TOKEN || pair.right == GUFO_NO_TOKEN || result == GUFO_NO_TOKEN)
        return fail_unknown(r, pair, error);
    merge_pairs_put(&b->merges, pair)->rank = pair.rank;
    b->merges.results[pair.rank] = result;
    if (merge->left.len == 0 || merge->right.len == 0)
        b->can_cut = false;
    else
        byte_pairs_join(&b->joined, merge->left.data[merge->left.len - 1], *merge->right.data);
    return GUFO_OK;
}

static merge_pair pair_at(const merge_reading *r, const merge_numbers *numbers, uint64_t part,
                          uint32_t i)
{
    return (merge_pair){model_id(r->m, numbers->parts[2 * i]),
                        model_id(r->m, numbers->parts[2 * i + 1]), (uint32_t)(part * MERGES + i)};
}

static gufo_status put_merges(void *context, uint64_t part, const void *result, gufo_error *error)
{
    const merge_reading *r = context;
    const merge_pairs *t = &((const bpe *)r->m->tables)->merges;
    const merge_numbers *numbers = result;
    const uint32_t count = merges_of(r, part);
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && i < count; i++) {
        if (i + AHEAD < count)
            merge_prefetch(t, pair_at(r, numbers, part, i + AHEAD));
        status =
            put_merge(r, pair_at(r, numbers, part, i), model_id(r->m, numbers->results[i]), error);
    }
    return status;
}

static gufo_status read_merges(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    bpe *b = m->tables;
    merge_reading reading = {m, f};
    const parallel_loop loop = {.end = ((uint64_t)f->merge_count + MERGES - 1) / MERGES,
                                .threads = m->threads,
                                .result_size = sizeof(merge_numbers),
                                .context = &reading,
                                .work = find_merges,
                                .hand_over = put_merges};
    gufo_status status;

    if (!f->has_merges)
        return model_lacks(f, "merges", error);
    if (f->merge_count > UINT32_MAX / 4 / sizeof *b->merges.pairs)
        return refuse(error, GUFO_E_LIMIT, "the model has %s merges, which are too many",
                      GROUPED(f->merge_count));
    status = merge_pairs_open(&b->merges, f->merge_count, &m->allocator, error);
    return status == GUFO_OK ? parallel_run(&loop, &m->allocator, error) : status;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool looks_so(const tokenizer_file *f)
{
    return f->has_merges;
}

static gufo_status read_affix(const tokenizer_file *f, const char *name, gufo_text *out,
                              gufo_error *error)
{
    gufo_str text;
    gufo_status status = model_read_text(f, name, false, &text, error);

    if (status != GUFO_OK)
        return status;
    if (text.len > MOST_AFFIX)
        return refuse(error, GUFO_E_LIMIT, "\"%s\" of the model has %s bytes, of at most %d", name,
                      GROUPED(text.len), MOST_AFFIX);
    return text_add(out, text.data, text.len) ? GUFO_OK : fail_memory(error);
}

static gufo_status read_members(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    bpe *b = m->tables;
    gufo_str unknown;
    gufo_status status = model_vocab(f, false, error);

    if (status == GUFO_OK)
        status = read_affix(f, "continuing_subword_prefix", &b->prefix, error);
    if (status == GUFO_OK)
        status = read_affix(f, "end_of_word_suffix", &b->suffix, error);
    if (status == GUFO_OK)
        status = model_read_flag(f, "byte_fallback", &b->byte_fallback, error);
    if (status == GUFO_OK)
        status = model_read_flag(f, "fuse_unk", &b->fuse_unknown, error);
    if (status == GUFO_OK)
        status = model_read_flag(f, "ignore_merges", &b->ignore_merges, error);
    if (status == GUFO_OK)
        status = model_read_text(f, "unk_token", false, &unknown, error);
    if (status != GUFO_OK)
        return status;
    b->has_unknown = unknown.data != NULL;
    b->unknown = b->has_unknown ? model_find(m, unknown) : GUFO_NO_TOKEN;
    b->can_cut = b->prefix.len == 0 && b->suffix.len == 0 && !b->ignore_merges;
    return GUFO_OK;
}

static gufo_status find_characters(token_model *m, gufo_error *error)
{
    bpe *b = m->tables;

    b->symbols = mem_array(&m->allocator, TABLE_CHARACTERS, sizeof *b->symbols);
    if (b->symbols == NULL)
        return fail_memory(error);
    memset(b->symbols, 0xFF, TABLE_CHARACTERS * sizeof *b->symbols);
    for (uint32_t i = 0; i < m->texts.count; i++) {
        gufo_str text = text_at(&m->texts, i);
        size_t size = 0;
        uint32_t character = text.len > 0 && text.len < 4
                                 ? lenient_decode(text.data, text.len, &size)
                                 : TABLE_CHARACTERS;

        if (size == text.len && character < TABLE_CHARACTERS)
            b->symbols[character] = model_id(m, i);
    }
    for (unsigned byte = 0; byte < 256; byte++)
        b->bytes[byte] = model_id(m, text_table_find_byte(&m->texts, (uint8_t)byte));
    return GUFO_OK;
}

static gufo_status open_bpe(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    bpe *b = mem_zero(&m->allocator, sizeof *b);
    gufo_status status;

    m->tables = b;
    if (b == NULL)
        return fail_memory(error);
    b->prefix.allocator = b->suffix.allocator = &m->allocator;
    status = read_members(m, f, error);
    if (status == GUFO_OK)
        status = read_merges(m, f, error);
    return status == GUFO_OK ? find_characters(m, error) : status;
}

static void close_bpe(token_model *m)
{
    bpe *b = m->tables;

    merge_pairs_close(&b->merges, &m->allocator);
    gufo_text_free(&b->prefix);
    gufo_text_free(&b->suffix);
    mem_free(&m->allocator, b->symbols);
    mem_free(&m->allocator, b);
}

static void room_free(model_room *room, const gufo_allocator *allocator)
{
    buffer_free(&room->parts);
    merging_free(&room->merging);
    gufo_text_free(&room->spelled);
    mem_free(allocator, room);
}

static model_room *room_new(const token_model *m, const gufo_allocator *allocator,
                            gufo_error *error)
{
    const bpe *b = m->tables;
    model_room *room = mem_zero(allocator, sizeof *room);

    if (room == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    room->parts.allocator = room->spelled.allocator = allocator;
    room->merging.table = &b->merges;
    room->merging.links.allocator = room->merging.heap.allocator = allocator;
    return room;
}

/* ---- symbols -------------------------------------------------------------------------------- */

/* A character with the prefix, unless it is the first one, and the suffix if it is the last; no data
 * without memory. */
static gufo_str spell(const bpe *b, model_room *room, gufo_str character, bool first, bool last)
{
    gufo_text *text = &room->spelled;

    text->len = 0;
    if (!text_reserve(text, b->prefix.len + character.len + b->suffix.len))
        return (gufo_str){NULL, 0};
    if (!first)
        (void)text_add(text, b->prefix.data, b->prefix.len);
    (void)text_add(text, character.data, character.len);
    if (last)
        (void)text_add(text, b->suffix.data, b->suffix.len);
    return (gufo_str){text->data, text->len};
}

static uint32_t symbol_of(const token_model *m, gufo_str spelled)
{
    const bpe *b = m->tables;
    size_t size = 0;
    uint32_t character = TABLE_CHARACTERS;

    if (spelled.len < 4)
        character = lenient_decode(spelled.data, spelled.len, &size);
    return size == spelled.len && character < TABLE_CHARACTERS ? b->symbols[character]
                                                               : model_find(m, spelled);
}

/* There is room for it. */
static void add_symbol(model_room *room, uint32_t symbol, uint32_t bytes)
{
    merging *m = &room->merging;

    m->parts[m->count++] = (merge_part){symbol, room->placed, NO_RANK};
    room->placed += bytes;
}

static void flush_unknown(const bpe *b, model_room *room)
{
    if (room->waiting > 0)
        add_symbol(room, b->unknown, room->waiting);
    room->waiting = 0;
}

static bool has_all_bytes(const bpe *b, gufo_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (b->bytes[(uint8_t)text.data[i]] == GUFO_NO_TOKEN)
            return false;
    return true;
}

/* `size` is that of the character. */
static gufo_status add_unknown(const bpe *b, model_room *room, gufo_str spelled, size_t size,
                               gufo_error *error)
{
    if (b->byte_fallback && has_all_bytes(b, spelled)) {
        for (size_t i = 0; i < spelled.len; i++)
            add_symbol(room, b->bytes[(uint8_t)spelled.data[i]], 1);
        return GUFO_OK;
    }
    if (!b->has_unknown)
        return GUFO_OK;
    if (b->unknown == GUFO_NO_TOKEN)
        return refuse(error, GUFO_E_MALFORMED,
                      "the vocabulary has neither a token for %s nor \"unk_token\"",
                      QUOTED(spelled));
    if (!b->fuse_unknown)
        flush_unknown(b, room);
    room->waiting += (uint32_t)size;
    return GUFO_OK;
}

static gufo_status reserve_symbols(const bpe *b, model_room *room, gufo_str piece,
                                   gufo_error *error)
{
    uint64_t most = piece.len;

    if (b->byte_fallback) /* each character with its prefix, in bytes */
        most += piece.len * (uint64_t)b->prefix.len + b->suffix.len;
    if (most > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT, "a piece of text of %s bytes is too long to be merged",
                      GROUPED(piece.len));
    room->parts.len = 0;
    room->merging.parts = buffer_extend(&room->parts, most * sizeof *room->merging.parts);
    room->merging.count = room->waiting = room->placed = 0;
    return room->merging.parts != NULL ? GUFO_OK : fail_memory(error);
}

static gufo_status add_symbols(const token_model *m, model_room *room, gufo_str piece,
                               gufo_error *error)
{
    const bpe *b = m->tables;
    bool plain = b->prefix.len == 0 && b->suffix.len == 0;
    gufo_status status = reserve_symbols(b, room, piece, error);

    for (size_t at = 0, size; status == GUFO_OK && at < piece.len; at += size) {
        gufo_str text;
        uint32_t symbol;

        size = length_by_first_byte(piece.data + at, piece.len - at);
        text = (gufo_str){piece.data + at, size};
        if (!plain)
            text = spell(b, room, text, at == 0, at + size == piece.len);
        if (text.data == NULL)
            return fail_memory(error);
        symbol = symbol_of(m, text);
        if (symbol == GUFO_NO_TOKEN) {
            status = add_unknown(b, room, text, size, error);
            continue;
        }
        flush_unknown(b, room);
        add_symbol(room, symbol, (uint32_t)size);
    }
    flush_unknown(b, room);
    return status;
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* Who watches merges. */
typedef struct merge_view {
    const merge_pairs *table;
    const piece_tokens *tokens;
    uint32_t base; /* of the piece that was encoded before */
} merge_view;

static void show_merge(void *context, const merge_part *left, const merge_part *right, uint32_t end)
{
    const merge_view *view = context;
    const model_token merged = {view->table->results[left->rank], view->base + left->begin,
                                view->base + end};

    (void)right;
    view->tokens->watch(view->tokens->watch_context, left->symbol, merged, left->rank);
}

static bool merge(model_room *room, const token_sink *out)
{
    merging *m = &room->merging;
    merge_view view = {m->table, out->tokens, out->base};

    m->watch = out->tokens != NULL && out->tokens->watch != NULL ? show_merge : NULL;
    m->context = &view;
    m->end = room->placed;
    for (uint32_t i = 0; i + 1 < m->count; i++)
        m->parts[i].rank = rank_of_pair(m->table, m->parts[i].symbol, m->parts[i + 1].symbol);
    return merge_parts(m);
}

static gufo_status encode_bpe(const token_model *m, model_room *room, gufo_str piece,
                              token_sink *out, gufo_error *error)
{
    const bpe *b = m->tables;
    const merging *merged = &room->merging;
    uint32_t id = b->ignore_merges ? model_find(m, piece) : GUFO_NO_TOKEN;
    gufo_status status;

    if (id != GUFO_NO_TOKEN)
        return token_sink_add(out, id, 0, piece.len) ? GUFO_OK : fail_memory(error);
    status = add_symbols(m, room, piece, error);
    if (status != GUFO_OK)
        return status;
    if (!merge(room, out))
        return fail_memory(error);
    for (uint32_t i = 0; i < merged->count; i++)
        if (!token_sink_add(out, merged->parts[i].symbol, merged->parts[i].begin,
                            i + 1 < merged->count ? merged->parts[i + 1].begin : merged->end))
            return fail_memory(error);
    out->base += room->placed;
    return GUFO_OK;
}

/* Between two characters of the vocabulary that no merge brings together. */
static size_t part_bpe(const token_model *m, gufo_str piece)
{
    const bpe *b = m->tables;
    size_t before = 0, size;

    if (!b->can_cut)
        return piece.len;
    for (size_t at = length_by_first_byte(piece.data, piece.len); at < piece.len; at += size) {
        size = length_by_first_byte(piece.data + at, piece.len - at);
        if (!byte_pairs_has(&b->joined, piece.data[at - 1], piece.data[at]) &&
            symbol_of(m, (gufo_str){piece.data + at, size}) != GUFO_NO_TOKEN &&
            symbol_of(m, (gufo_str){piece.data + before, at - before}) != GUFO_NO_TOKEN)
            return at;
        before = at;
    }
    return piece.len;
}

const model_class model_bpe = {
    .name = "BPE",
    .looks_so = looks_so,
    .open = open_bpe,
    .close = close_bpe,
    .room_new = room_new,
    .room_free = room_free,
    .encode = encode_bpe,
    .part = part_bpe,
};
