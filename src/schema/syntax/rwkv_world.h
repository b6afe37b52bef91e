/* Vocabularies of RWKV World, as a text: a line for each token. */
#ifndef GUFO_SCHEMA_RWKV_WORLD_H
#define GUFO_SCHEMA_RWKV_WORLD_H

#include "gufo/base.h"

typedef struct world_fault {
    const char *reason; /* constant; NULL: every line can be read */
    uint64_t line;      /* from 1 */
    size_t at;          /* where the line begins in the text */
} world_fault;

/* Takes any bytes, in linear time.  Any thread. */
world_fault rwkv_world_check(gufo_str text);

typedef struct world_token {
    uint64_t id; /* UINT64_MAX: that, or more */
    size_t size; /* bytes */
} world_token;

/* Reads the line at *at, which moves behind it, and writes the token's bytes to `out`, which has
 * room for as many bytes as the line has; NULL: they are counted.  NULL, or what is wrong. */
const char *rwkv_world_read(gufo_str text, size_t *at, world_token *token, char *out);

#endif
