/* Importance matrices: reading, merging, statistics, writing. */
#include "imatrix_files.h"

#include "../support/allocator.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- reading -------------------------------------------------------------------------------- */

static void test_legacy(void **state)
{
    builder b = make_legacy();
    gufo_imatrix *m = imatrix_of(&b, "legacy");
    gufo_imatrix_entry entry;
    gufo_str text;
    float counts[1], sums[3];
    gufo_error error = no_error();

    (void)state;
    check(gufo_imatrix_format_of(m) == GUFO_IMATRIX_LEGACY, "format");
    check_u64(gufo_imatrix_chunk_count(m), 4, "chunks");
    check_u64(gufo_imatrix_chunk_size(m), 512, "chunk size, which the file does not say");
    check_u64(gufo_imatrix_entry_count(m), 2, "entries");
    check(gufo_imatrix_entry_at(m, 1, &entry) && !gufo_imatrix_entry_at(m, 2, &entry), "entries");
    check_str(entry.name, EXPERTS, "name");
    check(entry.values == 6 && entry.matrices == 1, "lengths");
    check(gufo_imatrix_dataset_at(m, 0, &text), "dataset");
    check_str(text, "calibration.txt", "dataset");
    check(!gufo_imatrix_dataset_at(m, 1, &text), "one dataset");
    check_importance(m, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, "plain");
    check_importance(m, EXPERTS, 2, 0, (const float[]){1.0f / 3 / 3, 2}, "first matrix");
    check_importance(m, EXPERTS, 2, 2, (const float[]){1e-39f / 3, 1e35f / 3}, "third matrix");
    check_ok(gufo_imatrix_read_counts(m, 0, 0, 1, counts, &error), &error, "counts");
    check(counts[0] == 4 * 512, "count %g", (double)counts[0]);
    check_ok(gufo_imatrix_read_sums(m, 0, 1, 2, sums, &error), &error, "sums");
    check(sums[0] == 6 * 512 && sums[1] == 9 * 512, "sums");
    gufo_imatrix_free(m);
    builder_free(&b);
}

static void test_gguf(void **state)
{
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        builder b = make_gguf(big == 1);
        const char *label = big ? "big-endian" : "little-endian";
        gufo_imatrix *m = imatrix_of(&b, label);
        gufo_imatrix_entry entry;
        gufo_str text;

        check(gufo_imatrix_format_of(m) == GUFO_IMATRIX_GGUF, "%s", label);
        check_u64(gufo_imatrix_chunk_count(m), 4, "%s", label);
        check_u64(gufo_imatrix_chunk_size(m), TOKENS, "%s", label);
        check_u64(gufo_imatrix_entry_count(m), 2, "%s", label);
        check(gufo_imatrix_entry_at(m, entry_of(m, EXPERTS), &entry), "%s", label);
        check_str(entry.name, EXPERTS, "%s", label);
        check(entry.values == 6 && entry.matrices == 3, "%s", label);
        check(gufo_imatrix_dataset_at(m, 1, &text) && !gufo_imatrix_dataset_at(m, 2, &text), "%s",
              label);
        check_str(text, "second.txt", "%s", label);
        check_importance(m, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, label);
        check_importance(m, EXPERTS, 2, 0, (const float[]){1, 2}, label);
        check_importance(m, EXPERTS, 2, 1, (const float[]){1, 1}, label);
        check_importance(m, EXPERTS, 2, 2, (const float[]){3, 4}, label);
        gufo_imatrix_free(m);
        builder_free(&b);
    }
}

/* From a path, and what a path may be instead. */
static void test_paths(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "imatrix.dat"), none = folder_path(&f, "none");
    gufo_error error = no_error();

    (void)state;
    for (unsigned gguf = 0; gguf < 2; gguf++) {
        builder b = gguf ? make_gguf(false) : make_legacy();

        write_file(path.text, b.data, b.len);
        gufo_imatrix *m = gufo_imatrix_open(path.text, NULL, &error);
        check(m != NULL, "%s", error.message);
        check_importance(m, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, path.text);
        gufo_imatrix_free(m);
        builder_free(&b);
    }
    check(gufo_imatrix_open(none.text, NULL, &error) == NULL, "no such file");
    check_error_shape(&error, GUFO_E_IO, "no such file");
    check(gufo_imatrix_open(f.path, NULL, &error) == NULL, "a folder");
    check_error_shape(&error, GUFO_E_IO, "a folder");
    check(gufo_imatrix_open("/dev/null", NULL, &error) == NULL, "a device");
    check_error_shape(&error, GUFO_E_ARGUMENT, "a device");
    folder_remove(&f);
}

static void test_chunk_size(void **state)
{
    builder b = make_legacy();
    gufo_imatrix_options options = {.chunk_size = 100};
    gufo_error error = no_error();
    gufo_imatrix *m = gufo_imatrix_open_memory(b.data, b.len, &options, &error);
    float count;

    (void)state;
    check_u64(gufo_imatrix_chunk_size(m), 100, "as asked for");
    check_ok(gufo_imatrix_read_counts(m, 0, 0, 1, &count, &error), &error, "count");
    check(count == 400, "%g", (double)count);
    check_importance(m, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, "means do not change");
    check_written(m, GUFO_IMATRIX_LEGACY, &b, "nor does what is written");
    gufo_imatrix_free(m);
    builder_free(&b);
}

static void test_match(void **state)
{
    static const struct {
        const char *name;
        uint64_t columns, matrices;
        gufo_status status;
    } rows[] = {
        {PLAIN, 3, 1, GUFO_OK},
        {EXPERTS, 2, 3, GUFO_OK},
        {EXPERTS, 3, 2, GUFO_E_ARGUMENT}, /* other experts */
        {EXPERTS, 6, 1, GUFO_E_ARGUMENT},
        {PLAIN, 4, 1, GUFO_E_ARGUMENT},
        {PLAIN, 0, 1, GUFO_E_ARGUMENT},
        {PLAIN, UINT64_C(1) << 63, 2, GUFO_E_ARGUMENT},
        {"blk.0.attn_q", 3, 1, GUFO_E_NOT_FOUND},
        {"", 3, 1, GUFO_E_NOT_FOUND},
    };
    builder b = make_gguf(false), old = make_legacy();
    gufo_imatrix *m = imatrix_of(&b, "gguf"), *legacy = imatrix_of(&old, "legacy");
    gufo_error error = no_error();
    uint64_t index;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_status status = gufo_imatrix_match(m, gufo_str_of(rows[i].name), rows[i].columns,
                                                rows[i].matrices, &index, &error);

        check_status(status, rows[i].status, &error, "row %zu", i);
        if (status != GUFO_OK)
            check(strstr(error.message, rows[i].name) != NULL, "row %zu: %s", i, error.message);
    }
    /* The old format does not say how many matrices there are. */
    check_ok(gufo_imatrix_match(legacy, gufo_str_of(EXPERTS), 2, 3, &index, &error), &error, "2x3");
    check_ok(gufo_imatrix_match(legacy, gufo_str_of(EXPERTS), 3, 2, &index, &error), &error, "3x2");
    gufo_imatrix_free(m);
    gufo_imatrix_free(legacy);
    builder_free(&b);
    builder_free(&old);
}

static void test_ranges(void **state)
{
    builder b = make_gguf(false);
    gufo_imatrix *m = imatrix_of(&b, "gguf");
    float out[8];
    gufo_error error = no_error();

    (void)state;
    check_ok(gufo_imatrix_read_sums(m, 1, 6, 0, out, &error), &error, "nothing");
    check_status(gufo_imatrix_read_sums(m, 1, 5, 2, out, &error), GUFO_E_RANGE, &error, "sums");
    check_status(gufo_imatrix_read_sums(m, 2, 0, 1, out, &error), GUFO_E_RANGE, &error, "entry");
    check_status(gufo_imatrix_read_sums(m, 0, UINT64_MAX, 2, out, &error), GUFO_E_RANGE, &error,
                 "wraps");
    check_status(gufo_imatrix_read_counts(m, 1, 3, 1, out, &error), GUFO_E_RANGE, &error, "counts");
    check_status(gufo_imatrix_importance(m, 1, 2, 3, out, &error), GUFO_E_RANGE, &error, "matrix");
    check_status(gufo_imatrix_importance(m, 1, 0, 0, out, &error), GUFO_E_RANGE, &error, "columns");
    check_status(gufo_imatrix_importance(m, 1, UINT64_MAX, 2, out, &error), GUFO_E_RANGE, &error,
                 "wraps");
    check_status(gufo_imatrix_importance(m, 9, 2, 0, out, &error), GUFO_E_RANGE, &error, "entry");
    gufo_imatrix_statistics s;
    check_status(gufo_imatrix_scan(m, 2, &s, &error), GUFO_E_RANGE, &error, "entry");
    gufo_imatrix_free(m);
    builder_free(&b);
}

/* Longer than what is read at a time. */
static void test_long_entry(void **state)
{
    enum { COLUMNS = 10000 };
    builder b = builder_new((encoding){3, false});
    float *means = calloc(COLUMNS, sizeof *means);
    gufo_error error = no_error();
    gufo_imatrix_statistics s;

    (void)state;
    builder_u32(&b, 1);
    legacy_text(&b, "long");
    builder_u32(&b, 2);
    builder_u32(&b, COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
        builder_f32(&b, (float)(2 * i));
    builder_u32(&b, 2);
    legacy_text(&b, "x");
    gufo_imatrix *m = imatrix_of(&b, "long");
    check_ok(gufo_imatrix_importance(m, 0, COLUMNS, 0, means, &error), &error, "means");
    for (int i = 0; i < COLUMNS; i++)
        check(means[i] == (float)i, "%d: %g", i, (double)means[i]);
    check_ok(gufo_imatrix_scan(m, 0, &s, &error), &error, "scan");
    check(s.mean == (COLUMNS - 1) / 2.0 && s.top == COLUMNS - 1, "%g", s.mean);
    check_written(m, GUFO_IMATRIX_LEGACY, &b, "long");
    gufo_imatrix_free(m);
    builder_free(&b);
    free(means);
}

/* ---- statistics and values that no sum of squares has --------------------------------------- */

static void test_statistics(void **state)
{
    builder b = make_gguf(false);
    gufo_imatrix *m = imatrix_of(&b, "gguf");
    gufo_imatrix_statistics s;
    gufo_error error = no_error();

    (void)state;
    check_ok(gufo_imatrix_scan(m, 1, &s, &error), &error, "experts");
    check(s.unreached == 1 && s.bad_counts == 0 && s.nonfinite == 0 && s.negative == 0 &&
              s.zeros == 0,
          "experts");
    check(s.lowest_count == 0 && s.highest_count == 1000, "counts");
    check(s.minimum == 1 && s.maximum == 4 && s.mean == 2.5 && s.top == 5, "means");
    gufo_imatrix_free(m);
    builder_free(&b);
}

static void test_bad_values(void **state)
{
    const float values[] = {NAN, INFINITY, -INFINITY, -1, 0, 7};
    gufo_imatrix_statistics s;
    gufo_error error = no_error();
    float means[6];

    (void)state;
    builder b = builder_new((encoding){3, false});
    builder_u32(&b, 1);
    legacy_entry(&b, PLAIN, 2, 6, values);
    gufo_imatrix *m = imatrix_of(&b, "bad values");
    check_ok(gufo_imatrix_scan(m, 0, &s, &error), &error, "scan");
    check(s.nonfinite == 3 && s.negative == 1 && s.zeros == 1, "scan");
    check(s.minimum == -0.5f && s.maximum == 3.5f && s.top == 5, "scan");
    for (uint64_t i = 0; i < 6; i++) {
        bool good = i >= 4;

        check_status(gufo_imatrix_importance(m, 0, 1, i, means, &error),
                     good ? GUFO_OK : GUFO_E_MALFORMED, &error, "%g", (double)values[i]);
        check(good || strstr(error.message, PLAIN) != NULL, "%s", error.message);
    }
    gufo_imatrix_free(m);
    builder_free(&b);
}

static void test_bad_counts(void **state)
{
    static const struct {
        float count;
        bool good, writable; /* in the old format, which has neither 0 nor more than 2^31 chunks */
    } rows[] = {
        {NAN, false, false}, {INFINITY, false, false}, {-1, false, false},
        {0, true, false},    {2.4f, true, true},       {1e30f, true, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        gufo_imatrix_statistics s;
        gufo_error error = no_error();
        float mean;

        gguf_head(&b, 1, 2);
        builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 0);
        builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 32);
        gguf_floats(&b, 1, (const float[]){6});
        gguf_floats(&b, 1, &rows[i].count);
        builder_pad(&b, 32);
        gufo_imatrix *m = imatrix_of(&b, "bad counts");
        check_status(gufo_imatrix_importance(m, 0, 1, 0, &mean, &error),
                     rows[i].good ? GUFO_OK : GUFO_E_MALFORMED, &error, "%g",
                     (double)rows[i].count);
        check_ok(gufo_imatrix_scan(m, 0, &s, &error), &error, "scan");
        check_u64(s.bad_counts, rows[i].good ? 0 : 1, "%g", (double)rows[i].count);
        if (rows[i].count == 2.4f)
            check(mean == 3, "rounded to 2: %g", (double)mean);
        check(plannable(m, GUFO_IMATRIX_LEGACY, &error) == rows[i].writable, "the old format, %g",
              (double)rows[i].count);
        gufo_imatrix_free(m);
        builder_free(&b);
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static void test_round_trips(void **state)
{
    builder gguf = make_gguf(false), legacy = make_legacy();
    gufo_imatrix *a = imatrix_of(&gguf, "gguf"), *b = imatrix_of(&legacy, "legacy");
    folder f = folder_new();
    path_text path = folder_path(&f, "between.gguf");
    gufo_error error = no_error();
    size_t len;

    (void)state;
    check_written(a, GUFO_IMATRIX_GGUF, &gguf, "GGUF as it was");
    check_written(b, GUFO_IMATRIX_LEGACY, &legacy, "the old format as it was");
    free(written(b, GUFO_IMATRIX_GGUF, path.text, &len));
    gufo_imatrix *c = gufo_imatrix_open(path.text, NULL, &error);
    check(c != NULL, "%s", error.message);
    check(gufo_imatrix_format_of(c) == GUFO_IMATRIX_GGUF, "between");
    check_importance(c, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, "between");
    gufo_imatrix_free(a);
    gufo_imatrix_free(b);
    gufo_imatrix_free(c);
    folder_remove(&f);
    builder_free(&gguf);
    builder_free(&legacy);
}

/* All values that fit into both formats come back bit by bit. */
static void test_round_trip_values(void **state)
{
    enum { COUNT = 3000 };
    static float values[COUNT];
    uint64_t seed = 88172645463325252u;
    builder b = builder_new((encoding){3, false});
    folder f = folder_new();
    path_text path = folder_path(&f, "between.gguf");
    gufo_error error = no_error();
    size_t len;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits =
            (uint32_t)(random_next(&seed) >> 33) % 0x7a000000u; /* to 2^116: * 512 fits */

        memcpy(&values[i], &bits, sizeof bits);
    }
    builder_u32(&b, 3);
    legacy_entry(&b, "a", 1, COUNT, values);
    legacy_entry(&b, "b", 7, COUNT / 2, values + COUNT / 2);
    legacy_entry(&b, "c", 12345, 5, values + 10);
    builder_u32(&b, 12345);
    legacy_text(&b, "values.txt");
    gufo_imatrix *m = imatrix_of(&b, "values");
    free(written(m, GUFO_IMATRIX_GGUF, path.text, &len));
    gufo_imatrix *between = gufo_imatrix_open(path.text, NULL, &error);
    check(between != NULL, "%s", error.message);
    check_written(between, GUFO_IMATRIX_LEGACY, &b, "there and back");
    gufo_imatrix_free(m);
    gufo_imatrix_free(between);
    folder_remove(&f);
    builder_free(&b);
}

/* Counts in chunks rounded up; ones for the expert that was never reached; the last dataset. */
static void test_gguf_to_legacy(void **state)
{
    builder gguf = make_gguf(false), expected = builder_new((encoding){3, false});
    gufo_imatrix *m = imatrix_of(&gguf, "gguf");

    (void)state;
    builder_u32(&expected, 2);
    legacy_entry(&expected, PLAIN, 4, 3, (const float[]){2, 6, 9});
    legacy_entry(&expected, EXPERTS, 2, 6, (const float[]){2, 4, 2, 2, 6, 8});
    builder_u32(&expected, 4);
    legacy_text(&expected, "second.txt");
    check_written(m, GUFO_IMATRIX_LEGACY, &expected, "to the old format");
    gufo_imatrix_free(m);
    builder_free(&gguf);
    builder_free(&expected);
}

/* An entry without any data is left out of the old format. */
static void test_no_data(void **state)
{
    builder b = builder_new((encoding){3, false}), expected = builder_new((encoding){3, false});

    (void)state;
    gguf_head(&b, 1, 4);
    builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){2}, 0);
    builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 32);
    builder_tensor(&b, "b.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 64);
    builder_tensor(&b, "b.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 96);
    gguf_floats(&b, 2, (const float[]){0, 0});
    gguf_floats(&b, 1, (const float[]){0});
    gguf_floats(&b, 1, (const float[]){TOKENS});
    gguf_floats(&b, 1, (const float[]){TOKENS * 5});
    builder_pad(&b, 32);
    gufo_imatrix *m = imatrix_of(&b, "no data");
    builder_u32(&expected, 1);
    legacy_entry(&expected, "b", 1, 1, (const float[]){5});
    builder_u32(&expected, 1);
    legacy_text(&expected, "second.txt");
    check_written(m, GUFO_IMATRIX_LEGACY, &expected, "no data");
    gufo_imatrix_free(m);
    builder_free(&b);
    builder_free(&expected);
}

static bool stop(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void test_output_refused(void **state)
{
    static char name[80];
    builder b = make_legacy(), long_name = builder_new((encoding){3, false});
    gufo_imatrix *m = imatrix_of(&b, "legacy");
    folder f = folder_new();
    path_text path = folder_path(&f, "out");
    gufo_error error = no_error();

    (void)state;
    write_file(path.text, "old", 3);
    for (unsigned format = 0; format < 2; format++) {
        gufo_run stopping = {.progress = stop};

        check_status(imatrix_save(m, (gufo_imatrix_format)format, path.text, false, NULL, &error),
                     GUFO_E_EXISTS, &error, "it exists");
        check_error_shape(&error, GUFO_E_EXISTS, "it exists");
        check_status(
            imatrix_save(m, (gufo_imatrix_format)format, path.text, true, &stopping, &error),
            GUFO_E_STOPPED, &error, "an output that was not finished");
        check_file(path.text, "old", 3, "an output that was not finished");
        check_u64(entry_count(f.path), 1, "nothing is left");
    }
    memset(name, 'n', sizeof name - 1);
    builder_u32(&long_name, 1);
    legacy_entry(&long_name, name, 1, 1, (const float[]){1});
    gufo_imatrix *n = imatrix_of(&long_name, "long name");
    check(!plannable(n, GUFO_IMATRIX_GGUF, &error), "name");
    check_error_shape(&error, GUFO_E_LIMIT, "name");
    check_file(path.text, "old", 3, "name");
    gufo_imatrix_free(m);
    gufo_imatrix_free(n);
    folder_remove(&f);
    builder_free(&b);
    builder_free(&long_name);
}

static void test_plan_refused(void **state)
{
    builder b = make_gguf(false);
    gufo_imatrix *m = imatrix_of(&b, "gguf");
    gufo_job_plan_options later = {.reserved = {0, 1}};
    gufo_error error = no_error();

    (void)state;
    check(gufo_job_imatrix(m, GUFO_IMATRIX_GGUF, &later, &error) == NULL, "reserved");
    check_error_shape(&error, GUFO_E_ARGUMENT, "reserved");
    check(gufo_job_imatrix(m, (gufo_imatrix_format)2, NULL, &error) == NULL, "format");
    check_error_shape(&error, GUFO_E_ARGUMENT, "format");
    gufo_imatrix_free(m);
    builder_free(&b);
}

/* What was read may be replaced; but what a run that can be resumed leaves beside the output may
 * not be an input. */
static void test_replaced_input(void **state)
{
    builder files[] = {make_gguf(false), make_legacy()};
    folder f = folder_new();
    path_text path = folder_path(&f, "out"), part = folder_path(&f, "out.part");
    gufo_error error = no_error();

    (void)state;
    for (unsigned format = 0; format < 2; format++) {
        gufo_job_options resumable = {.path = path.text,
                                      .flags = GUFO_JOB_REPLACE | GUFO_JOB_RESUMABLE};
        gufo_imatrix *m, *beside;
        gufo_job *job;

        write_file(path.text, files[format].data, files[format].len);
        write_file(part.text, files[format].data, files[format].len);
        m = gufo_imatrix_open(path.text, NULL, &error);
        beside = gufo_imatrix_open(part.text, NULL, &error);
        check(m != NULL && beside != NULL, "%s", error.message);
        job = gufo_job_imatrix(beside, (gufo_imatrix_format)format, NULL, &error);
        check(job != NULL, "%s", error.message);
        check_status(gufo_job_run(job, &resumable, NULL, &error), GUFO_E_ARGUMENT, &error,
                     "beside the output");
        gufo_job_free(job);
        check_ok(imatrix_save(m, (gufo_imatrix_format)format, path.text, true, NULL, &error),
                 &error, "itself");
        check_file(path.text, files[format].data, files[format].len, "itself");
        check_file(part.text, files[format].data, files[format].len, "beside it");
        gufo_imatrix_free(beside);
        gufo_imatrix_free(m);
        builder_free(&files[format]);
    }
    folder_remove(&f);
}

/* One entry "a" in GGUF: so many matrices of one column each. */
static builder make_column(size_t matrices, const float *sums, const float *counts)
{
    builder b = builder_new((encoding){3, false});

    gguf_head(&b, 1, 2);
    builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 2, (uint64_t[]){1, matrices}, 0);
    builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 2, (uint64_t[]){1, matrices}, 32);
    gguf_floats(&b, matrices, sums);
    gguf_floats(&b, matrices, counts);
    builder_pad(&b, 32);
    return b;
}

/* Numbers that are finite in the input, and would not be in the output. */
static void test_too_large(void **state)
{
    static const struct {
        const char *label;
        float sums[2], counts[2];
        gufo_status twice, legacy; /* added to itself, in GGUF; alone in the old format */
    } rows[] = {
        {"small", {1e38f, 1}, {512, 512}, GUFO_OK, GUFO_OK},
        {"a sum", {1, 3e38f}, {512, 512}, GUFO_E_RANGE, GUFO_OK},
        {"a mean times calls", {1e38f, 1}, {1, 5120}, GUFO_OK, GUFO_E_RANGE},
        {"infinity as it was", {INFINITY, 1}, {512, 512}, GUFO_OK, GUFO_OK},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, "out");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = make_column(2, rows[i].sums, rows[i].counts);
        gufo_imatrix *m = imatrix_of(&b, rows[i].label);
        gufo_error error = no_error();
        gufo_imatrix *sum = gufo_imatrix_merge((const gufo_imatrix *[]){m, m}, 2, NULL, &error);

        for (unsigned format = 0; format < 2; format++) {
            const gufo_imatrix *from = format == 0 ? sum : m;
            gufo_status expected = format == 0 ? rows[i].twice : rows[i].legacy;

            check(plannable(from, (gufo_imatrix_format)format, &error), "%s: %s", rows[i].label,
                  error.message);
            check_status(
                imatrix_save(from, (gufo_imatrix_format)format, path.text, true, NULL, &error),
                expected, &error, "%s", rows[i].label);
            check(expected == GUFO_OK ||
                      (strstr(error.message, "\"a\"") != NULL && error.role == GUFO_FILE_OUTPUT),
                  "%s", error.message);
            check_u64(entry_count(f.path), expected == GUFO_OK, "%s: nothing is left",
                      rows[i].label);
            (void)unlink(path.text);
        }
        gufo_imatrix_free(sum);
        gufo_imatrix_free(m);
        builder_free(&b);
    }
    folder_remove(&f);
}

/* What is written can be read again: no longer a dataset than that. */
static void test_long_dataset(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.dat");

    (void)state;
    for (size_t len = GUFO_MAX_KEY; len <= GUFO_MAX_KEY + 1; len++) {
        builder b = builder_new((encoding){3, false});
        gufo_error error = no_error();
        gufo_str text;

        builder_header(&b, 2, 1);
        builder_kv_array(&b, "imatrix.datasets", GUFO_VALUE_STRING, 1);
        builder_length(&b, len);
        builder_fill(&b, 'd', len);
        builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 0);
        builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 32);
        gguf_floats(&b, 1, (const float[]){1});
        gguf_floats(&b, 1, (const float[]){1});
        builder_pad(&b, 32);
        gufo_imatrix *m = imatrix_of(&b, "long dataset");
        bool fits = plannable(m, GUFO_IMATRIX_LEGACY, &error);
        check(fits == (len == GUFO_MAX_KEY), "%zu: %s", len, error.message);
        if (!fits) {
            check_error_shape(&error, GUFO_E_LIMIT, "long dataset");
        } else {
            check_ok(imatrix_save(m, GUFO_IMATRIX_LEGACY, path.text, true, NULL, &error), &error,
                     "write");
            gufo_imatrix *again = gufo_imatrix_open(path.text, NULL, &error);
            check(again != NULL, "%s", error.message);
            check(gufo_imatrix_dataset_at(again, 0, &text) && text.len == len, "%zu", len);
            gufo_imatrix_free(again);
        }
        gufo_imatrix_free(m);
        builder_free(&b);
    }
    folder_remove(&f);
}

/* More chunks than the numbers of a format can hold. */
static void test_too_many_chunks(void **state)
{
    builder b = builder_new((encoding){3, false});
    const gufo_imatrix *inputs[9];
    gufo_error error = no_error();

    (void)state;
    builder_header(&b, 2, 2);
    builder_kv_u32(&b, "imatrix.chunk_count", UINT32_MAX);
    builder_kv_u32(&b, "imatrix.chunk_size", UINT32_MAX);
    builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 0);
    builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 32);
    gguf_floats(&b, 1, (const float[]){1});
    gguf_floats(&b, 1, (const float[]){1});
    builder_pad(&b, 32);
    gufo_imatrix *m = imatrix_of(&b, "chunks");
    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        inputs[i] = m;
    check(!plannable(m, GUFO_IMATRIX_LEGACY, &error), "signed");
    check_error_shape(&error, GUFO_E_RANGE, "signed");
    for (size_t count = 2; count <= COUNT_OF(inputs); count += 7) {
        gufo_imatrix *sum = gufo_imatrix_merge(inputs, count, NULL, &error);

        check(sum != NULL && gufo_imatrix_chunk_count(sum) > UINT32_MAX, "%zu", count);
        check(!plannable(sum, GUFO_IMATRIX_GGUF, &error), "%zu", count);
        check_error_shape(&error, GUFO_E_RANGE, "chunks");
        gufo_imatrix_free(sum);
    }
    gufo_imatrix_free(m);
    builder_free(&b);
}

static void test_stream(void **state)
{
    builder gguf = make_gguf(false), legacy = make_legacy();
    const builder *files[] = {[GUFO_IMATRIX_GGUF] = &gguf, [GUFO_IMATRIX_LEGACY] = &legacy};

    (void)state;
    for (unsigned format = 0; format < 2; format++) {
        gufo_imatrix *m = imatrix_of(files[format], "stream");
        FILE *file = tmpfile();
        gufo_error error = no_error();
        static uint8_t bytes[4096];

        check_ok(imatrix_stream(m, (gufo_imatrix_format)format, fileno(file), &error), &error,
                 "write");
        rewind(file);
        size_t len = fread(bytes, 1, sizeof bytes, file);
        check_view(((gufo_str){(char *)bytes, len}),
                   ((gufo_str){(char *)files[format]->data, files[format]->len}), "%u", format);
        fclose(file);
        gufo_imatrix_free(m);
    }
    builder_free(&gguf);
    builder_free(&legacy);
}

/* A stream that takes so many bytes and no more, for every number of bytes. */
static void test_no_space(void **state)
{
    builder gguf = make_gguf(false), legacy = make_legacy();
    const builder *files[] = {[GUFO_IMATRIX_GGUF] = &gguf, [GUFO_IMATRIX_LEGACY] = &legacy};

    (void)state;
    for (unsigned format = 0; format < 2; format++) {
        gufo_imatrix *m = imatrix_of(files[format], "no space");

        for (size_t space = 0; space <= files[format]->len; space++) {
            int fd = memfd_create("gufo-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
            gufo_error error = no_error();

            check(fd >= 0 && ftruncate(fd, (off_t)space) == 0 &&
                      fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0,
                  "a file that does not grow");
            check_status(imatrix_stream(m, (gufo_imatrix_format)format, fd, &error),
                         space < files[format]->len ? GUFO_E_IO : GUFO_OK, &error, "%u: %zu bytes",
                         format, space);
            close(fd);
        }
        gufo_imatrix_free(m);
    }
    builder_free(&gguf);
    builder_free(&legacy);
}

/* ---- merging -------------------------------------------------------------------------------- */

static bool keep_plain(void *context, gufo_str name)
{
    (void)context;
    return gufo_str_equal(name, gufo_str_of(PLAIN));
}

static void test_merge(void **state)
{
    builder gguf = make_gguf(false), legacy = make_legacy();
    const gufo_imatrix *inputs[] = {imatrix_of(&gguf, "gguf"), imatrix_of(&legacy, "legacy"),
                                    imatrix_of(&gguf, "gguf")};
    gufo_error error = no_error();
    float counts[3], sums[6];
    gufo_str text;
    gufo_imatrix *m = gufo_imatrix_merge(inputs, 3, NULL, &error);

    (void)state;
    check(m != NULL, "%s", error.message);
    check_u64(gufo_imatrix_entry_count(m), 2, "entries");
    check_u64(gufo_imatrix_chunk_count(m), 12, "chunks");
    check_u64(gufo_imatrix_chunk_size(m), TOKENS, "chunk size");
    check(gufo_imatrix_format_of(m) == GUFO_IMATRIX_GGUF, "format");
    check(gufo_imatrix_dataset_at(m, 4, &text) && !gufo_imatrix_dataset_at(m, 5, &text), "five");
    check_ok(gufo_imatrix_read_sums(m, 0, 0, 3, sums, &error), &error, "sums");
    check(sums[0] == 3 * 1024 && sums[1] == 3 * 3072 && sums[2] == 3 * 4608, "sums");
    check_ok(gufo_imatrix_read_counts(m, entry_of(m, EXPERTS), 0, 3, counts, &error), &error, "n");
    check(counts[0] == 2000 + 1536 && counts[1] == 1536 && counts[2] == 2 + 1536,
          "counts: %g %g %g", (double)counts[0], (double)counts[1], (double)counts[2]);
    check_importance(m, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, "means of equal means");
    check_importance(m, EXPERTS, 2, 1, (const float[]){1, 1}, "where only one had data");
    gufo_imatrix_free(m);

    gufo_imatrix_merge_options options = {.keep = keep_plain};
    m = gufo_imatrix_merge(&inputs[1], 1, &options, &error);
    check(m != NULL, "%s", error.message);
    check_u64(gufo_imatrix_entry_count(m), 1, "selected");
    check_u64(gufo_imatrix_chunk_count(m), 4, "chunks");
    check(gufo_imatrix_format_of(m) == GUFO_IMATRIX_LEGACY, "format");
    check_importance(m, PLAIN, 3, 0, (const float[]){0.5f, 1.5f, 2.25f}, "selected");
    gufo_imatrix_free(m);
    check(gufo_imatrix_merge(inputs, 0, NULL, &error) == NULL, "nothing");
    check_error_shape(&error, GUFO_E_ARGUMENT, "nothing");
    check(gufo_imatrix_merge(inputs, SIZE_MAX, NULL, &error) == NULL, "more than memory holds");
    check_error_shape(&error, GUFO_E_ARGUMENT, "more than memory holds");
    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        gufo_imatrix_free((gufo_imatrix *)(uintptr_t)inputs[i]);
    builder_free(&gguf);
    builder_free(&legacy);
}

static builder make_one(const char *name, uint64_t columns, uint64_t matrices, uint32_t chunk_size)
{
    builder b = builder_new((encoding){3, false});
    char text[64];

    builder_header(&b, 2, 2);
    builder_kv_u32(&b, "imatrix.chunk_count", 10);
    builder_kv_u32(&b, "imatrix.chunk_size", chunk_size);
    snprintf(text, sizeof text, "%s.in_sum2", name);
    builder_tensor(&b, text, GUFO_TYPE_F32, 2, (uint64_t[]){columns, matrices}, 0);
    snprintf(text, sizeof text, "%s.counts", name);
    builder_tensor(&b, text, GUFO_TYPE_F32, 2, (uint64_t[]){1, matrices}, 64);
    builder_pad(&b, 32);
    for (uint64_t i = 0; i < 16; i++)
        builder_f32(&b, (float)i);
    for (uint64_t i = 0; i < 8; i++)
        builder_f32(&b, 1);
    return b;
}

static void test_merge_lengths(void **state)
{
    static const struct {
        uint64_t columns, matrices;
        const char *name;
        bool good;
    } rows[] = {
        {2, 4, "a", true},  {8, 1, "a", true}, {4, 2, "a", false},
        {2, 3, "a", false}, {4, 2, "b", true},
    };
    builder first = make_one("a", 2, 4, 100);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder second = make_one(rows[i].name, rows[i].columns, rows[i].matrices, 300);
        gufo_imatrix *a = imatrix_of(&first, "first"), *b = imatrix_of(&second, "second");
        gufo_error error = no_error();
        gufo_imatrix *m = gufo_imatrix_merge((const gufo_imatrix *[]){a, b}, 2, NULL, &error);
        gufo_imatrix *back = gufo_imatrix_merge((const gufo_imatrix *[]){b, b, a}, 3, NULL, &error);

        check((m != NULL) == rows[i].good && (back != NULL) == rows[i].good, "row %zu", i);
        if (m == NULL)
            check_error_shape(&error, GUFO_E_ARGUMENT, "lengths");
        if (back == NULL)
            check(error.role == GUFO_FILE_IMPORTANCE && error.file_index == 2,
                  "the input that does not fit, row %zu", i);
        if (m != NULL) {
            check_u64(gufo_imatrix_chunk_count(m), 10 + 30, "chunks of 100");
            check_u64(gufo_imatrix_chunk_count(back), 4 + 2 * 10, "chunks of 300, one not full");
        }
        gufo_imatrix_free(m);
        gufo_imatrix_free(back);
        gufo_imatrix_free(a);
        gufo_imatrix_free(b);
        builder_free(&second);
    }
    builder_free(&first);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Opens, merges and writes both formats; any request for memory may fail. */
static gufo_status work(const char *input, const char *path, const gufo_allocator *allocator,
                        gufo_error *error)
{
    gufo_imatrix_options options = {.allocator = allocator};
    gufo_imatrix_merge_options merging = {.allocator = allocator};
    const gufo_run one_thread = {.threads = 1, .allocator = allocator};
    gufo_imatrix *m = gufo_imatrix_open(input, &options, error);
    const gufo_imatrix *inputs[] = {m, m};
    gufo_imatrix *both = m != NULL ? gufo_imatrix_merge(inputs, 2, &merging, error) : NULL;
    gufo_status status = both != NULL ? GUFO_OK : error->code;

    for (unsigned format = 0; format < 2 && status == GUFO_OK; format++)
        status = imatrix_save(both, (gufo_imatrix_format)format, path, true, &one_thread, error);
    gufo_imatrix_free(both);
    gufo_imatrix_free(m);
    return status;
}

/* So many that lists and the index of names grow. */
static builder make_many_entries(void)
{
    enum { ENTRIES = 40 };
    builder b = builder_new((encoding){3, false});

    builder_u32(&b, ENTRIES);
    for (unsigned i = 0; i < ENTRIES; i++) {
        char name[16];

        snprintf(name, sizeof name, "blk.%u", i);
        legacy_entry(&b, name, 1, 1, (const float[]){1});
    }
    builder_u32(&b, 1);
    legacy_text(&b, "x");
    return b;
}

static void test_memory(void **state)
{
    builder files[] = {make_legacy(), make_gguf(false), make_many_entries()};
    folder inputs = folder_new(), f = folder_new();
    path_text input = folder_path(&inputs, "in"), path = folder_path(&f, "out");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        counter c;
        gufo_error error = no_error();

        counter_init(&c);
        gufo_allocator allocator = counter_allocator(&c);
        write_file(input.text, files[i].data, files[i].len);
        check_ok(work(input.text, path.text, &allocator, &error), &error, "enough");
        for (size_t at = 1, calls = c.calls; at <= calls; at++) {
            c.calls = 0;
            c.denied = 0;
            c.fail_at = at;
            gufo_status status = work(input.text, path.text, &allocator, &error);
            if (c.denied > 0)
                check_status(status, GUFO_E_MEMORY, &error, "%zu of %zu", at, calls);
            check_u64(c.in_use, 0, "%zu", at);
            check(entry_count(f.path) <= 1, "%zu: nothing is left beside it", at);
        }
        builder_free(&files[i]);
    }
    folder_remove(&inputs);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),          cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_paths),           cmocka_unit_test(test_chunk_size),
        cmocka_unit_test(test_match),           cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_long_entry),      cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_bad_values),      cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_round_trips),     cmocka_unit_test(test_round_trip_values),
        cmocka_unit_test(test_gguf_to_legacy),  cmocka_unit_test(test_no_data),
        cmocka_unit_test(test_plan_refused),    cmocka_unit_test(test_replaced_input),
        cmocka_unit_test(test_output_refused),  cmocka_unit_test(test_stream),
        cmocka_unit_test(test_merge),           cmocka_unit_test(test_merge_lengths),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_no_space),        cmocka_unit_test(test_long_dataset),
        cmocka_unit_test(test_too_many_chunks),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
