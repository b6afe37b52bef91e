/* The pairs of bytes that tokens are made of. */
#include "text/tokenizers/byte_pairs.h"

#include <string.h>

/* After a space comes what follows byte 81 in a token: of the three bytes of U+2581, the last may
 * begin a token if the text around it is not UTF-8. */
void byte_pairs_add(byte_pairs *pairs, gufo_str token)
{
    for (size_t i = 1; i < token.len; i++) {
        const char *at = token.data + i;
        bool after_space = at[-1] == '\x81';

        byte_pairs_join(pairs, at[-1], *at);
        if (after_space)
            byte_pairs_join(pairs, ' ', *at);
        if (*at == '\xe2' && token.len - i >= 3 && at[1] == '\x96' && at[2] == '\x81') {
            byte_pairs_join(pairs, at[-1], ' ');
            if (after_space)
                byte_pairs_join(pairs, ' ', ' ');
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
