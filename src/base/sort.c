/* Heapsort. */
#include "base/sort.h"

static void sift_down(uint32_t *heap, uint64_t root, uint64_t count, sort_before *before,
                      const void *owner)
{
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        uint32_t moved = heap[root];

        if (child + 1 < count && before(owner, heap[child], heap[child + 1]))
            child++;
        if (!before(owner, moved, heap[child]))
            return;
        heap[root] = heap[child];
        heap[child] = moved;
    }
}

void sort_indices(uint32_t *indices, uint64_t count, sort_before *before, const void *owner)
{
    for (uint64_t i = count / 2; i-- > 0;)
        sift_down(indices, i, count, before, owner);
    for (uint64_t end = count; end-- > 1;) {
        uint32_t largest = indices[0];

        indices[0] = indices[end];
        indices[end] = largest;
        sift_down(indices, 0, end, before, owner);
    }
}

/* ---- records -------------------------------------------------------------------------------- */

static void swap_bytes(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t kept = a[i];

        a[i] = b[i];
        b[i] = kept;
    }
}

static void sift_item_down(uint8_t *heap, size_t root, size_t count, size_t size,
                           sort_item_before *before)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && before(heap + child * size, heap + (child + 1) * size))
            child++;
        if (!before(heap + root * size, heap + child * size))
            return;
        swap_bytes(heap + root * size, heap + child * size, size);
    }
}

void sort_items(void *items, size_t count, size_t size, sort_item_before *before)
{
    uint8_t *heap = items;

    for (size_t i = count / 2; i-- > 0;)
        sift_item_down(heap, i, count, size, before);
    for (size_t end = count; end-- > 1;) {
        swap_bytes(heap, heap + end * size, size);
        sift_item_down(heap, 0, end, size, before);
    }
}
