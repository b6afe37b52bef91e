/* The byte alphabet of GPT-2: each byte is a character that can be seen. */
#ifndef TEXT_BYTE_ALPHABET_H
#define TEXT_BYTE_ALPHABET_H

#include "gufo/base.h"

/* All its characters are before this one. */
enum { BYTE_ALPHABET_END = 0x144 };

/* The character of each byte, as UTF-8. */
typedef struct byte_texts {
    char text[256][2];
    uint8_t len[256]; /* 1 or 2 */
} byte_texts;

/* The character of a byte. */
uint32_t byte_alphabet_character(uint8_t byte);
void byte_alphabet_fill(byte_texts *out);
/* The byte that a character is; -1 for one that is not of the alphabet. */
int byte_alphabet_byte(uint32_t code_point);
/* Each byte is itself. */
void byte_alphabet_none(byte_texts *out);

#endif
