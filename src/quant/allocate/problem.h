/* The allocation, the interface inside the folder.  Its files, in the order in which they run:
 *
 *     allocate.c   the function of the library: arguments, result; losses as whole numbers, the choices of
 *                  each group that none dominates; one branch for each choice of the largest group, and
 *                  what they share: the best plan
 *     relaxed.c    the relaxed problem: the bound, the worth of a byte, a first plan
 *     core.c       the groups and choices that the bound leaves open
 *     states.c     the search over them: the optimum, what its states chose; which plan is the best one
 *
 * Losses and bytes of all plans fit into 63 bits, so that products of the two fit into 126. */
#ifndef GUFO_QUANT_ALLOCATE_PROBLEM_H
#define GUFO_QUANT_ALLOCATE_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "gufo/target_size.h"

/* ---- numbers of 128 bits --------------------------------------------------------------------- */

/* Whole numbers of 128 bits, for products of two of 64: not every machine that gufo runs on has
 * them.  Results must fit, except where a comment says more. */
typedef struct wide {
    uint64_t high, low;
} wide;

static inline wide wide_product(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (uint32_t)middle;

    return (wide){a_high * b_high + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

static inline wide wide_sum(wide a, wide b)
{
    uint64_t low = a.low + b.low;

    return (wide){a.high + b.high + (low < a.low), low};
}

/* `b` is not larger than `a`. */
static inline wide wide_difference(wide a, wide b)
{
    return (wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

/* Whether a < b. */
static inline bool wide_less(wide a, wide b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* How many bits the number takes: 0 for 0. */
static inline unsigned wide_bits(wide a)
{
    unsigned bits = 0;

    for (uint64_t rest = a.high != 0 ? a.high : a.low; rest != 0; rest >>= 1)
        bits++;
    return a.high != 0 ? bits + 64 : bits;
}

/* The number divided by 2^bits (less than 128) and rounded down; UINT64_MAX for more than that. */
static inline uint64_t wide_shifted(wide a, unsigned bits)
{
    if (bits >= 64)
        return a.high >> (bits - 64);
    if (a.high >> bits != 0)
        return UINT64_MAX;
    return bits == 0 ? a.low : a.low >> bits | a.high << (64 - bits);
}

/* The number times 2^bits (less than 64). */
static inline wide wide_scaled(wide a, unsigned bits)
{
    return (wide){bits == 0 ? a.high : a.high << bits | a.low >> (64 - bits), a.low << bits};
}

/* The number divided by `b` and rounded down.  `b` is below 2^63 and larger than a.high, so that the
 * result fits. */
static inline uint64_t wide_quotient(wide a, uint64_t b)
{
    uint64_t rest = a.high, quotient = 0;

    for (unsigned bit = 64; bit-- > 0;) {
        rest = rest << 1 | (a.low >> bit & 1);
        quotient = quotient << 1 | (rest >= b);
        rest -= rest >= b ? b : 0;
    }
    return quotient;
}

/* ---- the problem ---------------------------------------------------------------------------- */

#define ALLOCATE_NONE UINT32_MAX

/* An option that no other one of its group dominates. */
typedef struct allocate_choice {
    uint64_t bytes, loss; /* in units */
    uint32_t option;      /* of the caller */
} allocate_choice;

typedef struct allocate_group {
    uint64_t first; /* of its choices, which ascend by bytes and descend by loss */
    uint32_t count;
    uint32_t relaxed; /* the choice in the relaxed problem; the smaller one of a divided group */
    uint32_t tried;   /* the choice in a plan that plan_offer compares with the best one */
    uint32_t best;    /* the choice in the best plan so far */
} allocate_group;

typedef struct allocate_problem {
    const gufo_allocator *allocator;
    const gufo_run *run;
    allocate_group *groups;
    uint64_t count;
    allocate_choice *choices; /* of all groups */
    uint64_t choice_count;
    uint64_t budget;
    uint64_t least_bytes, most_loss; /* of the plan of all smallest choices */
    int exponent;                    /* a loss in units is a loss times 2^exponent */

    /* Of the relaxed problem of a branch: of all plans with one choice of one group. */
    uint32_t branch_group;            /* ALLOCATE_NONE: of all plans */
    uint64_t worth_loss, worth_bytes; /* worth_bytes bytes more are worth worth_loss; 0 bytes: more
                                       * bytes than the relaxed plan has are worth nothing */
    uint64_t relaxed_loss, left;      /* of the plan without the division, and what it leaves */
    uint64_t bound;                   /* rounded down */

    uint64_t best_loss, best_bytes; /* of the best plan so far; UINT64_MAX: none yet */
    uint64_t states;                /* that the search made, and links that it compared */
    uint64_t limit;                 /* of states, for a complete search */
    uint64_t branches, branches_done;
    bool is_thinned; /* the search was not complete */
} allocate_problem;

static inline const allocate_choice *allocate_choice_of(const allocate_problem *p, uint64_t group,
                                                        uint32_t choice)
{
    return &p->choices[p->groups[group].first + choice];
}

/* ---- relaxed.c ------------------------------------------------------------------------------ */

typedef struct hull_step {
    uint64_t bytes, loss; /* added, saved: neither is 0 */
    uint32_t group;
    uint32_t from, to; /* choices */
} hull_step;

/* The steps of all groups. */
typedef struct hulls {
    hull_step *steps;
    uint32_t *order; /* by slope */
    uint64_t count;
} hulls;

/* hulls_free frees it, also after a failure. */
gufo_status hulls_make(hulls *h, const allocate_problem *p, gufo_error *error);
void hulls_free(hulls *h, const allocate_problem *p);

/* Solves the relaxed problem of a branch, ALLOCATE_NONE for all plans; false if none has so few bytes. */
bool relaxed_solve(allocate_problem *p, const hulls *h, uint32_t group, uint32_t choice);
/* Offers a first plan of the branch: it is not worse than the relaxed one. */
void relaxed_offer_plan(allocate_problem *p, const hulls *h);

/* ---- plans.c -------------------------------------------------------------------------------- */

/* Makes the plan of the groups' `tried` the best one if it is better, or the first of equal ones. */
void plan_offer(allocate_problem *p);

/* ---- core.c --------------------------------------------------------------------------------- */

/* A choice that differs from the relaxed one of its group. */
typedef struct core_change {
    uint64_t bytes, loss; /* what it adds, modulo 2^64 */
    uint64_t cost;        /* as core.gap */
    uint32_t choice;
} core_change;

/* A group that the bound leaves open. */
typedef struct core_group {
    uint32_t group;
    uint32_t count;
    uint64_t first; /* of its changes */
    uint64_t least; /* what the cheapest of them costs */
    uint64_t rate;  /* the least that one of them costs for each byte added or removed */
    /* The same for changes that add, or remove, bytes; of this group and all that follow. */
    uint64_t rate_added, rate_removed;
} core_group;

typedef struct core {
    core_group *groups; /* by ascending rate */
    uint64_t count;
    core_change *changes;
    uint64_t gap; /* what the best plan costs above the bound; one that costs more is not better */
    unsigned shift;
    uint64_t rate_left; /* of bytes that a plan leaves; no other rate is larger */
    unsigned rate_bits; /* rates are costs times 2^rate_bits */
} core;

/* Finds what is left of the problem; core_free frees it. */
gufo_status core_make(core *c, const allocate_problem *p, gufo_error *error);
/* Fits the gap to the best plan, when a better one was found. */
void core_close_gap(core *c, const allocate_problem *p);
void core_free(core *c, const allocate_problem *p);

/* ---- states.c: chains ----------------------------------------------------------------------- */

/* The changes that a state made, the last one first. */
typedef struct chain_link {
    uint32_t before; /* the one made before it, CHAIN_END for none */
    uint32_t stage;  /* the group of the core, whose number ascends along the search */
    uint32_t choice;
} chain_link;

#define CHAIN_END UINT32_MAX

typedef struct chains {
    chain_link *links;
    uint64_t count, room;
} chains;

/* ---- states.c ------------------------------------------------------------------------------- */

/* Finds the best plan of the branch, if it is as good as the best one so far.  The bound of the branch is
 * not above best_loss. */
gufo_status states_search(allocate_problem *p, gufo_error *error);

#endif
