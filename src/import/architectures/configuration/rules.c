/* The table of keys, sorted by group. */
#include "import/architectures/configuration/rules.h"

#include "schema/registry/pattern.h"

static const rule rules[] = {
#define ROW(group, phase, key, type, value, condition, note) \
    {group, phase, key, type, value, condition, note},
#include "registry/convert_keys.inc"
#undef ROW
};

const rule *rules_at(size_t index)
{
    return row_at(ROWS(rules), index);
}

const rule *rules_of(const char *group, size_t *count)
{
    return row_find_all(ROWS(rules), group, count);
}

const rule *rules_included(const char *key, size_t *count)
{
    const rule *found = rules_of(key, count);

    return found != NULL || key[0] != '@' ? found : rules_of(key + 1, count);
}

bool rules_know(const char *architecture)
{
    size_t count;

    return architecture[0] != '@' && rules_of(architecture, &count) != NULL;
}
