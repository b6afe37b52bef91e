/* The lattices: sizes against literal facts, candidates against a search of all rows. */
#include "../support/allocator.h"
#include "../support/check.h"

#include "base/memory.h"
#include "codec/lattice.h"

typedef struct lattice_fact {
    uint32_t type;
    const char *name;
    uint32_t rows, bits, elements, levels;
    uint32_t distances;    /* different ones that make candidates */
    uint32_t off_grid;     /* code vectors */
    uint32_t candidates;   /* of all of them */
    uint32_t fewest, most; /* of one */
} lattice_fact;

static const lattice_fact facts[] = {
    {GUFO_TYPE_IQ2_XXS, "IQ2_XXS", 256, 2, 8, 3, 2, 6305, 113157, 2, 150},
    {GUFO_TYPE_IQ2_XS, "IQ2_XS", 512, 2, 8, 3, 2, 6049, 181721, 2, 292},
    {GUFO_TYPE_IQ2_S, "IQ2_S", 1024, 2, 8, 3, 1, 5537, 44716, 1, 70},
    {GUFO_TYPE_IQ3_XXS, "IQ3_XXS", 256, 3, 4, 8, 2, 3840, 18985, 2, 36},
    {GUFO_TYPE_IQ3_S, "IQ3_S", 512, 3, 4, 8, 3, 3584, 24733, 3, 38},
    {GUFO_TYPE_IQ1_S, "IQ1_S", 2048, 2, 8, 3, 3, 4513, 327721, 12, 205},
    {GUFO_TYPE_IQ1_M, "IQ1_M", 2048, 2, 8, 3, 3, 4513, 327721, 12, 205},
};

static lattice *lattice_of(const lattice_fact *fact)
{
    lattice *l;
    gufo_error error = no_error();

    check_ok(lattice_new(fact->type, &default_allocator, &l, &error), &error, "%s", fact->name);
    check(l != NULL, "%s", fact->name);
    return l;
}

static uint32_t code_of(const lattice_fact *fact, uint32_t codes, uint32_t e)
{
    return codes >> fact->bits * e & ((1u << fact->bits) - 1);
}

/* Whether all codes are in range. */
static bool is_vector(const lattice_fact *fact, uint32_t codes)
{
    for (uint32_t e = 0; e < fact->elements; e++)
        if (code_of(fact, codes, e) >= fact->levels)
            return false;
    return true;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void check_sizes(const lattice_fact *fact)
{
    lattice *l = lattice_of(fact);
    uint32_t off_grid = 0, candidates = 0, fewest = UINT32_MAX, most = 0;

    check_u64(l->row_count, fact->rows, "%s", fact->name);
    check_u64(l->bits, fact->bits, "%s", fact->name);
    for (uint32_t codes = 0; codes < 1u << fact->bits * fact->elements; codes++) {
        uint32_t place = l->places[codes];
        if (!is_vector(fact, codes))
            continue;
        if ((place & LATTICE_OFF_GRID) == 0) {
            check_u64(l->rows[place], codes, "%s", fact->name);
            continue;
        }
        uint32_t count = lattice_candidate_count(place);
        off_grid++;
        candidates += count;
        fewest = count < fewest ? count : fewest;
        most = count > most ? count : most;
    }
    check_u64(off_grid, fact->off_grid, "%s: vectors off the grid", fact->name);
    check_u64(candidates, fact->candidates, "%s: candidates", fact->name);
    check_u64(fewest, fact->fewest, "%s: fewest candidates", fact->name);
    check_u64(most, fact->most, "%s: most candidates", fact->name);
    lattice_free(l, &default_allocator);
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(facts); i++)
        check_sizes(&facts[i]);
}

/* ---- candidates ----------------------------------------------------------------------------- */

static uint32_t distance(const lattice_fact *fact, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;

    for (uint32_t e = 0; e < fact->elements; e++) {
        int d = (int)code_of(fact, a, e) - (int)code_of(fact, b, e);
        sum += (uint32_t)(d * d);
    }
    return sum;
}

/* The largest distance that makes a candidate. */
static uint32_t farthest(const lattice_fact *fact, const lattice *l, uint32_t codes)
{
    uint32_t limit = 0;

    for (uint32_t n = 0; n < fact->distances; n++) {
        uint32_t next = UINT32_MAX;
        for (uint32_t r = 0; r < l->row_count; r++) {
            uint32_t d = distance(fact, codes, l->rows[r]);
            next = d > limit && d < next ? d : next;
        }
        limit = next;
    }
    return limit;
}

static void check_list(const lattice_fact *fact, const lattice *l, uint32_t codes)
{
    uint32_t place = l->places[codes], limit = farthest(fact, l, codes), at = 0;
    const uint16_t *list = lattice_candidates(l, place);

    for (uint32_t d = 1; d <= limit; d++)
        for (uint32_t r = 0; r < l->row_count; r++)
            if (distance(fact, codes, l->rows[r]) == d)
                check_u64(list[at++], l->rows[r], "%s: candidate of %#x", fact->name, codes);
    check_u64(lattice_candidate_count(place), at, "%s: candidates of %#x", fact->name, codes);
    for (; at % LATTICE_LANES != 0; at++)
        check_u64(list[at], list[0], "%s: after the candidates of %#x", fact->name, codes);
}

static void test_candidates(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const lattice_fact *fact = &facts[i];
        lattice *l = lattice_of(fact);
        /* A sample: all of them take seconds. */
        for (uint32_t codes = 0; codes < 1u << fact->bits * fact->elements; codes += 331)
            if (is_vector(fact, codes) && (l->places[codes] & LATTICE_OFF_GRID) != 0)
                check_list(fact, l, codes);
        lattice_free(l, &default_allocator);
    }
}

/* ---- the others ----------------------------------------------------------------------------- */

static void test_none(void **state)
{
    lattice *l = (lattice *)1;

    (void)state;
    assert_int_equal(lattice_new(GUFO_TYPE_Q4_K, &default_allocator, &l, NULL), GUFO_OK);
    assert_null(l);
    lattice_free(NULL, &default_allocator);
}

/* Every request for memory fails once. */
static void test_memory(void **state)
{
    counter c;
    lattice *l = NULL;

    (void)state;
    counter_init(&c);
    gufo_allocator allocator = counter_allocator(&c);
    for (c.fail_at = 1; l == NULL; c.fail_at++) {
        gufo_error error = no_error();
        c.calls = 0;
        gufo_status status = lattice_new(GUFO_TYPE_IQ3_XXS, &allocator, &l, &error);
        if (l == NULL)
            check_status(status, GUFO_E_MEMORY, &error, "request %zu", c.fail_at);
    }
    assert_true(c.fail_at > 4);
    lattice_free(l, &allocator);
    check_u64(c.in_use, 0, "memory in use");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
