/* What a tokenizer.json says, before anybody draws conclusions from it.
 *
 * The long parts, vocabulary, merges and added tokens, are read from front to back into tables, whose
 * texts are views: any bytes, U+0000 too.  The short parts (normalizer, pre-tokenizer, post-processor,
 * decoder, the flags of the model) are JSON values. */
#ifndef TEXT_TOKENIZER_FILE_H
#define TEXT_TOKENIZER_FILE_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/pull.h"
#include "gufo/vocab.h"
#include "text/formats/json_tree.h"
#include "text/vocabulary/text_table.h"

/* An entry of the model's vocabulary, in the order of the file.  Texts of an object differ: of equal ones
 * the last id counts. */
typedef struct file_entry {
    gufo_str text;
    uint32_t id; /* of a list (Unigram): its position */
} file_entry;

typedef struct file_merge {
    gufo_str left, right;
} file_merge;

/* An element of "added_tokens", which has at least an id and a content (maybe an empty one). */
typedef struct file_added {
    gufo_str content;
    uint32_t id; /* as the element says */
    bool special, normalized, single_word, lstrip, rstrip;
    bool complete; /* it has all seven members */
} file_added;

typedef struct tokenizer_file {
    gufo_allocator allocator;
    char *decoded; /* texts that have escapes in the file */
    buffer source; /* the file, if it was given to keep */
    json_t
        *root; /* an object: all members but "added_tokens", and "vocab" and "merges" of "model" */
    json_places places; /* of its objects */
    json_t *config;     /* a tokenizer_config.json beside it; NULL */

    bool has_vocab, vocab_is_list; /* a list of [text, score], or an object of ids */
    file_entry *vocab;
    double *scores; /* of a list, read as real_read_twice_rounded does; NULL */
    uint32_t vocab_count;
    bool has_merges;
    file_merge *merges;
    uint32_t merge_count;
    file_added *added;
    uint32_t added_count;

    /* What that says. */
    gufo_str roles[GUFO_SPECIAL_COUNT]; /* empty: no token has the role */
    bool frame_is_said; /* it says what is put around texts, whatever the post-processor says: */
    bool adds_bos, adds_eos;

    text_table texts, added_texts; /* of `vocab` and `added`, by row */
} tokenizer_file;

/* Reads a file.  The tables are views of `text`, which must outlive them.  Freed with tokenizer_file_free.  NULL on
 * failure: GUFO_E_MALFORMED, GUFO_E_TRUNCATED and GUFO_E_RANGE with the place, GUFO_E_LIMIT, GUFO_E_MEMORY. */
tokenizer_file *tokenizer_file_read(gufo_str text, const gufo_allocator *allocator,
                                    gufo_error *error);
void tokenizer_file_free(tokenizer_file *f); /* NULL is allowed */

/* Hands the buffer of the text over: tokenizer_file_free frees it.  Its allocator must be the file's. */
void tokenizer_file_keep(tokenizer_file *f, buffer *text);

/* The last entry of the vocabulary with this text; NULL. */
const file_entry *tokenizer_file_find(const tokenizer_file *f, gufo_str text);
/* The last added token with this content; NULL. */
const file_added *tokenizer_file_find_added(const tokenizer_file *f, gufo_str text);

/* A member of root ("normalizer", ...) or of the model; NULL if it is missing or null. */
const json_t *tokenizer_file_part(const tokenizer_file *f, const char *name);
const json_t *tokenizer_file_flag(const tokenizer_file *f, const char *member_of_model);

/* ---- filling, whatever file it comes from --------------------------------------------------- */

typedef struct file_reading {
    tokenizer_file *f;
    pull p; /* of the file's text */
    uint64_t vocab_room, score_room, merge_room, added_room;
    uint64_t tree_memory;
} file_reading;

/* Makes a file of a text, with empty tables; false: a failure. */
bool file_begin(file_reading *r, gufo_str text, const gufo_allocator *allocator, gufo_error *error);
/* The file, if reading was `good`, with texts that can be looked up; else NULL, and all is freed. */
tokenizer_file *file_finish(file_reading *r, bool good);

/* Makes room for one more at the end of a table. */
bool file_grow(file_reading *r, void **table, uint32_t count, uint64_t *room, size_t size);
/* Takes an object of ids, or a list of scores. */
bool file_take_vocab(file_reading *r);

/* The two parts of "left right"; false: it is not two. */
bool file_split(gufo_str line, file_merge *merge);

/* ---- the lists that a tokenizer.json replaced, as parts of one ------------------------------ */

/* Each makes a file, as tokenizer_file_read does, with one table and without parts. */

/* An object of texts and ids. */
tokenizer_file *vocab_json_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error);
/* The token of an id is the line of that number; empty lines are none. */
tokenizer_file *vocab_txt_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error);
/* Lines of two words; the first one may be a comment. */
tokenizer_file *merges_txt_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error);

/* ---- tokenizer_config.json: what transformers reads beside tokenizer.json ----------------------- */

/* Adds to a file what its tokenizer_config.json says: added tokens, which tokens have a role, and which
 * of them are put around texts.  GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status tokenizer_config_apply(tokenizer_file *f, gufo_str config, gufo_error *error);

#endif
