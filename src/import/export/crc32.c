/* CRC-32, eight bytes at a time. */
#include "import/export/crc32.h"

void crc32_init(crc32_tables *t)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
        t->rows[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (uint32_t row = 1; row < 8; row++)
            t->rows[row][i] = t->rows[row - 1][i] >> 8 ^ t->rows[0][t->rows[row - 1][i] & 255];
}

static uint32_t add_eight(const crc32_tables *t, uint32_t crc, const uint8_t *data)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t byte = data[i] ^ (i < 4 ? crc >> 8 * i & 255 : 0);

        sum ^= t->rows[7 - i][byte];
    }
    return sum;
}

uint32_t crc32_add(const crc32_tables *t, uint32_t crc, const uint8_t *data, size_t size)
{
    crc = ~crc;
    for (; size >= 8; size -= 8, data += 8)
        crc = add_eight(t, crc, data);
    for (; size > 0; size--, data++)
        crc = crc >> 8 ^ t->rows[0][(crc ^ *data) & 255];
    return ~crc;
}
