/* The relaxed problem, in which a group may be divided between two choices.
 *
 * Only the lower convex hull of a group's choices matters then, and it is climbed in steps of falling
 * slope: loss saved for each byte added.
 *
 *     loss |o                 steps: o-o-o-o; x is above the line from one o to the next
 *          | \
 *          |  o_ x
 *          |    `-o__
 *          |         `---o
 *          +--------------- bytes
 *
 * From the smallest choices on, the steps of all groups are taken by slope.  The first that does not
 * fit is divided: what the budget still has room for saves loss at its slope.  That is the optimum of
 * the relaxed problem, and the slope is what a byte is worth there.  Slopes are compared by products,
 * so that nothing is rounded.
 *
 * A first plan continues with the steps after it that fit. */
#include "quant/allocate/problem.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

/* Whether a step saves more for each byte. */
static bool is_steeper(const hull_step *a, const hull_step *b)
{
    return wide_less(wide_product(b->loss, a->bytes), wide_product(a->loss, b->bytes));
}

/* The steepest steps first, of equal ones those of the first group, from its beginning. */
static bool step_before(const void *steps, uint32_t a, uint32_t b)
{
    const hull_step *x = (const hull_step *)steps + a, *y = (const hull_step *)steps + b;

    if (is_steeper(x, y) || is_steeper(y, x))
        return is_steeper(x, y);
    return a < b;
}

static hull_step step_between(const allocate_problem *p, uint64_t group, uint32_t from, uint32_t to)
{
    const allocate_choice *a = allocate_choice_of(p, group, from);
    const allocate_choice *b = allocate_choice_of(p, group, to);

    return (hull_step){.bytes = b->bytes - a->bytes,
                       .loss = a->loss - b->loss,
                       .group = (uint32_t)group,
                       .from = from,
                       .to = to};
}

/* Writes the steps of a group from `steps` on and returns how many there are.  A step that is less
 * steep than the one after it is not on the hull: both become one. */
static uint64_t climb(const allocate_problem *p, uint64_t group, hull_step *steps)
{
    uint64_t count = 0;

    for (uint32_t i = 1; i < p->groups[group].count; i++) {
        hull_step step = step_between(p, group, i - 1, i);

        while (count > 0 && is_steeper(&step, &steps[count - 1]))
            step = step_between(p, group, steps[--count].from, i);
        steps[count++] = step;
    }
    return count;
}

gufo_status hulls_make(hulls *h, const allocate_problem *p, gufo_error *error)
{
    *h = (hulls){.steps = mem_array(p->allocator, p->choice_count, sizeof *h->steps),
                 .order = mem_array(p->allocator, p->choice_count, sizeof *h->order)};
    if (h->steps == NULL || h->order == NULL)
        return fail_memory(error);
    for (uint64_t g = 0; g < p->count; g++)
        h->count += climb(p, g, h->steps + h->count);
    for (uint64_t i = 0; i < h->count; i++)
        h->order[i] = (uint32_t)i;
    sort_indices(h->order, h->count, step_before, h->steps);
    return GUFO_OK;
}

void hulls_free(hulls *h, const allocate_problem *p)
{
    mem_free(p->allocator, h->steps);
    mem_free(p->allocator, h->order);
}

/* The bound: without the worth of the bytes left, which is rounded up. */
static uint64_t bound_of(const allocate_problem *p)
{
    wide saved = wide_product(p->left, p->worth_loss);

    return p->relaxed_loss -
           wide_quotient(wide_sum(saved, (wide){0, p->worth_bytes - 1}), p->worth_bytes);
}

/* Takes the steps by slope until one does not fit, and returns that; NULL: all fit. */
static const hull_step *fill(allocate_problem *p, const hulls *h)
{
    for (uint64_t i = 0; i < h->count; i++) {
        const hull_step *step = &h->steps[h->order[i]];

        if (step->group == p->branch_group)
            continue;
        if (step->bytes > p->left)
            return step;
        p->groups[step->group].relaxed = step->to;
        p->left -= step->bytes;
        p->relaxed_loss -= step->loss;
    }
    return NULL;
}

bool relaxed_solve(allocate_problem *p, const hulls *h, uint32_t group, uint32_t choice)
{
    hull_step jump = {.bytes = 0};
    const hull_step *divided;

    if (group != ALLOCATE_NONE)
        jump = step_between(p, group, 0, choice);
    if (jump.bytes > p->budget - p->least_bytes)
        return false;
    p->branch_group = group;
    p->left = p->budget - p->least_bytes - jump.bytes;
    p->relaxed_loss = p->most_loss - jump.loss;
    for (uint64_t g = 0; g < p->count; g++)
        p->groups[g].relaxed = g == group ? choice : 0;
    divided = fill(p, h);
    p->worth_loss = divided != NULL ? divided->loss : 0;
    p->worth_bytes = divided != NULL ? divided->bytes : 0;
    p->bound = divided != NULL ? bound_of(p) : p->relaxed_loss;
    return true;
}

/* A group whose step does not fit stays where it is. */
void relaxed_offer_plan(allocate_problem *p, const hulls *h)
{
    uint64_t left = p->left;

    for (uint64_t g = 0; g < p->count; g++)
        p->groups[g].tried = p->groups[g].relaxed;
    for (uint64_t i = 0; i < h->count; i++) {
        const hull_step *step = &h->steps[h->order[i]];
        allocate_group *group = &p->groups[step->group];

        if (step->group == p->branch_group || step->bytes > left || group->tried != step->from)
            continue;
        group->tried = step->to;
        left -= step->bytes;
    }
    plan_offer(p);
}
