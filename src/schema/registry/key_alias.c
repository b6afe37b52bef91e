/* The table of other names. */
#include "schema/registry/key.h"

#include "schema/registry/pattern.h"

#include <string.h>

static const key_alias aliases[] = {
#define ROW(name, today, fix, order, front) {name, today, sizeof today - 1, fix, order, front},
#include "registry/key_aliases.inc"
#undef ROW
};

const key_alias *key_alias_next(gufo_str today, size_t *from)
{
    while (*from < ROW_COUNT(aliases)) {
        const key_alias *alias = &aliases[(*from)++];

        if (alias->length == today.len && memcmp(alias->today, today.data, today.len) == 0)
            return alias;
    }
    return NULL;
}

const key_alias *key_alias_find(const char *name)
{
    return row_find(ROWS(aliases), gufo_str_of(name));
}
