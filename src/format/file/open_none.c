/* Refuses paths and descriptors in a build without a system (-DGUFO_SYSTEM=none). */
#include "base/error.h"
#include "format/file/file.h"

gufo_status file_open_system(gguf_file *file, const gufo_input *input, bool map, uint64_t limit,
                             gufo_error *error)
{
    (void)input;
    return source_open_fd(&file->source, -1, map, limit, &file->allocator, error);
}
