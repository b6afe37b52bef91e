/* The search: lists of states.
 *
 * A state is a whole plan: the relaxed one with changes of the groups that were searched so far.  The
 * list has all plans that may still become the best one, by ascending bytes.  The next group makes the
 * new list: the old one once without a change and once for each change, merged,
 *
 *     old list          a     b     c
 *     change 1             a'    b'    c'         c' costs more than the gap: dropped
 *     new list          a  a' b  b'  c            b' has more loss than b: dominated
 *
 * without what is dominated (another state has no more bytes and no more loss: every completion of it
 * is as good) or costs more than the gap (core.c).  A state within the budget that has less loss than
 * the best plan is the new best plan and closes the gap.  The optimum is the last state of the last
 * list within the budget: it has the least loss, and with that loss the fewest bytes.
 *
 * A list that becomes too long is thinned out: the rest of the search finds a good plan, without proof.
 *
 * Every list and every decision depend on the problem alone. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/run.h"
#include "quant/allocate/problem.h"

/* ---- plans ---------------------------------------------------------------------------------- */

/* Which plan is the best: the least loss, then the fewest bytes, then the lower option of the first group
 * in which two plans differ. */

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

/* ---- states --------------------------------------------------------------------------------- */

/* What the states of the search chose.
 *
 * A state is the relaxed plan with some changes, which hang together as a chain: each link knows the
 * one before it.  States that come from one share its links:
 *
 *     stage      0       1       2
 *              link <- link <- link      a state that changed three groups
 *                   <- ------- link      one that changed the first and the last of these */

/* Adds a link; false without memory. */
static bool chain_add(chains *c, const allocate_problem *p, chain_link link)
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
static bool chain_before(const chains *c, const core *open, allocate_problem *p, uint32_t a,
                         uint32_t b)
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

/* Offers the plan of a chain. */
static void chain_offer(const chains *c, const core *open, allocate_problem *p, uint32_t end)
{
    for (uint64_t g = 0; g < p->count; g++)
        p->groups[g].tried = p->groups[g].relaxed;
    for (; end != CHAIN_END; end = c->links[end].before)
        p->groups[open->groups[c->links[end].stage].group].tried = c->links[end].choice;
    plan_offer(p);
}

typedef struct plan_state {
    uint64_t bytes, loss; /* of the plan */
    uint64_t cost;        /* of its changes */
    uint32_t end;         /* of the chain of its changes */
} plan_state;

typedef struct state_list {
    plan_state *states;
    uint64_t count, room;
} state_list;

/* The states that one change makes of the old list, in their order; `next` is the first that was not
 * merged yet. */
typedef struct cursor {
    core_change change; /* 0 bytes: none */
    uint64_t at;        /* in the old list */
    plan_state next;    /* its end is that of the old state */
} cursor;

typedef struct search {
    allocate_problem *problem;
    core open;
    chains chains;
    state_list old, new;
    cursor *cursors; /* a heap: the one whose next state comes first is at the root */
    uint64_t cursor_count;
    uint32_t stage;
    uint64_t rate_added, rate_removed; /* of bytes below and above the budget, after this group */
    uint32_t
        best; /* the end of the best plan's chain, if has_best: else it is still the first plan */
    bool has_best;
} search;

/* Whether a state may become the best plan: its changes, and what its bytes to spare or to save cost
 * at least, are within the gap. */
static bool is_open(const search *s, const plan_state *state)
{
    uint64_t budget = s->problem->budget;
    wide rest = state->bytes <= budget ? wide_product(budget - state->bytes, s->rate_added)
                                       : wide_product(state->bytes - budget, s->rate_removed);

    return state->cost <= s->open.gap &&
           wide_shifted(rest, s->open.rate_bits) <= s->open.gap - state->cost;
}

/* Moves a cursor to the next state that is open; false at the end. */
static bool cursor_move(search *s, cursor *c)
{
    while (c->at < s->old.count) {
        const plan_state *from = &s->old.states[c->at++];

        s->problem->states++;
        c->next = (plan_state){.bytes = from->bytes + c->change.bytes,
                               .loss = from->loss + c->change.loss,
                               .cost = from->cost + c->change.cost,
                               .end = from->end};
        if (is_open(s, &c->next))
            return true;
    }
    return false;
}

static bool cursor_before(const cursor *a, const cursor *b)
{
    if (a->next.bytes != b->next.bytes)
        return a->next.bytes < b->next.bytes;
    if (a->next.loss != b->next.loss)
        return a->next.loss < b->next.loss;
    return a->change.choice < b->change.choice;
}

static void sift_down(cursor *heap, uint64_t count, uint64_t root)
{
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        cursor moved = heap[root];

        if (child + 1 < count && cursor_before(&heap[child + 1], &heap[child]))
            child++;
        if (cursor_before(&moved, &heap[child]))
            return;
        heap[root] = heap[child];
        heap[child] = moved;
    }
}

static void start_cursors(search *s, const core_group *group)
{
    s->cursor_count = 0;
    for (uint32_t i = 0; i <= group->count; i++) {
        cursor *c = &s->cursors[s->cursor_count];

        *c = (cursor){.change = {.choice = s->problem->groups[group->group].relaxed}};
        if (i > 0)
            c->change = s->open.changes[group->first + i - 1];
        if (c->change.cost <= s->open.gap)
            s->cursor_count += cursor_move(s, c);
    }
    for (uint64_t i = s->cursor_count / 2; i-- > 0;)
        sift_down(s->cursors, s->cursor_count, i);
}

/* Moves the root past its next state. */
static void advance_root(search *s)
{
    if (!cursor_move(s, &s->cursors[0]))
        s->cursors[0] = s->cursors[--s->cursor_count];
    sift_down(s->cursors, s->cursor_count, 0);
}

/* Adds a link for the change, if any, that made the root's next state. */
static bool link_state(search *s, const cursor *root, plan_state *made)
{
    *made = root->next;
    if (root->change.bytes == 0)
        return true;
    made->end = (uint32_t)s->chains.count;
    return chain_add(
        &s->chains, s->problem,
        (chain_link){.before = root->next.end, .stage = s->stage, .choice = root->change.choice});
}

/* The best plan so far, if it is. */
static void note_best(search *s, const plan_state *state)
{
    allocate_problem *p = s->problem;

    if (state->bytes > p->budget || state->loss >= p->best_loss)
        return;
    p->best_loss = state->loss;
    p->best_bytes = UINT64_MAX; /* a plan with this loss will be offered */
    s->best = state->end;
    s->has_best = true;
    core_close_gap(&s->open, p);
}

/* Puts the root's next state at the end of the new list, unless it is dominated. */
static gufo_status keep_state(search *s, gufo_error *error)
{
    const cursor *root = &s->cursors[0];
    state_list *list = &s->new;
    plan_state made, *last = list->count > 0 ? &list->states[list->count - 1] : NULL, *states;

    if (last != NULL && last->loss <= root->next.loss &&
        (last->loss < root->next.loss || last->bytes < root->next.bytes))
        return GUFO_OK;
    if (!link_state(s, root, &made))
        return fail_memory(error);
    if (last != NULL && last->loss == made.loss) {
        /* Equal: both can be completed alike, and the plan that comes first stays. */
        if (!s->problem->is_thinned &&
            chain_before(&s->chains, &s->open, s->problem, made.end, last->end))
            *last = made;
        return GUFO_OK;
    }
    states =
        mem_grow(s->problem->allocator, list->states, list->count, &list->room, sizeof *states);
    if (states == NULL)
        return fail_memory(error);
    list->states = states;
    states[list->count++] = made;
    note_best(s, &made);
    return GUFO_OK;
}

/* Thins the list out, evenly, if what a group makes of it could exceed the limit: what follows then
 * makes about as many states again at most, and finds a good plan without proof. */
static void keep_limit(search *s, const core_group *group)
{
    allocate_problem *p = s->problem;
    uint64_t room = p->limit > p->states ? p->limit - p->states : 0, cursors = group->count + 1;
    uint64_t kept = larger(p->limit / p->branches / s->open.count / cursors, 1);

    if (s->old.count <= room / cursors)
        return;
    p->is_thinned = true;
    if (s->old.count <= kept)
        return;
    for (uint64_t i = 0; i < kept; i++) /* counts are below 2^32 */
        s->old.states[i] = s->old.states[i * s->old.count / kept];
    s->old.count = kept;
}

/* Makes the new list, and then the old one of it, with the changes of a group. */
static gufo_status search_group(search *s, const core_group *group, gufo_error *error)
{
    bool is_last = s->stage + 1 == s->open.count;
    gufo_status status =
        run_progress(s->problem->run, s->problem->branches_done, s->problem->branches, error);
    state_list made;

    if (status != GUFO_OK)
        return status;
    keep_limit(s, group);
    s->rate_added = is_last ? s->open.rate_left : group[1].rate_added;
    s->rate_removed = is_last ? s->open.rate_left : group[1].rate_removed;
    s->new.count = 0;
    start_cursors(s, group);
    while (status == GUFO_OK && s->cursor_count > 0) {
        status = keep_state(s, error);
        advance_root(s);
    }
    made = s->new;
    s->new = s->old;
    s->old = made;
    return status;
}

/* Offers the best plan of the branch: that of the last state within the budget. */
static void offer_last(search *s)
{
    for (uint64_t i = s->old.count; i-- > 0;) {
        if (s->old.states[i].bytes <= s->problem->budget) {
            chain_offer(&s->chains, &s->open, s->problem, s->old.states[i].end);
            return;
        }
    }
}

static gufo_status search_all(search *s, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (; s->stage < s->open.count && status == GUFO_OK; s->stage++) {
        const core_group *group = &s->open.groups[s->stage];

        if (group->least <= s->open.gap)
            status = search_group(s, group, error);
    }
    if (status != GUFO_OK)
        return status;
    offer_last(s);
    if (s->has_best)
        chain_offer(&s->chains, &s->open, s->problem, s->best);
    return GUFO_OK;
}

/* The first list has one state: the relaxed plan. */
static gufo_status begin(search *s, gufo_error *error)
{
    const allocate_problem *p = s->problem;
    uint64_t most = 0;

    for (uint64_t i = 0; i < s->open.count; i++)
        if (s->open.groups[i].count > most)
            most = s->open.groups[i].count;
    s->cursors = mem_array(p->allocator, most + 1, sizeof *s->cursors);
    s->old.states = mem_grow(p->allocator, NULL, 0, &s->old.room, sizeof *s->old.states);
    if (s->cursors == NULL || s->old.states == NULL)
        return fail_memory(error);
    s->old.states[s->old.count++] =
        (plan_state){.bytes = p->budget - p->left, .loss = p->relaxed_loss, .end = CHAIN_END};
    return GUFO_OK;
}

gufo_status states_search(allocate_problem *p, gufo_error *error)
{
    search s = {.problem = p};
    gufo_status status = core_make(&s.open, p, error);

    if (status != GUFO_OK)
        return status;
    status = begin(&s, error);
    if (status == GUFO_OK)
        status = search_all(&s, error);
    core_free(&s.open, p);
    mem_free(p->allocator, s.cursors);
    mem_free(p->allocator, s.old.states);
    mem_free(p->allocator, s.new.states);
    mem_free(p->allocator, s.chains.links);
    return status;
}
