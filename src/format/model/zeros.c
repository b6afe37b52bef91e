/* Looking for zeros: a few pages of each tensor at first, all of the file's end where somebody asks. */
#include "format/model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"

enum { PAGE = ZEROS_LEAST, BLOCK = 64 << 10 };

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

bool zeros_are_suspect(const gguf_file *file, const tensor_record *tensor)
{
    return tensor->size >= ZEROS_LEAST && !str_ends(file_name(file, &tensor->record), ".lora_b");
}

bool zeros_are_suspect_matrix(const gguf_file *file, const tensor_record *tensor)
{
    return tensor->n_dims >= 2 && zeros_are_suspect(file, tensor);
}

gufo_status zeros_sample(const gguf_file *file, const tensor_record *tensor, bool *zero,
                         gufo_error *error)
{
    uint64_t last = tensor->size - PAGE, places[] = {last, last / 2, 0};
    uint8_t page[PAGE];
    gufo_status status = GUFO_OK;

    *zero = true;
    for (size_t i = 0; i < sizeof places / sizeof *places && *zero && status == GUFO_OK; i++) {
        uint64_t at = tensor->offset + places[i];

        if (source_hole(&file->source, at, PAGE) == PAGE)
            continue;
        status = file_read(file, at, page, PAGE, error);
        *zero = status == GUFO_OK && is_zero(page, PAGE);
    }
    return status;
}

gufo_status zeros_before(const gguf_file *file, uint64_t from, uint64_t to, uint64_t *begin,
                         gufo_error *error)
{
    uint8_t block[BLOCK];
    gufo_status status = GUFO_OK;

    for (*begin = to; *begin > from && status == GUFO_OK;) {
        size_t size = (size_t)smaller(*begin - from, BLOCK);
        uint64_t at = *begin - size;

        if (source_hole(&file->source, at, size) < size) {
            status = file_read(file, at, block, size, error);
            if (status != GUFO_OK || !is_zero(block, size))
                break;
        }
        *begin = at;
    }
    /* The last block has other bytes, too: the zeros begin behind the last of them. */
    if (status == GUFO_OK && *begin > from) {
        size_t size = (size_t)smaller(*begin - from, BLOCK);

        while (size > 0 && block[size - 1] == 0) {
            size--;
            --*begin;
        }
    }
    return status;
}

const char *zeros_text(uint64_t bytes, char out[ZEROS_TEXT])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    uint64_t value = bytes;
    size_t unit = 0;

    for (; value >= 10 * 1000 && unit < sizeof units / sizeof *units - 1; unit++)
        value /= 1000;
    (void)snprintf(out, ZEROS_TEXT, "%" PRIu64 " %s", value, units[unit]);
    return out;
}
