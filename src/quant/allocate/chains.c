/* What the states of the search chose.
 *
 * A state is the relaxed plan with some changes, which hang together as a chain: each link knows the
 * one before it.  States that come from one share its links:
 *
 *     stage      0       1       2
 *              link <- link <- link      a state that changed three groups
 *                   <- ------- link      one that changed the first and the last of these */
#include "quant/allocate/problem.h"

#include "base/memory.h"

bool chain_add(chains *c, const allocate_problem *p, chain_link link)
{
    chain_link *links = c->count < CHAIN_END
                            ? mem_grow(p->allocator, c->links, c->count, &c->room, sizeof *links)
                            : NULL;

    if (links == NULL)
        return false;
    c->links = links;
    links[c->count++] = link;
    return true;
}

static const chain_link *link_at(const chains *c, uint32_t at)
{
    return at == CHAIN_END ? NULL : &c->links[at];
}

/* The caller's option for the group of a stage: the one that a link chose, if it is of that stage. */
static uint32_t option_of(const core *open, const allocate_problem *p, const chain_link *link,
                          uint32_t stage)
{
    uint32_t group = open->groups[stage].group;
    bool changes = link != NULL && link->stage == stage;

    return allocate_choice_of(p, group, changes ? link->choice : p->groups[group].relaxed)->option;
}

/* Walks both chains back until they meet, stage by stage, to the first group in which they differ. */
bool chain_before(const chains *c, const core *open, allocate_problem *p, uint32_t a, uint32_t b)
{
    uint32_t first = UINT32_MAX;
    bool before = false;

    while (a != b) {
        const chain_link *x = link_at(c, a), *y = link_at(c, b);
        uint32_t stage = x == NULL || (y != NULL && y->stage > x->stage) ? y->stage : x->stage;
        uint32_t ours = option_of(open, p, x, stage), theirs = option_of(open, p, y, stage);

        p->states++;
        if (ours != theirs && open->groups[stage].group < first) {
            first = open->groups[stage].group;
            before = ours < theirs;
        }
        if (x != NULL && x->stage == stage)
            a = x->before;
        if (y != NULL && y->stage == stage)
            b = y->before;
    }
    return before;
}

void chain_take(const chains *c, const core *open, allocate_problem *p, uint32_t end)
{
    for (uint64_t g = 0; g < p->count; g++)
        p->groups[g].best = p->groups[g].relaxed;
    for (const chain_link *link; (link = link_at(c, end)) != NULL; end = link->before)
        p->groups[open->groups[link->stage].group].best = link->choice;
}
