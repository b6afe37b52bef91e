/* Patterns of the shell. */
#include "cli/core/options/glob.h"

#include <fnmatch.h>

bool glob_matches(const char *glob, gufo_str name)
{
    char copy[GUFO_MAX_KEY + 1];

    if (glob == NULL)
        return true;
    if (name.len >= sizeof copy)
        return false;
    /* fnmatch takes C strings: `*` and `?` match a NUL inside a name, which must not cut it. */
    for (size_t i = 0; i < name.len; i++)
        copy[i] = name.data[i] != '\0' ? name.data[i] : '\1';
    copy[name.len] = '\0';
    return fnmatch(glob, copy, 0) == 0;
}

bool glob_next_entry(const char *glob, const gufo_model *model, uint64_t *next, gufo_entry *out)
{
    while (gufo_metadata_at(model, (*next)++, out))
        if (glob_matches(glob, out->key))
            return true;
    return false;
}

bool glob_next_tensor(const char *glob, const gufo_model *model, uint64_t *next, gufo_tensor *out)
{
    while (gufo_tensor_at(model, (*next)++, out))
        if (glob_matches(glob, out->name))
            return true;
    return false;
}

bool glob_selects(const option_texts *globs, gufo_str name)
{
    bool selected = globs->count == 0;

    for (size_t i = 0; i < globs->count && !selected; i++)
        selected = glob_matches(globs->items[i], name);
    return selected;
}
