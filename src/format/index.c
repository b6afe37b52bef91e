/* The index of an open file: names to records, what occurs twice, and the alignment. */
#include <inttypes.h>

#include "base/error.h"
#include "format/file.h"
#include "format/value.h"

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

bool alignment_acceptable(uint64_t alignment)
{
    bool power_of_two = (alignment & (alignment - 1)) == 0;

    return alignment >= 1 && alignment <= GUFO_MAX_ALIGNMENT &&
           (power_of_two || alignment % 8 == 0);
}

/* ggml takes any power of two that a uint32 can hold. */
static bool alignment_accepted(const gguf_file *file, uint64_t alignment)
{
    return alignment_acceptable(alignment) ||
           (file->as_ggml && alignment != 0 && (alignment & (alignment - 1)) == 0);
}

static bool occurs_twice(const gguf_file *file, gufo_str key)
{
    unsigned times = 0;

    for (uint64_t i = 0; i < file->entries.count; i++)
        times += gufo_str_equal(key_of(file, i), key);
    return times > 1;
}

bool index_alignment(gguf_file *file)
{
    static const char key[] = GUFO_ALIGNMENT_KEY;
    gufo_str subject = {key, sizeof key - 1};
    gufo_entry entry;

    file->alignment = GUFO_DEFAULT_ALIGNMENT;
    file->alignment_known = true;
    if (!file_entry_find(file, subject, &entry))
        return true;
    file->alignment_known = false;
    if (file->damaged && occurs_twice(file, subject))
        return true; /* told already; which one is meant is not known */
    if (entry.value.type != GUFO_VALUE_UINT32)
        return file_fault(file, RULE_ALIGNMENT_TYPE, entry.offset, subject,
                          "general.alignment has type %s, not uint32",
                          gufo_value_type_name(entry.value.type));
    if (!alignment_accepted(file, entry.value.as.u))
        return file_fault(file, RULE_ALIGNMENT_VALUE, entry.value_offset, subject,
                          "general.alignment is %" PRIu64
                          "; it must be a power of two or a multiple of 8, from 1 to %u",
                          entry.value.as.u, GUFO_MAX_ALIGNMENT);
    file->alignment = (uint32_t)entry.value.as.u;
    file->alignment_known = true;
    return true;
}
