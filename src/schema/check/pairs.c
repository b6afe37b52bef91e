/* Pairs of tensors. */
#include "schema/check/check.h"

#include <stdio.h>
#include <string.h>

bool name_ends(gufo_str name, const char *suffix)
{
    size_t len = strlen(suffix);

    return name.len > len && memcmp(name.data + name.len - len, suffix, len) == 0;
}

/* The other one of a pair, whose suffix is number `side`; reports it as missing. */
static bool find_other(check_context *c, const pair_rules *rules, const gufo_tensor *tensor,
                       size_t side, gufo_str base, gufo_tensor *other)
{
    char name[GUFO_MAX_NAME + 16];

    if (base.len > GUFO_MAX_NAME)
        return false;
    (void)snprintf(name, sizeof name, "%.*s%s", (int)base.len, base.data, rules->suffixes[side]);
    if (gufo_tensor_find(c->model, name, other))
        return true;
    if (!c->options->single)
        schema_report(c, rules->pair, at_tensor(tensor), "tensor %s is present, but not %s",
                      QUOTED(tensor->name), QUOTED(gufo_str_of(name)));
    return false;
}

void schema_check_pairs(check_context *c, const pair_rules *rules)
{
    gufo_tensor tensor, other;

    for (uint64_t i = 0; gufo_tensor_at(c->model, i, &tensor); i++) {
        bool first = name_ends(tensor.name, rules->suffixes[0]);
        bool second = name_ends(tensor.name, rules->suffixes[1]);
        gufo_str base = tensor.name;

        rules->look_at(c, &tensor, first || second);
        if (!first && !second)
            continue;
        base.len -= strlen(rules->suffixes[second]);
        if (find_other(c, rules, &tensor, first, base, &other) && first)
            rules->compare(c, &tensor, &other, base);
    }
}
