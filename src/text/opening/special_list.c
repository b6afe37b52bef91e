/* Finding special tokens in a text.
 *
 *     scan     one pass; a table of first bytes rules out nearly all places at once
 *     group    occurrences that overlap, and white space that they may take away
 *     settle   the tokens of the group, the longest one first, are cut out of its free ranges */
#include "text/opening/special_list.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/trie.h"

typedef struct special_finder {
    trie *texts;
    bool strips;          /* some token takes white space before it away */
    unsigned first_count; /* different bytes that tokens begin with */
    bool firsts[256];     /* those bytes */
    uint8_t first;        /* one of them */
    uint8_t begins[8192]; /* bits: the two bytes may begin a token */
} special_finder;

struct special_list {
    special_finder all, user_defined;
};

/* ---- the list ------------------------------------------------------------------------------- */

/* Marks what a token may begin with. */
static void mark_begin(special_finder *f, gufo_str text)
{
    unsigned first = (uint8_t)text.data[0];

    f->first_count += !f->firsts[first];
    f->firsts[first] = true;
    f->first = (uint8_t)first;
    if (text.len == 1) {
        memset(f->begins + first * 32, 0xff, 32);
    } else {
        unsigned second = (uint8_t)text.data[1];

        f->begins[first * 32 + second / 8] |= (uint8_t)(1u << second % 8);
    }
}

static inline bool may_begin(const special_finder *f, const char *at, size_t left)
{
    unsigned first = (uint8_t)at[0], second = left > 1 ? (uint8_t)at[1] : 0;

    /* One byte at the end may be the first of two that begin a token. */
    return left == 1 || (f->begins[first * 32 + second / 8] >> second % 8 & 1) != 0;
}

/* The score that conversion gives to tokens that were added to a model of SentencePiece. */
#define ADDED_SCORE (-1000.0f)

/* SentencePiece finds the user-defined tokens of its unigram models itself, among the others, and so
 * does the algorithm that gives its ids. */
static bool found_by_algorithm(const gufo_vocab *v, uint32_t id)
{
    return v->original && v->algorithm == &algorithm_ugm &&
           (v->attributes[id] & VOCAB_SPECIAL) == GUFO_TOKEN_USER_DEFINED &&
           vocab_score(v, id) > ADDED_SCORE;
}

/* Of the tokens that have an attribute of `wanted` and none of `unwanted`. */
static gufo_status make_finder(gufo_vocab *v, special_finder *f, uint16_t wanted, uint16_t unwanted,
                               uint32_t *ids, gufo_error *error)
{
    uint32_t count = 0;

    /* Of equal texts the last one in the list is found: the one with the lowest id. */
    for (uint32_t id = v->size; id-- > 0;)
        if ((v->attributes[id] & wanted) != 0 && (v->attributes[id] & unwanted) == 0 &&
            !found_by_algorithm(v, id)) {
            ids[count++] = id;
            f->strips |= (v->attributes[id] & GUFO_TOKEN_LSTRIP) != 0;
            mark_begin(f, vocab_text(v, id));
        }
    f->texts = text_table_trie(&v->texts, ids, count, &v->allocator, error);
    return f->texts != NULL ? GUFO_OK : trie_status(error);
}

gufo_status special_list_make(gufo_vocab *v, gufo_error *error)
{
    uint32_t *ids = mem_array(&v->allocator, v->size, sizeof *ids);
    gufo_status status;

    v->specials = mem_zero(&v->allocator, sizeof *v->specials);
    if (v->specials == NULL || ids == NULL) {
        mem_free(&v->allocator, ids);
        return fail_memory(error);
    }
    status = make_finder(v, &v->specials->all, VOCAB_SPECIAL, 0, ids, error);
    if (status == GUFO_OK)
        status = make_finder(v, &v->specials->user_defined, GUFO_TOKEN_USER_DEFINED,
                             GUFO_TOKEN_CONTROL | GUFO_TOKEN_UNKNOWN, ids, error);
    mem_free(&v->allocator, ids);
    return status;
}

void special_list_free(gufo_vocab *v)
{
    if (v->specials == NULL)
        return;
    trie_free(v->specials->all.texts);
    trie_free(v->specials->user_defined.texts);
    mem_free(&v->allocator, v->specials);
}

/* ---- occurrences ---------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t spaces_before(gufo_str text, size_t at, size_t from)
{
    while (at > from && is_space(text.data[at - 1]))
        at--;
    return at;
}

static size_t spaces_after(gufo_str text, size_t at)
{
    while (at < text.len && is_space(text.data[at]))
        at++;
    return at;
}

/* The white space around a place.  It is remembered: many tokens may meet in a long run. */
static special_range spaces_around(special_scan *s, size_t at)
{
    if (at < s->spaces.begin || at > s->spaces.end || s->spaces.end == 0)
        s->spaces = (special_range){.begin = spaces_before(s->text, at, s->settled),
                                    .end = spaces_after(s->text, at)};
    return s->spaces;
}

/* Notes that a token is in the group. */
static gufo_status note_seen(special_scan *s, uint32_t id, gufo_error *error)
{
    uint32_t *seen;

    if (s->is_seen == NULL) {
        s->is_seen = mem_array(s->allocator, (uint64_t)s->vocab->size / 8 + 1, 1);
        if (s->is_seen == NULL)
            return fail_memory(error);
    }
    if ((s->is_seen[id / 8] >> id % 8 & 1) != 0)
        return GUFO_OK;
    seen = mem_grow(s->allocator, s->seen, s->seen_count, &s->seen_room, sizeof *seen);
    if (seen == NULL)
        return fail_memory(error);
    s->seen = seen;
    s->seen[s->seen_count++] = id;
    s->is_seen[id / 8] |= (uint8_t)(1u << id % 8);
    return GUFO_OK;
}

/* A group: occurrences of tokens, and white space that they may take away. */
typedef struct token_group {
    size_t begin, end;
    bool any;  /* an occurrence was found */
    bool open; /* what follows the text may belong to it */
} token_group;

/* Adds an occurrence to the group. */
static gufo_status add_occurrence(special_scan *s, token_group *group, size_t at, size_t end,
                                  uint32_t id, gufo_error *error)
{
    uint16_t attributes = s->vocab->attributes[id];
    size_t begin = (attributes & GUFO_TOKEN_LSTRIP) != 0 ? spaces_around(s, at).begin : at;

    if ((attributes & GUFO_TOKEN_RSTRIP) != 0) {
        end = spaces_around(s, end).end;
        group->open |= end == s->text.len;
    }
    group->begin = !group->any || begin < group->begin ? begin : group->begin;
    group->end = !group->any || end > group->end ? end : group->end;
    group->any = true;
    return note_seen(s, id, error);
}

/* Adds the tokens that begin at a place. */
static gufo_status look_at(special_scan *s, token_group *group, size_t at, gufo_error *error)
{
    const trie *texts = s->finder->texts;
    uint64_t node = texts->root;
    gufo_status status = GUFO_OK;
    size_t i = at;

    while (status == GUFO_OK && i < s->text.len && node != TRIE_NONE) {
        uint32_t id;

        i += trie_skip(texts, &node, s->text.data + i, s->text.len - i);
        node = trie_step(texts, node, (uint8_t)s->text.data[i++]);
        id = node != TRIE_NONE ? trie_value(node) : TRIE_NO_ID;
        if (id != TRIE_NO_ID)
            status = add_occurrence(s, group, at, i, id, error);
    }
    if (node != TRIE_NONE) {
        group->open = true; /* a longer one may begin here */
        group->begin = !group->any || at < group->begin ? at : group->begin;
    }
    return status;
}

/* Whether the next place may still belong to the group. */
static bool goes_on(special_scan *s, const token_group *group)
{
    if (!group->any || s->at < group->end)
        return true;
    /* A token right behind its last white space may take that away. */
    return s->finder->strips && s->at <= spaces_around(s, group->end).end;
}

static inline bool begins(const special_finder *f, char byte)
{
    return f->firsts[(uint8_t)byte];
}

/* The next byte that a token begins with; the end of the text if there is none. */
static size_t next_first(const special_finder *f, gufo_str text, size_t at)
{
    const char *found;

    if (f->first_count == 0 || at == text.len)
        return text.len;
    if (f->first_count == 1) {
        found = memchr(text.data + at, f->first, text.len - at);
        return found != NULL ? (size_t)(found - text.data) : text.len;
    }
    /* Four look-ups that do not wait for each other. */
    while (text.len - at >= 4 && (int)begins(f, text.data[at]) + begins(f, text.data[at + 1]) +
                                         begins(f, text.data[at + 2]) +
                                         begins(f, text.data[at + 3]) ==
                                     0)
        at += 4;
    while (at < text.len && !begins(f, text.data[at]))
        at++;
    return at;
}

/* Moves to the next place where a token may begin. */
static void skip_text(special_scan *s)
{
    gufo_str text = s->text;
    size_t at = next_first(s->finder, text, s->at);

    while (at < text.len && !may_begin(s->finder, text.data + at, text.len - at))
        at = next_first(s->finder, text, at + 1);
    s->at = at;
}

/* Finds the next group. */
static gufo_status find_group(special_scan *s, token_group *group, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    skip_text(s);
    while (status == GUFO_OK && s->at < s->text.len && goes_on(s, group)) {
        status = look_at(s, group, s->at, error);
        if (group->open && !s->final)
            break;
        s->at++;
        if (!group->any)
            skip_text(s);
    }
    return status;
}

/* ---- settling ------------------------------------------------------------------------------- */

static gufo_status add_range(special_scan *s, range_list *list, special_range range,
                             gufo_error *error)
{
    special_range *ranges =
        mem_grow(s->allocator, list->ranges, list->count, &list->room, sizeof *ranges);

    if (ranges == NULL)
        return fail_memory(error);
    list->ranges = ranges;
    list->ranges[list->count++] = range;
    return GUFO_OK;
}

/* The first occurrence of a token in a free range; false if it has none. */
static bool find_in_range(const special_scan *s, special_range free, uint32_t id,
                          special_range *token)
{
    gufo_str wanted = vocab_text(s->vocab, id), stretch = {s->text.data, free.end};
    const char *found = str_search(str_from(stretch, free.begin), wanted);
    uint16_t attributes = s->vocab->attributes[id];

    if (found == NULL)
        return false;
    token->id = id;
    token->begin = (size_t)(found - s->text.data);
    token->end = token->begin + wanted.len;
    if ((attributes & GUFO_TOKEN_LSTRIP) != 0)
        token->begin = spaces_before(stretch, token->begin, free.begin);
    if ((attributes & GUFO_TOKEN_RSTRIP) != 0)
        token->end = spaces_after(stretch, token->end);
    return true;
}

/* Cuts a token out of a range; what becomes of the range goes to s->cut. */
static gufo_status cut_range(special_scan *s, special_range range, uint32_t id, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    special_range token;

    while (status == GUFO_OK && range.id == GUFO_NO_TOKEN && find_in_range(s, range, id, &token)) {
        if (token.begin > range.begin)
            status = add_range(s, &s->cut, (special_range){range.begin, token.begin, GUFO_NO_TOKEN},
                               error);
        if (status == GUFO_OK)
            status = add_range(s, &s->cut, token, error);
        range.begin = token.end;
    }
    if (status == GUFO_OK && range.begin < range.end)
        status = add_range(s, &s->cut, range, error);
    return status;
}

/* Cuts a token out of all free ranges. */
static gufo_status cut_out(special_scan *s, uint32_t id, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    range_list cut;

    s->cut.count = 0;
    for (uint64_t i = 0; status == GUFO_OK && i < s->ranges.count; i++)
        status = cut_range(s, s->ranges.ranges[i], id, error);
    cut = s->cut;
    s->cut = s->ranges;
    s->ranges = cut;
    return status;
}

static bool is_before(const void *owner, uint32_t a, uint32_t b)
{
    size_t a_len = vocab_text(owner, a).len, b_len = vocab_text(owner, b).len;

    return a_len != b_len ? a_len > b_len : a < b;
}

static gufo_status settle(special_scan *s, const token_group *group, gufo_error *error)
{
    gufo_status status;

    s->ranges.count = s->next_range = 0;
    status =
        add_range(s, &s->ranges, (special_range){group->begin, group->end, GUFO_NO_TOKEN}, error);
    sort_indices(s->seen, s->seen_count, is_before, s->vocab);
    for (uint64_t i = 0; i < s->seen_count; i++) {
        uint32_t id = s->seen[i];

        s->is_seen[id / 8] &= (uint8_t) ~(1u << id % 8);
        if (status == GUFO_OK)
            status = cut_out(s, id, error);
    }
    s->seen_count = 0;
    s->settled = group->end;
    s->at = s->at > group->end ? s->at : group->end;
    return status;
}

/* ---- scans ---------------------------------------------------------------------------------- */

special_scan special_scan_start(const gufo_vocab *vocab, bool parse, gufo_str text, bool final,
                                const gufo_allocator *allocator)
{
    return (special_scan){.vocab = vocab,
                          .finder = parse ? &vocab->specials->all : &vocab->specials->user_defined,
                          .allocator = allocator,
                          .text = text,
                          .final = final};
}

void special_scan_end(special_scan *scan)
{
    mem_free(scan->allocator, scan->ranges.ranges);
    mem_free(scan->allocator, scan->cut.ranges);
    mem_free(scan->allocator, scan->seen);
    mem_free(scan->allocator, scan->is_seen);
}

static bool next_of_group(special_scan *s, special_hit *hit)
{
    while (s->next_range < s->ranges.count) {
        const special_range *range = &s->ranges.ranges[s->next_range++];

        if (range->id != GUFO_NO_TOKEN) {
            *hit = (special_hit){true, range->begin, range->end, range->id};
            return true;
        }
    }
    return false;
}

/* The end of the text, or the place from which on text that follows can bring a token. */
static size_t settled_end(const special_scan *s, const token_group *group)
{
    size_t end = group->open || group->any ? group->begin : s->text.len;

    if (s->final)
        return s->text.len;
    return s->finder->strips ? spaces_before(s->text, end, s->settled) : end;
}

gufo_status special_scan_next(special_scan *scan, special_hit *hit, gufo_error *error)
{
    special_scan *s = scan;
    token_group group = {0};
    gufo_status status;

    *hit = (special_hit){0};
    if (next_of_group(s, hit))
        return GUFO_OK;
    status = find_group(s, &group, error);
    if (status != GUFO_OK)
        return status;
    /* At the end of the text white space may belong to a token that follows. */
    group.open |= s->finder->strips && s->at == s->text.len;
    if (!group.any || (group.open && !s->final)) {
        s->settled = settled_end(s, &group);
        return GUFO_OK;
    }
    status = settle(s, &group, error);
    if (status == GUFO_OK)
        (void)next_of_group(s, hit);
    return status;
}
