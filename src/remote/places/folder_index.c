/* The names in the index of a checkpoint:
 *
 *     {"metadata": {...}, "weight_map": {"model.embed.weight": "model-00001-of-00002.safetensors", ...}} */
#include "remote/places/folder.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/pull.h"

enum { MOST_FILES = 1 << 16 };

gufo_status folder_add(folder_files *files, gufo_str name, gufo_error *error)
{
    folder_file *grown;

    for (uint64_t i = files->count; i-- > 0;) /* an index names the same one again and again */
        if (gufo_str_equal(gufo_str_of(files->list[i].name), name))
            return GUFO_OK;
    if (!address_is_path(name))
        return refuse(error, GUFO_E_MALFORMED, "%s is not the name of a file", QUOTED(name));
    if (files->count == MOST_FILES)
        return refuse(error, GUFO_E_LIMIT, "more than %s files", GROUPED(MOST_FILES));
    grown = mem_grow(files->allocator, files->list, files->count, &files->room, sizeof *grown);
    if (grown == NULL)
        return fail_memory(error);
    files->list = grown;
    grown[files->count] = (folder_file){.name = mem_text(files->allocator, name)};
    if (grown[files->count].name == NULL)
        return fail_memory(error);
    files->count++;
    return GUFO_OK;
}

static bool read_map(pull *p, folder_files *files)
{
    gufo_str tensor, file;

    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);) {
        size_t at = p->at;
        gufo_error reason = {.code = GUFO_OK};

        if (!pull_name(p, &tensor) || !pull_string(p, &file))
            return false;
        if (folder_add(files, file, &reason) != GUFO_OK)
            return pull_fail(p, reason.code, at, "%s", reason.message);
    }
    return p->status == GUFO_OK;
}

static bool read_index(pull *p, folder_files *files)
{
    gufo_str name;

    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);) {
        bool is_map;

        if (!pull_name(p, &name))
            return false;
        is_map = gufo_str_equal(name, gufo_str_of("weight_map"));
        if (is_map ? !read_map(p, files) : !pull_skip(p, NULL))
            return false;
    }
    return pull_end(p);
}

gufo_status folder_add_index(folder_files *files, gufo_str text, gufo_error *error)
{
    pull p = {.len = text.len, .error = error};
    char *own = mem_text(files->allocator, text);

    if (own == NULL)
        return fail_memory(error);
    p.text = p.decoded = own;
    (void)read_index(&p, files);
    mem_free(files->allocator, own);
    return p.status;
}
