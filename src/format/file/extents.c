/* The places of tensor data: from offsets to extents.
 *
 *     infos | padding |== a ==| padding |===== b =====|  gap  |== c ==|
 *                     ^ data_offset = infos_end, aligned              ^ data_end
 *
 * Infos may name tensors in any order.  In the order of their offsets, sizes that do not follow
 * from the type are taken from the next higher offset (or the end of the file), and no extent may
 * begin before the furthest end so far.  Tensors without bytes overlap nothing. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sort.h"
#include "format/file/file.h"

/* Where the offset of tensor `index` is stored: the last field of its info. */
static uint64_t offset_field(const gguf_file *file, uint64_t index)
{
    bool last = index + 1 == file->tensors.count;

    return (last ? file->infos_end : file_tensor(file, index + 1)->record.offset) - 8;
}

/* Makes the offset of a tensor count from the start of the file. */
static bool place_tensor(gguf_file *file, uint64_t index)
{
    tensor_record *tensor = file_tensor(file, index);
    gufo_str name = file_name(file, &tensor->record);
    uint64_t relative = tensor->offset, end;

    if (relative % file->alignment != 0 &&
        !file_fault(file, RULE_OFFSET_ALIGNMENT, offset_field(file, index), name,
                    "tensor %s has offset %" PRIu64
                    ", which is not a multiple of the alignment %" PRIu32,
                    QUOTED(name), relative, file->alignment))
        return false;
    if (checked_add(file->data_offset, relative, &tensor->offset) &&
        checked_add(tensor->offset, tensor->size, &end))
        return true;
    tensor->flags |= TENSOR_UNUSABLE | TENSOR_UNPLACED;
    return file_fault(file, RULE_DATA_TRUNCATED, offset_field(file, index), name,
                      "tensor %s has offset %" PRIu64 ", which no file can reach", QUOTED(name),
                      relative);
}

/* ---- tensors in the order of their data ----------------------------------------------------- */

static bool before(const void *owner, uint32_t a, uint32_t b)
{
    const gguf_file *file = owner;
    uint64_t at_a = file_tensor(file, a)->offset, at_b = file_tensor(file, b)->offset;

    return at_a < at_b || (at_a == at_b && a < b);
}

/* Infos are usually in this order already. */
uint32_t *order_by_offset(const gguf_file *file, uint64_t *placed)
{
    size_t room = (size_t)(file->tensors.count + 1) * sizeof(uint32_t);
    uint32_t *order = mem_alloc(&file->allocator, room);
    uint64_t count = 0;
    bool sorted = true;

    for (uint64_t i = 0; order != NULL && i < file->tensors.count; i++) {
        if (file_tensor(file, i)->flags & TENSOR_UNPLACED)
            continue;
        order[count] = (uint32_t)i;
        sorted = sorted && (count == 0 || before(file, order[count - 1], order[count]));
        count++;
    }
    if (!sorted)
        sort_indices(order, count, before, file);
    *placed = count;
    return order;
}

/* ---- sizes and overlaps --------------------------------------------------------------------- */

/* Whether there must be bytes at the tensor's offset. */
static bool has_bytes(const tensor_record *tensor)
{
    return tensor->size > 0 || (tensor->flags & (TENSOR_SIZE_UNKNOWN | TENSOR_UNUSABLE));
}

/* From the back: `bound` is the lowest offset so far of a tensor that has bytes; `above` the lowest
 * that is higher than the tensor at hand, which may share its offset with others. */
static void infer_sizes(gguf_file *file, const uint32_t *order, uint64_t count)
{
    uint64_t above = file->source.size, bound = above;

    for (uint64_t i = count; i-- > 0;) {
        tensor_record *tensor = file_tensor(file, order[i]);
        bool next_is_higher =
            i + 1 < count && file_tensor(file, order[i + 1])->offset > tensor->offset;

        if (next_is_higher)
            above = bound;
        if (tensor->flags & TENSOR_SIZE_UNKNOWN)
            tensor->size = above > tensor->offset ? above - tensor->offset : 0;
        if (has_bytes(tensor))
            bound = tensor->offset;
    }
}

static bool check_overlaps(gguf_file *file, const uint32_t *order, uint64_t count)
{
    uint64_t end = 0, owner = 0;

    for (uint64_t i = 0; i < count; i++) {
        tensor_record *tensor = file_tensor(file, order[i]);
        gufo_str name = file_name(file, &tensor->record);

        if (tensor->size == 0)
            continue;
        tensor->flags |= tensor->offset < end ? TENSOR_OVERLAPS : 0;
        if (tensor->offset < end &&
            !file_fault(file, RULE_DATA_OVERLAP, offset_field(file, order[i]), name,
                        "data of tensor %s begins at byte %" PRIu64
                        ", inside that of tensor %s, which ends at %" PRIu64,
                        QUOTED(name), tensor->offset,
                        QUOTED(file_name(file, &file_tensor(file, owner)->record)), end))
            return false;
        if (tensor->offset + tensor->size > end) {
            end = tensor->offset + tensor->size;
            owner = order[i];
        }
    }
    file->data_end = end;
    return true;
}

/* ---- the end of the file -------------------------------------------------------------------- */

/* Whether all bytes of a tensor are present.  One of unknown size that has elements must have
 * bytes.  An empty one may be after the last byte, within the range of the missing padding. */
bool tensor_complete(const gguf_file *file, const tensor_record *tensor)
{
    uint64_t size = file->source.size, padded;

    if (tensor->flags & TENSOR_UNUSABLE)
        return false;
    if ((tensor->flags & TENSOR_SIZE_UNKNOWN) && tensor->size == 0)
        return false;
    if (tensor->size > 0)
        return range_inside(tensor->offset, tensor->size, size);
    if (!checked_align(size, file->alignment, &padded))
        padded = size;
    return tensor->offset <= padded;
}

/* Where the tensor ends at the earliest: one of unknown size has at least a byte. */
static uint64_t least_end(const tensor_record *tensor)
{
    uint64_t size = tensor->size == 0 && has_bytes(tensor) ? 1 : tensor->size, end;

    return checked_add(tensor->offset, size, &end) ? end : UINT64_MAX;
}

/* One fault for all tensors that are cut: what a person wants to know is how much is missing. */
static bool check_complete(gguf_file *file)
{
    uint64_t complete = 0, needed = file->source.size, first_cut = UINT64_MAX;
    bool guessed = false;

    for (uint64_t i = 0; i < file->tensors.count; i++) {
        const tensor_record *tensor = file_tensor(file, i);

        complete += tensor_complete(file, tensor);
        if (tensor_complete(file, tensor) || (tensor->flags & TENSOR_UNUSABLE))
            continue;
        first_cut = first_cut == UINT64_MAX ? i : first_cut;
        needed = least_end(tensor) > needed ? least_end(tensor) : needed;
        guessed |= (tensor->flags & TENSOR_SIZE_UNKNOWN) != 0;
    }
    if (first_cut == UINT64_MAX)
        return true;
    gufo_str name = file_name(file, &file_tensor(file, first_cut)->record);
    return file_fault(file, RULE_DATA_TRUNCATED, file->source.size, name,
                      "file ends before or inside the data of tensor %s: %s of %s tensors "
                      "complete, %s%s byte%s missing",
                      QUOTED(name), GROUPED(complete), GROUPED(file->tensors.count),
                      guessed ? "at least " : "", GROUPED(needed - file->source.size),
                      needed - file->source.size == 1 ? "" : "s");
}

bool extents_find(gguf_file *file)
{
    uint64_t count = file->tensors.count;
    uint32_t *order;
    bool go_on = true;

    if (!checked_align(file->infos_end, file->alignment, &file->data_offset))
        file->data_offset = file->infos_end;
    for (uint64_t i = 0; i < count && go_on; i++)
        go_on = place_tensor(file, i);
    if (count == 0 || !go_on || file->metadata_only)
        return go_on;
    order = order_by_offset(file, &count);
    if (order == NULL) {
        file->status = fail_memory(file->error);
        return false;
    }
    infer_sizes(file, order, count);
    go_on = check_overlaps(file, order, count) && check_complete(file);
    mem_free(&file->allocator, order);
    return go_on;
}
