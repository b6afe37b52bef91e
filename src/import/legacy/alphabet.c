/* Bytes as characters.
 *
 * Byte-level tokenizers merge bytes, but their files hold text.  So each byte has a character that
 * can be printed: its own (of Latin-1) where that is visible, else the next free one from U+0100
 * on:
 *
 *     byte         21 .. 7e   a1 .. ac   ae .. ff    00 .. 20     7f .. a0     ad
 *     character    U+0021 ..  U+00A1 ..  U+00AE ..   U+0100 ..    U+0121 ..    U+0143
 *
 * A blank is U+0120, a line feed U+010A.  All are below U+0800: one or two bytes of UTF-8. */
#include "import/legacy/alphabet.h"

#include <string.h>

#include "base/utf8.h"

static uint32_t character_of(uint8_t byte)
{
    if ((byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad))
        return byte;
    if (byte <= 0x20)
        return 0x100u + byte;
    return byte == 0xad ? 0x143 : 0x121u + (byte - 0x7fu);
}

bool alphabet_is_plain(gufo_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (character_of((uint8_t)bytes.data[i]) != (uint8_t)bytes.data[i] ||
            (uint8_t)bytes.data[i] > 0x7f)
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
        size_t size = utf8_encode(character_of((uint8_t)bytes.data[i]), character);

        memcpy(room + len, character, size);
        len += size;
    }
    *text = (gufo_str){room, len};
    return true;
}
