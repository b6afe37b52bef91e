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

/* The stage of a link and one more; 0 for the end. */
static uint32_t depth_of(const chains *c, uint32_t at)
{
    return at == CHAIN_END ? 0 : c->links[at].stage + 1;
}

/* Takes a chain's link of that depth, if it has one, and moves past it: returns the caller's option that
 * the state chose there. */
static uint32_t take_option(const chains *c, const core *open, const allocate_problem *p,
                            uint32_t depth, uint32_t *at)
{
    uint32_t group = open->groups[depth - 1].group, choice = p->groups[group].relaxed;

    if (depth_of(c, *at) == depth) {
        choice = c->links[*at].choice;
        *at = c->links[*at].before;
    }
    return allocate_choice_of(p, group, choice)->option;
}

/* Walks both chains back until they meet, stage by stage, to the first group in which they differ. */
bool chain_before(const chains *c, const core *open, allocate_problem *p, uint32_t a, uint32_t b)
{
    uint32_t first = UINT32_MAX;
    bool before = false;

    while (a != b) {
        uint32_t a_depth = depth_of(c, a), b_depth = depth_of(c, b);
        uint32_t depth = a_depth > b_depth ? a_depth : b_depth;
        uint32_t ours = take_option(c, open, p, depth, &a);
        uint32_t theirs = take_option(c, open, p, depth, &b);

        p->states++;
        if (ours != theirs && open->groups[depth - 1].group < first) {
            first = open->groups[depth - 1].group;
            before = ours < theirs;
        }
    }
    return before;
}

void chain_offer(const chains *c, const core *open, allocate_problem *p, uint32_t end)
{
    for (uint64_t g = 0; g < p->count; g++)
        p->groups[g].tried = p->groups[g].relaxed;
    for (; end != CHAIN_END; end = c->links[end].before)
        p->groups[open->groups[c->links[end].stage].group].tried = c->links[end].choice;
    plan_offer(p);
}
