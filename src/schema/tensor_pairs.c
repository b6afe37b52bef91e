/* Pairs of tensors: adapters and importance matrices have them. */
#include "schema/tensor_pairs.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool name_ends(gufo_str name, const char *suffix)
{
    size_t len = strlen(suffix);

    return name.len > len && memcmp(name.data + name.len - len, suffix, len) == 0;
}

bool pair_side(const pair_rules *rules, gufo_str name, size_t *side, gufo_str *base)
{
    for (*side = 0; *side < 2; ++*side)
        if (name_ends(name, rules->suffixes[*side])) {
            *base = (gufo_str){name.data, name.len - strlen(rules->suffixes[*side])};
            return true;
        }
    return false;
}

bool pair_other(checker *c, findings_limit *limit, const pair_rules *rules,
                const gufo_tensor *tensor, size_t shard, gufo_tensor *other)
{
    char name[GUFO_MAX_NAME + 16], quoted[GUFO_QUOTE_SIZE], wanted[GUFO_QUOTE_SIZE];
    size_t side, ignored;
    gufo_str base;

    if (!pair_side(rules, tensor->name, &side, &base) || base.len > GUFO_MAX_NAME)
        return false;
    (void)snprintf(name, sizeof name, "%.*s%s", (int)base.len, base.data,
                   rules->suffixes[1 - side]);
    if (schema_tensor_find(c, name, other, &ignored))
        return true;
    if (!c->options->single && limit_allows(limit, rules->pair))
        schema_report(c, rules->pair, schema_place_tensor(tensor, shard),
                      "tensor %s is present, but not %s", quote_name(quoted, tensor->name),
                      quote_name(wanted, gufo_str_of(name)));
    return false;
}
