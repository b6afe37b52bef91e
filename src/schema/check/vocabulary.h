/* What the checks of a tokenizer share. */
#ifndef GUFO_SCHEMA_VOCABULARY_H
#define GUFO_SCHEMA_VOCABULARY_H

#include "base/hash.h"
#include "gufo/format.h"
#include "schema/check/check.h"

/* The tokens of a vocabulary, with a look-up by text: constant time, a keyed hash. */

/* A place of the table; vocabulary.c says what is in it. */
typedef struct token_slot {
    uint64_t start;
    uint32_t tag;
    uint32_t number; /* id + 1; 0: empty */
} token_slot;

typedef struct token_list {
    const gufo_allocator *allocator;
    gufo_str *texts; /* by id; views into the file */
    uint64_t count;
    uint64_t longest; /* bytes */
    token_slot *slots;
    uint64_t slot_count;
    hash_key key;
    uint64_t repeated;      /* tokens whose text an earlier one has */
    uint64_t again, before; /* ids of the first of them, and of that earlier one */
} token_list;

#define TOKEN_NONE UINT32_MAX

/* The ids of several texts, TOKEN_NONE for one that is not a token.  Many at once take much less
 * time than one after the other; at most TOKENS_AT_ONCE. */
enum { TOKENS_AT_ONCE = 16 };

/* tokenizer.ggml.* lists. */
typedef enum vocabulary_list {
    LIST_TOKENS,
    LIST_SCORES,
    LIST_TOKEN_TYPE,
    LIST_MERGES,
    LIST_ADDED_TOKENS,
    LIST_COUNT,
} vocabulary_list;

typedef struct vocabulary {
    const gufo_tokenizer_info *model; /* NULL if it is not known */
    bool there[LIST_COUNT];           /* the key is, whatever its value */
    bool usable[LIST_COUNT];          /* and the value is a list that can be looked at */
    gufo_entry lists[LIST_COUNT];
    uint64_t count; /* of tokens, if that list is usable */
} vocabulary;

/* vocabulary.c: the content of the lists, which must be those of `v`. */
void schema_check_tokens(check_context *c, const vocabulary *v);
/* original.c: tokenizer.huggingface.json, which has to have the same tokens. */
void schema_check_original(check_context *c, const vocabulary *v, const token_list *tokens);

#endif
