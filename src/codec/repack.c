/* Interleaved blocks taken apart into those of the type that they were made from. */
#include "base/error.h"
#include "codec/coding.h"
#include "codec/interleaved.h"

gufo_status gufo_repack(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, void *out, const gufo_element_type **repacked,
                        gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    uint64_t row_size, bytes;

    if (layout == NULL)
        return refuse(error, GUFO_E_TYPE, "%s is not interleaved", type->name);
    gufo_status status = coded_size(type, rows, columns, &bytes, error);
    if (status != GUFO_OK)
        return status;
    row_size = rows == 0 ? 0 : bytes / rows;
    const uint8_t *group = blocks;
    for (uint64_t row = 0; row < rows; row += layout->rows) {
        uint8_t *at = (uint8_t *)out + row * row_size;
        for (uint64_t done = 0; done < row_size; done += INTERLEAVED_BLOCK_BYTES) {
            interleaved_split(layout, group, at + done, row_size);
            group += (size_t)INTERLEAVED_BLOCK_BYTES * layout->rows;
        }
    }
    if (repacked != NULL)
        *repacked = gufo_element_type_by_id(layout->plain);
    return GUFO_OK;
}
