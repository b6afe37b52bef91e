/* The lists that a tokenizer.json replaced: vocab.json, vocab.txt and merges.txt, as parts of one. */
#include <inttypes.h>

#include "base/error.h"
#include "base/text.h"
#include "text/formats/tokenizer_file.h"

tokenizer_file *vocab_json_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error)
{
    file_reading r;

    return file_finish(&r, file_begin(&r, text, allocator, error) && file_take_vocab(&r) &&
                               pull_end(&r.p));
}

static bool check_line(file_reading *r, gufo_str line)
{
    return gufo_utf8_valid_prefix(line) == line.len ||
           pull_fail(&r->p, GUFO_E_MALFORMED, (size_t)(line.data - r->p.text),
                     "the line %s is not UTF-8", QUOTED(line));
}

static bool add_token(file_reading *r, gufo_str line, uint32_t id)
{
    tokenizer_file *f = r->f;
    void *table = f->vocab;
    bool good = check_line(r, line) &&
                file_grow(r, &table, f->vocab_count, &r->vocab_room, sizeof *f->vocab);

    f->vocab = table;
    if (good)
        f->vocab[f->vocab_count++] = (file_entry){line, id};
    return good;
}

static bool take_tokens(file_reading *r)
{
    const gufo_str text = {r->p.text, r->p.len};
    uint32_t id = 0;
    bool good = true;

    r->f->has_vocab = true;
    for (size_t at = 0; good && at < text.len; id++) {
        gufo_str line = str_line(text, &at);

        good = line.len == 0 || add_token(r, line, id);
    }
    return good;
}

/* A text that has come again is at its first line, and has the id of its last one. */
static gufo_status fail_twice(const file_reading *r, gufo_error *error)
{
    const gufo_str text = {r->p.text, r->p.len};
    const file_entry *row = r->f->vocab;
    uint32_t id = 0;

    for (size_t at = 0; at < text.len; id++) {
        gufo_str line = str_line(text, &at);

        if (line.data != row->text.data)
            continue;
        if (row->id != id)
            break;
        row++;
    }
    return refuse(error, GUFO_E_MALFORMED, "line %" PRIu64 ": token %s occurs twice",
                  (uint64_t)row->id + 1, QUOTED(row->text));
}

tokenizer_file *vocab_txt_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error)
{
    file_reading r;
    bool good = file_begin(&r, text, allocator, error) && take_tokens(&r);
    uint32_t count = good ? r.f->vocab_count : 0;
    tokenizer_file *f = file_finish(&r, good);

    if (f == NULL || f->vocab_count == count)
        return f;
    (void)fail_twice(&r, error);
    tokenizer_file_free(f);
    return NULL;
}

/* Lines of another number of words are none. */
static bool add_merge(file_reading *r, gufo_str line)
{
    tokenizer_file *f = r->f;
    void *table = f->merges;
    file_merge merge;

    while (line.len > 0 && (line.data[line.len - 1] == '\r' || line.data[line.len - 1] == ' '))
        line.len--;
    if (!file_split(line, &merge) || merge.left.len == 0 || merge.right.len == 0)
        return true;
    if (!check_line(r, line) ||
        !file_grow(r, &table, f->merge_count, &r->merge_room, sizeof *f->merges))
        return false;
    f->merges = table;
    f->merges[f->merge_count++] = merge;
    return true;
}

static bool take_merges(file_reading *r)
{
    const gufo_str text = {r->p.text, r->p.len};
    bool good = true;

    r->f->has_merges = true;
    for (size_t at = 0; good && at < text.len;) {
        const bool is_first = at == 0;
        gufo_str line = str_line(text, &at);

        good = (is_first && str_begins(line, "#")) || add_merge(r, line);
    }
    return good;
}

tokenizer_file *merges_txt_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error)
{
    file_reading r;

    return file_finish(&r, file_begin(&r, text, allocator, error) && take_merges(&r));
}
