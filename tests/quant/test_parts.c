/* A model in parts: the bytes and the losses of one run, whoever makes the parts, in which order, and however often they are
 * interrupted; and what is refused. */
#include "../support/codec.h"
#include "../support/shared_work.h"

#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS = 256, TYPES = WORK_TYPES };

static test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 60}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {COLUMNS, 100}},
    {"blk.0.attn_v.weight", GUFO_TYPE_Q8_0, 2, {COLUMNS, 80}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F32, 2, {96, 50}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {COLUMNS, 30, 3}},
    {"blk.1.empty.weight", GUFO_TYPE_F32, 2, {COLUMNS, 0}},
    {"output.weight", GUFO_TYPE_BF16, 2, {COLUMNS, 100}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "general.name", "A model");
}

static void add_other_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "general.name", "B model");
}

static test_model model_of(void (*metadata)(builder *b))
{
    return (test_model){.encoding = {3, false},
                        .metadata = metadata,
                        .entries = 2,
                        .tensors = tensors,
                        .tensor_count = COUNT_OF(tensors)};
}

static shared_work work_new(const char *const *types, size_t count)
{
    const test_model model = model_of(add_metadata);

    tensors[2].dims[1] = 100;
    return shared_work_new(&model, types, count);
}

/* Of a model with a tensor of three units. */
static shared_work large_work_new(const char *const *types, size_t count)
{
    const test_model model = model_of(add_metadata);

    tensors[2].dims[1] = 2060;
    return shared_work_new(&model, types, count);
}

/* ---- expected ------------------------------------------------------------------------------- */

typedef struct losses {
    gufo_quantizer_tensor of[TYPES][COUNT_OF(tensors)];
} losses;

static losses losses_of(const shared_work *p, const gufo_quantizer *q)
{
    losses l = {0};

    for (size_t i = 0; i < p->count; i++)
        for (uint64_t k = 0; k < COUNT_OF(tensors); k++)
            check(gufo_quantizer_target_tensor_at(q, i, k, &l.of[i][k]), "tensor");
    return l;
}

static losses run_alone(shared_work *p)
{
    gufo_error error = no_error();
    shared_worker w = shared_worker_new(p, &error);
    const gufo_job_options outputs = shared_outputs(p, p->alone);
    losses l;

    check_ok(gufo_job_run(gufo_quantizer_job(w.q), &outputs, NULL, &error), &error, "alone");
    l = losses_of(p, w.q);
    shared_worker_end(&w);
    return l;
}

/* Commits, as shared_finish does again. */
static void check_result(shared_work *p, const losses *expected, const char *label)
{
    gufo_error error = no_error();
    shared_worker w = shared_worker_new(p, &error);
    const gufo_job_options outputs = shared_outputs(p, p->out);
    uint64_t missing;
    losses got;

    check_ok(gufo_plan_commit(gufo_quantizer_job(w.q), &outputs, NULL, &missing, &error), &error,
             "%s", label);
    check(missing == 0, "%s: %" PRIu64 " parts are missing", label, missing);
    got = losses_of(p, w.q);
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < COUNT_OF(tensors); k++)
            check(same_loss(&got.of[i][k].loss, &expected->of[i][k].loss), "%s: loss of %s", label,
                  tensors[k].name);
    shared_worker_end(&w);
    shared_finish(p, label);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static const char *const several[] = {"Q4_1", "Q8_0", "COPY"};

static void test_shares(void **state)
{
    static const uint64_t workers[] = {1, 3, 21};
    shared_work p = large_work_new(several, TYPES);
    losses expected = run_alone(&p);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(workers); i++) {
        char label[64];

        snprintf(label, sizeof label, "%" PRIu64 " workers", workers[i]);
        /* In another order than that of the bytes. */
        for (uint64_t k = 0, step = workers[i] % 7 == 0 ? 11 : 7; k < workers[i]; k++)
            shared_run_well(&p, k * step % workers[i], workers[i], label);
        check_result(&p, &expected, label);
    }
    shared_work_end(&p);
}

static void test_next(void **state)
{
    const gufo_part next = {.next = true};
    shared_work p = work_new(several, 1);
    losses expected = run_alone(&p);
    gufo_part_result result;
    gufo_error error = no_error();

    (void)state;
    shared_run_well(&p, 3, 5, "a share");
    check_ok(shared_run(&p, &next, NULL, &result, &error), &error, "next");
    check(result.complete == result.count && result.made < result.count,
          "%" PRIu64 " of %" PRIu64 " parts, %" PRIu64 " of them now", result.complete,
          result.count, result.made);
    check_ok(shared_run(&p, &next, NULL, &result, &error), &error, "next again");
    check(result.complete == result.count && result.made == 0, "made again");
    check_result(&p, &expected, "next");
    shared_work_end(&p);
}

typedef struct stopper {
    uint64_t calls, stop_at;
} stopper;

static bool stop(void *context, uint64_t done, uint64_t total)
{
    stopper *s = context;

    (void)done, (void)total;
    return ++s->calls != s->stop_at;
}

/* Stopped at every call, and continued by another number of workers. */
static void test_stopped(void **state)
{
    shared_work p = large_work_new(several, TYPES);
    losses expected = run_alone(&p);
    gufo_error error = no_error();
    gufo_status status = GUFO_E_STOPPED;

    (void)state;
    for (uint64_t at = 1, share = 0; status == GUFO_E_STOPPED || share < 3; at++) {
        stopper s = {.stop_at = at};
        const gufo_run run = {.threads = 1, .progress = stop, .progress_context = &s};
        const gufo_part part = {.worker = share, .workers = 3};

        status = shared_run(&p, &part, &run, NULL, &error);
        check(status == GUFO_OK || status == GUFO_E_STOPPED, "%s", error.message);
        share += status == GUFO_OK;
    }
    check_result(&p, &expected, "stopped");
    shared_work_end(&p);
}

static void test_missing(void **state)
{
    shared_work p = work_new(several, TYPES);
    gufo_error error = no_error();
    uint64_t missing;
    bool done;

    (void)state;
    check(shared_commit(&p, &missing, &error) == GUFO_E_NOT_FOUND, "without a plan");
    shared_run_well(&p, 0, 2, "half");
    check_ok(shared_commit(&p, &missing, &error), &error, "half");
    check(missing > 0 && !file_exists(p.out[0].text), "half: %" PRIu64 " missing", missing);
    check_ok(gufo_plan_clean(p.out[0].text, &done, &error), &error, "half");
    check(!done && file_exists(p.parts.text), "what is not complete was removed");
    shared_work_end(&p);
}

/* Any numbers are shares: part * workers does not overflow. */
static void test_many_workers(void **state)
{
    gufo_part part = {.worker = 0, .workers = UINT64_MAX};
    shared_work p = work_new(several, 1);
    gufo_part_result result;
    gufo_error error = no_error();

    (void)state;
    check_ok(shared_run(&p, &part, NULL, &result, &error), &error, "first");
    check_u64(result.made, 1, "parts of worker 0");
    part.worker = UINT64_MAX / result.count * 3 + UINT64_MAX % result.count * 3 / result.count;
    check_ok(shared_run(&p, &part, NULL, &result, &error), &error, "of part 3");
    check_u64(result.made, 1, "parts of the worker of part 3");
    shared_work_end(&p);
}

/* Nothing is left to do for it; without the plan, the output is in its way. */
static void test_worker_comes_late(void **state)
{
    const gufo_part next = {.next = true};
    shared_work p = work_new(several, 1);
    gufo_part_result result;
    gufo_error error = no_error();
    uint64_t missing;
    bool done;

    (void)state;
    shared_run_well(&p, 0, 1, "all");
    check_ok(shared_commit(&p, &missing, &error), &error, "commit");
    check_ok(shared_run(&p, &next, NULL, &result, &error), &error, "after the commit");
    check(result.made == 0 && result.complete == result.count, "made again");
    check_ok(gufo_plan_clean(p.out[0].text, &done, &error), &error, "clean");
    check_status(shared_run(&p, &next, NULL, &result, &error), GUFO_E_EXISTS, &error, "cleaned");
    check(!file_exists(p.parts.text), "a refused worker left a folder");
    shared_work_end(&p);
}

/* The file is made where a link leads, the plan beside the link. */
static void test_output_is_a_link(void **state)
{
    shared_work p = work_new(several, 1);
    path_text elsewhere = folder_path(&p.f, "elsewhere");
    path_text made = path_join(elsewhere.text, "made.gguf");

    (void)state;
    shared_alone(&p);
    check(mkdir(elsewhere.text, 0755) == 0, "mkdir");
    check(symlink("elsewhere/made.gguf", p.out[0].text) == 0, "symlink");
    shared_run_well(&p, 0, 1, "a link");
    check(file_exists(p.parts.text) && entry_count(elsewhere.text) == 1, "what is elsewhere");
    shared_finish(&p, "a link");
    check_same_file(made.text, p.alone[0].text, "a link");
    shared_work_end(&p);
}

/* ---- what is lost --------------------------------------------------------------------------- */

/* Logs without a plan do not count: a new plan has new files. */
static void test_plan_is_lost(void **state)
{
    shared_work p = work_new(several, TYPES);
    losses expected = run_alone(&p);
    path_text plan = path_join(p.parts.text, "plan");
    path_text maker = path_join(p.parts.text, "maker");

    (void)state;
    shared_run_well(&p, 0, 1, "first");
    check(unlink(plan.text) == 0, "no plan");
    shared_age(maker.text);
    shared_run_well(&p, 0, 2, "half");
    shared_run_well(&p, 1, 2, "the rest");
    check_result(&p, &expected, "again");
    shared_work_end(&p);
}

/* What a commit records does not count for the next plan, and a clean that was interrupted is finished. */
static void test_clean_was_interrupted(void **state)
{
    shared_work p = work_new(several, 1);
    losses expected = run_alone(&p);
    path_text plan = path_join(p.parts.text, "plan");
    path_text maker = path_join(p.parts.text, "maker");
    gufo_error error = no_error();
    uint64_t missing;
    bool done;

    (void)state;
    for (unsigned again = 0; again < 2; again++) {
        shared_run_well(&p, 0, 1, "first");
        check_ok(shared_commit(&p, &missing, &error), &error, "commit");
        check(unlink(plan.text) == 0, "no plan");
        check(shared_commit(&p, &missing, &error) == GUFO_E_NOT_FOUND, "without a plan");
        if (again == 0) {
            check_ok(gufo_plan_clean(p.out[0].text, &done, &error), &error, "clean");
            check(done && !file_exists(p.parts.text), "not clean");
        }
        check(unlink(p.out[0].text) == 0, "no output");
    }
    shared_age(maker.text);
    shared_run_well(&p, 0, 1, "again");
    check_result(&p, &expected, "again");
    shared_work_end(&p);
}

/* A part is complete only with the results of all its units, whoever has made them. */
static void test_results_are_lost(void **state)
{
    static const char *const names[] = {"0.log", "0.2.log", "0.3.log"};
    shared_work p = work_new(several, 1);
    losses expected = run_alone(&p);
    path_text log = path_join(p.parts.text, names[0]);
    stopper s = {.stop_at = 2};
    const gufo_run run = {.threads = 1, .progress = stop, .progress_context = &s};
    const gufo_part part = {.workers = 1};
    gufo_error error = no_error();
    uint64_t missing;

    (void)state;
    check_status(shared_run(&p, &part, &run, NULL, &error), GUFO_E_STOPPED, &error, "stopped");
    shared_run_well(&p, 0, 1, "the rest");
    check(file_exists(path_join(p.parts.text, names[1]).text), "the part was not begun twice");
    check(truncate(log.text, 60) == 0, "truncate");
    check_ok(shared_commit(&p, &missing, &error), &error, "without results");
    check_u64(missing, 1, "missing");
    shared_run_well(&p, 0, 1, "again");
    check(file_exists(path_join(p.parts.text, names[2]).text), "the part was not made again");
    check_result(&p, &expected, "again");
    shared_work_end(&p);
}

typedef struct quick_commit {
    shared_work *work;
    bool done;
} quick_commit;

/* Before the part of one worker is made, another one makes all of them and commits. */
static void commit_first(void *context, uint64_t part, uint64_t count)
{
    quick_commit *c = context;
    gufo_error error = no_error();
    uint64_t missing;

    (void)part, (void)count;
    c->work->plan_options = NULL;
    shared_run_well(c->work, 0, 1, "all");
    check_ok(shared_commit(c->work, &missing, &error), &error, "commit");
    check_ok(gufo_plan_clean(c->work->out[0].text, &c->done, &error), &error, "clean");
}

/* A worker that is late succeeds, and leaves nothing. */
static void test_committed_meanwhile(void **state)
{
    static const gufo_part parts[] = {{.next = true}, {.worker = 1, .workers = 2}};
    shared_work p = work_new(several, 1);
    quick_commit c = {.work = &p};
    const gufo_plan_options options = {.align = 4096, .on_part = commit_first, .part_context = &c};
    gufo_part_result result;
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        p.plan_options = &options;
        check_ok(shared_run(&p, &parts[i], NULL, &result, &error), &error, "late");
        check(c.done && result.made == 0 && result.complete > 0, "%" PRIu64 " of %" PRIu64 " made",
              result.made, result.count);
        check(result.complete == result.count || i > 0, "%" PRIu64 " complete", result.complete);
        check(!file_exists(p.parts.text), "a late worker has left its log");
        check(unlink(p.out[0].text) == 0, "unlink");
    }
    shared_work_end(&p);
}

/* The first part of a plan that has no bytes. */
static gufo_part empty_part(shared_work *p)
{
    gufo_error error = no_error();
    shared_worker w = shared_worker_new(p, &error);
    const gufo_job_options outputs = shared_outputs(p, p->out);
    gufo_plan *plan =
        gufo_plan_of_job(gufo_quantizer_job(w.q), &outputs, 1, p->plan_options, &error);
    gufo_part part = {.worker = 0};
    gufo_part_info info;

    check(plan != NULL, "%s", error.message);
    part.workers = gufo_plan_part_count(plan);
    while (gufo_plan_part_at(plan, part.worker, &info) && info.size > 0)
        part.worker++;
    check(part.worker < part.workers, "all parts have bytes");
    gufo_plan_free(plan);
    shared_worker_end(&w);
    return part;
}

/* The same while what the commit has left is removed: the log of the part is made behind the back of that. */
static void commit_and_miss_log(void *context, uint64_t part, uint64_t count)
{
    quick_commit *c = context;
    char name[32];

    commit_first(context, part, count);
    snprintf(name, sizeof name, "%" PRIu64 ".log", part);
    check(mkdir(c->work->parts.text, 0700) == 0, "mkdir");
    write_file(path_join(c->work->parts.text, name).text, "", 0);
}

/* A part without bytes can be made after the commit; its log does not stay, either. */
static void test_empty_part_after_commit(void **state)
{
    shared_work p = work_new(several, 1);
    quick_commit c = {.work = &p};
    const gufo_plan_options options = {
        .align = 4096, .on_part = commit_and_miss_log, .part_context = &c};
    gufo_part part;
    gufo_part_result result;
    gufo_error error = no_error();

    (void)state;
    p.plan_options = &options;
    part = empty_part(&p);
    check_ok(shared_run(&p, &part, NULL, &result, &error), &error, "late");
    check(c.done && result.complete == 1, "%" PRIu64 " complete", result.complete);
    check(!file_exists(p.parts.text), "a late worker has left its log");
    shared_work_end(&p);
}

/* A run of the whole job that was interrupted leaves .part files of its own. */
static void test_run_in_between(void **state)
{
    shared_work p = work_new(several, 1);
    path_text record = folder_path(&p.f, "0.gguf.part.journal");
    gufo_error error = no_error();
    uint64_t missing;

    (void)state;
    shared_run_well(&p, 0, 1, "all");
    write_file(record.text, "GUFO-JOB", 8);
    check_status(shared_commit(&p, &missing, &error), GUFO_E_EXISTS, &error, "a journal");
    check(!file_exists(p.out[0].text), "named");
    shared_work_end(&p);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void expect_refused(shared_work *p, const char *words)
{
    const gufo_part part = {.worker = 1, .workers = 2};
    gufo_error error = no_error();
    uint64_t missing;

    check(shared_run(p, &part, NULL, NULL, &error) == GUFO_E_ARGUMENT, "%s", words);
    check(strstr(error.message, words) != NULL, "%s, not %s", error.message, words);
    error = no_error();
    check(shared_commit(p, &missing, &error) == GUFO_E_ARGUMENT, "%s", words);
    check(strstr(error.message, words) != NULL, "%s, not %s", error.message, words);
}

static void test_other_work(void **state)
{
    shared_work p = work_new(several, TYPES);
    test_model other = model_of(add_other_metadata), same = model_of(add_metadata);
    uint8_t *bytes;
    size_t len;

    (void)state;
    shared_run_well(&p, 0, 2, "first");
    p.targets[1] = quantize_to("Q5_0").recipe.target;
    expect_refused(&p, "general.file_type");
    p.targets[1] = quantize_to(several[1]).recipe.target;
    p.options.effort = GUFO_EFFORT_HIGH;
    expect_refused(&p, "the effort is \"reference\" there, and \"high\" here");
    p.options.effort = GUFO_EFFORT_REFERENCE;
    write_model(p.in.text, &other);
    expect_refused(&p, "the header of input \"in.gguf\"");
    write_model(p.in.text, &same);
    bytes = read_file(p.in.text, &len);
    bytes[len - 5000] ^= 1; /* near the end of the data, in one of the blocks that are looked at */
    bytes[len - 2000] ^= 1;
    write_file(p.in.text, bytes, len);
    free(bytes);
    expect_refused(&p, "the data of input \"in.gguf\"");
    write_model(p.in.text, &same);
    shared_run_well(&p, 1, 2, "second, of a file that was written again");
    shared_work_end(&p);
}

static void test_in_the_way(void **state)
{
    const gufo_part part = {.workers = 1};
    shared_work p = work_new(several, 1);
    gufo_error error = no_error();
    path_text left = folder_path(&p.f, "0.gguf.part");

    (void)state;
    write_file(p.out[0].text, "old", 3);
    check(shared_run(&p, &part, NULL, NULL, &error) == GUFO_E_EXISTS, "an output");
    check(!file_exists(p.parts.text), "a refused worker left a folder");
    check(unlink(p.out[0].text) == 0, "unlink");
    write_file(left.text, "left", 4);
    check(shared_run(&p, &part, NULL, NULL, &error) == GUFO_E_EXISTS, "a part file");
    check_file(left.text, "left", 4, "a part file");
    check(unlink(left.text) == 0, "unlink");
    check(symlink(p.f.path, p.parts.text) == 0, "symlink");
    check(shared_run(&p, &part, NULL, NULL, &error) == GUFO_E_ARGUMENT, "a link");
    check(unlink(p.parts.text) == 0, "unlink");
    check(mkdir(p.parts.text, 0777) == 0 && chmod(p.parts.text, 0777) == 0, "mkdir");
    check(shared_run(&p, &part, NULL, NULL, &error) == GUFO_E_ARGUMENT, "a folder for all");
    check(chmod(p.parts.text, 0755) == 0, "chmod");
    write_file(p.out[0].text, "old", 3);
    check(shared_run(&p, &part, NULL, NULL, &error) == GUFO_E_EXISTS, "an output and a folder");
    shared_work_end(&p);
}

static void test_arguments(void **state)
{
    const gufo_part outside = {.worker = 2, .workers = 2}, none = {0};
    shared_work p = work_new(several, 1);
    gufo_error error = no_error();

    (void)state;
    check(shared_run(&p, &outside, NULL, NULL, &error) == GUFO_E_RANGE, "worker 2 of 2");
    check(shared_run(&p, &none, NULL, NULL, &error) == GUFO_E_RANGE, "worker 0 of 0");
    check(shared_run(&p, NULL, NULL, NULL, &error) == GUFO_E_ARGUMENT, "no part");
    shared_work_end(&p);
}

/* ---- plans ---------------------------------------------------------------------------------- */

static void test_states(void **state)
{
    shared_work p = work_new(several, 1);
    gufo_error error = no_error();
    gufo_part_info info;
    gufo_plan *plan;
    path_text log;

    (void)state;
    shared_run_well(&p, 0, 2, "half");
    plan = gufo_plan_open(p.out[0].text, &error);
    check(plan != NULL, "%s", error.message);
    check_ok(gufo_plan_look(plan, p.out[0].text, &error), &error, "look");
    check(gufo_plan_part_at(plan, 0, &info) && info.state == GUFO_PART_COMPLETE &&
              info.worker != NULL && info.units_done == info.unit_count,
          "part 0: state %d", (int)info.state);
    check(gufo_plan_part_at(plan, gufo_plan_part_count(plan) - 1, &info) &&
              info.state == GUFO_PART_WAITING && info.worker == NULL,
          "the last part: state %d", (int)info.state);
    check(!gufo_plan_part_at(plan, gufo_plan_part_count(plan), &info), "past the end");
    log = path_join(p.parts.text, "0.log");
    write_file(log.text, "", 0);
    check_ok(gufo_plan_look(plan, p.out[0].text, &error), &error, "look");
    check(gufo_plan_part_at(plan, 0, &info) && info.state == GUFO_PART_RUNNING, "begun");
    shared_age(log.text);
    check_ok(gufo_plan_look(plan, p.out[0].text, &error), &error, "look");
    check(gufo_plan_part_at(plan, 0, &info) && info.state == GUFO_PART_SILENT && info.silent >= 120,
          "silent");
    gufo_plan_free(plan);
    shared_work_end(&p);
}

/* A log that was cut short anywhere, or damaged, says less, never something wrong. */
static void test_cut_logs(void **state)
{
    shared_work p = work_new(several, 1);
    losses expected = run_alone(&p);
    path_text log = path_join(p.parts.text, "0.log");
    uint8_t *bytes;
    size_t len;

    (void)state;
    shared_run_well(&p, 0, 1, "all");
    bytes = read_file(log.text, &len);
    check(bytes != NULL, "no log");
    for (size_t at = 0; at < len; at += 37) {
        path_text second = path_join(p.parts.text, "0.2.log");
        gufo_error error = no_error();
        uint64_t missing;

        write_file(log.text, bytes, at);
        check_ok(shared_commit(&p, &missing, &error), &error, "%zu bytes", at);
        check(missing == 1, "%zu bytes: %" PRIu64 " missing", at, missing);
        shared_run_well(&p, 0, 1, "again");
        if (at + 37 < len)
            check(unlink(second.text) == 0, "%zu bytes: no second log", at);
    }
    free(bytes);
    check_result(&p, &expected, "cut");
    shared_work_end(&p);
}

static void test_text(void **state)
{
    static const char *const command[] = {"gufo", "a\tb\\c\n", ""};
    static const gufo_plan_note notes[] = {{.name = "checkpoint", .text = "na me"}};
    const gufo_plan_options options = {
        .command = command, .command_count = 3, .notes = notes, .note_count = 1};
    shared_work p = work_new(several, TYPES);
    gufo_error error = no_error();
    shared_worker w = shared_worker_new(&p, &error);
    const gufo_job_options outputs = shared_outputs(&p, p.out);
    gufo_text text = {0};
    gufo_plan *plan = gufo_plan_of_job(gufo_quantizer_job(w.q), &outputs, 5, &options, &error);

    (void)state;
    check(plan != NULL, "%s", error.message);
    check_ok(gufo_plan_write(plan, &text, &error), &error, "write");
    for (size_t i = 0; i < COUNT_OF(command); i++)
        check(strcmp(gufo_plan_argument(plan, i), command[i]) == 0, "argument %zu", i);
    check(gufo_plan_argument(plan, COUNT_OF(command)) == NULL, "past the end");
    check(strcmp(gufo_plan_note_find(plan, "checkpoint"), "na me") == 0, "note");
    for (size_t at = 0; at < text.len; at += 41) {
        gufo_plan *damaged;

        text.data[at] ^= 1;
        damaged = gufo_plan_read(text.data, text.len, &error);
        check(damaged == NULL, "byte %zu", at);
        text.data[at] ^= 1;
        check(gufo_plan_read(text.data, at, &error) == NULL, "%zu bytes", at);
    }
    gufo_text_free(&text);
    gufo_plan_free(plan);
    shared_worker_end(&w);
    shared_work_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_other_work),
        cmocka_unit_test(test_in_the_way),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_cut_logs),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_many_workers),
        cmocka_unit_test(test_plan_is_lost),
        cmocka_unit_test(test_clean_was_interrupted),
        cmocka_unit_test(test_results_are_lost),
        cmocka_unit_test(test_run_in_between),
        cmocka_unit_test(test_worker_comes_late),
        cmocka_unit_test(test_output_is_a_link),
        cmocka_unit_test(test_committed_meanwhile),
        cmocka_unit_test(test_empty_part_after_commit),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
