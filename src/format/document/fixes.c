/* A list of fixes.  It grows with the findings. */
#include "gufo/findings.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "format/file/records.h"

struct gufo_fixes {
    gufo_allocator allocator;
    gufo_fix *list; /* texts in them are owned */
    uint64_t count, room;
    name_index index; /* of their kinds and keys */
    bool failed;      /* out of memory */
};

gufo_fixes *gufo_fixes_new(const gufo_fixes_options *options, gufo_error *error)
{
    if (options != NULL &&
        reserved_check(options->reserved, "gufo_fixes_options", error) != GUFO_OK)
        return NULL;
    return mem_object(options != NULL ? options->allocator : NULL, sizeof(gufo_fixes), error);
}

/* The key is a copy after the kind, so that both together are a name; that of REWRITE is empty. */
static gufo_str work_name(const void *owner, uint64_t index)
{
    const gufo_fix *fix = &((const gufo_fixes *)owner)->list[index];

    return (gufo_str){fix->key.data - 1, fix->key.len + 1};
}

static gufo_str new_name(const void *owner, uint64_t index)
{
    return ((const gufo_fixes *)owner)->list[index].value.as.str;
}

static bool copy_key(const gufo_fixes *f, gufo_fix *fix)
{
    const char kind = (char)('A' + (int)fix->kind);
    size_t len = fix->kind != GUFO_FIX_REWRITE ? fix->key.len : 0;
    const char *copy =
        mem_join(&f->allocator, (gufo_str){&kind, 1}, (gufo_str){fix->key.data, len});

    fix->key = copy != NULL ? (gufo_str){copy + 1, len} : (gufo_str){NULL, 0};
    return copy != NULL;
}

static bool copy_text(const gufo_fixes *f, gufo_str *text)
{
    const char *copy = mem_text(&f->allocator, *text);

    *text = (gufo_str){copy, copy != NULL ? text->len : 0};
    return copy != NULL;
}

static void free_fix(const gufo_fixes *f, const gufo_fix *fix)
{
    if (fix->key.data != NULL)
        mem_free(&f->allocator, (char *)fix->key.data - 1); /* copy_key made it */
    if (fix->value.type == GUFO_VALUE_STRING)
        mem_free(&f->allocator, (char *)fix->value.as.str.data);
}

/* False without memory. */
static bool add_copy(gufo_fixes *f, const gufo_fix *fix)
{
    gufo_fix *list = mem_grow(&f->allocator, f->list, f->count, &f->room, sizeof *list);
    gufo_fix *copy;
    uint64_t first;
    bool good;

    if (list == NULL)
        return false;
    f->list = list;
    copy = &list[f->count++];
    *copy = *fix;
    good = copy_key(f, copy);
    if (fix->value.type == GUFO_VALUE_STRING)
        good = copy_text(f, &copy->value.as.str) && good;
    f->index.name_of = work_name;
    f->index.owner = f;
    good = good && name_index_grow(&f->index, f->count - 1, &f->allocator, NULL) == GUFO_OK;
    if (good && !name_index_add(&f->index, f->count - 1, &first))
        free_fix(f, &f->list[--f->count]);
    return good;
}

void gufo_fixes_add(void *fixes, const gufo_finding *finding)
{
    gufo_fixes *f = fixes;
    const gufo_fix *fix = &finding->fix;

    if (fix->kind != GUFO_FIX_NONE && fix->certain && !f->failed)
        f->failed = !add_copy(f, fix);
}

static gufo_status strike_rivals(gufo_fixes *f, gufo_error *error)
{
    uint64_t first;
    name_index names;
    gufo_status status = name_index_new(&names, f->count, new_name, f, &f->allocator, error);

    if (status != GUFO_OK)
        return status;
    for (uint64_t i = 0; i < f->count; i++)
        if (f->list[i].kind == GUFO_FIX_RENAME && !name_index_add(&names, i, &first))
            f->list[i].kind = f->list[first].kind = GUFO_FIX_NONE;
    name_index_free(&names, &f->allocator);
    return GUFO_OK;
}

gufo_status gufo_fixes_settle(gufo_fixes *f, gufo_error *error)
{
    uint64_t kept = 0;
    gufo_status status = f->failed ? fail_memory(error) : GUFO_OK;

    if (status == GUFO_OK && f->count > 0)
        status = strike_rivals(f, error);
    for (uint64_t i = 0; i < f->count; i++)
        if (f->list[i].kind != GUFO_FIX_NONE)
            f->list[kept++] = f->list[i];
        else
            free_fix(f, &f->list[i]);
    f->count = kept;
    return status;
}

uint64_t gufo_fixes_count(const gufo_fixes *f)
{
    return f->count;
}

bool gufo_fixes_at(const gufo_fixes *f, uint64_t index, gufo_fix *out)
{
    if (index < f->count)
        *out = f->list[index];
    return index < f->count;
}

gufo_status gufo_fixes_apply(const gufo_fixes *f, gufo_document *document, bool *rewrite,
                             gufo_error *error)
{
    gufo_status status = GUFO_OK;
    bool packs = false;

    for (uint64_t i = 0; i < f->count && status == GUFO_OK; i++) {
        packs = packs || f->list[i].kind == GUFO_FIX_REWRITE;
        status = gufo_document_fix(document, &f->list[i], error);
    }
    if (rewrite != NULL)
        *rewrite = packs;
    return status;
}

void gufo_fixes_free(gufo_fixes *f)
{
    if (f == NULL)
        return;
    for (uint64_t i = 0; i < f->count; i++)
        free_fix(f, &f->list[i]);
    name_index_free(&f->index, &f->allocator);
    mem_free(&f->allocator, f->list);
    (void)f->allocator.resize(f->allocator.context, f, 0);
}
