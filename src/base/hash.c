/* SipHash-1-3: one round per 8 bytes, three to finish. */
#include "base/hash.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

int getentropy(void *buffer, size_t length); /* POSIX.1-2024; not declared for POSIX.1-2008 */

hash_key hash_key_new(void)
{
    hash_key key;
    struct timespec now = {0};

    if (getentropy(&key, sizeof key) == 0)
        return key;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    key.k0 = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u;
    key.k1 = (uint64_t)(uintptr_t)&key ^ (uint64_t)getpid() << 32;
    return key;
}

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
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

void hash_chain(uint64_t *hash, const void *data, size_t size)
{
    *hash = hash_text((hash_key){*hash, size}, (gufo_str){data, size});
}
