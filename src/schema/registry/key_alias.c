/* The table of other names. */
#include "schema/registry/key_alias.h"

#include "schema/registry/pattern.h"

#include <string.h>

static const key_alias aliases[] = {
#define ROW(name, today, fix, order, front) {name, today, fix, order, front},
#include "registry/key_aliases.inc"
#undef ROW
};

const key_alias *key_alias_at(size_t index)
{
    return row_at(ROWS(aliases), index);
}

const key_alias *key_alias_find(const char *name)
{
    return row_find(ROWS(aliases), gufo_str_of(name));
}
