/* What a tree of Jansson's values takes, before it is made: of two bytes of JSON it may make a hundred. */
#ifndef TEXT_JSON_TREE_H
#define TEXT_JSON_TREE_H

#include "gufo/base.h"

/* A tree takes at most 32 bytes for each byte of its text, or 16 MiB.  Real files of tokenizers take 5
 * to 8, lists of pairs of the shortest texts 30, lists of empty objects 80. */
enum { JSON_TREE_FACTOR = 32, JSON_TREE_ALWAYS = 16 << 20 };

static inline uint64_t json_tree_allowed(size_t text_len)
{
    uint64_t most = JSON_TREE_FACTOR * (uint64_t)text_len;

    return most > JSON_TREE_ALWAYS ? most : JSON_TREE_ALWAYS;
}

/* Bytes that trees may take where nobody says. */
#define JSON_TREE_MEMORY (UINT64_C(512) << 20)

/* At most so many bytes of memory are taken by the tree of a text, whether it is JSON or not, on any
 * machine.  Takes any bytes, in linear time.  Any thread. */
uint64_t json_tree_bytes(gufo_str text);

/* GUFO_E_LIMIT, at the start of the text, if its tree would take more than `memory`, or more than is
 * allowed for so short a text.  *bytes is what it takes; may be NULL. */
gufo_status json_tree_check(gufo_str text, uint64_t memory, uint64_t *bytes, gufo_error *error);

#endif
