/* Inputs that are removed while the output is written: whatever stops the run, no byte is gone
 * before it is safe in the output, nothing opens that has lost data, and the same call finishes. */
#include "workshop.h"

#include "../support/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

typedef struct scene {
    bool splits; /* one file into a set; else a set into one file */
    workshop work;
    folder rebuilt;
    unsigned states;
    bool gone[2]; /* states with inputs whose data is gone, and without */
} scene;

static const uint32_t how = GUFO_JOB_REPLACE | GUFO_JOB_RESUME | GUFO_JOB_DELETE_INPUT;

/* ---- names ---------------------------------------------------------------------------------- */

static size_t input_count(const scene *s)
{
    return s->splits ? 1 : SHARDS;
}

static path_text input_name(const scene *s, const folder *f, size_t index)
{
    path_text set = folder_path(f, "set");

    return s->splits ? folder_path(f, "in.gguf") : shard_of(set.text, (unsigned)index + 1, SHARDS);
}

static path_text moved(path_text name)
{
    path_text path;

    snprintf(path.text, sizeof path.text, "%.500s.moved", name.text);
    return path;
}

/* As the path of a job, and the first file. */
static path_text out_path(const scene *s, const folder *f)
{
    return folder_path(f, s->splits ? "out" : "out.gguf");
}

static path_text out_name(const scene *s, const folder *f, size_t index)
{
    path_text path = out_path(s, f);

    return s->splits ? shard_of(path.text, (unsigned)index + 1, SHARDS) : path;
}

static size_t out_count(const scene *s)
{
    return s->splits ? SHARDS : 1;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* Time is part of what a run knows its inputs by, and not of what is rebuilt. */
static void set_times(const scene *s, const folder *f)
{
    const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};

    for (size_t i = 0; i < input_count(s); i++) {
        path_text name = input_name(s, f, i);

        (void)utimensat(AT_FDCWD, name.text, times, 0);
        (void)utimensat(AT_FDCWD, moved(name).text, times, 0);
    }
}

/* The model, from what there is of its files; NULL if one is missing. */
static gufo_model *open_inputs(const scene *s, const folder *f, gufo_error *error)
{
    path_text names[SHARDS];
    gufo_input inputs[SHARDS];

    for (size_t i = 0; i < input_count(s); i++) {
        names[i] = input_name(s, f, i);
        if (!file_exists(names[i].text))
            names[i] = moved(names[i]);
        inputs[i] = gufo_input_path(names[i].text);
    }
    return gufo_model_open_shards(inputs, input_count(s), NULL, error);
}

static bool files_are_left(const scene *s, const folder *f)
{
    size_t left = 0;

    for (size_t i = 0; i < input_count(s); i++) {
        path_text name = input_name(s, f, i);

        left += file_exists(name.text) || file_exists(moved(name).text);
    }
    return left == input_count(s);
}

/* Where a file is missing altogether, only the last step of a run can be left. */
static gufo_status clean_up(const scene *s, const folder *f, gufo_error *error)
{
    path_text names[SHARDS], first = out_name(s, f, 0);
    const char *inputs[SHARDS];
    bool done;

    for (size_t i = 0; i < input_count(s); i++) {
        names[i] = input_name(s, f, i);
        inputs[i] = names[i].text;
    }
    return gufo_job_clean(first.text, inputs, input_count(s), &done, error);
}

static gufo_status run_how(const scene *s, const folder *f, uint32_t flags, const gufo_run *run,
                           gufo_error *error)
{
    const gufo_job_options options = {.path = out_path(s, f).text, .flags = flags};
    const gufo_split_options twos = {.max_tensors = 2};
    gufo_model *input = open_inputs(s, f, error);
    gufo_job *job = NULL;
    gufo_status status;

    if (input == NULL)
        return !files_are_left(s, f) ? clean_up(s, f, error) : error->code;
    job = s->splits ? gufo_job_split(input, &twos, error) : gufo_job_merge(input, NULL, error);
    status = job != NULL ? gufo_job_run(job, &options, run, error) : error->code;
    gufo_job_free(job);
    gufo_model_free(input);
    return status;
}

static gufo_status run_in(const scene *s, const folder *f, uint32_t flags, gufo_error *error)
{
    return run_how(s, f, flags, &(gufo_run){.threads = 1}, error);
}

/* ---- what is there -------------------------------------------------------------------------- */

static path_text model_name(const scene *s, const folder *f, bool outputs, size_t index)
{
    return outputs ? out_name(s, f, index) : input_name(s, f, index);
}

/* Whether all files have their names, under which readers find the model. */
static bool are_there(const scene *s, const folder *f, bool outputs)
{
    size_t count = outputs ? out_count(s) : input_count(s), there = 0;

    for (size_t i = 0; i < count; i++)
        there += file_exists(model_name(s, f, outputs, i).text);
    return there == count;
}

/* What opens has all its data: merged, it is the model. */
static void check_model(const scene *s, const folder *f, bool outputs, const char *label)
{
    bool is_set = outputs == s->splits;
    path_text first = model_name(s, f, outputs, 0), whole = folder_path(f, "check.gguf");

    if (!are_there(s, f, outputs))
        return;
    if (is_set)
        (void)copy_well(first.text, whole.text, plan_merge, NULL, label);
    check_file(is_set ? whole.text : first.text, s->work.bytes, s->work.len, label);
    if (is_set)
        assert_int_equal(unlink(whole.text), 0);
}

/* `most` other files may be left. */
static void check_done(const scene *s, const folder *f, size_t most, const char *label)
{
    size_t left = entry_count(f->path) - out_count(s);

    check(are_there(s, f, true), "%s: no output", label);
    check_model(s, f, true, label);
    check(left <= most, "%s: %zu files are left", label, left);
    for (size_t i = 0; i < input_count(s); i++) {
        path_text name = input_name(s, f, i);

        check(!file_exists(name.text) && !file_exists(moved(name).text), "%s: an input", label);
    }
}

static scene scene_new(bool splits)
{
    scene s = {.splits = splits, .work = workshop_new(), .rebuilt = folder_new()};

    disk_simulate(true);
    assert_int_equal(unlink(s.work.other.text), 0);
    for (size_t i = 0; i < SHARDS; i++)
        if (splits)
            assert_int_equal(
                unlink(shard_of(folder_path(&s.work.f, "set").text, (unsigned)i + 1, SHARDS).text),
                0);
    if (!splits)
        assert_int_equal(unlink(s.work.in.text), 0);
    set_times(&s, &s.work.f);
    return s;
}

static void scene_end(scene *s)
{
    disk_simulate(false);
    workshop_end(&s->work);
    folder_remove(&s->rebuilt);
}

/* ---- power is lost -------------------------------------------------------------------------- */

static void see(void *context, const char *label)
{
    scene *s = context;
    gufo_error error = no_error();

    s->states++;
    s->gone[are_there(s, &s->rebuilt, false)] = true;
    check_model(s, &s->rebuilt, false, label);
    check_model(s, &s->rebuilt, true, label);
    set_times(s, &s->rebuilt);
    if (!are_there(s, &s->rebuilt, true) || entry_count(s->rebuilt.path) > out_count(s))
        check_ok(run_in(s, &s->rebuilt, how, &error), &error, "%s: again", label);
    check_done(s, &s->rebuilt, 0, label);
}

static void test_power(void **state)
{
    (void)state;
    for (int splits = 0; splits < 2; splits++) {
        scene s = scene_new(splits != 0);
        gufo_error error = no_error();
        recording *r = recording_start(s.work.f.path);

        check_ok(run_in(&s, &s.work.f, how, &error), &error, "recorded");
        recording_stop(r);
        check_done(&s, &s.work.f, 0, "recorded");
        for (size_t calls = 0; calls <= recording_calls(r); calls++)
            recording_each_loss(r, calls, RECORDING_ENDS, s.rebuilt.path, see, &s);
        check(s.states > 100 && s.gone[0] && s.gone[1], "%u states", s.states);
        recording_free(r);
        scene_end(&s);
    }
}

/* ---- calls fail ----------------------------------------------------------------------------- */

/* What has failed is continued. */
static void fail_and_continue(bool splits, unsigned call, bool once, bool *done)
{
    scene s = scene_new(splits);
    gufo_error error = no_error();
    gufo_status status;

    if (once)
        disk_fail_once(call, EIO);
    else
        disk_fail_from(call, ENOSPC);
    status = run_in(&s, &s.work.f, how, &error);
    *done = disk_call_count() <= call;
    disk_fail_never();
    check_model(&s, &s.work.f, false, "failed");
    check_model(&s, &s.work.f, true, "failed");
    if (status != GUFO_OK)
        check_ok(run_in(&s, &s.work.f, how, &error), &error, "call %u, again", call);
    if (entry_count(s.work.f.path) > out_count(&s)) /* the journal, which harms nobody */
        check_ok(clean_up(&s, &s.work.f, &error), &error, "call %u, the rest", call);
    /* A call that has failed may have been the removal of what a commit puts aside (shards.md). */
    check_done(&s, &s.work.f, splits ? 1 : 0, "again");
    scene_end(&s);
}

static void test_faults(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool done = false;
        unsigned call;

        for (call = 0; !done; call++)
            fail_and_continue((kind & 1) != 0, call, (kind & 2) != 0, &done);
        check(call > 30, "only %u calls", call);
    }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void check_refused(scene *s, gufo_status expected, const char *words)
{
    uint64_t before = folder_state(&s->work);
    gufo_error error = no_error();

    check_status(run_in(s, &s->work.f, how, &error), expected, &error, "%s", words);
    check(strstr(error.message, words) != NULL, "%s: %s", words, error.message);
    check_u64(folder_state(&s->work), before, "%s: the folder", words);
}

static void test_links(void **state)
{
    (void)state;
    for (int splits = 0; splits < 2; splits++) {
        scene s = scene_new(splits != 0);
        path_text last = input_name(&s, &s.work.f, input_count(&s) - 1);
        path_text other = folder_path(&s.work.f, "other");

        assert_int_equal(link(last.text, other.text), 0);
        check_refused(&s, GUFO_E_ARGUMENT, "cannot be deleted: it has other hard links");
        assert_int_equal(unlink(last.text), 0);
        assert_int_equal(symlink(other.text, last.text), 0);
        check_refused(&s, GUFO_E_ARGUMENT, "cannot be deleted: it is a symbolic link");
        scene_end(&s);
    }
}

static void test_names_in_the_way(void **state)
{
    (void)state;
    for (int splits = 0; splits < 2; splits++) {
        scene s = scene_new(splits != 0);

        write_file(moved(input_name(&s, &s.work.f, 0)).text, "mine", 4);
        check_refused(&s, GUFO_E_ARGUMENT, ".moved is in the way");
        scene_end(&s);
    }
}

static void test_no_holes(void **state)
{
    scene s = scene_new(true);
    gufo_error error = no_error();

    (void)state;
    disk_without_help(true);
    check_refused(&s, GUFO_E_ARGUMENT, "its file system does not punch holes");
    /* Whole files need none. */
    scene_end(&s);
    s = scene_new(false);
    disk_without_help(true);
    check_ok(run_in(&s, &s.work.f, how, &error), &error, "whole files");
    check_done(&s, &s.work.f, 0, "whole files");
    disk_without_help(false);
    scene_end(&s);
}

/* Stops a run when the first input is gone: by a failure, from which nothing recovers. */
static void stop_early(scene *s)
{
    gufo_error error = no_error();

    for (unsigned call = 0; are_there(s, &s->work.f, false); call++) {
        disk_fail_from(call, EIO);
        (void)run_in(s, &s->work.f, how, &error);
        disk_fail_never();
        check(!are_there(s, &s->work.f, true), "it is done");
    }
}

/* What is left of an input is never read as if it had its data. */
static void test_journal_is_missing(void **state)
{
    (void)state;
    for (int splits = 0; splits < 2; splits++) {
        scene s = scene_new(splits != 0);
        path_text first = out_name(&s, &s.work.f, 0), journal;

        stop_early(&s);
        snprintf(journal.text, sizeof journal.text, "%.400s.part.journal", first.text);
        assert_int_equal(unlink(journal.text), 0);
        check_refused(&s, GUFO_E_ARGUMENT, "an interrupted run has left this part of its input");
        scene_end(&s);
    }
}

/* Another file under the name of one that is still needed. */
static void test_changed(void **state)
{
    scene s = scene_new(false);
    path_text last = input_name(&s, &s.work.f, SHARDS - 1);
    const struct timespec times[2] = {{.tv_sec = 2000000}, {.tv_sec = 2000000}};

    (void)state;
    stop_early(&s);
    assert_int_equal(utimensat(AT_FDCWD, last.text, times, 0), 0);
    check_refused(&s, GUFO_E_ARGUMENT, "the input was changed");
    scene_end(&s);
}

/* Stops a split before its input has lost its name, but with a journal. */
static bool stop_before_holes(scene *s)
{
    path_text journal;
    gufo_error error = no_error();
    bool stopped = false;

    snprintf(journal.text, sizeof journal.text, "%.400s.part.journal",
             out_name(s, &s->work.f, 0).text);
    for (unsigned call = 20; call > 0 && !stopped; call--) {
        disk_fail_from(call, EIO);
        (void)run_in(s, &s->work.f, how, &error);
        disk_fail_never();
        stopped = file_exists(journal.text) && are_there(s, &s->work.f, false);
        if (!are_there(s, &s->work.f, false))
            return false;
    }
    return stopped;
}

/* A file of the same size and header takes the place of one that is to be split, with another time or none of its
 * own: it is not read as the rest of the other one. */
static void test_replaced(void **state)
{
    const struct timespec older[2] = {{.tv_sec = 500000}, {.tv_sec = 500000}};
    scene s = scene_new(true);
    path_text in = input_name(&s, &s.work.f, 0), other = folder_path(&s.work.f, "other");

    (void)state;
    assert_true(stop_before_holes(&s));
    write_file(other.text, s.work.bytes, s.work.len);
    assert_int_equal(utimensat(AT_FDCWD, other.text, older, 0), 0);
    assert_int_equal(rename(other.text, in.text), 0);
    check_refused(&s, GUFO_E_CHANGED, "the input was changed in the meantime");
    scene_end(&s);
}

/* What somebody keeps under the name of a file that a run needs for a moment is not removed. */
static void test_probe_in_the_way(void **state)
{
    (void)state;
    for (int splits = 0; splits < 2; splits++) {
        scene s = scene_new(splits != 0);
        path_text in = input_name(&s, &s.work.f, 0), probe;
        gufo_error error = no_error();

        snprintf(probe.text, sizeof probe.text, "%.500s.moved.tmp", in.text);
        write_file(probe.text, "mine", 4);
        check_refused(&s, GUFO_E_ARGUMENT, "in the way: it is not of an interrupted run");
        assert_int_equal(unlink(probe.text), 0);
        assert_int_equal(symlink(in.text, probe.text), 0);
        check_refused(&s, GUFO_E_ARGUMENT, "in the way: it is not a regular file");
        assert_int_equal(unlink(probe.text), 0);
        write_file(probe.text, "GUFO", 0); /* of a run that was killed */
        check_ok(run_in(&s, &s.work.f, how, &error), &error, "the rest of a probe");
        check_done(&s, &s.work.f, 0, "the rest of a probe");
        scene_end(&s);
    }
}

/* Another program gives the name of an input to a file of its own, while the input is read. */
typedef struct thief {
    path_text name, mine;
    bool done;
} thief;

static bool take_name(void *context, uint64_t done, uint64_t total)
{
    thief *t = context;

    (void)done, (void)total;
    if (!t->done)
        assert_int_equal(rename(t->mine.text, t->name.text), 0);
    t->done = true;
    return true;
}

/* Only the file that was read is deleted. */
static void test_name_is_taken(void **state)
{
    scene s = scene_new(false);
    thief t = {input_name(&s, &s.work.f, SHARDS - 1), folder_path(&s.work.f, "mine"), false};
    const gufo_run run = {.threads = 1, .progress = take_name, .progress_context = &t};
    gufo_error error = no_error();

    (void)state;
    write_file(t.mine.text, "mine", 4);
    check_status(run_how(&s, &s.work.f, how, &run, &error), GUFO_E_CHANGED, &error, "taken");
    check(t.done, "the name was not taken");
    check_file(t.name.text, (const uint8_t *)"mine", 4, "the other file");
    scene_end(&s);
}

static void test_options(void **state)
{
    scene s = scene_new(false);
    gufo_error error = no_error();
    bool done;

    (void)state;
    check_status(run_in(&s, &s.work.f, GUFO_JOB_DELETE_INPUT, &error), GUFO_E_ARGUMENT, &error,
                 "without resume");
    check_status(gufo_job_clean(NULL, NULL, 0, &done, &error), GUFO_E_ARGUMENT, &error, "no path");
    check_ok(gufo_job_clean(s.work.out.text, NULL, 0, &done, &error), &error, "nothing");
    check(!done, "there was no run");
    scene_end(&s);
}

/* Whether a run would be refused, without one. */
static void test_check(void **state)
{
    scene s = scene_new(false);
    const gufo_job_options plain = {.path = s.work.out.text},
                           deleting = {.path = s.work.out.text, .flags = how};
    gufo_error error = no_error();
    gufo_model *input = open_inputs(&s, &s.work.f, &error);
    gufo_job *job = gufo_job_merge(input, NULL, &error);
    uint64_t before = folder_state(&s.work);

    (void)state;
    assert_non_null(job);
    check_ok(gufo_job_check(job, &plain, &error), &error, "nothing in the way");
    check_ok(gufo_job_check(job, &deleting, &error), &error, "files of ours");
    check_u64(folder_state(&s.work), before, "nothing is written");
    write_file(s.work.out.text, "old", 3);
    check_status(gufo_job_check(job, &plain, &error), GUFO_E_EXISTS, &error, "exists");
    assert_int_equal(unlink(s.work.out.text), 0);
    assert_int_equal(link(input_name(&s, &s.work.f, 1).text, folder_path(&s.work.f, "l").text), 0);
    check_ok(gufo_job_check(job, &plain, &error), &error, "links");
    check_status(gufo_job_check(job, &deleting, &error), GUFO_E_ARGUMENT, &error, "links");
    check_ok(gufo_job_run(job, &plain, NULL, &error), &error, "it can still be run");
    gufo_job_free(job);
    gufo_model_free(input);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_names_in_the_way),
        cmocka_unit_test(test_no_holes),
        cmocka_unit_test(test_journal_is_missing),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_probe_in_the_way),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_name_is_taken),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
