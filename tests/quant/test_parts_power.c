/* A loss of power after any call of two workers, of a commit that replaces old files, and of what removes the plan:
 * the outputs are the old ones, the new ones or none, and the work can be finished with the bytes of one run, so no log
 * says what is not on disk. */
#include "../support/pace.h"
#include "../support/recording.h"
#include "../support/shared_work.h"

#include <unistd.h>

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 20}},
    {"output.weight", GUFO_TYPE_F32, 2, {256, 20}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static const char *const types[] = {"Q8_0", "COPY"};

/* The inputs and what is expected are elsewhere: only what is written is recorded, and lost. */
typedef struct scene {
    shared_work work;
    folder recorded, rebuilt;
    uint64_t states, seen;
} scene;

static void use_folder(shared_work *p, const folder *f)
{
    for (size_t i = 0; i < p->count; i++) {
        char name[16];

        snprintf(name, sizeof name, "%zu.gguf", i);
        p->out[i] = folder_path(f, name);
    }
    p->parts = folder_path(f, "0.gguf.parts");
}

static void work_all(shared_work *p, const char *label)
{
    static const gufo_run run = {.threads = 1};
    gufo_error error = no_error();
    uint64_t missing;
    bool done;

    for (uint64_t i = 0; i < 2; i++) {
        const gufo_part part = {.worker = i, .workers = 2};

        check_ok(shared_run(p, &part, &run, NULL, &error), &error, "%s: worker", label);
    }
    check_ok(shared_commit(p, &missing, &error), &error, "%s: commit", label);
    check(missing == 0, "%s: parts are missing", label);
    check_ok(gufo_plan_clean(p->out[0].text, &done, &error), &error, "%s: clean", label);
    check(done, "%s: not clean", label);
}

static bool is_old(const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    const bool old = bytes != NULL && len == 3 && memcmp(bytes, "old", 3) == 0;

    free(bytes);
    return old;
}

/* The first file shows which set it is. */
static void check_set(const shared_work *p, const char *label)
{
    bool old = true;

    if (!file_exists(p->out[0].text) || shared_is_done(p))
        return;
    for (size_t i = 0; i < p->count; i++)
        old = old && is_old(p->out[i].text);
    check(old, "%s: neither the old set nor the new one", label);
}

/* Looks at every `pace`th state. */
static void see(void *context, const char *label)
{
    scene *s = context;
    shared_work *p = &s->work;
    gufo_error error = no_error();
    bool done;

    if (s->states++ % all_some_or_few(5, 50, 500) != 0)
        return;
    s->seen++;
    use_folder(p, &s->rebuilt);
    check_set(p, label);
    check_ok(gufo_plan_clean(p->out[0].text, &done, &error), &error, "%s: clean", label);
    check(!done || shared_is_done(p), "%s: clean, and other bytes", label);
    if (shared_is_done(p) && !file_exists(p->parts.text))
        return;
    if (!file_exists(path_join(p->parts.text, "plan").text))
        shared_age(path_join(p->parts.text, "maker").text);
    work_all(p, label);
    check(shared_is_done(p), "%s: other bytes", label);
}

static void lose_power(size_t count, bool replace)
{
    const test_model model = {.encoding = {3, false},
                              .metadata = add_metadata,
                              .entries = 1,
                              .tensors = tensors,
                              .tensor_count = COUNT_OF(tensors)};
    scene s = {.work = shared_work_new(&model, types, count),
               .recorded = folder_new(),
               .rebuilt = folder_new()};
    recording *r;

    shared_alone(&s.work);
    use_folder(&s.work, &s.recorded);
    for (size_t i = 0; i < count && replace; i++)
        write_file(s.work.out[i].text, "old", 3);
    disk_simulate(true);
    s.work.flags = replace ? GUFO_JOB_REPLACE : 0;
    r = recording_start(s.recorded.path);
    work_all(&s.work, "recorded");
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ENDS, s.rebuilt.path, see, &s);
    check(s.states > 300, "only %" PRIu64 " states", s.states);
    recording_free(r);
    disk_simulate(false);
    folder_remove(&s.recorded);
    folder_remove(&s.rebuilt);
    shared_work_end(&s.work);
}

static void test_new_file(void **state)
{
    (void)state;
    lose_power(1, false);
}

static void test_old_set(void **state)
{
    (void)state;
    lose_power(2, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file),
        cmocka_unit_test(test_old_set),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
