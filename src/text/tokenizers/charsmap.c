/* The precompiled map of a SentencePiece normalizer.
 *
 *     u32 n              bytes of the trie
 *     u32 words[n / 4]   a double array, as Darts-clone writes it; all numbers are little-endian
 *     char texts[]       replacements, each with a 00 behind it
 *
 * In a word: bits 0-7 the byte that leads to it, bit 8 whether a key ends here, bits 10-30 where
 * its children are, times 256 if bit 9 is set; they count from its own index, by XOR.  A word with
 * bit 31 is the value of a key: the place of its replacement.
 *
 * Replacements are checked on opening.  Indices of words are checked at each use. */
#include "text/tokenizers/charsmap.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

enum { HEAD = 4, HAS_VALUE = 0x100 };

/* Those of SentencePiece have about 40 bytes.  A trie may lead in a circle: keys need a limit. */
enum { LONGEST_KEY = 255, LONGEST_REPLACEMENT = 255 };
#define IS_VALUE 0x80000000u

static inline uint32_t offset_of(uint32_t word)
{
    return (word >> 10) << ((word & 0x200) >> 6);
}

/* ---- matching ------------------------------------------------------------------------------- */

/* Goes from the word whose children are at `*at` to its child for a byte. */
static inline bool step(const charsmap *map, uint32_t *at, uint8_t byte, uint32_t *word)
{
    uint32_t index = *at ^ byte;

    if (byte == 0 || index >= map->word_count)
        return false;
    *word = map->words[index];
    *at = index ^ offset_of(*word);
    return (*word & (IS_VALUE | 0xff)) == byte;
}

static inline uint32_t root_children(const charsmap *map)
{
    return map->word_count > 0 ? offset_of(map->words[0]) : 0;
}

/* The length of a key that `text` begins with, the longest or the shortest one. */
static size_t match(const charsmap *map, gufo_str text, bool longest, gufo_str *replacement)
{
    uint32_t at = root_children(map), word, found = 0;
    size_t len = 0, most = text.len < LONGEST_KEY ? text.len : LONGEST_KEY;

    for (size_t i = 0; i < most && step(map, &at, (uint8_t)text.data[i], &word); i++)
        if ((word & HAS_VALUE) != 0 && at < map->word_count) {
            found = map->words[at] & ~IS_VALUE;
            len = i + 1;
            if (!longest)
                break;
        }
    if (len > 0)
        *replacement = gufo_str_of(map->texts + found);
    return len;
}

size_t charsmap_match(const charsmap *map, gufo_str text, gufo_str *replacement)
{
    return match(map, text, true, replacement);
}

size_t charsmap_shortest(const charsmap *map, gufo_str text, gufo_str *replacement)
{
    return match(map, text, false, replacement);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Every word that has a value, whether a key leads to it or not. */
static gufo_status check_values(const charsmap *map, gufo_error *error)
{
    for (uint32_t i = 0; i < map->word_count; i++) {
        uint32_t word = map->words[i], value = i ^ offset_of(word);

        if ((word & IS_VALUE) != 0 || (word & HAS_VALUE) == 0)
            continue;
        if (value >= map->word_count)
            return refuse(
                error, GUFO_E_MALFORMED,
                "precompiled_charsmap: the value of word %u would be word %u, but the map "
                "has %u words",
                (unsigned)i, (unsigned)value, (unsigned)map->word_count);
        if ((map->words[value] & ~IS_VALUE) >= map->text_size)
            return refuse(
                error, GUFO_E_MALFORMED,
                "precompiled_charsmap: the replacement of word %u would begin at byte %u, "
                "but all have %u bytes",
                (unsigned)i, (unsigned)(map->words[value] & ~IS_VALUE), (unsigned)map->text_size);
        if (memchr(map->texts + (map->words[value] & ~IS_VALUE), '\0', LONGEST_REPLACEMENT + 1) ==
            NULL)
            return refuse(error, GUFO_E_LIMIT,
                          "precompiled_charsmap: the replacement of word %u has more than %d bytes",
                          (unsigned)i, LONGEST_REPLACEMENT);
    }
    return GUFO_OK;
}

/* Whether a key may have a space at its third place or later: the place of a word fits to children of
 * another one, which is neither the root nor a child of it.  (Words that are not in use have bytes
 * too.) */
static gufo_status find_space(charsmap *map, const gufo_allocator *allocator, gufo_error *error)
{
    bool *parents = mem_array(allocator, map->word_count, sizeof *parents);
    uint32_t first = root_children(map);

    if (parents == NULL)
        return fail_memory(error);
    for (uint32_t i = 1; i < map->word_count; i++) {
        uint32_t word = map->words[i], children = i ^ offset_of(word);
        bool begins_key = (i ^ first) == (word & 0xff);

        if ((word & IS_VALUE) == 0 && !begins_key && children < map->word_count)
            parents[children] = true;
    }
    for (uint32_t i = 0; i < map->word_count; i++)
        map->has_space |= (map->words[i] & (IS_VALUE | 0xff)) == ' ' &&
                          (i ^ ' ') < map->word_count && parents[i ^ ' '];
    mem_free(allocator, parents);
    return GUFO_OK;
}

static void add_pair(charsmap *map, unsigned first, unsigned next)
{
    unsigned pair = first << 8 | next;

    map->pairs[pair >> 6] |= UINT64_C(1) << (pair & 63);
    map->has_space |= first == ' ' || next == ' ';
}

static void find_pairs(charsmap *map)
{
    for (unsigned first = 1; first < 256; first++) {
        uint32_t at = root_children(map), word;

        if (!step(map, &at, (uint8_t)first, &word))
            continue;
        if ((word & HAS_VALUE) != 0)
            add_pair(map, first, 0);
        for (unsigned next = 1; next < 256; next++) {
            uint32_t child = at;

            if (step(map, &child, (uint8_t)next, &word))
                add_pair(map, first, next);
        }
    }
}

static gufo_status copy(charsmap *map, const uint8_t *data, uint64_t bytes,
                        const gufo_allocator *allocator, gufo_error *error)
{
    const bool swap = HOST_IS_BIG_ENDIAN;
    uint64_t size = bytes < HEAD ? 0 : load_u32(data, swap);

    if (bytes <= HEAD + size)
        return refuse(error, GUFO_E_MALFORMED,
                      "precompiled_charsmap: %llu bytes are too few for a trie of %llu and its "
                      "replacements",
                      (unsigned long long)bytes, (unsigned long long)size);
    if (bytes > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT, "precompiled_charsmap: %llu bytes are too many",
                      (unsigned long long)bytes);
    map->word_count = (uint32_t)(size / 4);
    map->text_size = (uint32_t)(bytes - HEAD - size);
    map->words = mem_array(allocator, map->word_count, sizeof *map->words);
    map->texts = mem_array(allocator, (uint64_t)map->text_size + 1, 1);
    if (map->words == NULL || map->texts == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < map->word_count; i++)
        map->words[i] = load_u32(data + HEAD + 4 * (size_t)i, swap);
    memcpy(map->texts, data + HEAD + size, map->text_size);
    if (map->texts[map->text_size - 1] != '\0')
        return refuse(error, GUFO_E_MALFORMED,
                      "precompiled_charsmap: the last replacement has no end");
    return GUFO_OK;
}

gufo_status charsmap_read_bytes(charsmap *map, const uint8_t *data, uint64_t size,
                                const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status = copy(map, data, size, allocator, error);

    if (status == GUFO_OK)
        status = check_values(map, error);
    if (status == GUFO_OK)
        status = find_space(map, allocator, error);
    if (status == GUFO_OK) {
        find_pairs(map);
        map->cuts_characters =
            gufo_utf8_valid_prefix((gufo_str){map->texts, map->text_size}) < map->text_size;
    }
    return status;
}

gufo_status charsmap_read(charsmap *map, const gufo_value *value, const gufo_allocator *allocator,
                          gufo_error *error)
{
    gufo_array bytes;
    gufo_status status;

    if (gufo_value_array(value, GUFO_VALUE_UINT8, &bytes, error) != GUFO_OK &&
        (status = gufo_value_array(value, GUFO_VALUE_INT8, &bytes, error)) != GUFO_OK)
        return status;
    if (bytes.count == 0)
        return GUFO_OK;
    return charsmap_read_bytes(map, bytes.data, bytes.size, allocator, error);
}

void charsmap_free(charsmap *map, const gufo_allocator *allocator)
{
    mem_free(allocator, map->words);
    mem_free(allocator, map->texts);
    *map = (charsmap){0};
}
