/* The layout of a planned file: every offset and the size, before a byte of data exists.
 *
 *     header | entries | tensor infos | padding | data | padding | data | padding
 *                                     ^ metadata_size  ^ each offset aligned    ^ file_size
 *
 * Data lies in the order of the infos.  Padding also follows the last tensor: the specification
 * does not ask for it, but ggml does. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/writer.h"

enum { HEADER_SIZE = 4 + 4 + 8 + 8 };

/* Moves `end` past `size` bytes and padding; false beyond the largest size of a file, what off_t
 * holds. */
static bool advance(uint64_t *end, uint64_t size, uint64_t alignment)
{
    return checked_add(*end, size, end) && checked_align(*end, alignment, end) && *end <= INT64_MAX;
}

static uint64_t info_size(const planned_tensor *tensor)
{
    return 8 + tensor->name_len + 4 + 8 * (uint64_t)tensor->n_dims + 4 + 8;
}

/* Gives every tensor its offset. */
static bool place_all(gufo_writer *w)
{
    gufo_layout *layout = &w->layout;
    uint64_t end = HEADER_SIZE + w->metadata.out.len;

    for (uint64_t i = 0; i < w->tensors.count; i++)
        end += info_size(writer_tensor(w, i));
    layout->metadata_size = end;
    if (!advance(&end, 0, w->alignment))
        return false;
    layout->data_offset = end;
    for (uint64_t i = 0; i < w->tensors.count; i++) {
        planned_tensor *tensor = writer_tensor(w, i);

        tensor->offset = end;
        if (!advance(&end, tensor->size, w->alignment))
            return false;
    }
    layout->file_size = end;
    layout->tensor_count = w->tensors.count;
    layout->alignment = w->alignment;
    return true;
}

static bool encode_info(gufo_writer *w, const planned_tensor *tensor)
{
    encoder *e = &w->header;
    bool done = encode_string(e, planned_name(w, tensor)) && encode_u32(e, tensor->n_dims);

    for (uint32_t i = 0; i < tensor->n_dims && done; i++)
        done = encode_u64(e, tensor->dims[i]);
    return done && encode_u32(e, tensor->type) &&
           encode_u64(e, tensor->offset - w->layout.data_offset);
}

static bool encode_header(gufo_writer *w)
{
    encoder *e = &w->header;
    const buffer *entries = &w->metadata.out;
    void *padding;
    bool done = encode_bytes(e, "GGUF", 4) && encode_u32(e, w->version) &&
                encode_u64(e, w->tensors.count) && encode_u64(e, w->keys.count) &&
                encode_bytes(e, entries->data, entries->len);

    for (uint64_t i = 0; i < w->tensors.count && done; i++)
        done = encode_info(w, writer_tensor(w, i));
    if (!done)
        return false;
    padding = buffer_extend(&e->out, w->layout.data_offset - e->out.len);
    if (padding != NULL)
        memset(padding, 0, (size_t)(w->layout.data_offset - w->layout.metadata_size));
    return padding != NULL;
}

gufo_status gufo_writer_layout(gufo_writer *w, gufo_layout *out, gufo_error *error)
{
    if (!w->laid_out) {
        if (!place_all(w))
            return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                             "the file would be larger than any file can be");
        if (!encode_header(w)) {
            buffer_free(&w->header.out);
            return fail_memory(error);
        }
        w->laid_out = true;
    }
    if (out != NULL)
        *out = w->layout;
    return GUFO_OK;
}

bool gufo_writer_tensor(const gufo_writer *w, uint64_t index, uint64_t *offset, uint64_t *size)
{
    const planned_tensor *tensor;

    if (!w->laid_out || index >= w->tensors.count)
        return false;
    tensor = writer_tensor(w, index);
    *offset = tensor->offset;
    *size = tensor->size;
    return true;
}

const void *gufo_writer_header(const gufo_writer *w, size_t *size)
{
    if (!w->laid_out)
        return NULL;
    *size = w->header.out.len;
    return w->header.out.data;
}
