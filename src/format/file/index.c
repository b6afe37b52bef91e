/* The index of an open file: names to records, and what occurs twice. */
#include <inttypes.h>

#include "base/error.h"
#include "format/file/file.h"
#include "format/value/value.h"

gufo_str file_name(const gguf_file *file, const file_record *record)
{
    uint64_t at = record->offset + encoding_length_size(file->encoding);

    return (gufo_str){(const char *)file->source.base + at, record->name_len};
}

static gufo_str key_of(const void *file, uint64_t index)
{
    return file_name(file, &file_entry(file, index)->record);
}

static gufo_str name_of(const void *file, uint64_t index)
{
    return file_name(file, &file_tensor(file, index)->record);
}

/* A list of file_record, with more behind each, and the index of it. */
typedef struct indexing {
    records *list;
    name_index *index;
    uint64_t *indexed; /* so many of the list are in the index */
    name_of_fn *name_of;
    rule_number duplicate;
    const char *what;
} indexing;

/* A lenient walk that finds so many names repeated reads no more: the zeros of a hole, of which a file
 * may have more than memory, are such names. */
enum { MOST_REPEATED = 10000 };

static bool report_repeated(gguf_file *file, const indexing *in, const file_record *record,
                            const file_record *first)
{
    gufo_str name = file_name(file, record);

    if (!file_fault(file, in->duplicate, record->offset, name,
                    "%s %s occurs twice; the first is at byte %" PRIu64, in->what, QUOTED(name),
                    first->offset))
        return false;
    file->cut_short = ++file->repeated == MOST_REPEATED;
    return !file->cut_short || file_fault(file, in->duplicate, record->offset, name,
                                          "%s keys and names occur twice: what follows is not read",
                                          GROUPED(MOST_REPEATED));
}

static gufo_status make_room(gguf_file *file, const indexing *in)
{
    if (in->index->slots == NULL)
        return name_index_new(in->index, in->list->count, in->name_of, file, &file->allocator,
                              file->error);
    return name_index_fit(in->index, *in->indexed, in->list->count, &file->allocator, file->error);
}

/* Adds what the list has since it was last called. */
static bool index_more(gguf_file *file, const indexing *in)
{
    file->status = make_room(file, in);
    if (file->status != GUFO_OK)
        return false;
    for (uint64_t found; *in->indexed < in->list->count && !file->cut_short; ++*in->indexed) {
        const file_record *record = records_at(in->list, *in->indexed);

        if (!name_index_add(in->index, *in->indexed, &found) &&
            !report_repeated(file, in, record, records_at(in->list, found)))
            return false;
    }
    in->list->count = *in->indexed;
    return true;
}

bool index_keys(gguf_file *file)
{
    const indexing in = {&file->entries, &file->keys,        &file->keys_indexed,
                         key_of,         RULE_KEY_DUPLICATE, "key"};

    return index_more(file, &in);
}

bool index_names(gguf_file *file)
{
    const indexing in = {&file->tensors, &file->names,        &file->names_indexed,
                         name_of,        RULE_NAME_DUPLICATE, "tensor"};

    return index_more(file, &in);
}
