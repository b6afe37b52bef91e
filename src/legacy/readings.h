/* How tokens of old files are read: one way for each kind of texts. */
#ifndef LEGACY_READINGS_H
#define LEGACY_READINGS_H

#include "legacy/vocabulary.h"
#include "legacy/word_list.h"

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
