/* Added tokens of a tokenizer.json: texts that become tokens wherever they are found, before anything
 * else happens to them. */
#ifndef TEXT_ADDED_SET_H
#define TEXT_ADDED_SET_H

#include "base/buffer.h"
#include "text/vocabulary/trie.h"

typedef struct added_token {
    gufo_str content;
    uint32_t id;
    bool special, normalized, single_word, lstrip, rstrip;
} added_token;

typedef struct added_place {
    const added_token *token;
} added_place;

/* The tokens that are found in one kind of text: as it came, or normalized. */
typedef struct added_set {
    gufo_allocator allocator;
    added_place *places; /* by the number of their texts in the trie */
    uint32_t count;
    uint64_t room;
    buffer bytes; /* what is looked for: their contents, or what a normalizer makes of these */
    uint32_t *starts;
    uint64_t start_room;
    trie *trie;                  /* NULL: there are none */
    struct code_map *characters; /* which are parts of words, which white space */
    bool begins[256];            /* with which bytes */
} added_set;

/* Adds a token that is found as `text`; empty texts are not.  The token outlives the set. */
gufo_status added_set_add(added_set *set, const added_token *token, gufo_str text,
                          gufo_error *error);
/* Makes the set ready, after the last token. */
gufo_status added_set_finish(added_set *set, gufo_error *error);
void added_set_free(added_set *set);

/* What token `number` is found as. */
static inline gufo_str added_set_text(const added_set *set, uint32_t number)
{
    return (gufo_str){(const char *)set->bytes.data + set->starts[number],
                      set->starts[number + 1] - set->starts[number]};
}

typedef struct added_match {
    const added_token *token;
    size_t begin, end; /* with the white space that it takes */
} added_match;

typedef struct added_scan {
    const added_set *set;
    gufo_str text;
    bool specials; /* whether special tokens are found; their texts are not searched either way */
    size_t at;     /* where the search goes on */
    size_t used;   /* the last token, with its white space, ends here */
} added_scan;

/* The next token in the text; false: none follows, and the text from `used` on is left. */
bool added_scan_next(added_scan *scan, added_match *match);

#endif
