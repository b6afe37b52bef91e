/* Tokens of Whisper that its files leave out. */
#ifndef LEGACY_WHISPER_TOKENS_H
#define LEGACY_WHISPER_TOKENS_H

#include "gufo/base.h"

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

#endif
