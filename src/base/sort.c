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
