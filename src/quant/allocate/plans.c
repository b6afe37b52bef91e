/* Which plan is the best: the least loss, then the fewest bytes, then the lower option of the first group
 * in which two plans differ. */
#include "quant/allocate/problem.h"

/* Whether the tried plan comes before the best one by its options. */
static bool comes_first(const allocate_problem *p)
{
    for (uint64_t g = 0; g < p->count; g++) {
        const allocate_group *group = &p->groups[g];

        if (group->tried != group->best)
            return allocate_choice_of(p, g, group->tried)->option <
                   allocate_choice_of(p, g, group->best)->option;
    }
    return false;
}

void plan_offer(allocate_problem *p)
{
    uint64_t loss = 0, bytes = 0;

    for (uint64_t g = 0; g < p->count; g++) {
        loss += allocate_choice_of(p, g, p->groups[g].tried)->loss;
        bytes += allocate_choice_of(p, g, p->groups[g].tried)->bytes;
    }
    if (loss > p->best_loss || (loss == p->best_loss && bytes > p->best_bytes) ||
        (loss == p->best_loss && bytes == p->best_bytes && !comes_first(p)))
        return;
    p->best_loss = loss;
    p->best_bytes = bytes;
    for (uint64_t g = 0; g < p->count; g++)
        p->groups[g].best = p->groups[g].tried;
}
