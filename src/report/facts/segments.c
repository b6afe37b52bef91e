/* The parts of a file, in the order of their bytes.  Neighbours that people see as one are one: data of the
 * same layer. */
#include "report/facts/segments.h"

#include "base/checked.h"
#include "base/memory.h"
#include "base/sort.h"

#include "gufo/summary.h"

enum { HEADER_SIZE = 24 };

static bool add(segment_list *l, segment segment_added)
{
    segment *grown;

    if (segment_added.end <= segment_added.begin)
        return true;
    grown = mem_grow(l->allocator, l->items, l->count, &l->room, sizeof *grown);
    if (grown == NULL)
        return false;
    l->items = grown;
    l->items[l->count++] = segment_added;
    return true;
}

/* ---- before the data ----------------------------------------------------------------------------- */

static bool add_entries(segment_list *l, const gufo_model *file, uint64_t *at)
{
    gufo_entry entry;
    bool whole = true;

    for (uint64_t i = 0; whole && gufo_model_entry_at(file, i, &entry); i++) {
        if (i == 0)
            whole = add(l, (segment){.kind = SEGMENT_HEADER, .end = entry.offset});
        whole = whole && add(l, (segment){.kind = SEGMENT_KEY,
                                          .begin = entry.offset,
                                          .end = entry.end,
                                          .name = entry.key,
                                          .count = 1});
        *at = larger(*at, entry.end);
    }
    return whole;
}

/* What follows the last entry: tensor infos and padding, or what was not read. */
static bool add_head(segment_list *l, const gufo_model *file)
{
    const gufo_facts facts = gufo_model_facts(file);
    uint64_t at = smaller(HEADER_SIZE, facts.size);
    bool whole = gufo_model_entry_count(file) > 0 || add(l, (segment){.end = at});

    whole = whole && add_entries(l, file, &at);
    l->is_read = facts.infos_end > 0;
    if (!l->is_read) {
        l->head_end = at;
        return whole && add(l, (segment){.kind = SEGMENT_UNREAD, .begin = at, .end = facts.size});
    }
    /* Without tensors nothing has to be aligned. */
    l->head_end =
        facts.claimed_tensors > 0 ? larger(facts.data_offset, facts.infos_end) : facts.infos_end;
    return whole &&
           add(l, (segment){.kind = SEGMENT_INFOS,
                            .begin = at,
                            .end = facts.infos_end,
                            .count = gufo_model_tensor_count(file)}) &&
           add(l, (segment){.kind = SEGMENT_PADDING,
                            .begin = facts.infos_end,
                            .end = smaller(l->head_end, facts.size)});
}

/* ---- the data ------------------------------------------------------------------------------------- */

typedef struct data_place {
    uint64_t offset;
    uint32_t index; /* of the tensor */
} data_place;

static bool is_before(const void *a, const void *b)
{
    const data_place *left = a, *right = b;

    return left->offset < right->offset ||
           (left->offset == right->offset && left->index < right->index);
}

static bool add_tensor(segment_list *l, const gufo_tensor *tensor, uint64_t begin, uint64_t end)
{
    segment *last = l->count > 0 ? &l->items[l->count - 1] : NULL;
    segment s = {
        .kind = SEGMENT_DATA, .begin = begin, .end = end, .name = tensor->name, .count = 1};

    (void)gufo_tensor_role(tensor->name, &s.layer);
    if (s.layer != GUFO_NO_LAYER)
        s.kind = SEGMENT_LAYER;
    if (s.kind == SEGMENT_LAYER && last != NULL && last->kind == SEGMENT_LAYER &&
        last->layer == s.layer) {
        last->end = end;
        last->count++;
        return true;
    }
    return add(l, s);
}

/* Places a tensor behind `*at`, where the data before it ends. */
static bool place_tensor(segment_list *l, const gufo_tensor *tensor, uint32_t alignment,
                         uint64_t *at)
{
    const uint64_t end = capped_add(tensor->offset, tensor->size);
    bool whole = true;

    if (tensor->offset > *at && tensor->offset - *at >= alignment) {
        whole = add(l, (segment){.kind = SEGMENT_GAP, .begin = *at, .end = tensor->offset});
        l->gaps++;
        l->gap_bytes += tensor->offset - *at;
    } else if (tensor->offset < *at) {
        l->overlaps++;
        l->overlap_bytes = capped_add(l->overlap_bytes, smaller(end, *at) - tensor->offset);
    }
    whole = whole && add_tensor(l, tensor, larger(tensor->offset, *at), end);
    *at = larger(*at, end);
    return whole;
}

static void count_tensor(segment_list *l, const gufo_tensor *tensor)
{
    l->tensors++;
    l->complete += tensor->complete;
    if (!tensor->complete && l->cut.len == 0)
        l->cut = tensor->name;
}

static bool add_data(segment_list *l, const gufo_model *file, data_place *order, uint64_t count)
{
    const gufo_facts facts = gufo_model_facts(file);
    uint64_t at = l->head_end;
    gufo_tensor tensor;
    bool whole = true;

    sort_items(order, (size_t)count, sizeof *order, is_before);
    for (uint64_t i = 0; whole && i < count; i++) {
        (void)gufo_model_tensor_at(file, order[i].index, &tensor);
        count_tensor(l, &tensor);
        if (tensor.offset != GUFO_NO_OFFSET)
            whole = place_tensor(l, &tensor, facts.alignment, &at);
    }
    l->end = larger(at, facts.size);
    if (whole && l->is_read && facts.size > at && facts.size - at >= facts.alignment) {
        whole = add(l, (segment){.kind = SEGMENT_GAP, .begin = at, .end = facts.size});
        l->gaps++;
        l->gap_bytes += facts.size - at;
    }
    return whole;
}

bool segments_gather(segment_list *list, const gufo_model *file, const gufo_allocator *allocator)
{
    const uint64_t count = gufo_model_tensor_count(file);
    const gufo_facts facts = gufo_model_facts(file);
    data_place *order;
    gufo_tensor tensor;
    bool whole;

    *list = (segment_list){
        .allocator = allocator, .size = facts.size, .announced = facts.claimed_tensors};
    if (!add_head(list, file))
        return false;
    list->head = list->count;
    order = mem_array(allocator, count, sizeof *order);
    if (order == NULL)
        return false;
    for (uint64_t i = 0; i < count && gufo_model_tensor_at(file, i, &tensor); i++)
        order[i] = (data_place){tensor.offset, (uint32_t)i};
    whole = add_data(list, file, order, count);
    mem_free(allocator, order);
    return whole;
}

void segments_free(segment_list *list)
{
    mem_free(list->allocator, list->items);
    list->items = NULL;
}
