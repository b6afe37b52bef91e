/* gufo_allocate: arguments, branches, result.  problem.h names the steps between them. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/run.h"
#include "quant/allocate/problem.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* ---- branches ------------------------------------------------------------------------------- */

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

/* Finds the best plan; the budget is not below least_bytes. */
static gufo_status branches_search(allocate_problem *p, gufo_error *error)
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

/* ---- arguments ------------------------------------------------------------------------------ */

/* Reads the problem: checks the options, makes losses whole numbers, and drops what is dominated.
 *
 * An option is dominated if another one has no more bytes and no more loss.  What is left of a group
 * descends by loss while it ascends by bytes:
 *
 *     loss |  o                o  stays
 *          |     x   o         x  dominated by the o at its left or below
 *          |           x
 *          |             o
 *          +------------------ bytes */

/* Sums of losses, and sums of bytes, are below 2^LOSS_BITS and 2^63. */
enum { LOSS_BITS = 62 };

static unsigned bits_of(uint64_t count)
{
    unsigned bits = 0;

    for (; count != 0; count >>= 1)
        bits++;
    return bits;
}

static gufo_status check_group(const gufo_allocate_group *group, uint64_t index, double *largest,
                               gufo_error *error)
{
    if (reserved_check(group->reserved, "gufo_allocate_group", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (group->count == 0)
        return refuse(error, GUFO_E_ARGUMENT, "group %" PRIu64 " has no option", index);
    if (group->is_fixed && group->fixed >= group->count)
        return refuse(error, GUFO_E_ARGUMENT,
                      "group %" PRIu64 " is fixed to option %zu, but has only %zu", index,
                      group->fixed, group->count);
    for (size_t i = 0; i < group->count; i++) {
        double loss = group->options[i].loss;

        if (!(loss >= 0 && loss <= DBL_MAX))
            return refuse(error, GUFO_E_ARGUMENT,
                          "group %" PRIu64 ", option %zu: the loss is %g, not a number from 0 on",
                          index, i, loss);
        if (loss > *largest)
            *largest = loss;
    }
    return GUFO_OK;
}

/* Checks all groups and finds the unit: so small that the largest losses of all groups just fit. */
static gufo_status check_groups(allocate_problem *p, const gufo_allocate_group *groups,
                                uint64_t *options, gufo_error *error)
{
    double largest = 0;
    int exponent = 0, group_bits = (int)bits_of(p->count);

    for (uint64_t i = 0; i < p->count; i++) {
        gufo_status status = check_group(&groups[i], i, &largest, error);

        if (status != GUFO_OK)
            return status;
        if (!checked_add(*options, groups[i].is_fixed ? 1 : groups[i].count, options) ||
            *options > UINT32_MAX)
            return refuse(error, GUFO_E_ARGUMENT, "2^32 options or more");
    }
    (void)frexp(largest, &exponent); /* largest < 2^exponent */
    if (exponent + group_bits > DBL_MAX_EXP)
        return refuse(error, GUFO_E_RANGE, "losses of up to %g are too large to be added up",
                      largest);
    p->exponent = largest > 0 ? LOSS_BITS - group_bits - exponent : 0;
    return GUFO_OK;
}

/* A loss in units, the nearest one; the calls of ldexp and the difference are exact. */
static uint64_t in_units(const allocate_problem *p, double loss)
{
    double scaled = ldexp(loss, p->exponent);
    uint64_t whole = (uint64_t)scaled;

    return scaled - (double)whole >= 0.5 ? whole + 1 : whole;
}

static bool is_before(const void *a, const void *b)
{
    const allocate_choice *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes;
    return x->loss != y->loss ? x->loss < y->loss : x->option < y->option;
}

/* Reads the options of a group into `into` and drops what is dominated; returns how many are left. */
static uint32_t read_group(const allocate_problem *p, const gufo_allocate_group *group,
                           allocate_choice *into)
{
    size_t begin = group->is_fixed ? group->fixed : 0;
    size_t count = group->is_fixed ? 1 : group->count;
    uint32_t kept = 1;

    for (size_t i = 0; i < count; i++)
        into[i] = (allocate_choice){.bytes = group->options[begin + i].bytes,
                                    .loss = in_units(p, group->options[begin + i].loss),
                                    .option = (uint32_t)(begin + i)};
    sort_items(into, count, sizeof *into, is_before);
    for (size_t i = 1; i < count; i++)
        if (into[i].loss < into[kept - 1].loss)
            into[kept++] = into[i];
    return kept;
}

/* ---- the problem ---------------------------------------------------------------------------- */
/* Fills groups, choices and exponent, in memory that problem_free frees, from `p->count` groups of the
 * caller; errors of gufo_allocate. */
static gufo_status problem_read(allocate_problem *p, const gufo_allocate_group *groups,
                                gufo_error *error)
{
    uint64_t options = 0, most_bytes = 0;
    gufo_status status = check_groups(p, groups, &options, error);

    if (status != GUFO_OK)
        return status;
    p->groups = mem_array(p->allocator, p->count, sizeof *p->groups);
    p->choices = mem_array(p->allocator, options, sizeof *p->choices);
    if (p->groups == NULL || p->choices == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < p->count; i++) {
        allocate_choice *choices = p->choices + p->choice_count;
        uint32_t count = read_group(p, &groups[i], choices);

        p->groups[i] = (allocate_group){.first = p->choice_count, .count = count};
        p->choice_count += count;
        p->least_bytes += choices[0].bytes; /* not more than most_bytes */
        p->most_loss += choices[0].loss;
        if (!checked_add(most_bytes, choices[count - 1].bytes, &most_bytes) ||
            most_bytes > INT64_MAX)
            return refuse(error, GUFO_E_RANGE,
                          "the largest options of all groups add up to 2^63 bytes or more");
    }
    return GUFO_OK;
}

static void problem_free(allocate_problem *p)
{
    mem_free(p->allocator, p->groups);
    mem_free(p->allocator, p->choices);
}

/* Solves the problem, which was read. */
static gufo_status solve(allocate_problem *p, gufo_error *error)
{
    if (p->least_bytes > p->budget)
        return refuse(error, GUFO_E_LIMIT,
                      "the budget is %s bytes, and the smallest options take %s",
                      GROUPED(p->budget), GROUPED(p->least_bytes));
    return branches_search(p, error);
}

static void write_result(const allocate_problem *p, size_t *choice, gufo_allocation *out)
{
    *out = (gufo_allocation){
        .loss = ldexp((double)p->best_loss, -p->exponent),
        .bound = ldexp((double)p->bound, -p->exponent),
        .is_proven = !p->is_thinned || p->best_loss == p->bound,
        .unit = ldexp(1, -p->exponent),
        .least_bytes = p->least_bytes,
        .states = p->states,
    };
    for (uint64_t i = 0; i < p->count; i++) {
        const allocate_choice *chosen = allocate_choice_of(p, i, p->groups[i].best);

        choice[i] = chosen->option;
        out->bytes += chosen->bytes;
    }
}

gufo_status gufo_allocate(const gufo_allocate_group *groups, size_t count, uint64_t budget,
                          const gufo_allocate_options *options, size_t *choice,
                          gufo_allocation *out, gufo_error *error)
{
    static const gufo_allocate_options standard = {0};
    const gufo_allocate_options *o = options != NULL ? options : &standard;
    allocate_problem p = {.run = run_of(o->run),
                          .count = count,
                          .budget = budget,
                          .best_loss = UINT64_MAX,
                          .best_bytes = UINT64_MAX};
    gufo_status status = reserved_check(o->reserved, "gufo_allocate_options", error);

    if (status == GUFO_OK)
        status = run_check(p.run, error);
    if (status != GUFO_OK)
        return status;
    p.allocator = run_allocator(p.run);
    p.limit = o->states != 0 ? o->states : GUFO_ALLOCATE_STATES;
    if (p.limit > CHAIN_END)
        p.limit = CHAIN_END;
    status = problem_read(&p, groups, error);
    if (status == GUFO_OK)
        status = solve(&p, error);
    if (status == GUFO_OK)
        write_result(&p, choice, out);
    else if (status == GUFO_E_LIMIT)
        *out = (gufo_allocation){.least_bytes = p.least_bytes};
    problem_free(&p);
    return status;
}
