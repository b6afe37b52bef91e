/* Finding added tokens: the leftmost first, of those the longest.
 *
 * A match that is refused, because it has to be a word of its own, uses up its text all the same: the
 * search goes on behind it.  White space that a token takes behind it does not stop the search: a token
 * that begins with it is found once more, unless that leaves nothing of it. */
#include "text/pipeline/added_set.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/characters/unicode.h"

enum { MOST_BYTES = 1 << 28 };

gufo_status added_set_add(added_set *set, const added_token *token, gufo_str text,
                          gufo_error *error)
{
    added_place *places =
        mem_grow(&set->allocator, set->places, set->count, &set->room, sizeof *places);
    uint32_t *starts = mem_grow(&set->allocator, set->starts, (uint64_t)set->count + 1,
                                &set->start_room, sizeof *starts);

    set->places = places != NULL ? places : set->places;
    set->starts = starts != NULL ? starts : set->starts;
    if (text.len > MOST_BYTES - set->bytes.len)
        return refuse(error, GUFO_E_LIMIT, "the added tokens have more than %s bytes",
                      GROUPED(MOST_BYTES));
    if (places == NULL || starts == NULL || !buffer_append(&set->bytes, text.data, text.len))
        return fail_memory(error);
    starts[0] = 0;
    if (text.len == 0)
        return GUFO_OK;
    places[set->count++].token = token;
    starts[set->count] = (uint32_t)set->bytes.len;
    set->begins[(uint8_t)text.data[0]] = true;
    return GUFO_OK;
}

gufo_status added_set_finish(added_set *set, gufo_error *error)
{
    static const char *const characters[] = {"step word", "White_Space"};
    const trie_texts texts = {(const char *)set->bytes.data, set->starts};

    if (set->count == 0)
        return GUFO_OK;
    set->characters = code_map_of_properties(characters, 2, &set->allocator);
    if (set->characters == NULL)
        return fail_memory(error);
    set->trie = trie_new(&set->allocator, &texts, NULL, set->count, error);
    return set->trie != NULL ? GUFO_OK : trie_status(error);
}

void added_set_free(added_set *set)
{
    trie_free(set->trie);
    if (set->characters != NULL)
        code_map_free(set->characters, &set->allocator);
    mem_free(&set->allocator, set->characters);
    mem_free(&set->allocator, set->places);
    mem_free(&set->allocator, set->starts);
    buffer_free(&set->bytes);
}

/* ---- characters ----------------------------------------------------------------------------- */

enum { WORD = 1, SPACE = 2 }; /* bits of set->characters */

static bool is(const added_set *set, const char *character, uint8_t bit)
{
    size_t size;

    return (code_map_get(set->characters, utf8_next(character, &size)) & bit) != 0;
}

static bool is_word_part(const added_set *set, gufo_str text, size_t begin, size_t end)
{
    return (begin > 0 && is(set, text.data + utf8_before(text.data, begin), WORD)) ||
           (end < text.len && is(set, text.data + end, WORD));
}

static size_t skip_spaces_back(const added_set *set, gufo_str text, size_t at)
{
    while (at > 0 && is(set, text.data + utf8_before(text.data, at), SPACE))
        at = utf8_before(text.data, at);
    return at;
}

static size_t skip_spaces(const added_set *set, gufo_str text, size_t at)
{
    size_t size;

    for (; at < text.len && is(set, text.data + at, SPACE); at += size)
        (void)utf8_next(text.data + at, &size);
    return at;
}

/* ---- search --------------------------------------------------------------------------------- */

/* The next text of the set, wherever it stands: its number in the trie; TRIE_NO_ID. */
static uint32_t search(const added_set *set, gufo_str text, size_t *at, size_t *len)
{
    for (size_t i = *at; i < text.len; i++) {
        uint32_t number = TRIE_NO_ID;

        if (!set->begins[(uint8_t)text.data[i]])
            continue;
        *len = trie_longest(set->trie, (gufo_str){text.data + i, text.len - i}, &number);
        if (*len > 0) {
            *at = i;
            return number;
        }
    }
    *at = text.len;
    return TRIE_NO_ID;
}

static bool is_refused(const added_scan *scan, const added_token *token, size_t begin, size_t end)
{
    return (token->special && !scan->specials) ||
           (token->single_word && is_word_part(scan->set, scan->text, begin, end));
}

bool added_scan_next(added_scan *scan, added_match *match)
{
    while (scan->set->trie != NULL) {
        size_t begin = scan->at, len = 0, end;
        uint32_t number = search(scan->set, scan->text, &begin, &len);
        const added_token *token;

        if (number == TRIE_NO_ID)
            break;
        end = scan->at = begin + len;
        token = scan->set->places[number].token;
        if (is_refused(scan, token, begin, end))
            continue;
        if (token->lstrip) {
            begin = skip_spaces_back(scan->set, scan->text, begin);
            begin = begin < scan->used ? scan->used : begin;
        }
        if (token->rstrip)
            end = skip_spaces(scan->set, scan->text, end);
        if (begin >= end)
            continue;
        scan->used = end;
        *match = (added_match){token, begin, end};
        return true;
    }
    return false;
}
