/* gufo_allocate against trying everything, against a table of all budgets, and against tables of
 * GUFO_SHARED; odd and hostile problems. */
#include "allocate_cases.h"

#include <float.h>
#include <math.h>

#include "support/allocator.h"
#include "support/pace.h"
#include "support/shared.h"

static allocate_case problem; /* of the test that runs */

static gufo_status run(allocate_case *c, uint64_t budget, const gufo_allocate_options *options,
                       gufo_allocation *out, gufo_error *error)
{
    memset(out, 0xa5, sizeof *out);
    *error = no_error();
    return gufo_allocate(c->groups, c->count, budget, options, c->choice, out, error);
}

/* What must hold for any answer: it is what it says, and within the budget. */
static void check_solution(const allocate_case *c, uint64_t budget, const gufo_allocation *found,
                           const char *label)
{
    uint64_t bytes = 0;
    double loss = 0;

    for (size_t g = 0; g < c->count; g++) {
        const gufo_allocate_group *group = &c->groups[g];

        check(c->choice[g] < group->count, "%s: group %zu", label, g);
        check(!group->is_fixed || c->choice[g] == group->fixed, "%s: fixed group %zu", label, g);
        bytes += group->options[c->choice[g]].bytes;
        loss += group->options[c->choice[g]].loss;
    }
    check_u64(found->bytes, bytes, "%s", label);
    check(bytes <= budget, "%s: more than the budget", label);
    check(fabs(found->loss - loss) <= 1e-12 * loss + (double)c->count * found->unit,
          "%s: loss %g, not %g", label, found->loss, loss);
    check(found->bound <= found->loss, "%s: bound %g, loss %g", label, found->bound, found->loss);
    check_u64(found->least_bytes, c->least, "%s", label);
}

/* ---- trying everything ---------------------------------------------------------------------- */

typedef struct best_choice {
    bool exists;
    double loss;
    uint64_t bytes;
    size_t choice[16];
} best_choice;

/* Choices in the order of the first group, then the second ...: of equal ones the first stays. */
static void try_all(const allocate_case *c, size_t group, best_choice *tried, uint64_t budget,
                    best_choice *best)
{
    const gufo_allocate_group *g = &c->groups[group];
    best_choice before = *tried;

    if (group == c->count) {
        if (tried->bytes <= budget && (!best->exists || tried->loss < best->loss ||
                                       (tried->loss == best->loss && tried->bytes < best->bytes))) {
            *best = *tried;
            best->exists = true;
        }
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        if (g->is_fixed && i != g->fixed)
            continue;
        tried->choice[group] = i;
        tried->loss = before.loss + g->options[i].loss;
        tried->bytes = before.bytes + g->options[i].bytes;
        try_all(c, group + 1, tried, budget, best);
    }
    *tried = before;
}

/* Kinds of options: losses are whole numbers or fractions of 1024, whose sums are exact. */
static void add_random_option(allocate_case *c, unsigned kind, uint64_t i)
{
    uint64_t size;

    switch (kind) {
    case 0: /* each larger one loses about a quarter */
        size = (i + 1) * (100 + case_random(c, 50));
        case_option(c, size, (double)(case_random(c, 100) + (UINT64_C(60000) >> (2 * i))));
        break;
    case 1: /* arbitrary, dominated ones among them */
        case_option(c, case_random(c, 1000), (double)case_random(c, 1000) / 1024);
        break;
    case 2: /* many equal ones; no bytes, no loss */
        case_option(c, case_random(c, 4), (double)case_random(c, 4));
        break;
    case 3: /* the same worth of a byte everywhere */
        size = case_random(c, 300);
        case_option(c, size, (double)(3 * (300 - size)));
        break;
    default: /* groups of very different size */
        size = (UINT64_C(1) << case_random(c, 30)) + case_random(c, 9);
        case_option(c, size, ldexp((double)case_random(c, 1 << 20), (int)case_random(c, 30)));
        break;
    }
}

static void make_random(allocate_case *c, unsigned kind, bool fixes)
{
    size_t groups = (size_t)case_random(c, 6), options = kind == 2 ? 3 : 4;

    case_clear(c);
    for (size_t g = 0; g < groups; g++) {
        gufo_allocate_group *group = case_group(c);
        uint64_t count = 1 + case_random(c, options);

        for (uint64_t i = 0; i < count; i++)
            add_random_option(c, kind, i);
        if (fixes && case_random(c, 3) == 0) {
            group->is_fixed = true;
            group->fixed = (size_t)case_random(c, count);
        }
    }
    case_add_up(c);
}

static void check_against_all(allocate_case *c, uint64_t budget, const char *label)
{
    best_choice best = {.exists = false}, tried = {.loss = 0};
    gufo_allocation found;
    gufo_error error;
    gufo_status status = run(c, budget, NULL, &found, &error);

    try_all(c, 0, &tried, budget, &best);
    if (!best.exists) {
        check_status(status, GUFO_E_LIMIT, &error, "%s", label);
        check_u64(found.least_bytes, c->least, "%s", label);
        return;
    }
    check_ok(status, &error, "%s", label);
    check_solution(c, budget, &found, label);
    check(found.is_proven, "%s", label);
    check(found.loss == best.loss, "%s: loss %.17g, not %.17g", label, found.loss, best.loss);
    for (size_t g = 0; g < c->count; g++)
        check_u64(c->choice[g], best.choice[g], "%s: group %zu", label, g);
}

static void test_random(void **state)
{
    unsigned count = all_some_or_few(20000, 5000, 500);

    (void)state;
    problem.random = 1;
    for (unsigned i = 0; i < count; i++) {
        char label[32];
        uint64_t budget;

        snprintf(label, sizeof label, "problem %u", i);
        make_random(&problem, i % 5, i % 7 == 0);
        budget = problem.least + case_random(&problem, problem.most - problem.least + 2);
        if (budget > 0 && i % 11 == 0)
            budget = problem.least - (problem.least > 0 && i % 2 == 0);
        check_against_all(&problem, budget, label);
    }
}

/* ---- examples ------------------------------------------------------------------------------- */

static const gufo_allocate_option example[3][3] = {
    {{144000, 500}, {176000, 130}, {210000, 30}},
    {{576000, 400}, {704000, 100}, {840000, 25}},
    {{288000, 90}, {352000, 25}, {420000, 6}},
};

static void make_example(allocate_case *c)
{
    case_clear(c);
    for (size_t g = 0; g < 3; g++) {
        (void)case_group(c);
        for (size_t i = 0; i < 3; i++)
            case_option(c, example[g][i].bytes, example[g][i].loss);
    }
    case_add_up(c);
}

static void test_example(void **state)
{
    static const struct row {
        uint64_t budget, bytes;
        double loss, bound;
        size_t choice[3];
    } rows[] = {
        {1168000, 1168000, 320, 299.6875, {1, 1, 0}}, {1150000, 1138000, 455, 341.875, {2, 0, 1}},
        {1008000, 1008000, 990, 990, {0, 0, 0}},      {1470000, 1470000, 61, 61, {2, 2, 2}},
        {UINT64_MAX, 1470000, 61, 61, {2, 2, 2}},
    };

    (void)state;
    make_example(&problem);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        gufo_allocation found;
        gufo_error error;

        check_ok(run(&problem, row->budget, NULL, &found, &error), &error, "row %zu", i);
        check_solution(&problem, row->budget, &found, "example");
        check_u64(found.bytes, row->bytes, "row %zu", i);
        check(found.is_proven && found.loss == row->loss, "row %zu: %g", i, found.loss);
        check(fabs(found.bound - row->bound) < 1e-9, "row %zu: bound %.9f", i, found.bound);
        for (size_t g = 0; g < 3; g++)
            check_u64(problem.choice[g], row->choice[g], "row %zu, group %zu", i, g);
    }
}

static void test_no_group(void **state)
{
    gufo_allocation found;
    gufo_error error = no_error();

    (void)state;
    check_ok(gufo_allocate(NULL, 0, 0, NULL, NULL, &found, &error), &error, "no group");
    check(found.is_proven && found.loss == 0 && found.bytes == 0, "no group");
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_refused(void **state)
{
    static const struct row {
        const char *label;
        gufo_allocate_option options[2]; /* of a group beside one of 1 byte, 1 loss */
        size_t count, fixed;             /* fixed: 0 for none, else an option from 1 */
        gufo_status status;
    } rows[] = {
        {"no option", {{0, 0}}, 0, 0, GUFO_E_ARGUMENT},
        {"fixed option", {{0, 0}, {1, 1}}, 2, 3, GUFO_E_ARGUMENT},
        {"negative", {{0, 0}, {1, -1}}, 2, 0, GUFO_E_ARGUMENT},
        {"smallest negative", {{0, -0x1p-1074}}, 1, 0, GUFO_E_ARGUMENT},
        {"infinite", {{0, 0}, {1, INFINITY}}, 2, 0, GUFO_E_ARGUMENT},
        {"not a number", {{0, NAN}}, 1, 0, GUFO_E_ARGUMENT},
        {"not fixed, and negative", {{0, 0}, {1, -1}}, 2, 1, GUFO_E_ARGUMENT},
        {"sum of losses", {{0, DBL_MAX}}, 1, 0, GUFO_E_RANGE},
        {"sum of bytes", {{INT64_MAX, 0}}, 1, 0, GUFO_E_RANGE},
        {"largest number", {{UINT64_MAX, 0}, {0, 1}}, 2, 0, GUFO_E_RANGE},
        {"budget", {{2000, 0}, {1000, 0}}, 2, 0, GUFO_E_LIMIT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        gufo_allocate_group groups[2] = {
            {.options = &(gufo_allocate_option){.bytes = 1, .loss = 1}, .count = 1},
            {.options = row->options,
             .count = row->count,
             .is_fixed = row->fixed > 0,
             .fixed = row->fixed - 1},
        };
        gufo_allocation found = {.bytes = 0};
        gufo_error error = no_error();
        size_t choice[2];

        check_status(gufo_allocate(groups, 2, 1000, NULL, choice, &found, &error), row->status,
                     &error, "%s", row->label);
        check_error_shape(&error, row->status, row->label);
        check_u64(found.least_bytes, row->status == GUFO_E_LIMIT ? 1001 : 0, "%s", row->label);
    }
}

static void test_reserved(void **state)
{
    const gufo_run bad_run = {.reserved = {0, 1}};
    const gufo_allocate_options bad[] = {{.reserved = {1}}, {.run = &bad_run}};
    gufo_allocation found;
    gufo_error error;

    (void)state;
    make_example(&problem);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        check_status(run(&problem, 2000000, &bad[i], &found, &error), GUFO_E_ARGUMENT, &error,
                     "options %zu", i);
}

/* ---- extremes ------------------------------------------------------------------------------- */

/* Numbers as large and as small as they may be, in every combination. */
static void test_extremes(void **state)
{
    static const double losses[] = {0x1p-1072, 0x1p-1000, 1, 0x1p1000, 0x1p1020};
    static const uint64_t sizes[] = {1, 4096, UINT64_C(1) << 31, UINT64_C(1) << 61};

    (void)state;
    problem.random = 5;
    for (size_t l = 0; l < COUNT_OF(losses); l++) {
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            char label[64];

            snprintf(label, sizeof label, "loss %g, %" PRIu64 " bytes", losses[l], sizes[s]);
            case_clear(&problem);
            for (size_t g = 0; g < 3; g++) {
                (void)case_group(&problem);
                for (size_t i = 0; i < 4; i++)
                    case_option(&problem, sizes[s] / 4 * i + case_random(&problem, 4),
                                losses[l] * (double)(4 - i) / 4);
            }
            case_add_up(&problem);
            for (uint64_t i = 0; i <= 8; i++)
                check_against_all(&problem, problem.least + (problem.most - problem.least) / 8 * i,
                                  label);
        }
    }
}

/* Losses count as the nearest multiples of the unit, which follows from the largest one. */
static void test_unit(void **state)
{
    static const struct row {
        double loss, counts;
    } rows[] = {{0x1.4p-60, 0x1p-60}, {0x1.8p-61, 0x1p-60}, {0x1.fp-62, 0}, {0.75, 0.75}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_allocation found;
        gufo_error error;

        case_clear(&problem);
        (void)case_group(&problem);
        case_option(&problem, 1, rows[i].loss);
        case_option(&problem, 0, 1);
        check_ok(run(&problem, 1, NULL, &found, &error), &error, "row %zu", i);
        check(found.unit == 0x1p-60, "row %zu: unit %a", i, found.unit);
        check(found.loss == rows[i].counts, "row %zu: loss %a", i, found.loss);
    }
}

/* All sums are just below 2^63, and losses differ by 2^50: products fill 126 bits. */
static void test_largest_sums(void **state)
{
    (void)state;
    case_clear(&problem);
    (void)case_group(&problem);
    case_option(&problem, 0, 0x1p61);
    case_option(&problem, 1, 0x1p60);
    case_option(&problem, (UINT64_C(1) << 62) + 1, 0);
    (void)case_group(&problem);
    case_option(&problem, 0, 0x1p61);
    case_option(&problem, (UINT64_C(1) << 61) - 3, 0x1p11);
    case_option(&problem, (UINT64_C(1) << 62) - 2, 0);
    case_add_up(&problem);
    check_u64(problem.most, INT64_MAX, "most");
    for (uint64_t i = 0; i < 64; i++) {
        check_against_all(&problem, (UINT64_C(1) << i) - 1, "below a power of two");
        check_against_all(&problem, UINT64_C(1) << i, "a power of two");
    }
    check_against_all(&problem, INT64_MAX, "all");
}

/* ---- a table of all budgets ----------------------------------------------------------------- */

enum { TABLE_UNITS = 1500 };

/* The least loss for every budget of up to TABLE_UNITS units, by dynamic programming. */
static void fill_table(const allocate_case *c, uint64_t unit, double table[TABLE_UNITS + 1])
{
    for (size_t i = 0; i <= TABLE_UNITS; i++)
        table[i] = 0;
    for (size_t g = 0; g < c->count; g++) {
        for (size_t i = TABLE_UNITS + 1; i-- > 0;) {
            double least = INFINITY;

            for (size_t o = 0; o < c->groups[g].count; o++) {
                const gufo_allocate_option *option = &c->groups[g].options[o];
                uint64_t units = option->bytes / unit;

                if (units <= i && table[i - units] + option->loss < least)
                    least = table[i - units] + option->loss;
            }
            table[i] = least;
        }
    }
}

/* The worth of the relaxed problem for one price of a byte: with the best price, the bound. */
static double worth_at(const allocate_case *c, uint64_t budget, double price)
{
    double sum = -price * (double)budget;

    for (size_t g = 0; g < c->count; g++) {
        double least = INFINITY;

        for (size_t i = 0; i < c->groups[g].count; i++) {
            const gufo_allocate_option *option = &c->groups[g].options[i];

            least = fmin(least, option->loss + price * (double)option->bytes);
        }
        sum += least;
    }
    return sum;
}

/* The largest over all prices, of a function that rises and then falls. */
static double bound_by_prices(const allocate_case *c, uint64_t budget, double most)
{
    double low = 0, high = most;

    for (int i = 0; i < 200; i++) {
        double third = (high - low) / 3;

        if (worth_at(c, budget, low + third) < worth_at(c, budget, high - third))
            low += third;
        else
            high -= third;
    }
    return worth_at(c, budget, low);
}

/* The first group is larger, and has the given number of options. */
static void make_layers(allocate_case *c, size_t groups, uint64_t first, uint64_t unit)
{
    case_clear(c);
    for (size_t g = 0; g < groups; g++) {
        uint64_t size = 1 + case_random(c, g == 0 ? 40 : 6);
        double loss = (double)(1 + case_random(c, 1000000));

        (void)case_group(c);
        for (uint64_t i = 0; i < (g == 0 ? first : 8); i++) {
            loss = floor(loss * (double)((g == 0 ? 50 : 20) + case_random(c, 40)) / 100);
            case_option(c, size * (i + 2) * unit / 2 / unit * unit, loss);
        }
    }
    case_add_up(c);
}

static void test_table(void **state)
{
    static double table[TABLE_UNITS + 1];
    unsigned count = all_some_or_few(4, 2, 1);

    (void)state;
    problem.random = 77;
    for (unsigned n = 0; n < count; n++) {
        uint64_t unit = UINT64_C(4096) << (8 * n);

        make_layers(&problem, 60, n % 2 == 0 ? 8 : 80, unit); /* 80: too many to branch */
        fill_table(&problem, unit, table);
        for (uint64_t units = problem.least / unit; units < TABLE_UNITS; units += 61) {
            uint64_t budget = units * unit + case_random(&problem, unit);
            gufo_allocation found;
            gufo_error error;
            double bound;

            check_ok(run(&problem, budget, NULL, &found, &error), &error, "table %u", n);
            check_solution(&problem, budget, &found, "table");
            check(found.is_proven && found.loss == table[units],
                  "table %u, %" PRIu64 ": %g, not %g", n, units, found.loss, table[units]);
            bound = bound_by_prices(&problem, budget, 1e6 / (double)unit);
            check(fabs(found.bound - bound) <= 1e-9 * bound, "table %u: bound %.17g, not %.17g", n,
                  found.bound, bound);
        }
    }
}

/* ---- large problems ------------------------------------------------------------------------- */

/* Like a model: 400 tensors, one of them a fifth of the whole, 14 types; losses are fractions. */
static void make_model(allocate_case *c)
{
    static const uint64_t bits[] = {66,  74,  82,  84,  98,  110, 136,
                                    144, 144, 176, 176, 210, 272, 512};

    case_clear(c);
    c->random = 2026;
    for (size_t g = 0; g < 400; g++) {
        uint64_t blocks = g == 0 ? 1000000 : 4096 * (1 + case_random(c, 24));
        double role = (double)(1 + case_random(c, 16)) / 16;

        (void)case_group(c);
        for (size_t i = 0; i < COUNT_OF(bits); i++)
            case_option(c, (blocks * bits[i] + 31) / 32 * 32,
                        role * ldexp((double)(900 + case_random(c, 200)), -(int)(bits[i] / 16)));
    }
    case_add_up(c);
}

/* The optima are proven.  The numbers are those of every machine. */
static void test_model(void **state)
{
    static const struct row {
        uint64_t percent, bytes, states;
        double loss;
    } rows[] = {
        {5, 1925616768, 2171, 0x1.a99e2ccp+11}, {10, 2411926656, 2420, 0x1.4b34dfp+10},
        {20, 3384548480, 1690, 0x1.55a79dfp+7}, {30, 4357170176, 582, 0x1.adebd88p+4},
        {50, 6302295040, 34, 0x1.21c56ca7p+0},
    };

    (void)state;
    make_model(&problem);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        uint64_t budget = problem.least + (problem.most - problem.least) / 100 * row->percent;
        gufo_allocation found;
        gufo_error error;

        check_ok(run(&problem, budget, NULL, &found, &error), &error, "row %zu", i);
        check_solution(&problem, budget, &found, "model");
        check(found.is_proven, "row %zu", i);
        check(fabs(bound_by_prices(&problem, budget, 1) - found.bound) <= 1e-6 * found.bound,
              "row %zu: bound %g", i, found.bound);
        check(found.loss - found.bound <= 0.1 * found.bound, "row %zu: gap", i);
        check_u64(found.bytes, row->bytes, "row %zu", i);
        check_u64(found.states, row->states, "row %zu", i);
        check(found.loss == row->loss, "row %zu: loss %a", i, found.loss);
    }
}

/* ---- limits --------------------------------------------------------------------------------- */

/* The worth of a byte is the same for all, and sums of sizes hardly ever meet the budget: the hardest
 * problem. */
static void make_hard(allocate_case *c, size_t groups)
{
    case_clear(c);
    c->random = 9;
    for (size_t g = 0; g < groups; g++) {
        uint64_t size = (UINT64_C(1) << 33) + 2 * case_random(c, UINT64_C(1) << 32);

        (void)case_group(c);
        case_option(c, 0, (double)size);
        case_option(c, size, 0);
    }
    case_add_up(c);
}

/* A search that is too long ends, with a good choice and without proof; what it made is bounded. */
static void test_limit(void **state)
{
    static const struct row {
        uint64_t limit;
        double gap; /* relative to the bound, at most */
    } rows[] = {{1, 0.1}, {1000, 5e-2}, {100000, 1e-4}};

    (void)state;
    make_hard(&problem, 40);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_allocate_options options = {.states = rows[i].limit};
        uint64_t budget = problem.most / 2 | 1; /* an odd number */
        gufo_allocation found;
        gufo_error error;

        check_ok(run(&problem, budget, &options, &found, &error), &error, "limit %zu", i);
        check_solution(&problem, budget, &found, "limit");
        check(found.states <= 2 * (rows[i].limit + 2 * problem.count), "limit %zu: %" PRIu64, i,
              found.states);
        check(!found.is_proven && found.loss > found.bound, "limit %zu", i);
        check(found.loss <= found.bound * (1 + rows[i].gap), "limit %zu: loss %g, bound %g", i,
              found.loss, found.bound);
    }
}

/* Equal groups: very many plans that are equal in bytes and loss, so that ties take most of the
 * work. */
static void test_equal_groups(void **state)
{
    gufo_allocation found;
    gufo_error error;

    (void)state;
    case_clear(&problem);
    for (size_t g = 0; g < 150; g++) {
        (void)case_group(&problem);
        case_option(&problem, 7, 10);
        case_option(&problem, 10, 7.5);
        case_option(&problem, 16, 5);
    }
    case_add_up(&problem);
    check_ok(run(&problem, 1501, NULL, &found, &error), &error, "equal groups");
    check_solution(&problem, 1501, &found, "equal groups");
    check(found.is_proven && found.loss == 150 * 7.5, "loss %g", found.loss);
    check_ok(run(&problem, 1502, NULL, &found, &error), &error, "equal groups");
    check(found.is_proven && found.loss == 150 * 7.5, "loss %g", found.loss);
    check_u64(found.bytes, 1500, "the least bytes");
    check_ok(run(&problem, 1053, NULL, &found, &error), &error, "equal groups");
    check(found.is_proven && found.loss == 1497.5, "loss %g", found.loss);
    for (size_t g = 0; g < 150; g++)
        check_u64(problem.choice[g], g == 149, "group %zu: the last one is changed", g);
}

static void test_memory_bound(void **state)
{
    counter c;
    gufo_allocator allocator;
    const gufo_run with = {.allocator = &allocator};
    const gufo_allocate_options options = {.states = 50000, .run = &with};
    gufo_allocation found;
    gufo_error error;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    make_hard(&problem, 40);
    check_ok(run(&problem, problem.most / 2, &options, &found, &error), &error, "hard");
    check_u64(c.in_use, 0, "leak");
    check(c.peak < 50000 * 64 * 2, "%zu bytes", c.peak);
}

static void test_without_memory(void **state)
{
    size_t fail_at = 0, calls;
    gufo_allocation found;
    gufo_error error;

    (void)state;
    make_hard(&problem, 12);
    do {
        counter c;
        gufo_allocator allocator;
        const gufo_run with = {.allocator = &allocator};
        const gufo_allocate_options options = {.run = &with};
        gufo_status status;

        counter_init(&c);
        c.fail_at = ++fail_at;
        allocator = counter_allocator(&c);
        status = run(&problem, problem.most / 2, &options, &found, &error);
        calls = c.calls;
        check_u64(c.in_use, 0, "request %zu: leak", fail_at);
        check_status(status, calls >= fail_at ? GUFO_E_MEMORY : GUFO_OK, &error, "request %zu",
                     fail_at);
    } while (calls >= fail_at);
    check(fail_at > 10, "only %zu requests", fail_at);
}

static bool stop_at(void *context, uint64_t done, uint64_t total)
{
    uint64_t *left = context;

    return done < total && (*left)-- > 0;
}

static void test_stop(void **state)
{
    gufo_allocation found;
    gufo_error error;

    (void)state;
    make_hard(&problem, 12);
    for (uint64_t calls = 0; calls < 4; calls++) {
        uint64_t left = calls;
        const gufo_run with = {.progress = stop_at, .progress_context = &left};
        const gufo_allocate_options options = {.run = &with};

        check_status(run(&problem, problem.most / 2, &options, &found, &error), GUFO_E_STOPPED,
                     &error, "call %" PRIu64, calls);
    }
}

/* ---- tables of GUFO_SHARED ------------------------------------------------------------------ */

/* Value `column` of a line. */
static const char *column_at(const char *line, int column)
{
    for (; column > 0; column--)
        line += strcspn(line, "\t\n") + 1;
    return line;
}

static bool same_value(const char *a, const char *b)
{
    size_t len = strcspn(a, "\t\n");

    return len == strcspn(b, "\t\n") && memcmp(a, b, len) == 0;
}

/* The columns of a pair of tables: -1 for one that does not exist. */
typedef struct table_kind {
    const char *options, *optima;
    int option_bytes, option_loss;
    int budget, status, loss, bytes, bound, choice;
} table_kind;

/* The problem of an instance: the lines of its options follow each other, as those of a tensor do. */
static void read_instance(allocate_case *c, const table_kind *kind, const char *table,
                          const char *name)
{
    const char *last = NULL;

    case_clear(c);
    for (const char *line = table; *line != '\0';
         line = column_at(line, 0) + strcspn(line, "\n") + 1) {
        if (!same_value(line, name))
            continue;
        if (last == NULL || !same_value(column_at(line, 1), column_at(last, 1)))
            (void)case_group(c);
        last = line;
        case_option(c, strtoull(column_at(line, kind->option_bytes), NULL, 10),
                    strtod(column_at(line, kind->option_loss), NULL));
    }
    case_add_up(c);
}

static void check_line(allocate_case *c, const table_kind *kind, const char *line)
{
    char label[64];
    uint64_t budget = strtoull(column_at(line, kind->budget), NULL, 10);
    gufo_allocation found;
    gufo_error error;
    gufo_status status = run(c, budget, NULL, &found, &error);

    snprintf(label, sizeof label, "%.*s, budget %" PRIu64, (int)strcspn(line, "\t"), line, budget);
    if (kind->status >= 0 && same_value(column_at(line, kind->status), "infeasible")) {
        check_status(status, GUFO_E_LIMIT, &error, "%s", label);
        return;
    }
    check_ok(status, &error, "%s", label);
    check_solution(c, budget, &found, label);
    check(found.is_proven && found.loss == strtod(column_at(line, kind->loss), NULL), "%s: loss %g",
          label, found.loss);
    check_u64(found.bytes, strtoull(column_at(line, kind->bytes), NULL, 10), "%s", label);
    check(fabs(found.bound - strtod(column_at(line, kind->bound), NULL)) <= 1e-6 * found.bound,
          "%s: bound %.17g", label, found.bound);
    if (kind->choice >= 0) {
        const char *text = column_at(line, kind->choice);

        for (size_t g = 0; g < c->count; g++, text += strcspn(text, ",\t") + 1)
            check_u64(c->choice[g], strtoull(text, NULL, 10), "%s: group %zu", label, g);
    }
}

static char *read_table(const char *name)
{
    size_t len;
    path_text path = need_shared(name);
    char *text = (char *)read_file(path.text, &len), *ended = realloc(text, len + 1);

    check(ended != NULL, "%s", name);
    ended[len] = '\0';
    return ended;
}

static void check_tables(const table_kind *kind)
{
    char *options = read_table(kind->options), *optima = read_table(kind->optima);
    const char *line = strchr(optima, '\n') + 1, *last = NULL;
    size_t count = 0;

    for (; *line != '\0'; line += strcspn(line, "\n") + 1, count++) {
        if (last == NULL || !same_value(line, last))
            read_instance(&problem, kind, options, line);
        last = line;
        check_line(&problem, kind, line);
    }
    check(count > 10, "only %zu lines", count);
    free(options);
    free(optima);
}

static void test_small_tables(void **state)
{
    (void)state;
    check_tables(&(table_kind){.options = "data/sizes/target/small_options.tsv",
                               .optima = "data/sizes/target/small_optima.tsv",
                               .option_bytes = 3,
                               .option_loss = 4,
                               .budget = 1,
                               .status = 2,
                               .loss = 3,
                               .bytes = 4,
                               .choice = 5,
                               .bound = 7});
}

static void test_model_tables(void **state)
{
    (void)state;
    skip_if_emulated();
    check_tables(&(table_kind){.options = "data/sizes/target/model_options.tsv",
                               .optima = "data/sizes/target/model_optima.tsv",
                               .option_bytes = 5,
                               .option_loss = 6,
                               .budget = 2,
                               .status = -1,
                               .loss = 4,
                               .bytes = 5,
                               .choice = -1,
                               .bound = 6});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),      cmocka_unit_test(test_no_group),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_random),       cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_unit),         cmocka_unit_test(test_largest_sums),
        cmocka_unit_test(test_table),        cmocka_unit_test(test_model),
        cmocka_unit_test(test_limit),        cmocka_unit_test(test_equal_groups),
        cmocka_unit_test(test_memory_bound), cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_stop),         cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_model_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
