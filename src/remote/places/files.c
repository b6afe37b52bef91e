/* Lists of files, and choosing from them. */
#include "remote/places/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/format.h"
#include "remote/places/address.h"

static bool is_sha256(gufo_str text)
{
    return text.len == PLACE_SHA256 && address_is_commit(text);
}

gufo_status place_files_add(place_files *files, gufo_str path, uint64_t size, gufo_str sha256,
                            gufo_error *error)
{
    place_file *list, *added;

    if (!address_is_path(path)) {
        files->left_out++;
        return GUFO_OK;
    }
    if (files->count == PLACE_MOST_FILES)
        return refuse(error, GUFO_E_LIMIT, "the repository has more than %s files",
                      GROUPED(PLACE_MOST_FILES));
    list = mem_grow(files->allocator, files->list, files->count, &files->room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    files->list = list;
    added = &list[files->count];
    *added = (place_file){.path = mem_text(files->allocator, path), .size = size};
    if (added->path == NULL)
        return fail_memory(error);
    if (is_sha256(sha256))
        memcpy(added->sha256, sha256.data, PLACE_SHA256);
    files->count++;
    return GUFO_OK;
}

void place_files_free(place_files *files)
{
    for (uint64_t i = 0; i < files->count; i++)
        mem_free(files->allocator, files->list[i].path);
    mem_free(files->allocator, files->list);
    *files = (place_files){.allocator = files->allocator};
}

static int by_path(const void *a, const void *b)
{
    const place_file *x = a, *y = b;

    return strcmp(x->path, y->path);
}

void place_files_sort(place_files *files)
{
    if (files->count > 0)
        qsort(files->list, (size_t)files->count, sizeof *files->list, by_path);
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* What lies beside models and is none: projectors of pictures, importance matrices. */
static bool is_beside(gufo_str path)
{
    static const char *const words[] = {"mmproj", "imatrix"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t at = 0; at < path.len; at++)
            if (str_begins_folded(str_from(path, at), words[i]))
                return true;
    return false;
}

/* A GGUF file that is a model, or begins one. */
static bool is_model(const place_file *file)
{
    gufo_str path = gufo_str_of(file->path);
    uint32_t number, count;

    return path.len > 5 && str_begins_folded(str_from(path, path.len - 5), ".gguf") &&
           !is_beside(path) &&
           (!gufo_shard_path_parse(file->path, NULL, &number, &count) || number == 1);
}

/* Whether the path has the type between marks: "Q4_K" is not in "Q4_K_M", nor "Q4_XS" in "IQ4_XS". */
static bool has_type(gufo_str path, gufo_str type)
{
    for (size_t at = 0; at + type.len <= path.len; at++) {
        size_t end = at + type.len;

        if (str_same_folded((gufo_str){path.data + at, type.len}, type) &&
            (at == 0 || strchr("-._/", path.data[at - 1]) != NULL) &&
            (end == path.len || strchr("-./", path.data[end]) != NULL))
            return true;
    }
    return false;
}

/* `type` may be empty: any. */
static const place_file *choose(const place_files *files, gufo_str type)
{
    const place_file *best = NULL;

    for (uint64_t i = 0; i < files->count; i++) {
        const place_file *file = &files->list[i];

        if (!is_model(file) || (type.len > 0 && !has_type(gufo_str_of(file->path), type)))
            continue;
        if (best == NULL || (type.len > 0 && strlen(file->path) < strlen(best->path)))
            best = file;
    }
    return best;
}

const place_file *place_files_choose(const place_files *files, gufo_str type)
{
    const bool any = str_same_folded(type, gufo_str_of("latest"));
    const place_file *chosen = choose(files, any ? gufo_str_of("Q4_K_M") : type);

    return chosen == NULL && any ? choose(files, gufo_str_of("")) : chosen;
}

gufo_status place_files_refuse(const place_files *files, gufo_str type, gufo_error *error)
{
    enum { SHOWN = 6 };
    char names[SHOWN * GUFO_QUOTE_SIZE] = "";
    size_t len = 0;
    uint64_t models = 0;

    for (uint64_t i = 0; i < files->count; i++) {
        if (!is_model(&files->list[i]))
            continue;
        if (models < SHOWN)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", models > 0 ? ", " : "",
                                    QUOTED(gufo_str_of(files->list[i].path)));
        models++;
    }
    if (models == 0)
        return refuse(error, GUFO_E_NOT_FOUND, "the repository has no GGUF files");
    return refuse(error, GUFO_E_NOT_FOUND, "the repository has no GGUF file of type %s, but %s%s",
                  QUOTED(type), names, models > SHOWN ? " and others" : "");
}
