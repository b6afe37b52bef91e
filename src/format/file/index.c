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

/* Of a list of file_record, with more behind each. */
static bool index_all(gguf_file *file, name_index *index, const records *list, name_of_fn *names,
                      rule_number duplicate, const char *what)
{
    file->status = name_index_new(index, list->count, names, file, &file->allocator, file->error);
    if (file->status != GUFO_OK)
        return false;
    for (uint64_t i = 0; i < list->count; i++) {
        const file_record *record = records_at(list, i), *first;
        gufo_str name = file_name(file, record);
        uint64_t found;

        if (name_index_add(index, i, &found))
            continue;
        first = records_at(list, found);
        if (!file_fault(file, duplicate, record->offset, name,
                        "%s %s occurs twice; the first is at byte %" PRIu64, what, QUOTED(name),
                        first->offset))
            return false;
    }
    return true;
}

bool index_keys(gguf_file *file)
{
    return index_all(file, &file->keys, &file->entries, key_of, RULE_KEY_DUPLICATE, "key");
}

bool index_names(gguf_file *file)
{
    return index_all(file, &file->names, &file->tensors, name_of, RULE_NAME_DUPLICATE, "tensor");
}
