/* Unigram: the tokens of a piece that have the highest sum of scores, in double precision.
 *
 * From left to right, each token that begins at a place is tried; of equal sums the one that was
 * there first stays.  Where no token crosses, the best way so far is certain: it is written, and the
 * search goes on from there with the same sum.  So memory grows with the longest stretch that tokens
 * cross, not with the piece. */
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/models/model.h"
#include "text/tokenizers/best_path.h"
#include "text/characters/characters.h"

/* Less than the lowest score: what an unknown character costs. */
#define UNKNOWN_PENALTY 10.0

enum { LEAST_WINDOW = 4096 };

typedef struct unigram {
    trie *tokens;
    double *scores;
    double unknown_score;
    uint32_t unknown; /* GUFO_NO_TOKEN: none */
    bool byte_fallback;
    uint32_t bytes[256]; /* tokens of bytes; GUFO_NO_TOKEN */
    uint32_t window;     /* bytes to look at before anything is written */
} unigram;

struct model_room {
    const gufo_allocator *allocator;
    path_place *places; /* from `begin` on */
    uint64_t room;
    uint32_t ready;      /* places that are set */
    size_t begin;        /* of the stretch, in the piece */
    size_t unknown_from; /* where unknown text begins that is not written yet; up to `begin` */
};

/* ---- opening -------------------------------------------------------------------------------- */

static bool looks_so(const tokenizer_file *f)
{
    return f->has_vocab && f->vocab_is_list;
}

static gufo_status read_members(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    unigram *u = m->tables;
    uint64_t unknown = 0;
    bool found = false;
    gufo_status status = model_vocab(f, true, error);

    if (status == GUFO_OK)
        status = model_read_flag(f, "byte_fallback", &u->byte_fallback, error);
    if (status == GUFO_OK)
        status = model_read_count(f, "unk_id", &unknown, &found, error);
    if (status == GUFO_OK && found && unknown >= f->vocab_count)
        return refuse(error, GUFO_E_MALFORMED,
                      "\"unk_id\" of the model is past the end of \"vocab\"");
    u->unknown = m->verbatim = found ? (uint32_t)unknown : GUFO_NO_TOKEN;
    return status;
}

static gufo_status copy_scores(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    unigram *u = m->tables;
    double lowest = INFINITY;

    u->scores = mem_array(&m->allocator, f->vocab_count, sizeof *u->scores);
    if (u->scores == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < f->vocab_count; i++) {
        u->scores[i] = f->scores[i];
        lowest = u->scores[i] < lowest ? u->scores[i] : lowest;
    }
    u->unknown_score = lowest - UNKNOWN_PENALTY;
    return GUFO_OK;
}

static gufo_status open_unigram(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    unigram *u = mem_zero(&m->allocator, sizeof *u);
    gufo_status status;

    m->tables = u;
    if (u == NULL)
        return fail_memory(error);
    status = read_members(m, f, error);
    if (status == GUFO_OK)
        status = copy_scores(m, f, error);
    if (status != GUFO_OK)
        return status;
    for (unsigned byte = 0; byte < 256; byte++)
        u->bytes[byte] = text_table_find_byte(&m->texts, (uint8_t)byte);
    u->window = m->texts.longest > LEAST_WINDOW ? m->texts.longest : LEAST_WINDOW;
    u->tokens = text_table_trie(&m->texts, NULL, m->texts.count, &m->allocator, error);
    return u->tokens != NULL ? GUFO_OK : trie_status(error);
}

static void close_unigram(token_model *m)
{
    unigram *u = m->tables;

    trie_free(u->tokens);
    mem_free(&m->allocator, u->scores);
    mem_free(&m->allocator, u);
}

static model_room *room_new(const token_model *m, const gufo_allocator *allocator,
                            gufo_error *error)
{
    model_room *room = mem_zero(allocator, sizeof *room);

    (void)m;
    if (room == NULL)
        (void)fail_memory(error);
    else
        room->allocator = allocator;
    return room;
}

static void room_free(model_room *room, const gufo_allocator *allocator)
{
    mem_free(allocator, room->places);
    mem_free(allocator, room);
}

/* ---- what is certain ------------------------------------------------------------------------ */

static bool has_all_bytes(const unigram *u, gufo_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (u->bytes[(uint8_t)text.data[i]] == GUFO_NO_TOKEN)
            return false;
    return true;
}

/* Writes unknown text: together it may be a token. */
static bool add_unknown(const token_model *m, gufo_str piece, size_t begin, size_t end,
                        token_sink *out)
{
    const unigram *u = m->tables;
    gufo_str text = {piece.data + begin, end - begin};
    uint32_t id = text_table_find(&m->texts, text);

    if (text.len == 0)
        return true;
    if (id != GUFO_NO_TOKEN || !u->byte_fallback || !has_all_bytes(u, text))
        return token_sink_add(out, id != GUFO_NO_TOKEN ? id : u->unknown, begin, end);
    for (size_t i = 0; i < text.len; i++)
        if (!token_sink_add(out, u->bytes[(uint8_t)text.data[i]], begin, end))
            return false;
    return true;
}

/* Writes the tokens of the stretch, which has `len` bytes, and begins the next one. */
static bool settle(const token_model *m, model_room *room, gufo_str piece, uint32_t len,
                   token_sink *out)
{
    const unigram *u = m->tables;
    path_place *places = room->places;
    double score = places[len].score;

    path_turn_round(places, len);
    for (uint32_t at = 0, end; at < len; at = end) {
        size_t begin = room->begin + at;
        uint32_t id;

        end = path_other(&places[at]);
        id = path_id(&places[end]);
        if (id == u->unknown)
            continue;
        if (!add_unknown(m, piece, room->unknown_from, begin, out) ||
            !token_sink_add(out, id, begin, room->begin + end))
            return false;
        room->unknown_from = room->begin + end;
    }
    room->begin += len;
    room->ready = 0;
    places[0].score = score;
    return true;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Makes places up to `count`: not reached yet, which is what a score says that is not a number. */
static bool make_places(model_room *room, uint64_t count)
{
    path_place *places = room->places;

    if (count > room->room) {
        uint64_t wanted = count + count / 2 + LEAST_WINDOW;

        if (wanted > SIZE_MAX / sizeof *places)
            return false;
        places = mem_resize(room->allocator, places, (size_t)wanted * sizeof *places);
        if (places == NULL)
            return false;
        room->places = places;
        room->room = wanted;
    }
    for (uint64_t i = room->ready; i < count; i++)
        places[i] = (path_place){NAN, 0};
    room->ready = (uint32_t)count;
    return true;
}

static bool reach(path_place *place, double score, uint64_t token)
{
    if (score <= place->score)
        return false;
    *place = (path_place){score, token};
    return true;
}

/* Tries all tokens that begin at a place, which has been reached; *farthest moves to where the longest
 * one ends.  *single: one of them is the character there. */
static void try_tokens(const unigram *u, model_room *room, gufo_str rest, uint32_t at, size_t size,
                       uint32_t *farthest, bool *single)
{
    const char *to = rest.data, *const end = rest.data + rest.len;
    double score = room->places[at].score;
    uint64_t node = u->tokens->root;

    *single = false;
    while ((node = trie_next(u->tokens, node, &to, end)) != TRIE_NONE) {
        uint32_t id = trie_value(node), len = (uint32_t)(to - rest.data);

        *single |= len == size;
        (void)reach(&room->places[at + len], score + u->scores[id], path_token(id, at));
        *farthest = at + len > *farthest ? at + len : *farthest;
    }
}

static gufo_status fail_unknown(gufo_str character, gufo_error *error)
{
    return refuse(error, GUFO_E_MALFORMED, "the vocabulary has no token for %s, and no \"unk_id\"",
                  QUOTED(character));
}

/* Goes on through the piece up to a place where the best way is certain: *len bytes further. */
static gufo_status search(const token_model *m, model_room *room, gufo_str piece, uint32_t *len,
                          gufo_error *error)
{
    const unigram *u = m->tables;
    gufo_str rest = {piece.data + room->begin, piece.len - room->begin};
    uint32_t farthest = 0, at = 0;

    while (at < rest.len && (at < u->window || at < farthest)) {
        gufo_str here = {rest.data + at, rest.len - at};
        size_t size = length_by_first_byte(here.data, here.len);
        uint64_t reached = smaller(here.len, larger(m->texts.longest, size));
        bool single;

        if (at + reached >= room->ready && !make_places(room, at + reached + 1))
            return fail_memory(error);
        try_tokens(u, room, here, at, size, &farthest, &single);
        if (!single &&
            reach(&room->places[at + size], room->places[at].score + u->unknown_score,
                  path_token(u->unknown, at)) &&
            u->unknown == GUFO_NO_TOKEN)
            return fail_unknown((gufo_str){here.data, size}, error);
        at += (uint32_t)size;
        farthest = at > farthest ? at : farthest;
    }
    *len = at;
    return GUFO_OK;
}

static gufo_status encode_unigram(const token_model *m, model_room *room, gufo_str piece,
                                  token_sink *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    room->begin = room->unknown_from = 0;
    room->ready = 0;
    if (!make_places(room, 1))
        return fail_memory(error);
    room->places[0].score = 0;
    while (status == GUFO_OK && room->begin < piece.len) {
        uint32_t len = 0;

        room->ready = 1;
        status = search(m, room, piece, &len, error);
        if (status == GUFO_OK && !settle(m, room, piece, len, out))
            return fail_memory(error);
    }
    if (status == GUFO_OK && !add_unknown(m, piece, room->unknown_from, piece.len, out))
        return fail_memory(error);
    return status;
}

const model_class model_unigram = {
    .name = "Unigram",
    .looks_so = looks_so,
    .open = open_unigram,
    .close = close_unigram,
    .room_new = room_new,
    .room_free = room_free,
    .encode = encode_unigram,
};
