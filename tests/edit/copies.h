/* Copies of models in tests: a folder, an input in it, and copies made by one call. */
#ifndef TEST_EDIT_COPIES_H
#define TEST_EDIT_COPIES_H

#include "../support/aside.h"
#include "../support/quantize.h"

#include "../support/disk.h"

#include <unistd.h>

/* Before all tests of a program, for cmocka_run_group_tests. */
static inline int copies_setup(void **state)
{
    disk_without_sync(true);
    return folders_in_memory(state);
}

/* A way to plan a copy. */
typedef gufo_job *copy_planner(const gufo_model *set, const void *context, gufo_error *error);

static inline gufo_job *plan_split(const gufo_model *set, const void *context, gufo_error *error)
{
    return gufo_job_split(set, context, error);
}

static inline gufo_job *plan_merge(const gufo_model *set, const void *context, gufo_error *error)
{
    return gufo_job_merge(set, context, error);
}

/* `context` points to the byte order. */
static inline gufo_job *plan_endian(const gufo_model *set, const void *context, gufo_error *error)
{
    const gufo_endian_options options = {.order = *(const gufo_byte_order *)context};

    return gufo_job_endian(set, &options, error);
}

/* Writes a job; `run` may be NULL. */
static inline gufo_status run_job(gufo_job *job, const char *path, bool replace,
                                  const gufo_run *run, gufo_error *error)
{
    const gufo_job_options options = {.path = path, .flags = replace ? GUFO_JOB_REPLACE : 0};

    return gufo_job_run(job, &options, run, error);
}

/* What a run gave beside its status. */
typedef struct copied {
    size_t outputs;
    uint32_t normalised;
} copied;

/* Opens, plans, writes and closes.  `result` may be NULL. */
static inline gufo_status make_copy(const char *in, const char *out, copy_planner *plan,
                                    const void *context, bool replace, copied *result,
                                    gufo_error *error)
{
    const gufo_run run = {.threads = 2};
    gufo_model *set = gufo_model_open(in, NULL, error);
    gufo_job *copy = set != NULL ? plan(set, context, error) : NULL;
    gufo_status status = copy != NULL ? GUFO_OK : error->code;

    if (copy != NULL)
        status = run_job(copy, out, replace, &run, error);
    if (copy != NULL && result != NULL)
        *result = (copied){gufo_job_output_count(copy), gufo_job_normalised(copy)};
    gufo_job_free(copy);
    gufo_model_free(set);
    return status;
}

static inline copied copy_well(const char *in, const char *out, copy_planner *plan,
                               const void *context, const char *label)
{
    gufo_error error = no_error();
    copied result = {0};

    check_ok(make_copy(in, out, plan, context, false, &result, &error), &error, "%s", label);
    return result;
}

/* PREFIX-0000N-of-0000M.gguf */
static inline path_text shard_of(const char *prefix, size_t number, size_t count)
{
    path_text path;

    (void)gufo_shard_path_format(path.text, sizeof path.text, prefix, strlen(prefix),
                                 (uint32_t)number, (uint32_t)count);
    return path;
}

/* Also those that are aside. */
static inline void remove_shards(const char *prefix, size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        (void)unlink(shard_of(prefix, i, count).text);
        (void)unlink(aside_of(shard_of(prefix, i, count).text).text);
    }
}

static inline bool same_files(const char *a, const char *b)
{
    size_t len_a, len_b;
    uint8_t *bytes_a = read_file(a, &len_a), *bytes_b = read_file(b, &len_b);
    bool same = bytes_a != NULL && bytes_b != NULL && len_a == len_b &&
                memcmp(bytes_a, bytes_b, len_a) == 0;

    free(bytes_a);
    free(bytes_b);
    return same;
}

/* A small model: `count` tensors of different sizes and types. */
static const test_tensor copied_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F16, 2, {64, 40}}, {"a.weight", GUFO_TYPE_F32, 2, {64, 3}},
    {"b.weight", GUFO_TYPE_Q4_0, 2, {64, 5}},          {"c.weight", GUFO_TYPE_Q8_0, 1, {32}},
    {"d.weight", GUFO_TYPE_BF16, 3, {8, 4, 3}},        {"e.weight", GUFO_TYPE_Q4_K, 1, {256}},
};

static inline void small_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.alignment", 64);
    builder_kv_str(b, "general.name", "Small");
}

static inline void write_small_model(const char *path)
{
    test_model model = {.encoding = {3, false},
                        .alignment = 64,
                        .metadata = small_metadata,
                        .entries = 3,
                        .tensors = copied_tensors,
                        .tensor_count = COUNT_OF(copied_tensors)};

    write_model(path, &model);
}

#endif
