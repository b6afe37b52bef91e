/* CRC-32 as archives of PKZIP have it: the polynomial 0xEDB88320, bits from the lowest on. */
#ifndef IMPORT_EXPORT_CRC32_H
#define IMPORT_EXPORT_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Row i says what a byte does that i more bytes follow. */
typedef struct crc32_tables {
    uint32_t rows[8][256];
} crc32_tables;

void crc32_init(crc32_tables *t);
/* The sum of what had the sum `crc` (0: nothing), and these bytes. */
uint32_t crc32_add(const crc32_tables *t, uint32_t crc, const uint8_t *data, size_t size);

#endif
