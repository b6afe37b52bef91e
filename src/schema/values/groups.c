/* Tensors in groups: those whose names differ in a number alone, and have the same type and shape.
 *
 * Items are sorted: tensors that belong together become neighbours, by number, and groups then return
 * to the order of the model.  Of a name there is a hash with a secret key: a file may have many. */
#include "gufo/summary.h"

#include "base/buffer.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"

enum { MOST_DIGITS = 9 }; /* longer ones are just text */

/* A tensor. */
typedef struct group_item {
    uint64_t group; /* a hash of all but the number in its name */
    uint32_t number, index;
} group_item;

typedef struct item_range {
    uint64_t begin, count;
    uint32_t first; /* the least index */
    uint64_t size;
} item_range;

struct gufo_tensor_groups {
    gufo_allocator allocator;
    const gufo_model *model;
    group_item *items; /* group after group, by number */
    item_range *ranges;
    uint64_t item_count, range_count, range_room;
};

/* ---- parts of names ------------------------------------------------------------------------- */

/* Whether the segment is a number in its usual form. */
static bool is_number(gufo_str segment)
{
    return segment.len > 0 && segment.len <= MOST_DIGITS &&
           (segment.data[0] != '0' || segment.len == 1) && str_digits(segment, 0) == segment.len;
}

/* A name around the first segment that is a number; without one all of it is `before`. */
typedef struct name_parts {
    gufo_str before, after;
    uint32_t number;
    bool has_number;
} name_parts;

static name_parts split_name(gufo_str name)
{
    name_parts parts = {.before = name};

    for (size_t begin = 0, end; begin < name.len; begin = end + 1) {
        const char *dot = memchr(name.data + begin, '.', name.len - begin);
        gufo_str segment = str_from(name, begin);
        uint64_t number;

        end = dot != NULL ? (size_t)(dot - name.data) : name.len;
        segment.len = end - begin;
        if (!is_number(segment) || !str_number(segment, &number))
            continue;
        return (name_parts){.before = {name.data, begin},
                            .after = str_from(name, end),
                            .number = (uint32_t)number,
                            .has_number = true};
    }
    return parts;
}

/* ---- items ---------------------------------------------------------------------------------- */

static group_item make_item(hash_key key, const gufo_tensor *tensor, uint32_t index)
{
    name_parts parts = split_name(tensor->name);
    uint64_t facts[] = {parts.before.len, parts.after.len, parts.has_number, tensor->type,
                        tensor->n_dims};
    group_item item = {hash_text(key, parts.before), parts.number, index};

    hash_chain(&item.group, parts.after.data, parts.after.len);
    hash_chain(&item.group, facts, sizeof facts);
    hash_chain(&item.group, tensor->dims, sizeof tensor->dims);
    return item;
}

static bool item_before(const void *a, const void *b)
{
    const group_item *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group;
    return x->number != y->number ? x->number < y->number : x->index < y->index;
}

static bool range_before(const void *a, const void *b)
{
    return ((const item_range *)a)->first < ((const item_range *)b)->first;
}

static gufo_tensor tensor_of(const gufo_tensor_groups *g, uint32_t index)
{
    gufo_tensor tensor = {0};

    (void)gufo_model_tensor_at(g->model, index, &tensor);
    return tensor;
}

/* ---- groups --------------------------------------------------------------------------------- */

static gufo_status collect(gufo_tensor_groups *g, const gufo_tensor_groups_options *options,
                           gufo_error *error)
{
    uint64_t count = gufo_model_tensor_count(g->model);
    hash_key key = hash_key_new();

    if (count > UINT32_MAX)
        return refuse(error, GUFO_E_LIMIT, "the model has %s tensors", GROUPED(count));
    g->items = mem_array(&g->allocator, count, sizeof *g->items);
    if (g->items == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        gufo_tensor tensor = tensor_of(g, i);

        if (options->keep == NULL || options->keep(options->keep_context, tensor.name))
            g->items[g->item_count++] = make_item(key, &tensor, i);
    }
    sort_items(g->items, (size_t)g->item_count, sizeof *g->items, item_before);
    return GUFO_OK;
}

static item_range *add_range(gufo_tensor_groups *g, uint64_t begin)
{
    item_range *list =
        mem_grow(&g->allocator, g->ranges, g->range_count, &g->range_room, sizeof *g->ranges);

    if (list == NULL)
        return NULL;
    g->ranges = list;
    list[g->range_count] = (item_range){.begin = begin, .first = g->items[begin].index};
    return &list[g->range_count++];
}

/* The groups of neighbours. */
static gufo_status divide(gufo_tensor_groups *g, gufo_error *error)
{
    item_range *range = NULL;

    for (uint64_t i = 0; i < g->item_count; i++) {
        const group_item *item = &g->items[i];

        if (range == NULL || item->group != item[-1].group)
            range = add_range(g, i);
        if (range == NULL)
            return fail_memory(error);
        range->count++;
        range->first = item->index < range->first ? item->index : range->first;
        if (!checked_add(range->size, tensor_of(g, item->index).size, &range->size))
            range->size = UINT64_MAX;
    }
    if (g->range_count > 0)
        sort_items(g->ranges, (size_t)g->range_count, sizeof *g->ranges, range_before);
    return GUFO_OK;
}

gufo_tensor_groups *gufo_tensor_groups_new(const gufo_model *model,
                                           const gufo_tensor_groups_options *options,
                                           gufo_error *error)
{
    const gufo_tensor_groups_options none = {0};
    gufo_tensor_groups *g;
    gufo_status status;

    options = options != NULL ? options : &none;
    if (reserved_check(options->reserved, "gufo_tensor_groups_options", error) != GUFO_OK)
        return NULL;
    g = mem_object(options->allocator, sizeof *g, error);
    if (g == NULL)
        return NULL;
    g->model = model;
    status = collect(g, options, error);
    if (status == GUFO_OK)
        status = divide(g, error);
    if (status == GUFO_OK)
        return g;
    gufo_tensor_groups_free(g);
    return NULL;
}

void gufo_tensor_groups_free(gufo_tensor_groups *groups)
{
    gufo_allocator allocator;

    if (groups == NULL)
        return;
    allocator = groups->allocator;
    mem_free(&allocator, groups->items);
    mem_free(&allocator, groups->ranges);
    mem_free(&allocator, groups);
}

/* ---- looking -------------------------------------------------------------------------------- */

bool gufo_tensor_groups_at(const gufo_tensor_groups *groups, uint64_t index, gufo_tensor_group *out)
{
    const item_range *range;

    if (index >= groups->range_count)
        return false;
    range = &groups->ranges[index];
    *out = (gufo_tensor_group){
        .first = tensor_of(groups, range->first), .count = range->count, .size = range->size};
    return true;
}

bool gufo_tensor_groups_member(const gufo_tensor_groups *groups, uint64_t index, uint64_t member,
                               uint64_t *tensor)
{
    if (index >= groups->range_count || member >= groups->ranges[index].count)
        return false;
    *tensor = groups->items[groups->ranges[index].begin + member].index;
    return true;
}

/* "0-2,5" */
static bool add_numbers(gufo_text *text, const group_item *items, uint64_t count)
{
    char number[GUFO_NUMBER_SIZE];
    bool added = true;

    for (uint64_t i = 0, next; i < count && added; i = next) {
        for (next = i + 1; next < count && items[next].number <= items[next - 1].number + 1;)
            next++;
        added = (i == 0 || text_add(text, ",", 1)) &&
                text_add(text, number, gufo_number_u64(number, items[i].number));
        if (added && items[next - 1].number > items[i].number)
            added = text_add(text, "-", 1) &&
                    text_add(text, number, gufo_number_u64(number, items[next - 1].number));
    }
    return added;
}

gufo_status gufo_tensor_groups_name(const gufo_tensor_groups *groups, uint64_t index,
                                    gufo_text *name, gufo_error *error)
{
    const item_range *range;
    name_parts parts;
    bool added;

    name->len = 0;
    if (index >= groups->range_count)
        return refuse(error, GUFO_E_RANGE, "group %s is past the last one", GROUPED(index));
    range = &groups->ranges[index];
    parts = split_name(tensor_of(groups, range->first).name);
    added = text_add(name, parts.before.data, parts.before.len);
    if (added && parts.has_number)
        added = add_numbers(name, &groups->items[range->begin], range->count) &&
                text_add(name, parts.after.data, parts.after.len);
    return added ? GUFO_OK : fail_memory(error);
}
