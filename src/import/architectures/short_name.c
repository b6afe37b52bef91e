/* Names that fit into a GGUF file.  XXH64 (Collet, 2014) tells long ones with one start apart:
 *
 *     four lanes of 64 bits take 32 bytes at a time, are mixed into one, and the rest is added */
#include "import/architectures/short_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"

enum { KEPT_BYTES = 46, LANES = 4 };

static const uint64_t primes[] = {0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                  0x85ebca77c2b2ae63, 0x27d4eb2f165667c5};

static uint64_t rotate(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}

static uint64_t add_lane(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * primes[1], 31) * primes[0];
}

/* Takes whole blocks from the text. */
static uint64_t mix_blocks(gufo_str *text)
{
    uint64_t lanes[LANES] = {primes[0] + primes[1], primes[1], 0, 0 - primes[0]}, hash;

    for (; text->len >= 8 * LANES; *text = str_from(*text, 8 * LANES))
        for (size_t i = 0; i < LANES; i++)
            lanes[i] = add_lane(lanes[i], load_u64(text->data + 8 * i, bytes_swapped(false)));
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (size_t i = 0; i < LANES; i++)
        hash = (hash ^ add_lane(0, lanes[i])) * primes[0] + primes[3];
    return hash;
}

static uint64_t xxh64(gufo_str text)
{
    uint64_t len = text.len, hash = text.len >= 8 * LANES ? mix_blocks(&text) : primes[4];

    hash += len;
    for (; text.len >= 8; text = str_from(text, 8))
        hash =
            rotate(hash ^ add_lane(0, load_u64(text.data, bytes_swapped(false))), 27) * primes[0] +
            primes[3];
    if (text.len >= 4) {
        hash ^= load_u32(text.data, bytes_swapped(false)) * primes[0];
        hash = rotate(hash, 23) * primes[1] + primes[2];
        text = str_from(text, 4);
    }
    for (; text.len > 0; text = str_from(text, 1))
        hash = rotate(hash ^ (uint8_t)*text.data * primes[4], 11) * primes[0];
    hash = (hash ^ hash >> 33) * primes[1];
    hash = (hash ^ hash >> 29) * primes[2];
    return hash ^ hash >> 32;
}

/* A character is not cut: a name is text. */
static size_t kept_bytes(gufo_str name)
{
    size_t kept = KEPT_BYTES;

    while (kept > 0 && ((uint8_t)name.data[kept] & 0xc0u) == 0x80)
        kept--;
    return kept;
}

void short_name(gufo_str name, char out[GUFO_MAX_NAME + 1])
{
    if (name.len <= GUFO_MAX_NAME) {
        memcpy(out, name.data, name.len);
        out[name.len] = '\0';
        return;
    }
    (void)snprintf(out, GUFO_MAX_NAME + 1, "%.*s~%016" PRIx64, (int)kept_bytes(name), name.data,
                   xxh64(name));
}
