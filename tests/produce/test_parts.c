/* Jobs in parts: whoever makes them, and in whatever order, the bytes and results of one run come out. */
#include "plans.h"

#include "../support/pace.h"
#include "produce/parts/parts.h"
#include "support/parts.h"

/* Many: several units of each piece that is made. */
enum { MANY = 1040, SOME = 16 };

static void test_all_kinds_of_pieces(void **state)
{
    (void)state;
    for (unsigned alone = 0; alone < 2; alone++)
        for (unsigned many = 0; many < 2; many++) {
            plan p = plan_new(alone != 0, many != 0 ? MANY : SOME);
            const gufo_job_options outputs = {.path = p.path.text};
            gufo_error error = no_error();
            gufo_job *whole = plan_job(&p, &error), *parted = plan_job(&p, &error);

            check_parts(whole, parted, &outputs, alone ? "alone" : "two targets");
            plan_check(&p, "whole");
            gufo_job_free(whole);
            gufo_job_free(parted);
            plan_end(&p);
        }
}

/* ---- jobs that nobody would plan -------------------------------------------------------------- */

enum { NUMBERS = 300 * 1024, MOST_TARGETS = 5, MOST_PIECES = 40 };

/* A job by chance: the same one from the same seed. */
typedef struct chance {
    uint64_t seed, random;
    source from;
    uint32_t targets;
    bool in_turn; /* one target after the other; else pieces write to any of them, or to several */
    uint64_t at[MOST_TARGETS], size[MOST_TARGETS];
    size_t header[MOST_TARGETS];
    uint64_t columns[MOST_PIECES]; /* of pieces that are added */
    gufo_job *job;                 /* NULL: only sizes are found */
    gufo_error error;
} chance;

static uint64_t below(chance *c, uint64_t count)
{
    c->random = c->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (c->random >> 33) % count;
}

static gufo_status weigh(void *context, uint64_t number, uint64_t slice, float *out,
                         gufo_error *error)
{
    const chance *c = context;

    (void)error;
    for (uint64_t i = 0; i < c->columns[number]; i++)
        out[i] = (float)(1 + (i + slice) % 5);
    return GUFO_OK;
}

static gufo_status measure_any(void *context, const measured_rows *seen, void *result,
                               gufo_error *error)
{
    measured *m = result;

    (void)context, (void)error;
    for (uint64_t i = 0; i < seen->count * seen->columns; i++)
        m->off += ((double)seen->values[i] - (double)seen->decoded[i]) / (3.0 + seen->made);
    m->rows += (uint32_t)seen->count;
    return GUFO_OK;
}

/* The next place of a target, behind a gap that is small or larger than a block. */
static uint64_t chance_place(chance *c, uint32_t target, uint64_t size)
{
    const uint64_t gap = below(c, 4) == 0 ? below(c, 9000) : below(c, 3) * 16;
    const uint64_t place = c->at[target] + gap;

    c->at[target] = place + size;
    return place;
}

static uint32_t chance_target(chance *c, unsigned number)
{
    return (uint32_t)(c->in_turn ? number * c->targets / MOST_PIECES : below(c, c->targets));
}

static void chance_add(chance *c, const piece *p)
{
    if (c->job == NULL)
        return;
    c->columns[c->job->piece_count] = p->columns;
    add_piece(c->job, p);
}

/* Results of a piece in different targets, or in none. */
static void chance_results(chance *c, unsigned number, piece *p)
{
    static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_F16, GUFO_TYPE_Q8_0, GUFO_TYPE_Q4_0};
    uint32_t target = chance_target(c, number);

    p->n_made = 1 + (uint32_t)below(c, c->in_turn ? 2 : 3);
    for (uint32_t i = 0; i < p->n_made; i++, target = (target + 1) % c->targets) {
        made *m = &p->made[i];
        const bool apart = c->in_turn ? i > 0 : i >= c->targets || below(c, 8) == 0;
        const bool plain = p->columns % 32 != 0;

        *m = (made){.target = apart ? NO_TARGET : target, .encode = true, .measure = true};
        m->type = type_of(types[below(c, plain ? 2 : COUNT_OF(types))]);
        m->weighs = m->type->id == GUFO_TYPE_Q4_0;
        m->swap = below(c, 4) == 0;
        m->row_bytes = p->columns / m->type->block_elements * m->type->block_bytes;
        if (!apart)
            m->place = chance_place(c, target, p->slices * p->slice_rows * m->row_bytes);
    }
}

/* Few numbers, or enough for several units. */
static void chance_shape(chance *c, piece *p)
{
    static const uint64_t widths[] = {1, 32, 96, 1024, 50 * 1024 + 32};
    const uint64_t most = below(c, 8) == 0 ? NUMBERS : 10000;

    p->columns = widths[below(c, COUNT_OF(widths))];
    p->slices = 1 + below(c, 3);
    p->slice_rows = most / p->columns / p->slices;
    if (p->slice_rows > 0)
        p->slice_rows -= below(c, p->slice_rows);
}

static void chance_made(chance *c, unsigned number)
{
    made results[3];
    piece p = {.how = PIECE_MAKE, .name = gufo_str_of("made"), .made = results};
    rows from, table;
    segment all;
    row_op op = {.kind = &row_op_add, .number = 0.5, .side = {&table}};

    chance_shape(c, &p);
    p.transpose = below(c, 4) == 0 && p.slice_rows > 0;
    chance_results(c, number, &p);
    from = rows_of_floats(&c->from, p.slices * p.slice_rows, p.columns);
    if (p.transpose) {
        from.count = p.slices * p.columns;
        from.columns = p.slice_rows;
        from.row_bytes = from.columns * sizeof(float);
    }
    table = rows_of_floats(&c->from, 1, p.columns);
    all = (segment){.count = {from.count, 1, 1}, .stride = {1, 0, 0}};
    p.sources = &from;
    p.segments = &all;
    p.n_sources = p.n_segments = p.slice_rows > 0;
    if (p.slice_rows > 0 && below(c, 3) == 0) {
        p.ops = &op;
        p.n_ops = 1;
    }
    chance_add(c, &p);
}

static void chance_moved(chance *c, unsigned number)
{
    const uint64_t sizes[] = {10, 5000, NUMBERS * sizeof(float)};
    const uint64_t size = below(c, sizes[below(c, 3)]);
    const uint32_t target = chance_target(c, number);
    const uint64_t place = chance_place(c, target, size);

    if (c->job != NULL)
        check_ok(job_add_move(c->job, 0, below(c, 100), size, target, place, gufo_str_of("moved"),
                              &c->error),
                 &c->error, "seed %" PRIu64, c->seed);
    else
        (void)below(c, 100);
}

/* Rows of two bytes in another order: they are gathered. */
static void chance_sorted(chance *c, unsigned number)
{
    const uint64_t count = 2 * (1 + below(c, 20000));
    rows from = {.source = &c->from, .row_bytes = 2, .count = count};
    segment halves[2] = {{.first = 1, .count = {count / 2, 1, 1}, .stride = {2, 0, 0}},
                         {.first = 0, .count = {count / 2, 1, 1}, .stride = {2, 0, 0}}};
    made result = {.target = chance_target(c, number), .row_bytes = 2};
    const piece p = {.how = PIECE_MOVE,
                     .name = gufo_str_of("sorted"),
                     .sources = &from,
                     .segments = halves,
                     .made = &result,
                     .n_sources = 1,
                     .n_segments = 2,
                     .n_made = 1,
                     .slices = 1,
                     .slice_rows = count};

    result.place = chance_place(c, result.target, count * 2);
    chance_add(c, &p);
}

static void chance_pieces(chance *c)
{
    static void (*const kinds[])(chance *, unsigned) = {chance_made, chance_made, chance_moved,
                                                        chance_sorted};

    c->random = c->seed;
    c->targets = 1 + (uint32_t)below(c, MOST_TARGETS);
    c->in_turn = below(c, 2) == 0;
    for (uint32_t i = 0; i < c->targets; i++)
        c->at[i] = c->header[i] = (size_t)below(c, below(c, 2) == 0 ? 9000 : 10);
    for (unsigned i = 0, count = (unsigned)below(c, MOST_PIECES); i < count; i++)
        kinds[below(c, COUNT_OF(kinds))](c, i);
    for (uint32_t i = 0; i < c->targets; i++)
        (void)chance_place(c, i, 0);
}

static gufo_job *chance_job(chance *c)
{
    static uint8_t header[9000];
    gufo_job *job = job_new(NULL, &c->error);
    uint32_t number;

    memset(header, 'h', sizeof header);
    c->job = NULL;
    chance_pieces(c);
    check_ok(job_add_input(job, &(job_input){.name = "a", .source = &c->from}, &number, &c->error),
             &c->error, "input");
    for (uint32_t i = 0; i < c->targets; i++)
        check_ok(job_add_target(
                     job,
                     &(job_target){.size = c->at[i], .header = header, .header_size = c->header[i]},
                     &number, &c->error),
                 &c->error, "target");
    job->naming = JOB_NAMED_PREFIX;
    job->hooks = (job_hooks){.context = c,
                             .importance = weigh,
                             .measure = measure_any,
                             .add = add_measured,
                             .result_size = sizeof(measured)};
    c->job = job;
    chance_pieces(c);
    return job_planned(job, GUFO_OK, &c->error);
}

static void test_jobs_by_chance(void **state)
{
    folder f = folder_new();
    const path_text in = folder_path(&f, "in"), out = folder_path(&f, "out");
    const gufo_job_options outputs = {.path = out.text, .flags = GUFO_JOB_REPLACE};
    float *numbers = malloc(NUMBERS * sizeof *numbers);
    chance c = {.error = no_error()};

    (void)state;
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i] = (float)((i * 7919 + i / 300) % 4001) / 64.0f - 30.0f;
    write_file(in.text, numbers, NUMBERS * sizeof *numbers);
    check_ok(
        source_open_fd(&c.from, open(in.text, O_RDONLY), false, 0, &default_allocator, &c.error),
        &c.error, "open");
    for (c.seed = 1; c.seed <= all_some_or_few(6, 3, 1); c.seed++) {
        gufo_job *whole = chance_job(&c), *parted = chance_job(&c);
        char label[32];

        (void)snprintf(label, sizeof label, "seed %" PRIu64, c.seed);
        check_parts(whole, parted, &outputs, label);
        gufo_job_free(whole);
        gufo_job_free(parted);
    }
    source_close(&c.from);
    free(numbers);
    folder_remove(&f);
}

/* ---- .part files ------------------------------------------------------------------------------ */

typedef struct first_part {
    plan plan;
    gufo_job *job;
    work work;
    job_cut cut;
    path_text part[TARGETS];
} first_part;

/* A job of two targets, whose first part has nothing of the second one. */
static void first_open(first_part *f)
{
    gufo_error error = no_error();

    *f = (first_part){.plan = plan_new(false, MANY)};
    f->job = plan_job(&f->plan, &error);
    check_ok(job_start(f->job, &f->work, NULL, false, &error), &error, "start");
    check_ok(cut_job(f->job, 1, CUT_LEAST_ALIGN, &f->cut, &error), &error, "cut");
    for (size_t i = 0; i < TARGETS; i++)
        (void)snprintf(f->part[i].text, sizeof f->part[i].text, "%.400s.part", f->plan.out[i].text);
}

static void first_close(first_part *f)
{
    cut_free(&f->job->allocator, &f->cut);
    work_end(&f->work);
    gufo_job_free(f->job);
    plan_end(&f->plan);
}

static gufo_status first_run(first_part *f, gufo_error *error)
{
    const gufo_job_options outputs = {.path = f->plan.path.text};
    job_part part;
    targets t;
    gufo_status status;

    check_ok(part_find(f->job, &f->cut, 0, &part, error), error, "find");
    check(part_touches(&part, 0) && !part_touches(&part, 1), "the first part");
    status = targets_find_part(&t, f->job, &outputs, &part, error);
    if (status == GUFO_OK)
        status = spans_run_part(&t, &f->work, &part, 0, error);
    targets_end(&t, false); /* which removes nothing */
    part_free(&f->job->allocator, &part);
    return status;
}

static void first_refused(first_part *f, gufo_status expected, const char *label)
{
    gufo_error error = no_error();

    check_status(first_run(f, &error), expected, &error, "%s", label);
    check_error_shape(&error, expected, label);
    check_u64(error.role, GUFO_FILE_OUTPUT, "%s", label);
    assert_string_equal(error.file, f->plan.out[0].text);
}

/* A part writes only to what its maker made, and does not look for what it does not touch. */
static void test_part_files(void **state)
{
    first_part f;
    gufo_error error = no_error();
    const char *part = f.part[0].text;
    struct stat info;
    path_text other;
    off_t size;

    (void)state;
    first_open(&f);
    size = (off_t)f.plan.size[0];
    other = folder_path(&f.plan.f, "other");
    first_refused(&f, GUFO_E_IO, "none");
    check(!file_exists(part), "it is not made");
    write_file(part, "abc", 3);
    check_ok(first_run(&f, &error), &error, "its size was lost with the power");
    check(stat(part, &info) == 0 && info.st_size == size, "its size is set again");
    check(truncate(part, size + 1) == 0, "truncate");
    first_refused(&f, GUFO_E_CHANGED, "long");
    check(truncate(part, size) == 0 && link(part, other.text) == 0, "link");
    first_refused(&f, GUFO_E_ARGUMENT, "two names");
    check(unlink(part) == 0 && symlink(other.text, part) == 0, "symlink");
    first_refused(&f, GUFO_E_IO, "a link");
    check(unlink(part) == 0 && rename(other.text, part) == 0, "rename");
    check_ok(first_run(&f, &error), &error, "the first part");
    check(file_exists(part) && !file_exists(f.part[1].text), "the files");
    first_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_pieces),
        cmocka_unit_test(test_jobs_by_chance),
        cmocka_unit_test(test_part_files),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
