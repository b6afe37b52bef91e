/* Suggestions. */
#include "cli/core/suggest.h"

#include "base/distance.h"

#include <stdio.h>
#include <string.h>

suggestion suggest_start(const char *word)
{
    /* A word is not similar if half of its letters differ. */
    return (suggestion){.word = word, .best = strlen(word) / 2 + 1};
}

void suggest_offer(suggestion *s, const char *name)
{
    size_t distance = text_distance(gufo_str_of(name), gufo_str_of(s->word), s->best);

    if (distance < s->best) {
        s->best = distance;
        s->name = name;
    }
}

const char *suggest_text(suggestion *s, const char *before)
{
    if (s->name != NULL)
        snprintf(s->text, sizeof s->text, "; did you mean '%s%s'?", before, s->name);
    return s->text;
}
