/* Hashes.
 *
 * Look-up tables hold names from untrusted files.  With a known hash an attacker could choose names
 * that all fall into one slot, and a linear algorithm would become quadratic; a keyed hash
 * (SipHash-1-3, Aumasson and Bernstein 2012) prevents that.  The key never influences a result. */
#ifndef GUFO_BASE_HASH_H
#define GUFO_BASE_HASH_H

#include "gufo/base.h"

typedef struct hash_key {
    uint64_t k0, k1;
} hash_key;

/* A key that an attacker cannot guess; if the system gives no random bytes, one that is hard to
 * guess.
 */
hash_key hash_key_new(void);

uint64_t hash_text(hash_key key, gufo_str text);

/* A link of a chain: bytes are hashed with what the links before them gave, *hash, as key. */
void hash_chain(uint64_t *hash, const void *data, size_t size);

/* A check of bytes in a file of our own; `number` is that of the record that they are.  It finds what a crash leaves,
 * not forgeries: the key is not a secret. */
uint64_t hash_check(const void *bytes, uint64_t size, uint64_t number);

/* XXH64 with seed 0, a hash that everyone computes alike: for names that files keep.  No help against those who look for two texts with one hash. */
uint64_t xxh64_of(gufo_str text);

#endif
