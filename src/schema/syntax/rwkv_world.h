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

#endif
