/* The files that a manifest names, each once, in the order of its lines.
 *
 * A line about tensor data names FILE or FILE:TENSOR, and both may have colons: FILE is the longest
 * part that exists.  Lines about one file mostly follow each other. */
#include "cli/trust/verify.h"

#include "base/sort.h"
#include "cli/core/array.h"
#include "cli/core/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONGEST_PATH = 4096 };

static bool is_there(gufo_str name)
{
    char path[LONGEST_PATH];
    struct stat info;

    if (name.len == 0 || name.len >= sizeof path || memchr(name.data, '\0', name.len) != NULL)
        return false;
    memcpy(path, name.data, name.len);
    path[name.len] = '\0';
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether a line is about a tensor of that file. */
static bool is_tensor_of(gufo_str name, gufo_str file)
{
    return name.len > file.len && name.data[file.len] == ':' &&
           memcmp(name.data, file.data, file.len) == 0;
}

/* What is before the first colon if no part is there. */
static gufo_str file_of(gufo_str name)
{
    const char *colon = memchr(name.data, ':', name.len);
    gufo_str first = {name.data, colon != NULL ? (size_t)(colon - name.data) : name.len};

    for (gufo_str file = name; file.len > first.len; file.len--)
        if ((file.len == name.len || name.data[file.len] == ':') && is_there(file))
            return file;
    return first;
}

static bool add(verify_names *names, gufo_str name, bool has_data)
{
    verify_name *added = array_add(&names->list, &names->count, sizeof *added);

    if (added != NULL)
        *added = (verify_name){name, has_data, names->count};
    return added != NULL;
}

static bool collect(const gufo_manifest *manifest, verify_names *names)
{
    gufo_manifest_line line;
    gufo_str last = {NULL, 0};

    for (uint64_t i = 0; gufo_manifest_file_at(manifest, i, &line); i++)
        if (!add(names, line.name, false))
            return false;
    for (uint64_t i = 0; gufo_manifest_at(manifest, i, &line); i++) {
        if (last.data != NULL && (gufo_str_equal(line.name, last) || is_tensor_of(line.name, last)))
            continue;
        last = file_of(line.name);
        if (!add(names, last, true))
            return false;
    }
    return true;
}

static bool name_before(const void *a, const void *b)
{
    const verify_name *x = a, *y = b;
    size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = len > 0 ? memcmp(x->name.data, y->name.data, len) : 0;

    if (order == 0 && x->name.len != y->name.len)
        return x->name.len < y->name.len;
    if (order == 0 && x->has_data != y->has_data)
        return y->has_data;
    return order != 0 ? order < 0 : x->order < y->order;
}

static bool line_before(const void *a, const void *b)
{
    return ((const verify_name *)a)->order < ((const verify_name *)b)->order;
}

int verify_names_of(const gufo_manifest *manifest, verify_names *names)
{
    size_t kept = 0;

    *names = (verify_names){0};
    if (!collect(manifest, names))
        return CODE_FAILED;
    sort_items(names->list, names->count, sizeof *names->list, name_before);
    for (size_t i = 0; i < names->count; i++)
        if (kept == 0 || names->list[i].has_data != names->list[kept - 1].has_data ||
            !gufo_str_equal(names->list[i].name, names->list[kept - 1].name))
            names->list[kept++] = names->list[i];
    names->count = kept;
    sort_items(names->list, names->count, sizeof *names->list, line_before);
    return CODE_OK;
}
