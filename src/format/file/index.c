/* The index of an open file: names to records, and what occurs twice. */
#include <inttypes.h>

#include "base/error.h"
#include "format/file/file.h"
#include "format/value/value.h"

static gufo_str name_after_length(const gguf_file *file, uint64_t length_at, uint32_t len)
{
    uint64_t at = length_at + encoding_length_size(file->encoding);

    return (gufo_str){(const char *)file->source.base + at, len};
}

gufo_str file_entry_key(const gguf_file *file, const entry_record *entry)
{
    return name_after_length(file, entry->offset, entry->key_len);
}

gufo_str file_tensor_name(const gguf_file *file, const tensor_record *tensor)
{
    return name_after_length(file, tensor->info_offset, tensor->name_len);
}

static gufo_str key_of(const void *file, uint64_t index)
{
    return file_entry_key(file, file_entry(file, index));
}

static gufo_str name_of(const void *file, uint64_t index)
{
    return file_tensor_name(file, file_tensor(file, index));
}

static uint64_t entry_offset(const gguf_file *file, uint64_t index)
{
    return file_entry(file, index)->offset;
}

static uint64_t info_offset(const gguf_file *file, uint64_t index)
{
    return file_tensor(file, index)->info_offset;
}

/* Keys and tensor names are indexed alike. */
typedef struct named_things {
    const char *what;
    rule_number duplicate;
    name_of_fn *name_of;
    uint64_t (*offset_of)(const gguf_file *file, uint64_t index);
} named_things;

static bool index_all(gguf_file *file, name_index *index, uint64_t count,
                      const named_things *things)
{
    file->status =
        name_index_new(index, count, things->name_of, file, &file->allocator, file->error);
    if (file->status != GUFO_OK)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        char quoted[GUFO_QUOTE_SIZE];
        uint64_t first;

        if (name_index_add(index, i, &first))
            continue;
        gufo_str name = things->name_of(file, i);
        if (!file_fault(file, things->duplicate, things->offset_of(file, i), name,
                        "%s %s occurs twice; the first is at byte %" PRIu64, things->what,
                        quote_name(quoted, name), things->offset_of(file, first)))
            return false;
    }
    return true;
}

bool index_keys(gguf_file *file)
{
    static const named_things keys = {"key", RULE_KEY_DUPLICATE, key_of, entry_offset};

    return index_all(file, &file->keys, file->entries.count, &keys);
}

bool index_names(gguf_file *file)
{
    static const named_things names = {"tensor", RULE_NAME_DUPLICATE, name_of, info_offset};

    return index_all(file, &file->names, file->tensors.count, &names);
}
