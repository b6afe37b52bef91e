/* The alignment of an open file: general.alignment, where it is present and valid. */
#include <inttypes.h>

#include "format/file/file.h"

bool alignment_acceptable(uint64_t alignment)
{
    bool power_of_two = (alignment & (alignment - 1)) == 0;

    return alignment != 0 && (power_of_two || alignment % 8 == 0);
}

static bool occurs_twice(const gguf_file *file, gufo_str key)
{
    unsigned times = 0;

    for (uint64_t i = 0; i < file->entries.count; i++)
        times += gufo_str_equal(file_name(file, &file_entry(file, i)->record), key);
    return times > 1;
}

bool file_find_alignment(gguf_file *file)
{
    gufo_str subject = gufo_str_of(GUFO_ALIGNMENT_KEY);
    gufo_entry entry;

    file->alignment = GUFO_DEFAULT_ALIGNMENT;
    file->alignment_known = true;
    if (!file_entry_find(file, subject, &entry))
        return true;
    file->alignment_known = false;
    if (file->damaged && occurs_twice(file, subject))
        return true; /* reported already; which one is meant is not known */
    if (entry.value.type != GUFO_VALUE_UINT32)
        return file_fault(file, RULE_ALIGNMENT_TYPE, entry.offset, subject,
                          "general.alignment has type %s, not uint32",
                          gufo_value_type_name(entry.value.type));
    if (!alignment_acceptable(entry.value.as.u))
        return file_fault(file, RULE_ALIGNMENT_VALUE, entry.value_offset, subject,
                          "general.alignment is %" PRIu64
                          "; it must be a power of two or a multiple of 8",
                          entry.value.as.u);
    file->alignment = (uint32_t)entry.value.as.u;
    file->alignment_known = true;
    return true;
}
