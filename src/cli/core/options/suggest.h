/* "did you mean 'show'?": finds the name that is nearest to a word that names nothing. */
#ifndef CLI_CORE_OPTIONS_SUGGEST_H
#define CLI_CORE_OPTIONS_SUGGEST_H

#include "gufo/base.h"

typedef struct suggestion {
    gufo_str word, name; /* `name`: the nearest so far; empty: none is near */
    size_t best;         /* its distance; without a name, the first distance that is too far */
    char text[1024];     /* more than a report shows */
} suggestion;

suggestion suggest_start(gufo_str word);
/* Returns whether the name is nearer than those before it, or as near and first by its bytes. */
bool suggest_offer(suggestion *s, gufo_str name);
/* "; did you mean 'show'?", with `before` in front of the name; "" if no name is near. */
const char *suggest_text(suggestion *s, const char *before);

#endif
