/* The byte alphabet of GPT-2.  Bytes that show in Latin-1 are the characters of the same number; the
 * others are U+0100, U+0101 ... in order. */
#include "text/vocabulary/byte_alphabet.h"

#include "text/vocabulary/characters.h"

void byte_alphabet_fill(byte_texts *out)
{
    uint32_t next = 0x100;

    for (uint32_t byte = 0; byte < 256; byte++) {
        bool shows = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
        char text[4];

        out->len[byte] = (uint8_t)lenient_encode(shows ? byte : next++, text);
        out->text[byte][0] = text[0];
        out->text[byte][1] = text[1];
    }
}

void byte_alphabet_none(byte_texts *out)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        out->len[byte] = 1;
        out->text[byte][0] = (char)byte;
        out->text[byte][1] = 0;
    }
}

int byte_alphabet_byte(uint32_t code_point)
{
    static const struct {
        uint32_t first, last, byte;
    } ranges[] = {{0x21, 0x7e, 0x21},   {0xa1, 0xac, 0xa1},   {0xae, 0xff, 0xae},
                  {0x100, 0x120, 0x00}, {0x121, 0x142, 0x7f}, {0x143, 0x143, 0xad}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code_point >= ranges[i].first && code_point <= ranges[i].last)
            return (int)(code_point - ranges[i].first + ranges[i].byte);
    return -1;
}
