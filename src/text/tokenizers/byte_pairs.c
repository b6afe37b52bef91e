/* The pairs of bytes that tokens are made of. */
#include "text/tokenizers/byte_pairs.h"

#include <string.h>

static void add(byte_pairs *pairs, char left, char right)
{
    unsigned pair = (unsigned)(uint8_t)left << 8 | (uint8_t)right;

    pairs->bits[pair >> 6] |= UINT64_C(1) << (pair & 63);
}

/* After a space comes what follows byte 81 in a token: of the three bytes of U+2581, the last may
 * begin a token if the text around it is not UTF-8. */
void byte_pairs_add(byte_pairs *pairs, gufo_str token)
{
    for (size_t i = 1; i < token.len; i++) {
        const char *at = token.data + i;
        bool after_space = at[-1] == '\x81';

        add(pairs, at[-1], *at);
        if (after_space)
            add(pairs, ' ', *at);
        if (*at == '\xe2' && token.len - i >= 3 && at[1] == '\x96' && at[2] == '\x81') {
            add(pairs, at[-1], ' ');
            if (after_space)
                add(pairs, ' ', ' ');
        }
    }
}

size_t last_piece(const byte_pairs *pairs, gufo_str text)
{
    for (size_t at = text.len; at-- > 1;)
        if (!byte_pairs_has(pairs, text.data[at - 1], text.data[at]) &&
            starts_character(text.data, at))
            return at;
    return 0;
}
