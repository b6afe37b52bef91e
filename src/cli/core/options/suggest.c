/* Suggestions. */
#include "cli/core/options/suggest.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

suggestion suggest_start(gufo_str word)
{
    /* About a third of the letters may differ: with half of them "best" would be near "get". */
    return (suggestion){.word = word, .best = (word.len + 1) / 3 + 1};
}

/* Names of a folder come in any order. */
static bool is_before(gufo_str a, gufo_str b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order < 0 : a.len < b.len;
}

bool suggest_offer(suggestion *s, gufo_str name)
{
    size_t distance = text_distance(name, s->word, s->best);
    bool tie = distance == s->best && s->name.len > 0;

    if (distance > s->best || (distance == s->best && !(tie && is_before(name, s->name))))
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
