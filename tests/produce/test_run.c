/* Runs of a job from a plan to files with their names: the same bytes whatever the threads and the
 * memory, and nothing left after any failure, which names its file. */
#include "plans.h"
#include "../support/pace.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "../support/disk.h"

enum { MANY = 2080, SOME = 64 };

static void test_same_bytes(void **state)
{
    static const bool kinds[] = {false, true};
    static const uint64_t memories[] = {UINT64_C(32) << 20, UINT64_C(64) << 20, UINT64_C(1) << 30};

    (void)state;
    for (size_t kind = 0; kind < COUNT_OF(kinds); kind++) {
        plan p = plan_new(kinds[kind], MANY);
        measured first[PIECES];

        for (unsigned run = 0; run < all_or_few(2 * COUNT_OF(memories), 1); run++) {
            gufo_error error = no_error();

            check_ok(plan_run(&p, 0, run % 4 + 1, memories[run % COUNT_OF(memories)], &error),
                     &error, "run %u", run);
            plan_check(&p, "run");
            check_u64(p.done, p.total, "run %u", run);
            check_u64(p.calls, p.units, "run %u", run);
            if (run == 0)
                memcpy(first, p.results, sizeof first);
            check(memcmp(first, p.results, sizeof first) == 0, "run %u: results", run);
            plan_remove_outputs(&p);
        }
        check_u64(first[2].rows, MANY, "rows that were measured");
        check(first[2].off != 0, "what Q8_0 loses");
        plan_end(&p);
    }
}

static void test_nothing_to_do(void **state)
{
    gufo_error error = no_error();
    plan p = plan_new(true, SOME);
    const gufo_job_options options = {.path = p.path.text, .flags = GUFO_JOB_RESUMABLE};
    const gufo_run crowd = {.threads = UINT32_MAX};
    uint32_t number;

    (void)state;
    /* Without pieces, and with one of no bytes: a file of a header, and one of zeros. */
    for (unsigned pieces = 0; pieces < 2; pieces++)
        for (unsigned resumable = 0; resumable < 2; resumable++) {
            gufo_job *job = job_new(NULL, &error);
            gufo_job_options as = options;

            as.flags = resumable ? GUFO_JOB_RESUMABLE : 0;
            check_ok(job_add_input(job, &(job_input){.source = &p.from[0]}, &number, &error),
                     &error, "input");
            check_ok(job_add_target(job,
                                    &(job_target){.size = 5, .header = "abc", .header_size = 3},
                                    &number, &error),
                     &error, "target");
            if (pieces > 0)
                check_ok(job_add_move(job, 0, 0, 0, 0, 5, gufo_str_of("none"), &error), &error,
                         "no bytes");
            assert_ptr_equal(job_planned(job, GUFO_OK, &error), job);
            check_ok(gufo_job_run(job, &as, &crowd, &error), &error, "run");
            gufo_job_free(job);
            check_file(p.path.text, "abc\0\0", 5, "nothing to do");
            check_u64(entry_count(p.f.path), 3, "files");
            (void)unlink(p.path.text);
        }
    plan_end(&p);
}

/* ---- options -------------------------------------------------------------------------------- */

static void test_wrong_calls(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();
    gufo_job *job = plan_job(&p, &error);
    const gufo_job_options good = {.path = p.path.text};
    const gufo_job_options wrong[] = {{.path = NULL},
                                      {.path = p.path.text, .flags = 8},
                                      {.path = p.path.text, .reserved = {0, 1}}};
    const gufo_run strange = {.reserved = {1}};

    (void)state;
    check_status(gufo_job_run(job, NULL, NULL, &error), GUFO_E_ARGUMENT, &error, "no options");
    check(strstr(error.message, "path") != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        check_status(gufo_job_run(job, &wrong[i], NULL, &error), GUFO_E_ARGUMENT, &error,
                     "options %zu", i);
    check_status(gufo_job_run(job, &good, &strange, &error), GUFO_E_ARGUMENT, &error, "run");
    plan_check_nothing(&p, "wrong calls");
    check_ok(gufo_job_run(job, &good, NULL, &error), &error, "a good call");
    check_status(gufo_job_run(job, &good, NULL, &error), GUFO_E_ARGUMENT, &error, "twice");
    plan_check(&p, "wrong calls");
    gufo_job_free(job);
    plan_end(&p);
}

static void test_exists(void **state)
{
    (void)state;
    for (unsigned which = 0; which < TARGETS; which++)
        for (uint32_t flags = 0; flags <= GUFO_JOB_RESUMABLE; flags += GUFO_JOB_RESUMABLE) {
            plan p = plan_new(false, SOME);
            gufo_error error = no_error();

            write_file(p.out[which].text, "old", 3);
            check_status(plan_run(&p, flags, 2, 0, &error), GUFO_E_EXISTS, &error, "exists");
            check_u64(error.role, GUFO_FILE_OUTPUT, "role");
            check_u64(error.file_index, which, "index");
            assert_string_equal(error.file, p.out[which].text);
            check_file(p.out[which].text, "old", 3, "exists");
            check_u64(entry_count(p.f.path), 3, "exists");
            check_ok(plan_run(&p, flags | GUFO_JOB_REPLACE, 2, 0, &error), &error, "replace");
            plan_check(&p, "replace");
            plan_end(&p);
        }
}

/* An output that is an input, under its own name, a link's, or as a .part file. */
static void test_outputs_that_are_inputs(void **state)
{
    static const char *const names[] = {"a", "b", "soft", "hard"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        plan p = plan_new(true, SOME);
        gufo_error error = no_error();

        check(symlink("a", folder_path(&p.f, "soft").text) == 0, "symlink");
        check(link(p.in[1].text, folder_path(&p.f, "hard").text) == 0, "link");
        p.path = folder_path(&p.f, names[i]);
        check_status(plan_run(&p, GUFO_JOB_REPLACE, 1, 0, &error), GUFO_E_ARGUMENT, &error, "%s",
                     names[i]);
        check_u64(error.role, GUFO_FILE_OUTPUT, "%s", names[i]);
        check_file(p.in[0].text, p.data[0], p.len[0], "a");
        check_file(p.in[1].text, p.data[1], p.len[1], "b");
        check_u64(entry_count(p.f.path), 4, "%s", names[i]);
        plan_end(&p);
    }
}

static void test_part_that_is_an_input(void **state)
{
    static const char *const names[] = {"out.part", "out.part.journal"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        plan p = plan_new(true, SOME);
        gufo_error error = no_error();

        check(link(p.in[0].text, folder_path(&p.f, names[i]).text) == 0, "link");
        check_status(plan_run(&p, GUFO_JOB_REPLACE | GUFO_JOB_RESUME, 1, 0, &error),
                     GUFO_E_ARGUMENT, &error, "%s", names[i]);
        check(strstr(error.message, "the input") != NULL, "%s", error.message);
        check_file(p.in[0].text, p.data[0], p.len[0], "a");
        check_ok(plan_run(&p, 0, 1, 0, &error), &error, "not resumable");
        plan_end(&p);
    }
}

static void test_same_outputs(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();

    (void)state;
    check(symlink(p.out[0].text, p.out[1].text) == 0, "symlink");
    check_status(plan_run(&p, GUFO_JOB_REPLACE, 1, 0, &error), GUFO_E_ARGUMENT, &error, "same");
    check(strstr(error.message, "same file") != NULL, "%s", error.message);
    check_u64(error.role, GUFO_FILE_OUTPUT, "role");
    check_u64(entry_count(p.f.path), 3, "same");
    (void)unlink(p.out[1].text);
    p.path = folder_path(&p.f, "out.gguf");
    check_status(plan_run(&p, 0, 1, 0, &error), GUFO_E_ARGUMENT, &error, "no name of a set");
    plan_check_nothing(&p, "no name of a set");
    plan_end(&p);
}

/* More files than may be open at a time. */
static void test_many_targets(void **state)
{
    enum { FILES = 500, EACH = 3 };
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();
    struct rlimit old, few;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 32;
    disk_without_sync(true);
    for (uint32_t flags = 0; flags <= GUFO_JOB_RESUMABLE; flags += GUFO_JOB_RESUMABLE) {
        path_text prefix = folder_path(&p.f, "many");
        const gufo_job_options options = {.path = prefix.text, .flags = flags};
        gufo_job *job = job_new(NULL, &error);
        uint32_t number;

        job->naming = JOB_NAMED_PREFIX;
        check_ok(
            job_add_input(job, &(job_input){.name = "a", .source = &p.from[0]}, &number, &error),
            &error, "input");
        for (uint32_t i = 0; i < FILES; i++) {
            check_ok(job_add_target(job, &(job_target){.size = EACH}, &number, &error), &error,
                     "target");
            check_ok(job_add_move(job, 0, i, EACH, i, 0, gufo_str_of("t"), &error), &error,
                     "piece");
        }
        assert_ptr_equal(job_planned(job, GUFO_OK, &error), job);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        check_ok(gufo_job_run(job, &options, NULL, &error), &error, "many");
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        check_u64(entry_count(p.f.path), 2 + FILES, "files");
        for (uint32_t i = 0; i < FILES; i++) {
            path_text path;

            (void)gufo_job_output_path(job, prefix.text, i, path.text, sizeof path.text);
            check_file(path.text, p.data[0] + i, EACH, "many");
            (void)unlink(path.text);
        }
        gufo_job_free(job);
    }
    disk_without_sync(false);
    plan_end(&p);
}

/* ---- failures in the middle ----------------------------------------------------------------- */

static void test_stopped(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();

    (void)state;
    for (p.stop_at = 1; p.stop_at <= 7; p.stop_at++) {
        check_status(plan_run(&p, 0, 2, 0, &error), GUFO_E_STOPPED, &error, "stop");
        plan_check_nothing(&p, "stopped");
    }
    plan_end(&p);
}

static void test_changed_input(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t flags = 0; flags <= GUFO_JOB_RESUMABLE; flags += GUFO_JOB_RESUMABLE) {
            const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000}};
            plan p = plan_new(false, SOME);
            gufo_error error = no_error();

            check(utimensat(AT_FDCWD, p.in[i].text, times, 0) == 0, "utimensat");
            check_status(plan_run(&p, flags, 1, 0, &error), GUFO_E_CHANGED, &error, "changed");
            check_u64(error.role, GUFO_FILE_INPUT, "role");
            check_u64(error.file_index, i, "index");
            assert_string_equal(error.file, p.in[i].text);
            plan_check_nothing(&p, "changed");
            plan_end(&p);
        }
}

static void test_short_input(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        plan p = plan_new(false, SOME);
        gufo_error error = no_error();
        gufo_status status;

        check(truncate(p.in[i].text, 500) == 0, "truncate");
        status = plan_run(&p, 0, 2, 0, &error);
        check(status == GUFO_E_TRUNCATED || status == GUFO_E_CHANGED || status == GUFO_E_IO,
              "%s: %s", gufo_status_name(status), error.message);
        check_u64(error.role, GUFO_FILE_INPUT, "role");
        assert_string_equal(error.file, p.in[i].text);
        plan_check_nothing(&p, "truncated");
        plan_end(&p);
    }
}

static void test_numbers_that_are_none(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    const uint8_t nan[4] = {0x7f, 0xc0, 0, 0};
    int fd = open(p.in[1].text, O_WRONLY);

    (void)state;
    check(pwrite(fd, nan, 4, HEAD + 40) == 4, "pwrite");
    (void)close(fd);
    plan_close(&p);
    plan_open(&p);
    check_status(plan_run(&p, 0, 2, 0, &error), GUFO_E_RANGE, &error, "NaN");
    check_u64(error.file_index, 1, "index");
    assert_string_equal(error.file, p.in[1].text);
    plan_check_nothing(&p, "NaN");
    plan_end(&p);
}

static void test_unreachable_folder(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();

    (void)state;
    p.path = folder_path(&p.f, "none/out");
    check_status(plan_run(&p, 0, 2, 0, &error), GUFO_E_IO, &error, "no folder");
    check_u64(error.role, GUFO_FILE_OUTPUT, "role");
    assert_string_equal(error.file, p.path.text);
    check_status(plan_run(&p, GUFO_JOB_RESUMABLE, 2, 0, &error), GUFO_E_IO, &error, "no folder");
    check_u64(error.role, GUFO_FILE_OUTPUT, "role");
    plan_check_nothing(&p, "no folder");
    plan_end(&p);
}

/* ---- plans that make no sense ---------------------------------------------------------------- */

static void test_missing_hooks(void **state)
{
    (void)state;
    for (unsigned missing = 0; missing < 3; missing++) {
        plan p = plan_new(false, SOME);
        gufo_error error = no_error();
        gufo_job *job = plan_job(&p, &error);

        assert_non_null(job);
        if (missing == 0)
            job->hooks.importance = NULL;
        else if (missing == 1)
            job->hooks.measure = NULL;
        else
            job->hooks.result_size = JOB_RESULT_SIZE + 1;
        mem_free(&default_allocator, job->results);
        mem_free(&default_allocator, (void *)job->temporaries);
        job->results = NULL;
        job->temporaries = NULL;
        check(job_planned(job, GUFO_OK, &error) == NULL, "missing %u", missing);
        check_error_shape(&error, GUFO_E_ARGUMENT, "hooks");
        plan_end(&p);
    }
}

static void test_given_data(void **state)
{
    plan p = plan_new(true, SOME);
    const gufo_job_options options = {.path = p.path.text};
    made bytes = {.row_bytes = 1};
    piece given = {.how = PIECE_GIVEN,
                   .name = gufo_str_of("given"),
                   .made = &bytes,
                   .n_made = 1,
                   .slices = 1,
                   .slice_rows = 4};

    (void)state;
    for (unsigned to_stream = 0; to_stream < 2; to_stream++) {
        gufo_error error = no_error();
        gufo_job *job = new_job(&p.from[0], 4);

        add_piece(job, &given);
        assert_ptr_equal(job_planned(job, GUFO_OK, &error), job);
        check_status(to_stream ? gufo_job_stream(job, -1, NULL, &error)
                               : gufo_job_run(job, &options, NULL, &error),
                     GUFO_E_ARGUMENT, &error, "given");
        check(strstr(error.message, "\"given\"") != NULL, "%s", error.message);
        gufo_job_free(job);
    }
    plan_check_nothing(&p, "given");
    plan_end(&p);
}

/* Parts of rows that are longer than a worker's buffer is otherwise, and not a multiple of a
 * float. */
static void test_long_parts(void **state)
{
    enum { WIDE = 262144 + 32, BLOCKS = WIDE / 32 };
    float *values = malloc(WIDE * sizeof *values), *decoded = malloc(WIDE * sizeof *decoded);
    uint8_t *blocks = malloc(BLOCKS * 34);
    gufo_error error = no_error();
    counted from;

    (void)state;
    for (size_t i = 0; i < WIDE; i++)
        values[i] = (float)(i % 1000);
    encode_all(GUFO_TYPE_Q8_0, values, 1, WIDE, blocks);
    check_ok(gufo_decode(type_of(GUFO_TYPE_Q8_0), blocks, 1, WIDE, decoded, &(gufo_run){.cpu = 0},
                         &error),
             &error, "decode");
    counted_open(&from, blocks, BLOCKS * 34);
    rows r = {.source = &from.source,
              .row_bytes = BLOCKS * 34,
              .count = 1,
              .columns = WIDE,
              .type = type_of(GUFO_TYPE_Q8_0)};
    segment all = {.count = {1, 1, 1}, .stride = {1, 0, 0}};
    made result = {.row_bytes = 4, .type = type_of(GUFO_TYPE_F32), .encode = true};
    piece p = {.how = PIECE_MAKE,
               .name = gufo_str_of("wide"),
               .sources = &r,
               .segments = &all,
               .made = &result,
               .n_sources = 1,
               .n_segments = 1,
               .n_made = 1,
               .transpose = true,
               .columns = 1,
               .slices = 1,
               .slice_rows = WIDE};
    gufo_job *job = new_job(&from.source, WIDE * 4);

    add_piece(job, &p);
    uint8_t *out = run_job(job, 2, 0);
    floats_from_little_endian(out, WIDE);
    assert_memory_equal(out, decoded, WIDE * 4);
    check_u64(from.read, BLOCKS * 34, "bytes that were read");
    free(out);
    gufo_job_free(job);
    source_close(&from.source);
    free(blocks);
    free(decoded);
    free(values);
}

/* ---- temporary files that a signal handler may have to remove -------------------------------- */

typedef struct watching {
    const gufo_job *job;
    size_t changed, shown;
} watching;

/* Called when a file is there, and when it has lost its name: from then and until then whoever ends the program finds
 * its path. */
static void watch(void *context, const disk_call *call)
{
    watching *w = context;
    const char *volatile const *list = gufo_job_temporaries(w->job);

    if ((call->kind != DISK_CREATE && call->kind != DISK_UNLINK && call->kind != DISK_RENAME) ||
        call->path == NULL || strstr(call->path, ".gufo-") == NULL ||
        strstr(call->path, ".tmp") == NULL)
        return;
    w->changed++;
    for (uint64_t i = 0; i < gufo_job_output_count(w->job); i++)
        w->shown += list[i] != NULL && strcmp(list[i], call->path) == 0;
}

static void test_temporaries(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 4; n++) { /* a file or a set; stopped or not */
        plan p = plan_new(n % 2 == 0, SOME);
        const gufo_job_options options = {.path = p.path.text};
        gufo_run how;
        gufo_error error = no_error();
        gufo_job *job = plan_job(&p, &error);
        watching w = {.job = job};

        check(job != NULL, "%s", error.message);
        p.stop_at = n < 2 ? 1 : 0;
        how = plan_how(&p, 1, 0);
        disk_observe(watch, &w);
        check_status(gufo_job_run(job, &options, &how, &error), n < 2 ? GUFO_E_STOPPED : GUFO_OK,
                     &error, "run %u", n);
        disk_observe(NULL, NULL);
        check_u64(w.changed, 2 * p.targets, "run %u: created, and removed or renamed", n);
        check_u64(w.shown, w.changed, "run %u: shown from first to last", n);
        for (size_t i = 0; i < p.targets; i++)
            check(gufo_job_temporaries(job)[i] == NULL, "run %u: still shown", n);
        gufo_job_free(job);
        plan_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_exists),
        cmocka_unit_test(test_outputs_that_are_inputs),
        cmocka_unit_test(test_part_that_is_an_input),
        cmocka_unit_test(test_same_outputs),
        cmocka_unit_test(test_many_targets),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_temporaries),
        cmocka_unit_test(test_changed_input),
        cmocka_unit_test(test_short_input),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_unreachable_folder),
        cmocka_unit_test(test_missing_hooks),
        cmocka_unit_test(test_given_data),
        cmocka_unit_test(test_long_parts),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
