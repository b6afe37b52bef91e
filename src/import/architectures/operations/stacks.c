/* Tensors that become one.  Members are a list for each stack, so that memory follows the tensors that
 * are there, not those that a configuration promises. */
#include "import/containers/checkpoint.h"
#include "import/architectures/operations/operation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

/* ---- life ----------------------------------------------------------------------------------- */

static gufo_str key_at(const void *owner, uint64_t index)
{
    const stacks *s = owner;

    return gufo_str_of(s->list[index].key);
}

gufo_status stacks_open(stacks *s, const gufo_allocator *a, gufo_error *error)
{
    *s = (stacks){.allocator = a};
    return name_index_new(&s->by_key, 0, key_at, s, a, error);
}

void stacks_close(stacks *s)
{
    if (s->allocator == NULL)
        return;
    for (uint64_t i = 0; i < s->member_count; i++)
        view_free(&s->members[i].view);
    mem_free(s->allocator, s->list);
    mem_free(s->allocator, s->members);
    name_index_free(&s->by_key, s->allocator);
    *s = (stacks){0};
}

/* ---- adding --------------------------------------------------------------------------------- */

/* The stack of a place, which is made if it does not exist. */
static gufo_status find_stack(stacks *s, const stack_place *place, uint64_t *number,
                              gufo_error *error)
{
    stack empty = {.rule = place->rule,
                   .block = place->block,
                   .entries = place->entries,
                   .rules = place->rules};
    stack *list;
    uint64_t ignored;
    gufo_status status;

    (void)snprintf(empty.key, sizeof empty.key, "%.*s/%" PRIu64 "%.*s", (int)place->group.len,
                   place->group.data, place->block, (int)place->suffix.len, place->suffix.data);
    if (name_index_find(&s->by_key, gufo_str_of(empty.key), number))
        return GUFO_OK;
    list = mem_grow(s->allocator, s->list, s->count, &s->room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    s->list = list;
    list[s->count] = empty;
    status = name_index_grow(&s->by_key, s->count, s->allocator, error);
    if (status != GUFO_OK)
        return status;
    *number = s->count++;
    (void)name_index_add(&s->by_key, *number, &ignored);
    return GUFO_OK;
}

gufo_status stacks_add(stacks *s, item *it, const stack_place *place, uint64_t *full,
                       gufo_error *error)
{
    uint64_t number, all;
    stack_member *members;
    stack *to;
    gufo_status status = find_stack(s, place, &number, error);

    *full = UINT64_MAX;
    if (status != GUFO_OK)
        return status;
    if (place->entry >= place->entries || it->n_views != 1)
        return refuse(error, GUFO_E_ARGUMENT,
                      "it is number %" PRIu64 ", but the configuration has %" PRIu64, place->entry,
                      place->entries);
    members = mem_grow(s->allocator, s->members, s->member_count, &s->member_room, sizeof *members);
    if (members == NULL)
        return fail_memory(error);
    s->members = members;
    to = &s->list[number];
    if (to->entries != place->entries || !checked_mul(to->entries, to->rules, &all))
        return refuse(error, GUFO_E_ARGUMENT, "it is one of a stack of another size");
    members[s->member_count] = (stack_member){.view = it->views[0],
                                              .from = it->from,
                                              .entry = place->entry,
                                              .rank = place->rank,
                                              .next = to->last};
    it->views[0] = (view){0};
    it->n_views = 0;
    it->fate = ITEM_WAITS;
    to->last = ++s->member_count;
    if (++to->count == all)
        *full = number;
    return GUFO_OK;
}

/* ---- taking --------------------------------------------------------------------------------- */

static gufo_status add_axis(view *v, gufo_error *error)
{
    uint64_t shape[VIEW_DIMS] = {1};

    if (v->n_dims >= VIEW_DIMS)
        return refuse(error, GUFO_E_ARGUMENT, "it has too many dimensions for a stack");
    memcpy(shape + 1, v->shape, v->n_dims * sizeof *shape);
    return view_reshape(v, v->n_dims + 1, shape, error);
}

/* The members of a rule, as numbers + 1, in the order of their entries. */
static gufo_status order_members(const stacks *s, const stack *of, uint32_t rank, uint64_t *order,
                                 gufo_error *error)
{
    for (uint64_t at = of->last; at != 0; at = s->members[at - 1].next) {
        const stack_member *m = &s->members[at - 1];

        if (m->rank != rank)
            continue;
        if (order[m->entry] != 0)
            return refuse(error, GUFO_E_ARGUMENT, "number %" PRIu64 " of its stack is %s, too",
                          m->entry, QUOTED(s->members[order[m->entry] - 1].from->name));
        order[m->entry] = at;
    }
    return GUFO_OK;
}

static gufo_status join_members(stacks *s, const uint64_t *order, uint64_t count, bool new_axis,
                                view *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        view *v = &s->members[order[i] - 1].view;

        if (new_axis)
            status = add_axis(v, error);
        if (status != GUFO_OK)
            return status;
        if (i == 0) {
            *out = *v;
            *v = (view){0};
            continue;
        }
        status = view_append(out, v, 0, error);
        view_free(v);
    }
    return status;
}

gufo_status stacks_take(stacks *s, uint64_t number, uint32_t rank, bool new_axis, view *out,
                        const checkpoint_tensor **from, gufo_error *error)
{
    const stack *of = &s->list[number];
    uint64_t *order = mem_array(s->allocator, of->entries, sizeof *order);
    gufo_status status;

    if (order == NULL)
        return fail_memory(error);
    memset(order, 0, (size_t)of->entries * sizeof *order);
    *from = s->members[of->last - 1].from;
    status = order_members(s, of, rank, order, error);
    for (uint64_t i = 0; i < of->entries && status == GUFO_OK; i++)
        if (order[i] ==
            0) /* as many as wanted, but one comes twice: it is found as that elsewhere */
            status =
                refuse(error, GUFO_E_ARGUMENT, "number %" PRIu64 " of its stack is missing", i);
    if (status == GUFO_OK)
        *from = s->members[order[0] - 1].from;
    if (status == GUFO_OK)
        status = join_members(s, order, of->entries, new_axis, out, error);
    mem_free(s->allocator, order);
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

uint64_t stacks_members(const stacks *s, uint64_t number, uint32_t rank)
{
    uint64_t count = 0;

    for (uint64_t at = s->list[number].last; at != 0; at = s->members[at - 1].next)
        count += s->members[at - 1].rank == rank;
    return count;
}

bool stacks_full(const stack *of)
{
    return of->count / of->rules == of->entries && of->count % of->rules == 0;
}

gufo_status stacks_refuse(const stacks *s, uint64_t number, uint64_t count, const checkpoint *c,
                          gufo_str target, gufo_error *error)
{
    const stack *of = &s->list[number];
    const checkpoint_tensor *one = s->members[of->last - 1].from;

    return checkpoint_refuse(c, one, GUFO_E_MALFORMED, error,
                             "tensor %s is one of %s that become %s, but only %s are there",
                             QUOTED(one->name), GROUPED(of->entries), QUOTED(target),
                             GROUPED(count));
}

const char *stacks_suffix(const stack *of)
{
    const char *dot = strchr(of->key, '.');

    return dot != NULL ? dot : "";
}

/* ---- the end -------------------------------------------------------------------------------- */

gufo_status stacks_check(const stacks *s, const checkpoint *c, const tensor_rules *rules,
                         gufo_error *error)
{
    for (uint64_t i = 0; i < s->count; i++) {
        const stack *of = &s->list[i];
        const checkpoint_tensor *one;
        gufo_str target = rules->list[of->rule].targets[0];

        if (stacks_full(of))
            continue;
        one = s->members[of->last - 1].from;
        return checkpoint_refuse(
            c, one, GUFO_E_MALFORMED, error,
            "tensor %s is one of %s x %" PRIu32 " that become %s, but only %s are there",
            QUOTED(one->name), GROUPED(of->entries), of->rules, QUOTED(target), GROUPED(of->count));
    }
    return GUFO_OK;
}
