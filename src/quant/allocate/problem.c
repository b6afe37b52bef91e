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
#include "quant/allocate/problem.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

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

gufo_status problem_read(allocate_problem *p, const gufo_allocate_group *groups, gufo_error *error)
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

void problem_free(allocate_problem *p)
{
    mem_free(p->allocator, p->groups);
    mem_free(p->allocator, p->choices);
}
