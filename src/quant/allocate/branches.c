/* Branches: one for each choice of the largest group.
 *
 * A group that is a large part of the whole, such as a tied embedding, makes the bound weak: the relaxed
 * problem divides it, and no plan can.  With its choice given, what is left is much closer to its bound.
 * So each of its choices is a branch with a relaxed problem of its own.  All branches offer a first plan;
 * then those whose bound is not above the best plan are searched, the lowest bound first.
 *
 *     choice      0      1      2      3      4
 *     bound      91     47     40     43     58
 *     plan       92     48     44     45     58       best: 44
 *     search                   1st    2nd              the others cannot be better */
#include "quant/allocate/problem.h"

/* A group with more choices makes no branches. */
enum { BRANCHES = 64 };

/* The group whose choices differ most in bytes: the first of several. */
static uint32_t largest_group(const allocate_problem *p)
{
    uint32_t found = ALLOCATE_NONE;
    uint64_t most = 0;

    for (uint64_t g = 0; g < p->count; g++) {
        uint32_t last = p->groups[g].count - 1;
        uint64_t range = allocate_choice_of(p, g, last)->bytes - allocate_choice_of(p, g, 0)->bytes;

        if (range > most) {
            most = range;
            found = (uint32_t)g;
        }
    }
    return found != ALLOCATE_NONE && p->groups[found].count <= BRANCHES ? found : ALLOCATE_NONE;
}

/* Whether a plan of the branch may be as good as the best one. */
static bool is_open(const allocate_problem *p)
{
    if (p->worth_bytes == 0)
        return false; /* its best plan was offered */
    return p->relaxed_loss <= p->best_loss ||
           !wide_less(wide_product(p->left, p->worth_loss),
                      wide_product(p->relaxed_loss - p->best_loss, p->worth_bytes));
}

/* The branch with the lowest bound; BRANCHES if none is left. */
static uint32_t next_branch(const uint64_t bounds[BRANCHES], uint64_t count)
{
    uint32_t found = BRANCHES;
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        if (bounds[i] < least) {
            least = bounds[i];
            found = i;
        }
    }
    return found;
}

static gufo_status search(allocate_problem *p, const hulls *h, uint32_t group, gufo_error *error)
{
    uint64_t bounds[BRANCHES]; /* UINT64_MAX: nothing to search, or searched */
    gufo_status status = GUFO_OK;

    p->branches = group != ALLOCATE_NONE ? p->groups[group].count : 1;
    for (uint32_t i = 0; i < p->branches; i++) {
        bounds[i] = UINT64_MAX;
        if (!relaxed_solve(p, h, group, i))
            continue;
        relaxed_offer_plan(p, h);
        if (p->worth_bytes > 0)
            bounds[i] = p->bound;
    }
    for (uint32_t i; status == GUFO_OK && (i = next_branch(bounds, p->branches)) < BRANCHES;
         p->branches_done++) {
        bounds[i] = UINT64_MAX;
        if (relaxed_solve(p, h, group, i) && is_open(p))
            status = states_search(p, error);
    }
    return status;
}

gufo_status branches_search(allocate_problem *p, gufo_error *error)
{
    hulls h;
    gufo_status status = hulls_make(&h, p, error);
    uint64_t bound = 0;

    if (status == GUFO_OK && relaxed_solve(p, &h, ALLOCATE_NONE, 0)) {
        bound = p->bound;
        relaxed_offer_plan(p, &h);
        if (p->worth_bytes > 0) /* else all groups have their least loss */
            status = search(p, &h, largest_group(p), error);
    }
    p->bound = bound;
    hulls_free(&h, p);
    return status;
}
