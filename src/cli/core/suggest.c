/* Suggestions. */
#include "cli/core/suggest.h"

#include "base/distance.h"

#include <stdio.h>

suggestion suggest_start(gufo_str word)
{
    /* A word is not similar if half of its letters differ. */
    return (suggestion){.word = word, .best = word.len / 2 + 1};
}

bool suggest_offer(suggestion *s, gufo_str name)
{
    size_t distance = text_distance(name, s->word, s->best);

    if (distance >= s->best)
        return false;
    s->best = distance;
    s->name = name;
    return true;
}

const char *suggest_text(suggestion *s, const char *before)
{
    if (s->name.len > 0)
        snprintf(s->text, sizeof s->text, "; did you mean '%s%.*s'?", before, (int)s->name.len,
                 s->name.data);
    return s->text;
}
