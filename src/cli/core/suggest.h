/* "did you mean 'show'?": of the names that exist, the one most like a word that is none of them. */
#ifndef CLI_CORE_SUGGEST_H
#define CLI_CORE_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    const char *word, *name; /* `name`: the nearest so far; NULL: none is like it */
    size_t best;             /* how far it is away, or may be at most, plus 1 */
    char text[96];
} suggestion;

suggestion suggest_start(const char *word);
void suggest_offer(suggestion *s, const char *name);
/* "; did you mean 'show'?", with `before` in front of the name; "" if none is like it. */
const char *suggest_text(suggestion *s, const char *before);

#endif
