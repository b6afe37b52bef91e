/* Hashing models: against hashes of the same bytes in memory, with any number of threads. */
#include "../support/folder.h"

#include "gufo/digest.h"

enum { CHUNK = 256 * 1024, TENSORS = 7 };

/* Sizes around those of chunks, and none at all. */
static const uint64_t sizes[TENSORS] = {5, CHUNK, 0, CHUNK - 1, CHUNK + 1, 3 * CHUNK + 17, 1};
static const char *const names[TENSORS] = {"a", "b", "empty", "c", "d", "e", "f"};

static unsigned available(void)
{
    unsigned algorithms = 0;

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if (gufo_digest_available((gufo_digest_algorithm)i))
            algorithms |= 1U << i;
    return algorithms;
}

/* Tensors [first, end) in a file of their own. */
static void write_part(const char *path, size_t first, size_t end)
{
    builder b = builder_new(all_encodings[ENCODING_COUNT - 2]);
    uint64_t offset = 0;

    builder_header(&b, end - first, 0);
    for (size_t i = first; i < end; i++) {
        builder_tensor(&b, names[i], GUFO_TYPE_I8, 1, &sizes[i], offset);
        offset = (offset + sizes[i] + 31) / 32 * 32;
    }
    builder_pad(&b, 32);
    for (size_t i = first; i < end; i++) {
        builder_pattern(&b, (unsigned)i + 1, (size_t)sizes[i]);
        builder_pad(&b, 32);
    }
    write_file(path, b.data, b.len);
    builder_free(&b);
}

/* What should come out. */
typedef struct expected {
    gufo_digests tensors[TENSORS];
    gufo_digests all;
} expected;

static void make_expected(unsigned algorithms, expected *e)
{
    builder everything = builder_new(all_encodings[0]);
    gufo_error error = no_error();

    memset(e, 0, sizeof *e);
    for (size_t i = 0; i < TENSORS; i++) {
        size_t begin = everything.len;

        builder_pattern(&everything, (unsigned)i + 1, (size_t)sizes[i]);
        for (unsigned a = 0; a < GUFO_DIGEST_COUNT; a++)
            if ((algorithms >> a & 1) != 0 && a != GUFO_DIGEST_UUID)
                check_ok(gufo_digest_bytes((gufo_digest_algorithm)a, everything.data + begin,
                                           (size_t)sizes[i], e->tensors[i].bytes[a], &error),
                         &error, "tensor %zu", i);
    }
    for (unsigned a = 0; a < GUFO_DIGEST_COUNT; a++)
        if ((algorithms >> a & 1) != 0)
            check_ok(gufo_digest_bytes((gufo_digest_algorithm)a, everything.data, everything.len,
                                       e->all.bytes[a], &error),
                     &error, "all");
    builder_free(&everything);
}

typedef struct seen {
    const expected *expected;
    uint64_t tensors;
    uint64_t wrong;
    uint64_t done, total;
    uint64_t stop_at; /* tensor */
} seen;

static bool on_tensor(void *context, uint64_t index, const gufo_tensor *tensor,
                      const gufo_digests *digests)
{
    seen *s = context;

    s->wrong += index != s->tensors || index >= TENSORS ||
                !gufo_str_equal(tensor->name, gufo_str_of(names[index])) ||
                memcmp(digests, &s->expected->tensors[index], sizeof *digests) != 0;
    s->tensors++;
    return s->tensors != s->stop_at;
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    seen *s = context;

    s->wrong += done < s->done || done > total;
    s->done = done;
    s->total = total;
    return true;
}

static void close_all(gufo_file **files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gufo_close(files[i]);
}

/* The model in one file, and in three. */
static void same_with_any_threads(void **state)
{
    folder f = folder_new();
    static const size_t cuts[] = {0, 2, 3, TENSORS};
    gufo_file *files[4];
    expected e;
    unsigned algorithms = available();

    (void)state;
    make_expected(algorithms, &e);
    write_part(folder_path(&f, "whole").text, 0, TENSORS);
    files[3] = gufo_open(folder_path(&f, "whole").text, NULL, NULL);
    for (size_t i = 0; i < 3; i++) {
        path_text path = folder_path(&f, names[i]);

        write_part(path.text, cuts[i], cuts[i + 1]);
        files[i] = gufo_open(path.text, NULL, NULL);
    }
    for (unsigned threads = 1; threads <= 8; threads++) {
        for (int parts = 0; parts < 2; parts++) {
            gufo_digest_input input = {(const gufo_file *const *)(parts ? files : files + 3),
                                       parts ? 3 : 1};
            seen s = {.expected = &e};
            gufo_digest_options options = {.algorithms = algorithms,
                                           .threads = threads,
                                           .tensor = on_tensor,
                                           .progress = on_progress,
                                           .context = &s};
            gufo_digests all;
            gufo_error error = no_error();

            check_ok(gufo_digest_run(&input, &options, &all, NULL, &error), &error, "%u", threads);
            check_u64(s.tensors, TENSORS, "%u threads", threads);
            check_u64(s.wrong, 0, "%u threads", threads);
            check_u64(s.done, s.total, "%u threads", threads);
            check(memcmp(&all, &e.all, sizeof all) == 0, "%u threads, parts %d", threads, parts);
        }
    }
    close_all(files, 4);
    folder_remove(&f);
}

/* Without tensors, only what was asked for is made. */
static void only_what_is_asked_for(void **state)
{
    folder f = folder_new();
    gufo_digest_options options = {0};
    gufo_digests all, none = {0};
    gufo_error error = no_error();
    expected e;

    (void)state;
    make_expected(available(), &e);
    write_part(folder_path(&f, "m").text, 0, TENSORS);
    gufo_file *file = gufo_open(folder_path(&f, "m").text, NULL, NULL);
    gufo_digest_input input = {(const gufo_file *const *)&file, 1};

    check_status(gufo_digest_run(&input, &options, &all, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "no algorithm");
    options.algorithms = 1U << GUFO_DIGEST_COUNT;
    check_status(gufo_digest_run(&input, &options, &all, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "no such algorithm");
    for (unsigned a = 0; a < GUFO_DIGEST_COUNT; a++) {
        gufo_status wanted = available() >> a & 1 ? GUFO_OK : GUFO_E_TYPE;

        options.algorithms = 1U << a;
        check_status(gufo_digest_run(&input, &options, &all, NULL, &error), wanted, &error, "%u",
                     a);
        memcpy(none.bytes[a], e.all.bytes[a], GUFO_DIGEST_SIZE);
        check(memcmp(&all, &none, sizeof all) == 0, "algorithm %u", a);
        memset(none.bytes[a], 0, GUFO_DIGEST_SIZE);
    }
    gufo_close(file);
    folder_remove(&f);
}

static void stops_when_asked(void **state)
{
    folder f = folder_new();
    expected e;

    (void)state;
    make_expected(available(), &e);
    write_part(folder_path(&f, "m").text, 0, TENSORS);
    gufo_file *file = gufo_open(folder_path(&f, "m").text, NULL, NULL);
    gufo_digest_input input = {(const gufo_file *const *)&file, 1};

    for (unsigned threads = 1; threads <= 4; threads++) {
        seen s = {.expected = &e, .stop_at = 3};
        gufo_digest_options options = {
            .algorithms = available(), .threads = threads, .tensor = on_tensor, .context = &s};
        gufo_digests all;
        gufo_error error = no_error();

        check_status(gufo_digest_run(&input, &options, &all, NULL, &error), GUFO_E_STOPPED, &error,
                     "%u threads", threads);
        check_u64(s.tensors, 3, "%u threads", threads);
        check_u64(s.wrong, 0, "%u threads", threads);
    }
    gufo_close(file);
    folder_remove(&f);
}

/* A source that fails at one byte: the error names the file, whatever the threads. */
typedef struct failing {
    const uint8_t *data;
    uint64_t bad;
} failing;

static gufo_status read_failing(void *context, uint64_t offset, void *buffer, size_t size,
                                gufo_error *error)
{
    const failing *f = context;

    if (offset <= f->bad && f->bad < offset + size) {
        *error = (gufo_error){.code = GUFO_E_IO, .message = "the disk is on fire"};
        return GUFO_E_IO;
    }
    memcpy(buffer, f->data + offset, size);
    return GUFO_OK;
}

static void errors_come_through(void **state)
{
    folder f = folder_new();
    size_t len;

    (void)state;
    write_part(folder_path(&f, "m").text, 0, 2);
    write_part(folder_path(&f, "n").text, 2, TENSORS);
    uint8_t *data = read_file(folder_path(&f, "n").text, &len);
    failing fails = {data, len - 3 * CHUNK};
    gufo_source source = {.context = &fails, .size = len, .read = read_failing};
    gufo_file *files[2] = {gufo_open(folder_path(&f, "m").text, NULL, NULL),
                           gufo_open_source(&source, NULL, NULL)};
    gufo_digest_input input = {(const gufo_file *const *)files, 2};

    assert_non_null(files[1]);
    for (unsigned threads = 1; threads <= 4; threads++) {
        gufo_digest_options options = {.algorithms = available(), .threads = threads};
        gufo_digests all;
        size_t failed = 9;
        gufo_error error = no_error();

        check_status(gufo_digest_run(&input, &options, &all, &failed, &error), GUFO_E_IO, &error,
                     "%u threads", threads);
        check_u64(failed, 1, "%u threads", threads);
    }
    close_all(files, 2);
    free(data);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_with_any_threads),
        cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(errors_come_through),
    };

    return available() != 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
