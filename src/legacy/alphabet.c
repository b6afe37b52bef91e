/* Bytes as characters: see text/vocabulary/byte_alphabet.h. */
#include "legacy/alphabet.h"

#include <string.h>

#include "base/utf8.h"
#include "text/vocabulary/byte_alphabet.h"

bool alphabet_is_plain(gufo_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.data[i] <= ' ' || bytes.data[i] > '~')
            return false;
    return true;
}

bool alphabet_text(word_list *list, gufo_str bytes, gufo_str *text)
{
    char *room;
    size_t len = 0;

    *text = bytes;
    if (alphabet_is_plain(bytes))
        return true;
    room = bytes.len > SIZE_MAX / 2 ? NULL : word_list_room(list, 2 * bytes.len);
    if (room == NULL)
        return false;
    for (size_t i = 0; i < bytes.len; i++) {
        char character[4];
        size_t size = utf8_put(byte_alphabet_character((uint8_t)bytes.data[i]), character);

        memcpy(room + len, character, size);
        len += size;
    }
    *text = (gufo_str){room, len};
    return true;
}
