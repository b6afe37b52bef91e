/* Splitting and merging what is good: what comes back, and what is in the shards. */
#include "../support/aside.h"
#include "copies.h"

#include "../support/good.h"

#include <fcntl.h>
#include <sys/stat.h>

typedef struct workshop {
    folder f;
    path_text in, prefix, out, again;
} workshop;

static workshop workshop_new(void)
{
    workshop w = {.f = folder_new()};

    w.in = folder_path(&w.f, "in.gguf");
    w.prefix = folder_path(&w.f, "s");
    w.out = folder_path(&w.f, "out.gguf");
    w.again = folder_path(&w.f, "again.gguf");
    return w;
}

/* Splits `in`, merges the shards to `out` and removes them. */
static copied there_and_back(const workshop *w, const char *in, const char *out,
                             const gufo_split_options *options, const char *label)
{
    copied split = copy_well(in, w->prefix.text, plan_split, options, label);
    copied merged =
        copy_well(shard_of(w->prefix.text, 1, split.outputs).text, out, plan_merge, NULL, label);

    check_u64(merged.outputs, 1, "%s", label);
    check_u64(merged.normalised, 0, "%s: shards are canonical", label);
    remove_shards(w->prefix.text, split.outputs);
    return split;
}

/* ---- every good file ------------------------------------------------------------------------ */

static void check_good_file(const good_file *good, const builder *bytes, const char *label,
                            void *context)
{
    static const gufo_split_options ways[] = {
        {.max_size = 2000}, {.max_tensors = 3, .metadata_alone = true}, {.max_tensors = 1}};
    /* A file of its own for each of very many tensors tells nothing new. */
    size_t way_count = COUNT_OF(ways) - (strcmp(good->name, "many") == 0);
    const workshop *w = context;
    bool canonical = (good->flags & GOOD_CANONICAL) != 0 && bytes->encoding.version > 1;

    write_file(w->in.text, bytes->data, bytes->len);
    for (size_t i = 0; i < way_count; i++) {
        copied split = there_and_back(w, w->in.text, w->out.text, &ways[i], label);

        check(!canonical || split.normalised == 0, "%s: %#x", label, split.normalised);
        check(same_files(w->in.text, w->out.text) == (split.normalised == 0), "%s: %#x", label,
              split.normalised);
        if (i == 0) { /* what was written once does not change any more */
            split = there_and_back(w, w->out.text, w->again.text, &ways[i], label);
            check_u64(split.normalised, 0, "%s", label);
            check_same_file(w->again.text, w->out.text, label);
            (void)unlink(w->again.text);
        }
        (void)unlink(w->out.text);
    }
}

static void test_good_files(void **state)
{
    workshop w = workshop_new();

    (void)state;
    good_for_each(check_good_file, &w);
    folder_remove(&w.f);
}

/* ---- what is in the shards ------------------------------------------------------------------ */

static uint64_t number_in(const gufo_model *file, const char *key, gufo_value_type type)
{
    gufo_error error = no_error();
    gufo_entry entry;
    uint64_t number;

    check(gufo_model_find(file, key, &entry), "%s", key);
    check_u64(entry.value.type, type, "%s", key);
    check_ok(gufo_value_u64(&entry.value, &number, &error), &error, "%s", key);
    return number;
}

static void test_keys(void **state)
{
    workshop w = workshop_new();
    gufo_split_options options = {.max_tensors = 2};
    uint64_t id = 0;

    (void)state;
    write_small_model(w.in.text);
    check_u64(copy_well(w.in.text, w.prefix.text, plan_split, &options, "split").outputs, 3, "3");
    for (size_t i = 0; i < 3; i++) {
        gufo_model *file = open_path(shard_of(w.prefix.text, i + 1, 3).text);

        check_u64(number_in(file, "split.no", GUFO_VALUE_UINT16), i, "number");
        check_u64(number_in(file, "split.count", GUFO_VALUE_UINT16), 3, "count");
        check_u64(number_in(file, "split.tensors.count", GUFO_VALUE_INT32), 6, "tensors");
        check_u64(number_in(file, "general.alignment", GUFO_VALUE_UINT32), 64, "alignment");
        if (i == 0)
            id = number_in(file, "gufo.split.id", GUFO_VALUE_UINT64);
        check_u64(number_in(file, "gufo.split.id", GUFO_VALUE_UINT64), id, "one identity");
        check_u64(gufo_model_tensor_count(file), 2, "tensors of shard %zu", i);
        check_u64(gufo_model_entry_count(file), i == 0 ? 7 : 5, "metadata of shard %zu", i);
        gufo_model_free(file);
    }
    folder_remove(&w.f);
}

static uint64_t size_of(const char *path)
{
    gufo_model *file = open_path(path);
    uint64_t size = gufo_model_facts(file).size;

    gufo_model_free(file);
    return size;
}

/* For every bound: no shard is larger unless it holds one tensor or none, and none could have taken
 * the first tensor of the next. */
static void test_sizes(void **state)
{
    workshop w = workshop_new();

    (void)state;
    write_small_model(w.in.text);
    for (uint64_t bound = 200; bound < 10000; bound += 149) {
        gufo_split_options options = {.max_size = bound}, larger;
        copied split = copy_well(w.in.text, w.prefix.text, plan_split, &options, "split");
        uint64_t most = 0;

        for (size_t i = 1; i <= split.outputs; i++) {
            path_text path = shard_of(w.prefix.text, i, split.outputs);
            gufo_model *file = open_path(path.text);
            uint64_t size = gufo_model_facts(file).size;

            check(size <= bound || gufo_model_tensor_count(file) <= (i == 1 ? 0 : 1),
                  "bound %" PRIu64 ", shard %zu of %" PRIu64 " bytes", bound, i, size);
            most = size > most ? size : most;
            gufo_model_free(file);
        }
        remove_shards(w.prefix.text, split.outputs);
        /* A bound of just the largest shard gives the same shards; the bound is inclusive. */
        larger = (gufo_split_options){.max_size = most};
        if (most <= bound)
            check_u64(copy_well(w.in.text, w.prefix.text, plan_split, &larger, "again").outputs,
                      split.outputs, "bound %" PRIu64, most);
        remove_shards(w.prefix.text, split.outputs);
    }
    folder_remove(&w.f);
}

/* The bound that is just met by the whole file. */
static void test_exact_size(void **state)
{
    workshop w = workshop_new();
    gufo_split_options options = {.max_tensors = 100};
    path_text only = shard_of(w.prefix.text, 1, 1);
    uint64_t size;

    (void)state;
    write_small_model(w.in.text);
    (void)copy_well(w.in.text, w.prefix.text, plan_split, &options, "one");
    size = size_of(only.text);
    (void)unlink(only.text);
    options = (gufo_split_options){.max_size = size};
    check_u64(copy_well(w.in.text, w.prefix.text, plan_split, &options, "fits").outputs, 1, "fits");
    (void)unlink(only.text);
    options = (gufo_split_options){.max_size = size - 1};
    check_u64(copy_well(w.in.text, w.prefix.text, plan_split, &options, "not").outputs, 2, "not");
    folder_remove(&w.f);
}

static void test_metadata_alone(void **state)
{
    workshop w = workshop_new();
    gufo_split_options options = {.max_tensors = 4, .metadata_alone = true};
    static const uint64_t expected[] = {0, 4, 2};

    (void)state;
    write_small_model(w.in.text);
    check_u64(copy_well(w.in.text, w.prefix.text, plan_split, &options, "split").outputs, 3, "3");
    for (size_t i = 0; i < 3; i++) {
        gufo_model *file = open_path(shard_of(w.prefix.text, i + 1, 3).text);

        check_u64(gufo_model_tensor_count(file), expected[i], "shard %zu", i);
        gufo_model_free(file);
    }
    folder_remove(&w.f);
}

/* ---- sets as a source ----------------------------------------------------------------------- */

static void test_split_again(void **state)
{
    workshop w = workshop_new();
    gufo_split_options ones = {.max_tensors = 1}, threes = {.max_tensors = 3};
    path_text other = folder_path(&w.f, "other"), straight = folder_path(&w.f, "straight");
    char label[32];

    (void)state;
    write_small_model(w.in.text);
    (void)copy_well(w.in.text, w.prefix.text, plan_split, &ones, "ones");
    (void)copy_well(shard_of(w.prefix.text, 1, 6).text, other.text, plan_split, &threes, "again");
    (void)copy_well(w.in.text, straight.text, plan_split, &threes, "straight");
    for (size_t i = 1; i <= 2; i++) {
        snprintf(label, sizeof label, "shard %zu", i);
        check_same_file(shard_of(other.text, i, 2).text, shard_of(straight.text, i, 2).text, label);
    }
    folder_remove(&w.f);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_refused(void **state)
{
    workshop w = workshop_new();
    gufo_split_options none = {0}, ones = {.max_tensors = 1};
    gufo_error error = no_error();
    path_text first = shard_of(w.prefix.text, 1, 6), third = shard_of(w.prefix.text, 3, 6);

    (void)state;
    write_small_model(w.in.text);
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &none, false, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "no bound");
    write_file(third.text, "precious", 8);
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &ones, false, NULL, &error),
                 GUFO_E_EXISTS, &error, "one exists");
    check_u64(entry_count(w.f.path), 2, "nothing else");
    check_file(third.text, "precious", 8, "still there");
    (void)unlink(third.text);
    check(link(w.in.text, first.text) == 0, "link");
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &ones, true, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "output is input");
    check_u64(entry_count(w.f.path), 2, "nothing else");
    folder_remove(&w.f);
}

/* One tensor more than there can be shards. */
static void test_too_many(void **state)
{
    workshop w = workshop_new();
    builder b = builder_new((encoding){3, false});
    gufo_split_options ones = {.max_tensors = 1};
    gufo_error error = no_error();
    char name[16];

    (void)state;
    builder_header(&b, GUFO_MAX_SHARDS + 1, 0);
    for (uint32_t i = 0; i <= GUFO_MAX_SHARDS; i++) {
        snprintf(name, sizeof name, "t%" PRIu32, i);
        builder_tensor(&b, name, GUFO_TYPE_I8, 1, (uint64_t[]){32}, i * UINT64_C(32));
    }
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 32 * ((size_t)GUFO_MAX_SHARDS + 1));
    write_file(w.in.text, b.data, b.len);
    builder_free(&b);
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &ones, false, NULL, &error),
                 GUFO_E_LIMIT, &error, "65536 shards");
    check_u64(entry_count(w.f.path), 1, "nothing written");
    folder_remove(&w.f);
}

/* ---- what an interrupted run leaves --------------------------------------------------------- */

static void test_leftovers(void **state)
{
    workshop w = workshop_new();
    gufo_split_options options = {.max_tensors = 2};
    gufo_error error = no_error();
    path_text first = shard_of(w.prefix.text, 1, 3), third = shard_of(w.prefix.text, 3, 3);

    (void)state;
    write_small_model(w.in.text);
    (void)copy_well(w.in.text, w.prefix.text, plan_split, &options, "first time");
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &options, false, NULL, &error),
                 GUFO_E_EXISTS, &error, "a whole set");
    /* Killed after the new names of all shards but the first. */
    check(rename(first.text, aside_of(first.text).text) == 0, "rename");
    write_file(aside_of(shard_of(w.prefix.text, 2, 3).text).text, "", 0);
    write_file(aside_of(third.text).text, "", 0);
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &options, false, NULL, &error),
                 GUFO_E_EXISTS, &error, "an old shard that is aside");
    check(file_exists(aside_of(first.text).text) && file_exists(third.text), "left alone");
    write_file(aside_of(first.text).text, "", 0);
    (void)copy_well(w.in.text, w.prefix.text, plan_split, &options, "its own leftovers");
    check(!file_exists(aside_of(first.text).text) && !file_exists(aside_of(third.text).text),
          "nothing is left aside");
    (void)copy_well(first.text, w.out.text, plan_merge, NULL, "merge");
    check_same_file(w.out.text, w.in.text, "whole again");
    /* A third shard that no commit has left is none of them. */
    check(unlink(first.text) == 0 && rename(w.out.text, third.text) == 0, "rename");
    check_status(make_copy(w.in.text, w.prefix.text, plan_split, &options, false, NULL, &error),
                 GUFO_E_EXISTS, &error, "a stranger");
    check_same_file(third.text, w.in.text, "left alone");
    folder_remove(&w.f);
}

/* ---- the source changes --------------------------------------------------------------------- */

/* Touches the file named by the context while it is copied. */
static bool touch_source(void *context, uint64_t done, uint64_t total)
{
    struct timespec long_ago[2] = {{1, 0}, {1, 0}};

    (void)done, (void)total;
    return utimensat(AT_FDCWD, context, long_ago, 0) == 0;
}

static bool stop(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return false;
}

static void check_ends(gufo_progress_fn *progress, gufo_status expected)
{
    workshop w = workshop_new();
    gufo_split_options options = {.max_tensors = 2};
    gufo_run run = {.progress = progress, .progress_context = w.in.text};
    gufo_error error = no_error();
    gufo_model *set;
    gufo_job *copy;

    write_small_model(w.in.text);
    set = gufo_model_open(w.in.text, NULL, &error);
    check(set != NULL, "%s", error.message);
    copy = gufo_job_split(set, &options, &error);
    check(copy != NULL, "%s", error.message);
    check_status(run_job(copy, w.prefix.text, false, &run, &error), expected, &error, "run");
    check_error_shape(&error, expected, "run");
    check_u64(entry_count(w.f.path), 1, "nothing is left");
    check_status(run_job(copy, w.prefix.text, false, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "only once");
    gufo_job_free(copy);
    gufo_model_free(set);
    folder_remove(&w.f);
}

static void test_source_changes(void **state)
{
    (void)state;
    check_ends(touch_source, GUFO_E_CHANGED);
    check_ends(stop, GUFO_E_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),     cmocka_unit_test(test_keys),
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_exact_size),
        cmocka_unit_test(test_metadata_alone), cmocka_unit_test(test_split_again),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_leftovers),      cmocka_unit_test(test_source_changes),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
