/* What the bound leaves open.
 *
 * With a byte's worth s, the relaxed plan has the least loss + s * bytes of all plans.  A change of one
 * group away from it costs
 *
 *     cost = (loss added) + s * (bytes added)        which is never negative
 *
 * and a plan is worse than the bound by the costs of all its changes and the worth of the bytes that it
 * leaves.  So a change that costs more than the gap between the best plan and the bound is in no better
 * plan.  Mostly few changes of few groups remain.
 *
 * A plan that has bytes to spare, or too many of them, pays for these, too: each is left at its worth, or
 * added or removed by a change of another group at that change's rate.  Groups with low rates come
 * first: the search changes them freely, and afterwards every byte away from the budget costs much.
 *
 * Costs are exact as products with worth_bytes, in 128 bits; for the search they are shifted until the
 * gap fits into 62 bits: costs and rates rounded down, the gap rounded up, so that no good plan is
 * lost. */
#include "quant/allocate/problem.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

enum { GAP_BITS = 62, RATE_BITS = 62 };

/* (best_loss - bound) * worth_bytes, which is not negative.  The first plan is not worse than the relaxed
 * one, whose loss is above the bound by the worth of what it leaves. */
static wide gap_of(const allocate_problem *p)
{
    return wide_difference(wide_product(p->left, p->worth_loss),
                           wide_product(p->relaxed_loss - p->best_loss, p->worth_bytes));
}

void core_close_gap(core *c, const allocate_problem *p)
{
    c->gap = wide_shifted(gap_of(p), c->shift) + (c->shift > 0);
}

/* Of a change; it cannot be negative, because the relaxed choice is the best one at that worth. */
static wide cost_of(const allocate_problem *p, const allocate_choice *from,
                    const allocate_choice *to)
{
    if (to->bytes > from->bytes)
        return wide_difference(wide_product(to->bytes - from->bytes, p->worth_loss),
                               wide_product(from->loss - to->loss, p->worth_bytes));
    return wide_difference(wide_product(to->loss - from->loss, p->worth_bytes),
                           wide_product(from->bytes - to->bytes, p->worth_loss));
}

/* The cost of each byte, at most a byte's worth: with RATE_BITS bits, as rate_left. */
static uint64_t rate_of(const core *c, const allocate_problem *p, wide cost, uint64_t bytes)
{
    unsigned scale = c->rate_bits - c->shift;

    if (!wide_less(cost, wide_product(bytes, p->worth_loss)))
        return c->rate_left;
    /* cost < bytes * worth_loss < 2^63 * 2^(RATE_BITS - scale) */
    return wide_quotient(wide_scaled(cost, scale), bytes);
}

static void add_change(core *c, const allocate_problem *p, core_group *open, uint32_t choice,
                       wide gap)
{
    const allocate_choice *from =
        allocate_choice_of(p, open->group, p->groups[open->group].relaxed);
    const allocate_choice *to = allocate_choice_of(p, open->group, choice);
    bool adds = to->bytes > from->bytes;
    uint64_t bytes = adds ? to->bytes - from->bytes : from->bytes - to->bytes;
    uint64_t *rate = adds ? &open->rate_added : &open->rate_removed;
    wide cost = cost_of(p, from, to);
    core_change *change = &c->changes[open->first + open->count];

    if (wide_less(gap, cost))
        return;
    *change = (core_change){.bytes = to->bytes - from->bytes,
                            .loss = to->loss - from->loss,
                            .cost = wide_shifted(cost, c->shift),
                            .choice = choice};
    *rate = smaller(*rate, rate_of(c, p, cost, bytes));
    open->least = smaller(open->least, change->cost);
    open->count++;
}

/* Adds the groups that have open changes. */
static void add_groups(core *c, const allocate_problem *p)
{
    wide gap = gap_of(p);
    uint64_t changes = 0;

    for (uint64_t g = 0; g < p->count; g++) {
        core_group *open = &c->groups[c->count];

        if (p->groups[g].count == 1 || g == p->branch_group)
            continue;
        *open = (core_group){.group = (uint32_t)g,
                             .first = changes,
                             .least = UINT64_MAX,
                             .rate_added = c->rate_left,
                             .rate_removed = c->rate_left};
        for (uint32_t i = 0; i < p->groups[g].count; i++)
            if (i != p->groups[g].relaxed)
                add_change(c, p, open, i, gap);
        open->rate = smaller(open->rate_added, open->rate_removed);
        changes += open->count;
        c->count += open->count > 0;
    }
}

static bool group_before(const void *a, const void *b)
{
    const core_group *x = a, *y = b;

    return x->rate != y->rate ? x->rate < y->rate : x->group < y->group;
}

static void sort_groups(core *c)
{
    sort_items(c->groups, (size_t)c->count, sizeof *c->groups, group_before);
    for (uint64_t i = c->count; i-- > 1;) {
        core_group *group = &c->groups[i - 1];

        group->rate_added = smaller(group->rate_added, group[1].rate_added);
        group->rate_removed = smaller(group->rate_removed, group[1].rate_removed);
    }
}

gufo_status core_make(core *c, const allocate_problem *p, gufo_error *error)
{
    unsigned gap_bits = wide_bits(gap_of(p)),
             scale = RATE_BITS - wide_bits((wide){0, p->worth_loss});

    *c = (core){.shift = gap_bits > GAP_BITS ? gap_bits - GAP_BITS : 0,
                .rate_left = p->worth_loss << scale};
    c->rate_bits = c->shift + scale;
    c->groups = mem_array(p->allocator, p->count + 1, sizeof *c->groups);
    c->changes = mem_array(p->allocator, p->choice_count, sizeof *c->changes);
    if (c->groups == NULL || c->changes == NULL) {
        core_free(c, p);
        return fail_memory(error);
    }
    core_close_gap(c, p);
    add_groups(c, p);
    sort_groups(c);
    return GUFO_OK;
}

void core_free(core *c, const allocate_problem *p)
{
    mem_free(p->allocator, c->groups);
    mem_free(p->allocator, c->changes);
}
