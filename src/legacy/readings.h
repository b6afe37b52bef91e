/* How tokens of old files are read: one way for each kind of texts. */
#ifndef LEGACY_READINGS_H
#define LEGACY_READINGS_H

#include "format/file/records.h"
#include "gufo/base.h"
#include "legacy/vocabulary.h"

/* ---- the tokens of a vocabulary while their texts are made, by id ----------------------------- */

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
/* Whether bytes are their own text: printable ASCII without blanks. */
bool alphabet_is_plain(gufo_str bytes);

/* ---- tokens of Whisper that its files leave out ----------------------------------------------- */

/* The special ids of a model with so many tokens. */
typedef struct whisper_ids {
    uint64_t end, start, languages, translate, transcribe, solm, previous, no_speech, no_timestamps,
        begin;
} whisper_ids;

whisper_ids whisper_ids_of(uint64_t tokens);

/* The text of a token that is not in the vocabulary. */
typedef struct whisper_text {
    char text[48];
} whisper_text;

whisper_text whisper_text_of(const whisper_ids *ids, uint64_t id);

/* ---- readings --------------------------------------------------------------------------------- */

typedef struct legacy_reading legacy_reading;

struct legacy_reading {
    bool scores;     /* the tokenizer needs them */
    bool types;      /* token types are written even if all are normal */
    bool bytes;      /* a byte-level vocabulary: its tokenizer needs merges */
    bool decoded;    /* by the old converter, so that bytes may be lost */
    bool keep_empty; /* tokens without text are something: control tokens */
    /* Sets text, type and bytes of a word of the vocabulary; false without memory. */
    bool (*read)(word_list *words, const legacy_vocabulary *vocabulary, uint64_t id);
    /* The same for a row that the vocabulary has no token for; NULL: padding. */
    bool (*make)(word_list *words, uint64_t id);
};

/* The reading for texts, none of which is LEGACY_TEXTS_NONE. */
const legacy_reading *legacy_reading_of(legacy_texts texts);

#endif
