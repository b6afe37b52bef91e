/* A folder is called as its model.  In the cache of Hugging Face's tools it is called by a commit, and
 * the repository is two folders above it:
 *
 *     models--example-org--Tiny-Llama-7B/snapshots/8f3a.../
 *             example-org/Tiny-Llama-7B */
#define _GNU_SOURCE /* realpath */

#include "import/general/folder_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define CACHED "models--"

/* Cuts the last name off a path, which has no slashes at its end: none is left then. */
static gufo_str cut_last(gufo_str *path)
{
    size_t at = path->len;
    gufo_str name;

    while (at > 0 && path->data[at - 1] != '/')
        at--;
    name = str_from(*path, at);
    while (at > 0 && path->data[at - 1] == '/')
        at--;
    path->len = at;
    return name;
}

/* "models--ORGANIZATION--NAME" becomes "ORGANIZATION/NAME"; a model without organization has no second
 * "--". */
static bool read_cached(gufo_str name, char out[NAME_MAX + 1])
{
    gufo_str rest = str_begins(name, CACHED) ? str_from(name, strlen(CACHED)) : (gufo_str){0};
    const char *divider = rest.len > 0 ? str_search(rest, gufo_str_of("--")) : NULL;
    size_t before = divider != NULL ? (size_t)(divider - rest.data) : 0;

    if (rest.len == 0 || rest.len > NAME_MAX)
        return false;
    memcpy(out, rest.data, rest.len);
    out[rest.len] = '\0';
    if (divider != NULL) {
        out[before] = '/';
        memmove(out + before + 1, out + before + 2, rest.len - before - 1);
    }
    return true;
}

void folder_name_read(const char *folder, folder_name *out)
{
    gufo_str path = gufo_str_of(folder), name;
    char real[PATH_MAX];

    *out = (folder_name){.from_hub = false};
    while (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    name = cut_last(&path);
    if (realpath(folder, real) != NULL) {
        gufo_str above = gufo_str_of(real), own = cut_last(&above);

        if (gufo_str_equal(cut_last(&above), gufo_str_of("snapshots")) &&
            read_cached(cut_last(&above), out->id)) {
            out->from_hub = true;
            return;
        }
        if (name.len == 0 || gufo_str_equal(name, gufo_str_of(".")) ||
            gufo_str_equal(name, gufo_str_of("..")))
            name = own;
    }
    if (name.len > NAME_MAX || gufo_utf8_valid_prefix(name) != name.len)
        return;
    memcpy(out->id, name.data, name.len);
    out->id[name.len] = '\0';
}
