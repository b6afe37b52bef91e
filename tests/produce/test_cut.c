/* How jobs are cut: parts that cost the same, whole shards, and what is left of neither. */
#include "produce/jobs.h"
#include "produce/parts/parts.h"
#include "support/pace.h"

/* Sizes of models without their bytes: nothing is read here. */
#define MIB (UINT64_C(1) << 20)
#define HUGE_SIZE (UINT64_C(1) << 50)

typedef struct plan_of_sizes {
    counted from;
    gufo_job *job;
} plan_of_sizes;

static void sizes_open(plan_of_sizes *p)
{
    const job_input in = {.name = "input", .source = &p->from.source};
    gufo_error error = no_error();
    uint32_t number;

    counted_open(&p->from, NULL, HUGE_SIZE);
    p->job = job_new(NULL, &error);
    check_ok(job_add_input(p->job, &in, &number, &error), &error, "input");
}

static void sizes_close(plan_of_sizes *p)
{
    gufo_job_free(p->job);
    source_close(&p->from.source);
}

static uint32_t add_target(plan_of_sizes *p, uint64_t size, size_t header)
{
    static const uint8_t zeros[1];
    gufo_error error = no_error();
    uint32_t number;

    check_ok(job_add_target(p->job,
                            &(job_target){.size = size, .header = zeros, .header_size = header},
                            &number, &error),
             &error, "target");
    return number;
}

static void add_moved(plan_of_sizes *p, uint32_t target, uint64_t place, uint64_t size)
{
    gufo_error error = no_error();

    check_ok(job_add_move(p->job, 0, 0, size, target, place, gufo_str_of("moved"), &error), &error,
             "%" PRIu64 " bytes", size);
}

/* Rows of 4096 numbers that are encoded. */
static void add_encoded(plan_of_sizes *p, uint32_t type, uint32_t target, uint64_t place,
                        uint64_t count)
{
    enum { WIDE = 4096 };
    rows from = rows_of_floats(&p->from.source, count, WIDE);
    made result = {
        .target = target, .place = place, .type = gufo_element_type_by_id(type), .encode = true};
    gufo_error error = no_error();

    result.row_bytes = WIDE / result.type->block_elements * result.type->block_bytes;
    check_ok(job_add_rows(p->job, PIECE_MAKE, gufo_str_of("encoded"), &from, &result, 1, &error),
             &error, "%" PRIu64 " rows", count);
}

static job_cut cut_of(const plan_of_sizes *p, uint64_t workers, uint64_t align)
{
    gufo_error error = no_error();
    job_cut cut;

    check_ok(cut_job(p->job, workers, align, &cut, &error), &error, "%" PRIu64 " workers", workers);
    check(cut_fits(p->job, &cut), "%" PRIu64 " workers", workers);
    return cut;
}

static job_part part_of(const plan_of_sizes *p, const job_cut *cut, uint64_t number)
{
    gufo_error error = no_error();
    job_part part;

    check_ok(part_find(p->job, cut, number, &part, &error), &error, "part %" PRIu64, number);
    return part;
}

/* ---- how many --------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
    static const struct {
        uint64_t workers, count;
    } cases[] = {{1, 64},
                 {2, 64},
                 {3, 66},
                 {7, 70},
                 {63, 126},
                 {64, 64},
                 {65, 65},
                 {1000, 1000},
                 {100000, 8192},
                 {UINT64_MAX, 8192},
                 {33, 66},
                 {4096, 4096},
                 {UINT64_C(1) << 63, 8192}};
    plan_of_sizes p;

    (void)state;
    sizes_open(&p);
    add_moved(&p, add_target(&p, 8192 * 4 * MIB, 0), 0, 8192 * 4 * MIB); /* units of 4 MiB */
    check_u64(p.job->unit_count, 8192, "units");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        job_cut cut = cut_of(&p, cases[i].workers, CUT_LEAST_ALIGN);

        check_u64(cut.count, cases[i].count, "%" PRIu64 " workers", cases[i].workers);
        cut_free(&p.job->allocator, &cut);
        cut = cut_of(&p, cases[i].workers, 1024 * MIB); /* 32 blocks */
        check_u64(cut.count, 32, "%" PRIu64 " workers, large blocks", cases[i].workers);
        cut_free(&p.job->allocator, &cut);
    }
    sizes_close(&p);
}

static void test_wrong_arguments(void **state)
{
    static const uint64_t aligns[] = {0, 1, 2048, 4095, 6144, MIB + 4096, UINT64_MAX};
    plan_of_sizes p;
    gufo_error error = no_error();
    job_cut cut;

    (void)state;
    sizes_open(&p);
    add_moved(&p, add_target(&p, MIB, 0), 0, MIB);
    check_status(cut_job(p.job, 0, CUT_USUAL_ALIGN, &cut, &error), GUFO_E_ARGUMENT, &error, "0");
    check_error_shape(&error, GUFO_E_ARGUMENT, "no workers");
    for (size_t i = 0; i < COUNT_OF(aligns); i++) {
        check_status(cut_job(p.job, 1, aligns[i], &cut, &error), GUFO_E_ARGUMENT, &error,
                     "%" PRIu64, aligns[i]);
        check_error_shape(&error, GUFO_E_ARGUMENT, "alignment");
    }
    sizes_close(&p);
}

/* A cut of another job, or a spoilt one. */
static void test_cuts_that_do_not_fit(void **state)
{
    plan_of_sizes p;
    job_cut cut;

    (void)state;
    sizes_open(&p);
    add_moved(&p, add_target(&p, 400 * MIB, 0), 0, 400 * MIB);
    cut = cut_of(&p, 1, CUT_USUAL_ALIGN);
    cut.align = 5000;
    check(!cut_fits(p.job, &cut), "alignment");
    cut.align = CUT_USUAL_ALIGN;
    cut.borders[0] = 1;
    check(!cut_fits(p.job, &cut), "the first border");
    cut.borders[0] = 0;
    cut.borders[5] = cut.borders[4] - 1;
    check(!cut_fits(p.job, &cut), "a border that goes back");
    cut.borders[5] = cut.borders[4];
    check(cut_fits(p.job, &cut), "an empty part");
    cut.borders[cut.count]++;
    check(!cut_fits(p.job, &cut), "the last border");
    cut_free(&p.job->allocator, &cut);
    check(!cut_fits(p.job, &cut), "no parts");
    sizes_close(&p);
}

/* Two results at one place, or pieces that go back, would give a byte two parts. */
static void test_plans_that_go_back(void **state)
{
    (void)state;
    for (unsigned twice = 0; twice < 2; twice++) {
        plan_of_sizes p;
        gufo_error error = no_error();
        rows from;
        made results[2] = {{.row_bytes = 1}, {.place = MIB, .row_bytes = 1}};
        job_cut cut;

        sizes_open(&p);
        (void)add_target(&p, 4 * MIB, 0);
        from = job_byte_rows(p.job, 0, 0, MIB);
        add_moved(&p, 0, 2 * MIB, MIB);
        if (twice == 0)
            add_moved(&p, 0, 0, MIB);
        else
            check_ok(job_add_results(p.job, PIECE_MOVE, gufo_str_of("moved"), &from, results, 2, 1,
                                     &error),
                     &error, "two results");
        check_status(cut_job(p.job, 1, CUT_LEAST_ALIGN, &cut, &error), GUFO_E_ARGUMENT, &error,
                     "twice %u", twice);
        check(strstr(error.message, "\"moved\"") != NULL, "%s", error.message);
        sizes_close(&p);
    }
}

/* ---- where ------------------------------------------------------------------------------------ */

/* One half of the costs is moved, the other is encoded: within each, parts have as many units. */
static void test_costs(void **state)
{
    static const uint32_t types[] = {GUFO_TYPE_Q8_0, GUFO_TYPE_Q6_K, GUFO_TYPE_Q4_K,
                                     GUFO_TYPE_IQ3_S};
    uint64_t last = UINT64_MAX;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const uint64_t moved = 65536 * MIB;
        plan_of_sizes p;
        uint64_t least = UINT64_MAX, most = 0, number = 0;
        job_cut cut;

        sizes_open(&p);
        (void)add_target(&p, 8 * moved, 0);
        add_moved(&p, 0, 0, moved);
        add_encoded(&p, types[i], 0, moved, 1024 * 1024);
        cut = cut_of(&p, 1000, CUT_USUAL_ALIGN);
        while (cut.borders[number + 1] <= moved / (4 * MIB))
            number++;
        for (uint64_t k = number + 1; k < cut.count; k++) {
            least = smaller(least, cut.borders[k + 1] - cut.borders[k]);
            most = larger(most, cut.borders[k + 1] - cut.borders[k]);
        }
        /* The rest of the borders: the slower a type, the fewer of its units are in a part. */
        check(most - least <= 1, "type %zu: %" PRIu64 " to %" PRIu64 " units", i, least, most);
        check(most < last, "type %zu: %" PRIu64 " units, and %" PRIu64 " before", i, most, last);
        last = least;
        for (uint64_t k = 1; k < number; k++)
            check(cut.borders[k + 1] - cut.borders[k] + 1 >= cut.borders[1] &&
                      cut.borders[k + 1] - cut.borders[k] <= cut.borders[1] + 1,
                  "type %zu: part %" PRIu64, i, k);
        cut_free(&p.job->allocator, &cut);
        sizes_close(&p);
    }
}

/* As many shards as parts, of sizes that differ a little: each part has one, and all of it. */
static void test_whole_shards(void **state)
{
    enum { SHARDS = 64 };
    plan_of_sizes p;
    job_cut cut;

    (void)state;
    sizes_open(&p);
    for (uint32_t i = 0; i < SHARDS; i++) {
        const uint64_t size = (1000 + i * 37 % 64) * MIB;

        (void)add_target(&p, 5000 + size, 5000);
        add_moved(&p, i, 5000, size / 2);
        add_moved(&p, i, 5000 + size / 2, size / 2);
    }
    cut = cut_of(&p, 1, CUT_USUAL_ALIGN);
    check_u64(cut.count, SHARDS, "parts");
    for (uint32_t i = 0; i < SHARDS; i++) {
        job_part part = part_of(&p, &cut, i);

        check_u64(part.first_target, i, "part %u", i);
        check_u64(part.end_target, i + 1, "part %u", i);
        check_u64(part.bytes->from, 0, "part %u", i);
        check_u64(part.bytes->to, p.job->targets[i].size, "part %u", i);
        check_u64(part.total, (1000 + i * 37 % 64) * MIB, "part %u", i);
        part_free(&p.job->allocator, &part);
    }
    cut_free(&p.job->allocator, &cut);
    sizes_close(&p);
}

/* Borders go to the first unit of a target within a quarter of a part, and no farther. */
static void test_borders_near_shards(void **state)
{
    const uint64_t all = 6400, share = all / 64; /* units of 4 MiB */

    (void)state;
    for (uint64_t off = 0; off <= share / 2; off += 5) {
        const uint64_t first = (all / 2 + off) * 4 * MIB, second = all * 4 * MIB - first;
        plan_of_sizes p;
        job_cut cut;

        sizes_open(&p);
        add_moved(&p, add_target(&p, first, 0), 0, first);
        add_moved(&p, add_target(&p, second, 0), 0, second);
        cut = cut_of(&p, 1, CUT_USUAL_ALIGN);
        check_u64(cut.borders[32], off <= share / 4 ? all / 2 + off : all / 2, "%" PRIu64, off);
        check_u64(cut.borders[31], all / 2 - share, "the one before");
        check_u64(cut.borders[33], all / 2 + share, "the next one");
        cut_free(&p.job->allocator, &cut);
        sizes_close(&p);
    }
}

/* ---- extremes --------------------------------------------------------------------------------- */

static void check_alone(const plan_of_sizes *p, const char *label)
{
    job_cut cut = cut_of(p, 1000, CUT_LEAST_ALIGN);
    job_part part = part_of(p, &cut, 0);

    check_u64(cut.count, 1, "%s", label);
    check_u64(part.first_unit, 0, "%s", label);
    check_u64(part.end_unit, p->job->unit_count, "%s", label);
    check_u64(part.total, p->job->total, "%s", label);
    for (uint32_t i = 0; i < p->job->target_count; i++)
        check(part_clip(&part, i, 0, p->job->targets[i].size).to == p->job->targets[i].size,
              "%s: target %u", label, i);
    part_free(&p->job->allocator, &part);
    cut_free(&p->job->allocator, &cut);
}

static void test_little(void **state)
{
    plan_of_sizes p;

    (void)state;
    sizes_open(&p);
    (void)add_target(&p, 100 * MIB, 1);
    check_alone(&p, "no tensors");
    (void)add_target(&p, 0, 0);
    add_moved(&p, 0, MIB, 0);
    check_alone(&p, "a tensor without bytes");
    add_moved(&p, 0, 50 * MIB, 4 * MIB);
    check_alone(&p, "one unit");
    sizes_close(&p);
}

/* A header is in the first part that writes to its target, however large it is; targets of a header
 * alone are in the last part. */
static void test_large_headers(void **state)
{
    plan_of_sizes p;
    job_cut cut;
    job_part first, last;

    (void)state;
    sizes_open(&p);
    (void)add_target(&p, 5000 * MIB, 1);
    (void)add_target(&p, 1000 * MIB, 1);
    (void)add_target(&p, 300 * MIB, 1);
    add_moved(&p, 0, 4000 * MIB + 17, 640 * MIB);
    add_moved(&p, 2, 0, 200 * MIB);
    cut = cut_of(&p, 1, CUT_USUAL_ALIGN);
    check_u64(cut.count, 64, "parts");
    first = part_of(&p, &cut, 0);
    last = part_of(&p, &cut, 63);
    check(first.bytes->from == 0 && first.bytes->to > 4000 * MIB, "the header");
    check(first.bytes->to < 4030 * MIB, "not much more than the header");
    check_u64(last.first_target, 1, "targets of the last part");
    check(last.bytes[0].from == 0 && last.bytes[0].to == 1000 * MIB, "a header alone");
    check(last.bytes[1].to == 300 * MIB, "padding at the end");
    part_free(&p.job->allocator, &first);
    part_free(&p.job->allocator, &last);
    cut_free(&p.job->allocator, &cut);
    sizes_close(&p);
}

/* A million small pieces in ten thousand shards: each byte and unit once. */
static void test_many_pieces(void **state)
{
    const uint32_t shards = all_or_few(10000, 100), each = 100, size = 50000;
    plan_of_sizes p;
    uint64_t next_unit = 0, bytes = 0;
    job_cut cut;

    (void)state;
    sizes_open(&p);
    for (uint32_t i = 0; i < shards; i++) {
        (void)add_target(&p, (uint64_t)each * size, 0);
        for (uint32_t k = 0; k < each; k++)
            add_moved(&p, i, (uint64_t)k * size, size);
    }
    cut = cut_of(&p, 1000, CUT_LEAST_ALIGN);
    for (uint64_t i = 0; i < cut.count; i++) {
        job_part part = part_of(&p, &cut, i);

        check(part.first_unit <= next_unit, "part %" PRIu64, i);
        check(part.end_unit - part.first_unit < 2 * (p.job->unit_count / cut.count) + 3,
              "part %" PRIu64, i);
        next_unit = part.end_unit;
        for (uint32_t k = part.first_target; k < part.end_target; k++)
            bytes += part.bytes[k - part.first_target].to - part.bytes[k - part.first_target].from;
        part_free(&p.job->allocator, &part);
    }
    check_u64(next_unit, p.job->unit_count, "units");
    check_u64(bytes, (uint64_t)shards * each * size, "bytes");
    cut_free(&p.job->allocator, &cut);
    sizes_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_cuts_that_do_not_fit),
        cmocka_unit_test(test_plans_that_go_back),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_whole_shards),
        cmocka_unit_test(test_borders_near_shards),
        cmocka_unit_test(test_little),
        cmocka_unit_test(test_large_headers),
        cmocka_unit_test(test_many_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
