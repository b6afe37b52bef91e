/* Reading lists of files, from front to back. */
#include "remote/places/listing.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/pull.h"
#include "base/text.h"

typedef struct file_facts {
    gufo_str path, kind, sha256;
    uint64_t size;
} file_facts;

static bool is(gufo_str name, const char *word)
{
    return word != NULL && gufo_str_equal(name, gufo_str_of(word));
}

/* A string, or nothing where a value of another kind stands. */
static bool take_text(pull *p, gufo_str *out)
{
    return pull_peek(p) == '"' ? pull_string(p, out) : pull_skip(p, NULL);
}

static bool take_size(pull *p, uint64_t *out)
{
    return pull_peek(p) == '0' ? pull_u64(p, out) : pull_skip(p, NULL);
}

/* The object that has the hash of a large file. */
static bool take_large(pull *p, const listing_shape *shape, file_facts *file)
{
    gufo_str name;

    if (pull_peek(p) != '{')
        return pull_skip(p, NULL);
    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);)
        if (pull_name(p, &name))
            (void)(is(name, shape->sha256) ? take_text(p, &file->sha256) : pull_skip(p, NULL));
    return p->status == GUFO_OK;
}

static bool take_member(pull *p, const listing_shape *shape, gufo_str name, file_facts *file)
{
    if (is(name, shape->path))
        return take_text(p, &file->path);
    if (is(name, shape->kind))
        return take_text(p, &file->kind);
    if (is(name, shape->size))
        return take_size(p, &file->size);
    if (shape->large != NULL)
        return is(name, shape->large) ? take_large(p, shape, file) : pull_skip(p, NULL);
    return is(name, shape->sha256) ? take_text(p, &file->sha256) : pull_skip(p, NULL);
}

static gufo_status take_file(pull *p, const listing_shape *shape, place_files *files)
{
    file_facts file = {.size = GUFO_NO_OFFSET};
    gufo_str name;

    if (!pull_mark(p, '{'))
        return p->status;
    for (bool first = true; pull_next(p, '}', &first);)
        if (pull_name(p, &name))
            (void)take_member(p, shape, name, &file);
    if (p->status != GUFO_OK || !is(file.kind, shape->file))
        return p->status;
    return place_files_add(files, file.path, file.size, file.sha256, p->error);
}

static gufo_status take_list(pull *p, const listing_shape *shape, place_files *files)
{
    gufo_status status = GUFO_OK;

    (void)pull_mark(p, '[');
    for (bool first = true; status == GUFO_OK && pull_next(p, ']', &first);)
        status = take_file(p, shape, files);
    return p->status != GUFO_OK ? p->status : status;
}

/* Follows the members that lead to the list. */
static gufo_status take_within(pull *p, const listing_shape *shape, size_t depth,
                               place_files *files)
{
    gufo_status status = GUFO_OK;
    gufo_str name;

    if (depth == sizeof shape->within / sizeof *shape->within || shape->within[depth] == NULL)
        return take_list(p, shape, files);
    (void)pull_mark(p, '{');
    for (bool first = true; status == GUFO_OK && pull_next(p, '}', &first);) {
        if (!pull_name(p, &name))
            break;
        if (is(name, shape->within[depth]))
            status = take_within(p, shape, depth + 1, files);
        else
            (void)pull_skip(p, NULL);
    }
    return p->status != GUFO_OK ? p->status : status;
}

gufo_status listing_read(gufo_str text, const listing_shape *shape, place_files *files,
                         gufo_error *error)
{
    pull p = {.text = text.data, .len = text.len, .error = error};
    gufo_status status;

    p.decoded = mem_alloc(files->allocator, text.len + 1);
    if (p.decoded == NULL)
        return fail_memory(error);
    status = take_within(&p, shape, 0, files);
    if (status == GUFO_OK && !pull_end(&p))
        status = p.status;
    mem_free(files->allocator, p.decoded);
    return status;
}
