/* Disks that fail: at every call of split, merge and endian. */
#include "copies.h"

#include <errno.h>

enum { SHARDS = 3 };

typedef struct bench {
    folder f;
    path_text in, prefix, set, set_first; /* `set`: the same model in shards, as a source */
    gufo_byte_order big;
    gufo_split_options twos;
} bench;

static bench workshop_new(void)
{
    bench b = {.f = folder_new(), .big = GUFO_BIG_ENDIAN, .twos = {.max_tensors = 2}};

    b.in = folder_path(&b.f, "in.gguf");
    b.set = folder_path(&b.f, "set");
    b.set_first = shard_of(b.set.text, 1, SHARDS);
    write_small_model(b.in.text);
    (void)copy_well(b.in.text, b.set.text, plan_split, &b.twos, "source set");
    return b;
}

enum { SOURCES = 1 + SHARDS };

/* What is done, and what it makes. */
typedef struct work {
    const char *name, *out;
    bool from_set;
    copy_planner *plan;
    size_t outputs; /* more than one: `out` is a prefix or a first shard */
} work;

static const work works[] = {
    {"split", "out", false, plan_split, SHARDS},
    {"merge", "out.gguf", true, plan_merge, 1},
    {"endian", "out.gguf", false, plan_endian, 1},
    {"endian of a set", "out-00001-of-00003.gguf", true, plan_endian, SHARDS},
};

static gufo_status do_work(const bench *b, const work *w, bool replace, gufo_error *error)
{
    const void *context = w->plan == plan_endian  ? (const void *)&b->big
                          : w->plan == plan_split ? (const void *)&b->twos
                                                  : NULL;

    return make_copy(w->from_set ? b->set_first.text : b->in.text, folder_path(&b->f, w->out).text,
                     w->plan, context, replace, NULL, error);
}

static path_text output_of(const bench *b, const work *w, size_t index)
{
    path_text path = folder_path(&b->f, w->out);

    return w->outputs > 1 ? shard_of(folder_path(&b->f, "out").text, index + 1, SHARDS) : path;
}

static size_t outputs_there(const bench *b, const work *w)
{
    size_t count = 0;

    for (size_t i = 0; i < w->outputs; i++)
        count += file_exists(output_of(b, w, i).text);
    return count;
}

static void remove_outputs(const bench *b, const work *w)
{
    for (size_t i = 0; i < w->outputs; i++)
        (void)unlink(output_of(b, w, i).text);
}

static void remove_temporaries(const bench *b)
{
    char command[1200];

    snprintf(command, sizeof command, "rm -f %s/.gufo-*.tmp %s/.gufo-*.old", b->f.path, b->f.path);
    check(system(command) == 0, "rm");
}

/* The sources are what they were: they still merge to the model. */
static void check_sources(const bench *b, const char *label)
{
    path_text merged = folder_path(&b->f, "merged.gguf");

    (void)copy_well(b->set_first.text, merged.text, plan_merge, NULL, label);
    check_same_file(merged.text, b->in.text, label);
    (void)unlink(merged.text);
}

static void check_complete(const bench *b, const work *w, const char *label)
{
    for (size_t i = 0; i < w->outputs; i++)
        gufo_model_free(open_path(output_of(b, w, i).text));
    check_u64(outputs_there(b, w), w->outputs, "%s", label);
}

/* Those of a run in which none fails. */
static unsigned count_calls(const bench *b, const work *w)
{
    gufo_error error = no_error();
    unsigned calls;

    disk_fail_never();
    check_ok(do_work(b, w, false, &error), &error, "%s", w->name);
    calls = disk_call_count();
    remove_outputs(b, w);
    return calls;
}

/* One call fails; all others succeed, so that all can be cleaned up.  Only what is unlinked after
 * success may stay under its temporary name, when that is what failed. */
static unsigned fail_each_once(const bench *b, const work *w, int failure)
{
    unsigned failed = 0, calls = count_calls(b, w);

    for (unsigned call = 0; call < calls; call++) {
        char label[96];
        gufo_error error = no_error();
        gufo_status status;
        size_t entries;

        snprintf(label, sizeof label, "%s: call %u fails with %d", w->name, call, failure);
        disk_fail_once(call, failure);
        status = do_work(b, w, false, &error);
        calls = disk_call_count() > calls ? disk_call_count() : calls;
        disk_fail_never();
        entries = entry_count(b->f.path);
        if (status == GUFO_OK) {
            check_complete(b, w, label);
            check(entries <= SOURCES + w->outputs + 1, "%s", label);
            if (entries > SOURCES + w->outputs)
                remove_temporaries(b);
        } else {
            check_error_shape(&error, GUFO_E_IO, label);
            check_u64(entries, SOURCES, "%s: %s", label, error.message);
            failed++;
        }
        remove_outputs(b, w);
    }
    return failed;
}

/* All calls from one on fail: nothing can be cleaned up, but there is no set and no file. */
static void fail_from_each(const bench *b, const work *w, int failure)
{
    gufo_status status = GUFO_E_IO;

    for (unsigned call = 0; status != GUFO_OK; call++) {
        char label[96];
        gufo_error error = no_error();

        snprintf(label, sizeof label, "%s: calls from %u fail with %d", w->name, call, failure);
        disk_fail_from(call, failure);
        status = do_work(b, w, false, &error);
        disk_fail_never();
        check(file_exists(output_of(b, w, 0).text) == (status == GUFO_OK), "%s", label);
        if (status == GUFO_OK)
            check_complete(b, w, label);
        remove_outputs(b, w);
    }
}

static void check_work(const work *w, bool without_help)
{
    static const int failures[] = {ENOSPC, EIO};
    bench b = workshop_new();

    disk_without_help(without_help);
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        unsigned failed = fail_each_once(&b, w, failures[i]);

        check(failed >= 4 * w->outputs, "%s: %u calls matter", w->name, failed);
        remove_temporaries(&b);
        fail_from_each(&b, w, failures[i]);
        remove_temporaries(&b);
    }
    disk_without_help(false);
    check_sources(&b, w->name);
    folder_remove(&b.f);
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(works); i++)
        for (int without_help = 0; without_help < 2; without_help++)
            check_work(&works[i], without_help != 0);
}

/* ---- replacing ------------------------------------------------------------------------------ */

/* An old set is replaced: whatever fails, what can be opened is all old or all new. */
static void test_replacing_set(void **state)
{
    bench b = workshop_new();
    path_text other = folder_path(&b.f, "other.gguf"), merged = folder_path(&b.f, "merged.gguf");
    path_text out = folder_path(&b.f, "out"), first = shard_of(out.text, 1, SHARDS);
    test_model model = {.encoding = {3, false},
                        .alignment = 32,
                        .tensors = copied_tensors,
                        .tensor_count = COUNT_OF(copied_tensors)};
    unsigned calls = 2 * count_calls(&b, &works[0]), old = 0, new = 0;

    (void)state;
    write_model(other.text, &model);
    /* Beyond the last call nothing fails. */
    for (unsigned call = 0; call < calls; call++) {
        gufo_error error = no_error();
        bool is_old, is_new;

        remove_shards(out.text, SHARDS);
        (void)copy_well(other.text, out.text, plan_split, &b.twos, "old");
        disk_fail_once(call, EIO);
        (void)make_copy(b.in.text, out.text, plan_split, &b.twos, true, NULL, &error);
        disk_fail_never();
        if (!file_exists(first.text))
            continue;
        (void)copy_well(first.text, merged.text, plan_merge, NULL, "one set");
        is_old = same_files(merged.text, other.text);
        is_new = same_files(merged.text, b.in.text);
        check(is_old != is_new, "call %u", call);
        old += is_old;
        new += is_new;
        (void)unlink(merged.text);
    }
    check(old > 10 && new > 0, "%u old, %u new", old, new);
    folder_remove(&b.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_replacing_set),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
