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

bool file_split(gufo_str line, file_merge *merge)
{
    const char *space = line.len > 0 ? memchr(line.data, ' ', line.len) : NULL;
    gufo_str left, right;

    if (space == NULL)
        return false;
    left = (gufo_str){line.data, (size_t)(space - line.data)};
    right = str_from(line, left.len + 1);
    *merge = (file_merge){left, right};
    return right.len == 0 || memchr(right.data, ' ', right.len) == NULL;
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* Makes a table of the texts with which the rows of another one begin. */
static bool index_texts(tokenizer_file *f, text_table *texts, const void *rows, size_t row_size,
                        uint32_t count)
{
    uint64_t bytes = 0;

    text_table_free(texts, &f->allocator);
    for (uint32_t i = 0; i < count; i++)
        bytes += ((const gufo_str *)((const char *)rows + i * row_size))->len;
    if (!text_table_reserve(texts, count, bytes, &f->allocator))
        return false;
    for (uint32_t i = 0; i < count; i++)
        text_table_add(texts, *(const gufo_str *)((const char *)rows + i * row_size));
    return text_table_index(texts, &f->allocator, NULL) == GUFO_OK;
}

/* In an object a text has one place, the first, and one id, the last, whose row is emptied when both are joined. */
static void drop_repeats(tokenizer_file *f)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->vocab_count; i++) {
        file_entry *last = &f->vocab[text_table_find(&f->texts, text_at(&f->texts, i))];
        const file_entry entry = {f->vocab[i].text, last->id};

        if (last->text.data == NULL)
            continue;
        last->text.data = NULL;
        f->vocab[kept++] = entry;
    }
    f->vocab_count = kept;
}

/* A list may have a text twice, and has it in its place. */
static bool index_vocab(tokenizer_file *f)
{
    if (!index_texts(f, &f->texts, f->vocab, sizeof *f->vocab, f->vocab_count))
        return false;
    if (!f->texts.repeats || f->vocab_is_list)
        return true;
    drop_repeats(f);
    return index_texts(f, &f->texts, f->vocab, sizeof *f->vocab, f->vocab_count);
}

static bool index_added(tokenizer_file *f)
{
    return index_texts(f, &f->added_texts, f->added, sizeof *f->added, f->added_count);
}

const file_entry *tokenizer_file_find(const tokenizer_file *f, gufo_str text)
{
    uint32_t row = text_table_find(&f->texts, text);

    return row == UINT32_MAX ? NULL : &f->vocab[row];
}

const file_added *tokenizer_file_find_added(const tokenizer_file *f, gufo_str text)
{
    uint32_t row = text_table_find(&f->added_texts, text);

    return row == UINT32_MAX ? NULL : &f->added[row];
}

/* ---- a file --------------------------------------------------------------------------------- */

bool file_begin(file_reading *r, gufo_str text, const gufo_allocator *allocator, gufo_error *error)
{
    *r = (file_reading){.tree_memory = JSON_TREE_MEMORY, .p = {.error = error}};
    if (text.len >= UINT32_MAX) {
        r->p.status = refuse(error, GUFO_E_LIMIT, "a text of %s bytes, but at most 4 GiB are read",
                             GROUPED(text.len));
        return false;
    }
    r->f = mem_object(allocator, sizeof *r->f, NULL);
    if (r->f == NULL)
        return pull_fail_memory(&r->p);
    r->f->places.allocator = r->f->source.allocator = &r->f->allocator;
    r->f->decoded = mem_alloc(&r->f->allocator, text.len + 1); /* mostly, little of it is touched */
    r->p.text = text.data;
    r->p.len = text.len;
    r->p.decoded = r->f->decoded;
    return r->f->decoded != NULL || pull_fail_memory(&r->p);
}

tokenizer_file *file_finish(file_reading *r, bool good)
{
    tokenizer_file *f = r->f;

    if (good && ((trim_tables(f) && index_vocab(f) && index_added(f)) || pull_fail_memory(&r->p)))
        return f;
    tokenizer_file_free(f);
    return NULL;
}

void tokenizer_file_keep(tokenizer_file *f, buffer *text)
{
    f->source = *text;
    f->source.allocator = &f->allocator;
    *text = (buffer){.allocator = text->allocator};
}

void tokenizer_file_free(tokenizer_file *f)
{
    gufo_allocator allocator;

    if (f == NULL)
        return;
    allocator = f->allocator;
    json_decref(f->root);
    json_decref(f->config);
    mem_free(&allocator, f->places.list);
    text_table_free(&f->added_texts, &allocator);
    text_table_free(&f->texts, &allocator);
    mem_free(&allocator, f->added);
    mem_free(&allocator, f->merges);
    mem_free(&allocator, f->scores);
    mem_free(&allocator, f->vocab);
    mem_free(&allocator, f->decoded);
    buffer_free(&f->source);
    mem_free(&allocator, f);
}
