/* Filling a tokenizer_file: its tables, and the look-up of texts. */
#include "text/formats/tokenizer_filling.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/formats/json_tree.h"

/* ---- tables --------------------------------------------------------------------------------- */

bool file_grow(file_reading *r, void **table, uint32_t count, uint64_t *room, size_t size)
{
    void *larger = mem_grow(&r->f->allocator, *table, count, room, size);

    if (larger == NULL)
        return pull_fail_memory(&r->p);
    *table = larger;
    return true;
}

/* Gives back what is left behind the end of a table. */
static bool trim(const tokenizer_file *f, void **table, uint32_t count, size_t size)
{
    void *smaller;

    if (*table == NULL || count == 0)
        return true;
    smaller = mem_resize(&f->allocator, *table, count * size);
    if (smaller == NULL)
        return false;
    *table = smaller;
    return true;
}

static bool trim_tables(tokenizer_file *f)
{
    void *vocab = f->vocab, *scores = f->scores, *merges = f->merges, *added = f->added;
    bool good = trim(f, &vocab, f->vocab_count, sizeof *f->vocab) &&
                trim(f, &scores, f->vocab_count, sizeof *f->scores) &&
                trim(f, &merges, f->merge_count, sizeof *f->merges) &&
                trim(f, &added, f->added_count, sizeof *f->added);

    f->vocab = vocab;
    f->scores = scores;
    f->merges = merges;
    f->added = added;
    return good;
}

bool file_split(const file_reading *r, gufo_str line, file_merge *merge)
{
    const char *space = line.len > 0 ? memchr(line.data, ' ', line.len) : NULL;
    gufo_str left, right;

    if (space == NULL)
        return false;
    left = (gufo_str){line.data, (size_t)(space - line.data)};
    right = str_from(line, left.len + 1);
    *merge = (file_merge){file_place(r, left), file_place(r, right)};
    return right.len == 0 || memchr(right.data, ' ', right.len) == NULL;
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* The text of a row, with which it begins. */
static gufo_str text_at(const tokenizer_file *f, const file_index *index, uint32_t row)
{
    return file_str(f, *(const file_text *)((const char *)index->table + row * index->size));
}

/* The slot of a text, or the empty one where it would be. */
static uint32_t *slot_of(const tokenizer_file *f, const file_index *index, gufo_str text)
{
    uint32_t slot = (uint32_t)hash_text(f->slot_key, text) & index->mask;

    while (index->slots[slot] != 0 &&
           !gufo_str_equal(text_at(f, index, index->slots[slot] - 1), text))
        slot = (slot + 1) & index->mask;
    return &index->slots[slot];
}

static bool index_make(tokenizer_file *f, file_index *index, const void *table, size_t size,
                       uint32_t count)
{
    uint64_t room = 4;

    while (room < UINT64_C(2) * count)
        room *= 2;
    *index = (file_index){table, size, mem_array(&f->allocator, room, sizeof *index->slots),
                          (uint32_t)(room - 1)};
    return index->slots != NULL;
}

/* In an object a text has one id, the last; a list may have it twice, and has it in its place. */
static bool index_vocab(tokenizer_file *f)
{
    file_index *index = &f->by_text;
    uint32_t kept = 0;

    if (!index_make(f, index, f->vocab, sizeof *f->vocab, f->vocab_count))
        return false;
    for (uint32_t i = 0; i < f->vocab_count; i++) {
        uint32_t *slot = slot_of(f, index, file_str(f, f->vocab[i].text));

        if (*slot != 0 && !f->vocab_is_list) {
            f->vocab[*slot - 1].id = f->vocab[i].id;
            continue;
        }
        f->vocab[kept++] = f->vocab[i];
        *slot = kept;
    }
    f->vocab_count = kept;
    return true;
}

static bool index_added(tokenizer_file *f)
{
    file_index *index = &f->added_by_text;

    if (!index_make(f, index, f->added, sizeof *f->added, f->added_count))
        return false;
    for (uint32_t i = 0; i < f->added_count; i++)
        *slot_of(f, index, file_str(f, f->added[i].content)) = i + 1;
    return true;
}

const file_entry *tokenizer_file_find(const tokenizer_file *f, gufo_str text)
{
    uint32_t slot = *slot_of(f, &f->by_text, text);

    return slot == 0 ? NULL : &f->vocab[slot - 1];
}

const file_added *tokenizer_file_find_added(const tokenizer_file *f, gufo_str text)
{
    uint32_t slot = *slot_of(f, &f->added_by_text, text);

    return slot == 0 ? NULL : &f->added[slot - 1];
}

/* ---- a file --------------------------------------------------------------------------------- */

bool file_begin(file_reading *r, gufo_str text, const gufo_allocator *allocator, gufo_error *error)
{
    *r = (file_reading){.tree_memory = JSON_TREE_MEMORY, .p = {.error = error}};
    if (text.len >= UINT32_MAX) {
        r->p.status = refuse(error, GUFO_E_LIMIT, "a text of %zu bytes, but at most 4 GiB are read",
                             text.len);
        return false;
    }
    r->f = mem_object(allocator, sizeof *r->f, NULL);
    if (r->f == NULL)
        return pull_fail_memory(&r->p);
    r->f->text = mem_text(&r->f->allocator, text);
    r->f->len = text.len;
    r->f->places.allocator = &r->f->allocator;
    r->f->slot_key = hash_key_new();
    r->p.text = r->f->text;
    r->p.len = text.len;
    return r->f->text != NULL || pull_fail_memory(&r->p);
}

tokenizer_file *file_finish(file_reading *r, bool good)
{
    tokenizer_file *f = r->f;

    if (good && ((trim_tables(f) && index_vocab(f) && index_added(f)) || pull_fail_memory(&r->p)))
        return f;
    tokenizer_file_free(f);
    return NULL;
}

void tokenizer_file_free(tokenizer_file *f)
{
    gufo_allocator allocator;

    if (f == NULL)
        return;
    allocator = f->allocator;
    json_decref(f->root);
    mem_free(&allocator, f->places.list);
    mem_free(&allocator, f->added_by_text.slots);
    mem_free(&allocator, f->by_text.slots);
    mem_free(&allocator, f->added);
    mem_free(&allocator, f->merges);
    mem_free(&allocator, f->scores);
    mem_free(&allocator, f->vocab);
    mem_free(&allocator, f->text);
    mem_free(&allocator, f);
}
