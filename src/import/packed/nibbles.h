/* Numbers of four bits, eight of them at once.
 *
 *     word      h g f e d c b a     four bits each, a the lowest
 *     spread    0h 0g 0f 0e 0d 0c 0b 0a     a byte each, a the lowest
 */
#ifndef IMPORT_PACKED_NIBBLES_H
#define IMPORT_PACKED_NIBBLES_H

#include <stdint.h>

static inline uint64_t nibbles_spread(uint32_t word)
{
    uint64_t x = word;

    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    return (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

#endif
