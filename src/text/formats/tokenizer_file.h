/* What a tokenizer.json says, before anybody draws conclusions from it.
 *
 * The long parts, vocabulary, merges and added tokens, are read from front to back into tables, whose
 * texts are views of the file's own bytes: any bytes, U+0000 too.  The short parts (normalizer,
 * pre-tokenizer, post-processor, decoder, the flags of the model) are JSON values. */
#ifndef TEXT_FORMATS_TOKENIZER_FILE_H
#define TEXT_FORMATS_TOKENIZER_FILE_H

#include <jansson.h>

#include "base/hash.h"
#include "gufo/vocab.h"
#include "text/formats/json_pull.h"

/* A view of tokenizer_file.text. */
typedef struct file_text {
    uint32_t at, len;
} file_text;

/* An entry of the model's vocabulary, in the order of the file.  Texts of an object differ: of equal ones
 * the last id counts. */
typedef struct file_entry {
    file_text text;
    uint32_t id; /* of a list (Unigram): its position */
} file_entry;

typedef struct file_merge {
    file_text left, right;
} file_merge;

/* An element of "added_tokens", which has at least an id and a content (maybe an empty one). */
typedef struct file_added {
    file_text content;
    uint32_t id; /* as the element says */
    bool special, normalized, single_word, lstrip, rstrip;
    bool complete; /* it has all seven members */
} file_added;

/* Rows of a table by the texts that they begin with. */
typedef struct file_index {
    const void *table;
    size_t size;     /* of a row */
    uint32_t *slots; /* 1 + a row; 0: empty */
    uint32_t mask;
} file_index;

typedef struct tokenizer_file {
    gufo_allocator allocator;
    char *text; /* the file; escapes of strings are decoded where they are */
    size_t len;
    json_t
        *root; /* an object: all members but "added_tokens", and "vocab" and "merges" of "model" */
    json_places places; /* of its objects */

    bool has_vocab, vocab_is_list; /* a list of [text, score], or an object of ids */
    file_entry *vocab;
    double *scores; /* of a list, read as real_read_twice_rounded does; NULL */
    uint32_t vocab_count;
    bool has_merges;
    file_merge *merges;
    uint32_t merge_count;
    file_added *added;
    uint32_t added_count;

    /* What a tokenizer_config.json beside it says (tokenizer_config.h). */
    file_text roles[GUFO_SPECIAL_COUNT]; /* empty: no token has the role */
    bool frame_is_said; /* it says what is put around texts, whatever the post-processor says: */
    bool adds_bos, adds_eos;

    file_index by_text, added_by_text; /* of the last row with each text */
    hash_key slot_key;
} tokenizer_file;

/* Reads a file, whose text is copied; freed with tokenizer_file_free.  NULL on failure:
 * GUFO_E_MALFORMED, GUFO_E_TRUNCATED and GUFO_E_RANGE with the place, GUFO_E_LIMIT, GUFO_E_MEMORY. */
tokenizer_file *tokenizer_file_read(gufo_str text, const gufo_allocator *allocator,
                                    gufo_error *error);
void tokenizer_file_free(tokenizer_file *f); /* NULL is allowed */

static inline gufo_str file_str(const tokenizer_file *f, file_text text)
{
    return (gufo_str){f->text + text.at, text.len};
}

/* The last entry of the vocabulary with this text; NULL. */
const file_entry *tokenizer_file_find(const tokenizer_file *f, gufo_str text);
/* The last added token with this content; NULL. */
const file_added *tokenizer_file_find_added(const tokenizer_file *f, gufo_str text);

/* A member of root ("normalizer", ...) or of the model; NULL if it is missing or null. */
const json_t *tokenizer_file_part(const tokenizer_file *f, const char *name);
const json_t *tokenizer_file_flag(const tokenizer_file *f, const char *member_of_model);

#endif
