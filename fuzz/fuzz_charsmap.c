/* Fuzz target: read a precompiled map of characters, and look for its keys in a text.
 *
 *     byte 0   the length of the text
 *     ...      the text
 *     ...      the map */
#include "base/memory.h"
#include "text/tokenizers/charsmap.h"
#include "walk.h"

/* Every match is inside the text, every replacement inside the map, and the table of first bytes
 * knows each key. */
static void look(const charsmap *map, gufo_str text)
{
    for (size_t at = 0; at < text.len; at++) {
        gufo_str rest = {text.data + at, text.len - at}, replacement = {0};
        size_t len = charsmap_match(map, rest, &replacement);

        must(len <= rest.len, "a key ends in the text");
        if (len == 0)
            continue;
        must(replacement.data >= map->texts &&
                 replacement.len < (size_t)(map->texts + map->text_size - replacement.data),
             "a replacement ends in the map");
        must(charsmap_may_match(map, rest.data[0], rest.len > 1 ? rest.data[1] : '\0'),
             "the first bytes of a key are known");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len = size > 0 ? data[0] : 0;
    gufo_value value = {.type = GUFO_VALUE_ARRAY};
    charsmap map = {0};
    gufo_error error;

    if (size < 1 + len)
        return 0;
    value.as.array = (gufo_array){.type = GUFO_VALUE_UINT8,
                                  .count = size - 1 - len,
                                  .data = data + 1 + len,
                                  .size = size - 1 - len,
                                  .encoding = {3, GUFO_LITTLE_ENDIAN}};
    if (charsmap_read(&map, &value, &default_allocator, &error) != GUFO_OK)
        must(error.message[0] != '\0', "a failure says why");
    else
        look(&map, (gufo_str){(const char *)data + 1, len});
    charsmap_free(&map, &default_allocator);
    return 0;
}
