/* The words of WPM: how a text is split, and what becomes of its characters. */
#ifndef TEXT_WPM_WORDS_H
#define TEXT_WPM_WORDS_H

#include "base/buffer.h"
#include "text/characters/origins.h"

/* A word, behind U+2581.  False: enough. */
typedef bool wpm_take_word(void *context, gufo_str word);

enum { WPM_REMEMBERED = 2048 };

typedef struct wpm_words {
    bool lowercase, strip_accents;
    uint64_t remembered[WPM_REMEMBERED]; /* what characters become */
    wpm_take_word *take;
    void *context;
    gufo_text word;         /* the one that is read */
    gufo_text text, points; /* of the tokenizer of BERT */

    /* What is read comes from these bytes; kept where tokens are traced. */
    bool traced;
    text_origin origin;
    origin_list origins;              /* of the word */
    point_list placed, placed_points; /* of `text` and `points` */
} wpm_words;

void wpm_words_free(wpm_words *w);

/* Whether a character is a word of its own, as punctuation and ideographs are. */
bool wpm_is_own_word(uint32_t code_point);

/* Hands out the words of a stretch of text, which begins at `begin` of the part.  False without memory,
 * or if `take` says so. */
bool wpm_split(wpm_words *w, gufo_str text, size_t begin);
/* The same as the tokenizer of BERT does it. */
bool wpm_split_original(wpm_words *w, gufo_str text, size_t begin);

/* The first code point of the full canonical decomposition. */
uint32_t wpm_first_of_decomposition(uint32_t code_point);

#endif
