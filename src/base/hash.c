/* XXH64, and SipHash-1-3 with a key. */
#include "base/hash.h"

#include <string.h>
#include <time.h>

#include "base/bytes.h"

/* ---- XXH64 ---------------------------------------------------------------------------------- */

/* XXH64 (Yann Collet, specification of 2018), one text at a time.
 *
 *     text   32 bytes | 32 bytes | ... | 8 | 8 | 4 | 1 1 1
 *            |  |  |  |                  what is left is mixed in
 *            four lanes of 8 bytes, which are joined before the rest */

#define PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME_3 UINT64_C(0x165667b19e3779f9)
#define PRIME_4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME_5 UINT64_C(0x27d4eb2f165667c5)

static inline uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static uint64_t add_to_lane(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

static uint64_t join_lane(uint64_t hash, uint64_t lane)
{
    return (hash ^ add_to_lane(0, lane)) * PRIME_1 + PRIME_4;
}

/* Whole stripes of 32 bytes; *at moves behind them. */
static uint64_t hash_stripes(gufo_str text, size_t *at)
{
    static const unsigned rotations[] = {1, 7, 12, 18};
    uint64_t lanes[] = {PRIME_1 + PRIME_2, PRIME_2, 0, UINT64_C(0) - PRIME_1}, hash = 0;

    for (; text.len - *at >= 32; *at += 32)
        for (size_t i = 0; i < 4; i++)
            lanes[i] = add_to_lane(lanes[i], load_u64(text.data + *at + 8 * i, HOST_IS_BIG_ENDIAN));
    for (size_t i = 0; i < 4; i++)
        hash += rotate(lanes[i], rotations[i]);
    for (size_t i = 0; i < 4; i++)
        hash = join_lane(hash, lanes[i]);
    return hash;
}

static uint64_t hash_rest(gufo_str text, size_t at, uint64_t hash)
{
    for (; text.len - at >= 8; at += 8) {
        hash ^= add_to_lane(0, load_u64(text.data + at, HOST_IS_BIG_ENDIAN));
        hash = rotate(hash, 27) * PRIME_1 + PRIME_4;
    }
    if (text.len - at >= 4) {
        hash ^= load_u32(text.data + at, HOST_IS_BIG_ENDIAN) * PRIME_1;
        hash = rotate(hash, 23) * PRIME_2 + PRIME_3;
        at += 4;
    }
    for (; at < text.len; at++)
        hash = rotate(hash ^ (unsigned char)text.data[at] * PRIME_5, 11) * PRIME_1;
    return hash;
}

uint64_t xxh64_of(gufo_str text)
{
    size_t at = 0;
    uint64_t hash = text.len >= 32 ? hash_stripes(text, &at) : PRIME_5;

    hash = hash_rest(text, at, hash + text.len);
    hash = (hash ^ hash >> 33) * PRIME_2;
    hash = (hash ^ hash >> 29) * PRIME_3;
    return hash ^ hash >> 32;
}

/* ---- SipHash-1-3: one round per 8 bytes, three to finish ------------------------------------- */

int getentropy(void *buffer, size_t length); /* POSIX.1-2024; not declared for POSIX.1-2008 */

hash_key hash_key_new(void)
{
    hash_key key;
    struct timespec now = {0}, up = {0};

    if (getentropy(&key, sizeof key) == 0)
        return key;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)clock_gettime(CLOCK_MONOTONIC, &up);
    key.k0 = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u;
    key.k1 = (uint64_t)(uintptr_t)&key ^ (uint64_t)up.tv_nsec << 32;
    return key;
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static inline void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint64_t hash_text(hash_key key, gufo_str text)
{
    uint64_t v[4] = {key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du,
                     key.k0 ^ 0x6c7967656e657261u, key.k1 ^ 0x7465646279746573u};
    const uint64_t length = (uint64_t)text.len << 56;
    const char *at = text.data;
    size_t left = text.len;

    for (; left >= 8; at += 8, left -= 8)
        absorb(v, load_u64(at, HOST_IS_BIG_ENDIAN));
    absorb(v, length | load_start(at, left));
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_check(const void *bytes, uint64_t size, uint64_t number)
{
    return hash_text((hash_key){number, 0}, (gufo_str){bytes, (size_t)size});
}

void hash_chain(uint64_t *hash, const void *data, size_t size)
{
    *hash = hash_text((hash_key){*hash, size}, (gufo_str){data, size});
}
