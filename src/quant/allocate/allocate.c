/* gufo_allocate: arguments and result.  problem.h names the steps between them. */
#include "quant/allocate/problem.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/run.h"

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
