/* The tokens of a vocabulary while their texts are made: by id, with the memory for new texts. */
#ifndef LEGACY_WORD_LIST_H
#define LEGACY_WORD_LIST_H

#include "format/file/records.h"

/* tokenizer.ggml.token_type. */
typedef enum word_type {
    WORD_NORMAL = 1,
    WORD_UNKNOWN = 2,
    WORD_CONTROL = 3,
    WORD_USER_DEFINED = 4, /* looked for in a text before anything else is */
    WORD_UNUSED = 5,
    WORD_BYTE = 6,
} word_type;

typedef struct word_list {
    const gufo_allocator *allocator;
    uint64_t count;
    gufo_str *texts;  /* as GGUF has them */
    gufo_str *bytes;  /* what merges can make; empty: no merge makes the token */
    int32_t *types;   /* of word_type */
    bool *repeated;   /* the file gave them no text, or one that an earlier word has */
    name_index index; /* of the texts, from word_list_make_unique on */
    struct word_block *blocks;
} word_list;

/* A list of `count` empty words of type WORD_NORMAL.  Freed with word_list_free, also after a
 * failure. */
gufo_status word_list_new(word_list *list, uint64_t count, const gufo_allocator *allocator,
                          gufo_error *error);
void word_list_free(word_list *list);

/* Room for a text of `size` bytes, which lives as long as the list; NULL without memory. */
char *word_list_room(word_list *list, size_t size);

/* The text of a token that has none of its own. */
typedef struct word_padding {
    char text[32]; /* "[PAD7]" */
} word_padding;

word_padding word_padding_of(uint64_t id);
/* Gives a word that text, and WORD_UNUSED; false without memory. */
bool word_list_pad(word_list *list, uint64_t id);

/* Whether a text can be a token as it is, not only in the byte alphabet: UTF-8 in which no
 * character replaces bytes. */
bool word_is_readable(gufo_str text);
/* Whether a text holds U+FFFD, which replaces bytes that are not UTF-8. */
bool word_has_replacement(gufo_str text);

/* Indexes the texts and gives every word whose text an earlier one has, or, unless `keep_empty`,
 * which has none, its bytes as they are or else the text of padding. */
gufo_status word_list_make_unique(word_list *list, bool keep_empty, gufo_error *error);
/* Gives a word of an indexed list another text, unless a word has that already: then false. */
bool word_list_rename(word_list *list, uint64_t id, gufo_str text);

#endif
