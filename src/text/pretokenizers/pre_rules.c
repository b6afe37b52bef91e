/* The rows of registry/pretokenizer_rules.tsv: what follows from the name of a pre-tokenizer. */
#include "text/pretokenizers/pretokenizer.h"

#include <string.h>

/* "-" is no; the size of a text is a constant, its content is not. */
#define YES(column) (sizeof(column) > sizeof "-")
#define IS(column, word) (sizeof(column) == sizeof(word))

static const pre_rules rules[] = {
#define ROW(id, shape, clean, ignore, bos, escape, raw, newlines, unmerged)           \
    {id,           shape,          YES(clean),        YES(ignore),     YES(escape),   \
     YES(raw),     IS(bos, "yes"), IS(bos, "forced"), IS(bos, "none"), YES(newlines), \
     YES(unmerged)},
#include "registry/pretokenizer_rules.inc"
#undef ROW
};

const pre_rules *pre_rules_find(gufo_str name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strlen(rules[i].name) == name.len && memcmp(rules[i].name, name.data, name.len) == 0)
            return &rules[i];
    }
    return NULL;
}

const pre_rules *pre_rules_at(size_t index)
{
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}
