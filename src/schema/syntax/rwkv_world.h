/* Vocabularies of RWKV World, as a text: a line for each token. */
#ifndef GUFO_SCHEMA_RWKV_WORLD_H
#define GUFO_SCHEMA_RWKV_WORLD_H

#include "gufo/base.h"

enum { WORLD_FAULT_SIZE = 80 };

typedef struct world_survey {
    uint64_t lines;   /* that were read */
    uint64_t largest; /* of their ids */
    char fault
        [WORLD_FAULT_SIZE]; /* what is wrong with the last of them, "has no ..."; "": nothing */
    size_t at;              /* where that one begins in the text */
    gufo_status status;     /* of a reader that refuses it: GUFO_E_MALFORMED, GUFO_E_LIMIT */
} world_survey;

/* Reads the lines of a vocabulary up to the first fault: one that cannot be read, has the id of an
 * earlier line, or an id far above the number of lines.  Takes any bytes, in linear time, and a byte
 * of memory for eight lines.  GUFO_E_MEMORY.  Any thread. */
gufo_status rwkv_world_survey(gufo_str text, const gufo_allocator *allocator, world_survey *survey,
                              gufo_error *error);

typedef struct world_token {
    uint64_t id; /* UINT64_MAX: that, or more */
    size_t size; /* bytes, at least 1 */
} world_token;

/* Reads the line at *at, which moves behind it, and writes the token's bytes to `out`, which has
 * room for as many bytes as the line has; NULL: they are counted.  NULL, or what is wrong. */
const char *rwkv_world_read(gufo_str text, size_t *at, world_token *token, char *out);

#endif
