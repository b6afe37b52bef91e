/* A model in parts: the bytes and the losses of one run, whoever makes the parts, in which order, and however often they are
 * interrupted; and what is refused. */
#include "../support/codec.h"
#include "../support/quantize.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 256, TYPES = 3 };

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 60}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {COLUMNS, 2500}}, /* 3 units */
    {"blk.0.attn_v.weight", GUFO_TYPE_Q8_0, 2, {COLUMNS, 80}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F32, 2, {96, 50}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {COLUMNS, 30, 3}},
    {"blk.1.empty.weight", GUFO_TYPE_F32, 2, {COLUMNS, 0}},
    {"output.weight", GUFO_TYPE_BF16, 2, {COLUMNS, 500}},
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

/* ---- a place -------------------------------------------------------------------------------- */

typedef struct place {
    folder f;
    path_text in, alone[TYPES], out[TYPES], parts;
    gufo_quantize_target targets[TYPES];
    gufo_quantize_options options;
    const char *more[TYPES];
    size_t count;
} place;

static place place_new(const char *const *types, size_t count)
{
    test_model model = model_of(add_metadata);
    place p = {.f = folder_new(), .count = count};

    p.in = folder_path(&p.f, "in.gguf");
    p.parts = folder_path(&p.f, "0.gguf.parts");
    write_model(p.in.text, &model);
    for (size_t i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof name, "%zu.gguf", i);
        p.out[i] = folder_path(&p.f, name);
        snprintf(name, sizeof name, "alone-%zu.gguf", i);
        p.alone[i] = folder_path(&p.f, name);
        p.targets[i] = quantize_to(types[i]).recipe.target;
    }
    return p;
}

static void place_end(place *p)
{
    folder_remove(&p->f);
}

/* The options refer to the place, which stays where it is. */
static const gufo_quantize_options *options_of(place *p)
{
    p->options.recipe.target = p->targets[0];
    p->options.more_targets = p->targets + 1;
    p->options.more_count = p->count - 1;
    p->options.recipe.allow_requantize = true;
    return &p->options;
}

static gufo_job_options outputs_of(place *p, const path_text *paths)
{
    for (size_t i = 0; i + 1 < p->count; i++)
        p->more[i] = paths[i + 1].text;
    return (gufo_job_options){
        .path = paths[0].text, .more_paths = p->more, .more_count = p->count - 1};
}

/* ---- workers -------------------------------------------------------------------------------- */

typedef struct worker {
    gufo_model *model;
    gufo_quantizer *q;
} worker;

static worker worker_new(place *p)
{
    gufo_error error = no_error();
    worker w = {.model = open_path(p->in.text)};

    w.q = gufo_quantizer_new(w.model, options_of(p), &error);
    check(w.q != NULL, "%s", error.message);
    return w;
}

static void worker_end(worker *w)
{
    gufo_quantizer_free(w->q);
    gufo_model_free(w->model);
}

static const gufo_plan_options fine = {.align = 4096};

static gufo_status work_on(place *p, const gufo_part *part, const gufo_run *run,
                           gufo_part_result *result, gufo_error *error)
{
    worker w = worker_new(p);
    const gufo_job_options outputs = outputs_of(p, p->out);
    gufo_status status =
        gufo_plan_run(gufo_quantizer_job(w.q), &outputs, part, &fine, run, result, error);

    worker_end(&w);
    return status;
}

static void work_well(place *p, uint64_t number, uint64_t workers, const char *label)
{
    const gufo_part part = {.worker = number, .workers = workers};
    gufo_part_result result;
    gufo_error error = no_error();

    check_ok(work_on(p, &part, NULL, &result, &error), &error, "%s", label);
    check(result.count >= 1, "%s: no part", label);
}

/* ---- expected ------------------------------------------------------------------------------- */

typedef struct losses {
    gufo_quantizer_tensor of[TYPES][COUNT_OF(tensors)];
} losses;

static losses losses_of(const place *p, const gufo_quantizer *q)
{
    losses l = {0};

    for (size_t i = 0; i < p->count; i++)
        for (uint64_t k = 0; k < COUNT_OF(tensors); k++)
            check(gufo_quantizer_target_tensor_at(q, i, k, &l.of[i][k]), "tensor");
    return l;
}

static losses run_alone(place *p)
{
    worker w = worker_new(p);
    const gufo_job_options outputs = outputs_of(p, p->alone);
    gufo_error error = no_error();
    losses l;

    check_ok(gufo_job_run(gufo_quantizer_job(w.q), &outputs, NULL, &error), &error, "alone");
    l = losses_of(p, w.q);
    worker_end(&w);
    return l;
}

static gufo_status commit(place *p, losses *out, uint64_t *missing, gufo_error *error)
{
    worker w = worker_new(p);
    const gufo_job_options outputs = outputs_of(p, p->out);
    gufo_status status = gufo_plan_commit(gufo_quantizer_job(w.q), &outputs, NULL, missing, error);

    if (status == GUFO_OK && *missing == 0 && out != NULL)
        *out = losses_of(p, w.q);
    worker_end(&w);
    return status;
}

static void check_result(place *p, const losses *expected, const char *label)
{
    gufo_error error = no_error();
    uint64_t missing;
    losses got;
    bool done;

    check_ok(commit(p, &got, &missing, &error), &error, "%s", label);
    check(missing == 0, "%s: %" PRIu64 " parts are missing", label, missing);
    for (size_t i = 0; i < p->count; i++) {
        check_same_file(p->out[i].text, p->alone[i].text, label);
        for (size_t k = 0; k < COUNT_OF(tensors); k++)
            check(same_loss(&got.of[i][k].loss, &expected->of[i][k].loss), "%s: loss of %s", label,
                  tensors[k].name);
    }
    check_ok(gufo_plan_clean(p->out[0].text, &done, &error), &error, "%s", label);
    check(done && !file_exists(p->parts.text), "%s: the plan is still there", label);
    for (size_t i = 0; i < p->count; i++)
        check(unlink(p->out[i].text) == 0, "%s", p->out[i].text);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static const char *const several[] = {"Q4_K_M", "Q8_0", "COPY"};

static void test_shares(void **state)
{
    static const uint64_t workers[] = {1, 3, 64};
    place p = place_new(several, TYPES);
    losses expected = run_alone(&p);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(workers); i++) {
        char label[64];

        snprintf(label, sizeof label, "%" PRIu64 " workers", workers[i]);
        /* In another order than that of the bytes. */
        for (uint64_t k = 0, step = workers[i] % 7 == 0 ? 11 : 7; k < workers[i]; k++)
            work_well(&p, k * step % workers[i], workers[i], label);
        check_result(&p, &expected, label);
    }
    place_end(&p);
}

static void test_next(void **state)
{
    const gufo_part next = {.next = true};
    place p = place_new(several, 1);
    losses expected = run_alone(&p);
    gufo_part_result result;
    gufo_error error = no_error();

    (void)state;
    work_well(&p, 3, 5, "a share");
    check_ok(work_on(&p, &next, NULL, &result, &error), &error, "next");
    check(result.complete == result.count && result.made < result.count,
          "%" PRIu64 " of %" PRIu64 " parts, %" PRIu64 " of them now", result.complete,
          result.count, result.made);
    check_ok(work_on(&p, &next, NULL, &result, &error), &error, "next again");
    check(result.complete == result.count && result.made == 0, "made again");
    check_result(&p, &expected, "next");
    place_end(&p);
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
    place p = place_new(several, TYPES);
    losses expected = run_alone(&p);
    gufo_error error = no_error();
    gufo_status status = GUFO_E_STOPPED;

    (void)state;
    for (uint64_t at = 1, share = 0; status == GUFO_E_STOPPED || share < 3; at++) {
        stopper s = {.stop_at = at};
        const gufo_run run = {.threads = 1, .progress = stop, .progress_context = &s};
        const gufo_part part = {.worker = share, .workers = 3};

        status = work_on(&p, &part, &run, NULL, &error);
        check(status == GUFO_OK || status == GUFO_E_STOPPED, "%s", error.message);
        share += status == GUFO_OK;
    }
    check_result(&p, &expected, "stopped");
    place_end(&p);
}

static void test_missing(void **state)
{
    place p = place_new(several, TYPES);
    gufo_error error = no_error();
    uint64_t missing;
    bool done;

    (void)state;
    check(commit(&p, NULL, &missing, &error) == GUFO_E_NOT_FOUND, "without a plan");
    work_well(&p, 0, 2, "half");
    check_ok(commit(&p, NULL, &missing, &error), &error, "half");
    check(missing > 0 && !file_exists(p.out[0].text), "half: %" PRIu64 " missing", missing);
    check_ok(gufo_plan_clean(p.out[0].text, &done, &error), &error, "half");
    check(!done && file_exists(p.parts.text), "what is not complete was removed");
    place_end(&p);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void expect_refused(place *p, const char *words)
{
    const gufo_part part = {.worker = 1, .workers = 2};
    gufo_error error = no_error();
    uint64_t missing;

    check(work_on(p, &part, NULL, NULL, &error) == GUFO_E_ARGUMENT, "%s", words);
    check(strstr(error.message, words) != NULL, "%s, not %s", error.message, words);
    error = no_error();
    check(commit(p, NULL, &missing, &error) == GUFO_E_ARGUMENT, "%s", words);
    check(strstr(error.message, words) != NULL, "%s, not %s", error.message, words);
}

static void test_other_work(void **state)
{
    place p = place_new(several, TYPES);
    test_model other = model_of(add_other_metadata), same = model_of(add_metadata);
    uint8_t *bytes;
    size_t len;

    (void)state;
    work_well(&p, 0, 2, "first");
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
    work_well(&p, 1, 2, "second, of a file that was written again");
    place_end(&p);
}

static void test_in_the_way(void **state)
{
    const gufo_part part = {.workers = 1};
    place p = place_new(several, 1);
    gufo_error error = no_error();
    path_text left = folder_path(&p.f, "0.gguf.part");

    (void)state;
    write_file(p.out[0].text, "old", 3);
    check(work_on(&p, &part, NULL, NULL, &error) == GUFO_E_EXISTS, "an output");
    check(!file_exists(p.parts.text), "a refused worker left a folder");
    check(unlink(p.out[0].text) == 0, "unlink");
    write_file(left.text, "left", 4);
    check(work_on(&p, &part, NULL, NULL, &error) == GUFO_E_EXISTS, "a part file");
    check_file(left.text, "left", 4, "a part file");
    check(unlink(left.text) == 0, "unlink");
    check(symlink(p.f.path, p.parts.text) == 0, "symlink");
    check(work_on(&p, &part, NULL, NULL, &error) == GUFO_E_ARGUMENT, "a link");
    check(unlink(p.parts.text) == 0, "unlink");
    check(mkdir(p.parts.text, 0777) == 0 && chmod(p.parts.text, 0777) == 0, "mkdir");
    check(work_on(&p, &part, NULL, NULL, &error) == GUFO_E_ARGUMENT, "a folder for all");
    place_end(&p);
}

static void test_arguments(void **state)
{
    const gufo_part outside = {.worker = 2, .workers = 2}, none = {0};
    place p = place_new(several, 1);
    gufo_error error = no_error();

    (void)state;
    check(work_on(&p, &outside, NULL, NULL, &error) == GUFO_E_RANGE, "worker 2 of 2");
    check(work_on(&p, &none, NULL, NULL, &error) == GUFO_E_RANGE, "worker 0 of 0");
    check(work_on(&p, NULL, NULL, NULL, &error) == GUFO_E_ARGUMENT, "no part");
    place_end(&p);
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* Silence is told by the time of the log. */
static void age(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    check(utimensat(AT_FDCWD, path, times, 0) == 0, "%s", path);
}

static void test_states(void **state)
{
    place p = place_new(several, 1);
    gufo_error error = no_error();
    gufo_part_info info;
    gufo_plan *plan;
    path_text log;

    (void)state;
    work_well(&p, 0, 2, "half");
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
    age(log.text);
    check_ok(gufo_plan_look(plan, p.out[0].text, &error), &error, "look");
    check(gufo_plan_part_at(plan, 0, &info) && info.state == GUFO_PART_SILENT && info.silent >= 120,
          "silent");
    gufo_plan_free(plan);
    place_end(&p);
}

/* A log that was cut short anywhere, or damaged, says less, never something wrong. */
static void test_cut_logs(void **state)
{
    place p = place_new(several, 1);
    losses expected = run_alone(&p);
    path_text log = path_join(p.parts.text, "0.log");
    uint8_t *bytes;
    size_t len;

    (void)state;
    work_well(&p, 0, 1, "all");
    bytes = read_file(log.text, &len);
    check(bytes != NULL, "no log");
    for (size_t at = 0; at < len; at += 37) {
        path_text second = path_join(p.parts.text, "0.2.log");
        gufo_error error = no_error();
        uint64_t missing;

        write_file(log.text, bytes, at);
        check_ok(commit(&p, NULL, &missing, &error), &error, "%zu bytes", at);
        check(missing == 1, "%zu bytes: %" PRIu64 " missing", at, missing);
        work_well(&p, 0, 1, "again");
        if (at + 37 < len)
            check(unlink(second.text) == 0, "%zu bytes: no second log", at);
    }
    free(bytes);
    check_result(&p, &expected, "cut");
    place_end(&p);
}

static void test_text(void **state)
{
    static const char *const command[] = {"gufo", "a\tb\\c\n", ""};
    static const gufo_plan_note notes[] = {{.name = "checkpoint", .text = "na me"}};
    const gufo_plan_options options = {
        .command = command, .command_count = 3, .notes = notes, .note_count = 1};
    place p = place_new(several, TYPES);
    worker w = worker_new(&p);
    const gufo_job_options outputs = outputs_of(&p, p.out);
    gufo_error error = no_error();
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
    worker_end(&w);
    place_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),     cmocka_unit_test(test_next),
        cmocka_unit_test(test_stopped),    cmocka_unit_test(test_missing),
        cmocka_unit_test(test_other_work), cmocka_unit_test(test_in_the_way),
        cmocka_unit_test(test_arguments),  cmocka_unit_test(test_states),
        cmocka_unit_test(test_cut_logs),   cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
