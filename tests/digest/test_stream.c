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

/* Tensors [first, end) in a file of their own, which is shard `number` of `count`. */
static void write_part(const char *path, size_t first, size_t end, uint32_t number, uint32_t count)
{
    builder b = builder_new(all_encodings[ENCODING_COUNT - 2]);
    uint64_t offset = 0;

    builder_header(&b, end - first, 3);
    builder_kv_u32(&b, "split.no", number);
    builder_kv_u32(&b, "split.count", count);
    builder_kv_u32(&b, "split.tensors.count", TENSORS);
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

/* The model in one file, and in three. */
static void same_with_any_threads(void **state)
{
    folder f = folder_new();
    static const size_t cuts[] = {0, 2, 3, TENSORS};
    gufo_model *whole, *set;
    expected e;
    unsigned algorithms = available();

    (void)state;
    make_expected(algorithms, &e);
    write_part(folder_path(&f, "whole").text, 0, TENSORS, 0, 1);
    whole = gufo_model_open(folder_path(&f, "whole").text, NULL, NULL);
    for (size_t i = 0; i < 3; i++) {
        char name[32];

        snprintf(name, sizeof name, "m-%05zu-of-00003.gguf", i + 1);
        write_part(folder_path(&f, name).text, cuts[i], cuts[i + 1], (uint32_t)i, 3);
    }
    set = gufo_model_open(folder_path(&f, "m-00001-of-00003.gguf").text, NULL, NULL);
    assert_non_null(set);
    for (unsigned threads = 1; threads <= 8; threads++) {
        for (int parts = 0; parts < 2; parts++) {
            seen s = {.expected = &e};
            gufo_digest_options options = {
                .algorithms = algorithms, .tensor = on_tensor, .context = &s};
            gufo_run run = {.threads = threads, .progress = on_progress, .progress_context = &s};
            gufo_digests all;
            gufo_error error = no_error();

            check_ok(gufo_model_digest(parts ? set : whole, &options, &run, &all, &error), &error,
                     "%u", threads);
            check_u64(s.tensors, TENSORS, "%u threads", threads);
            check_u64(s.wrong, 0, "%u threads", threads);
            check_u64(s.done, s.total, "%u threads", threads);
            check(memcmp(&all, &e.all, sizeof all) == 0, "%u threads, parts %d", threads, parts);
        }
    }
    gufo_model_free(set);
    gufo_model_free(whole);
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
    write_part(folder_path(&f, "m").text, 0, TENSORS, 0, 1);
    gufo_model *file = gufo_model_open(folder_path(&f, "m").text, NULL, NULL);

    check_status(gufo_model_digest(file, &options, NULL, &all, &error), GUFO_E_ARGUMENT, &error,
                 "no algorithm");
    options.algorithms = 1U << GUFO_DIGEST_COUNT;
    check_status(gufo_model_digest(file, &options, NULL, &all, &error), GUFO_E_ARGUMENT, &error,
                 "no such algorithm");
    for (unsigned a = 0; a < GUFO_DIGEST_COUNT; a++) {
        gufo_status wanted = available() >> a & 1 ? GUFO_OK : GUFO_E_TYPE;

        options.algorithms = 1U << a;
        check_status(gufo_model_digest(file, &options, NULL, &all, &error), wanted, &error, "%u",
                     a);
        memcpy(none.bytes[a], e.all.bytes[a], GUFO_DIGEST_SIZE);
        check(memcmp(&all, &none, sizeof all) == 0, "algorithm %u", a);
        memset(none.bytes[a], 0, GUFO_DIGEST_SIZE);
    }
    gufo_model_free(file);
    folder_remove(&f);
}

static void stops_when_asked(void **state)
{
    folder f = folder_new();
    expected e;

    (void)state;
    make_expected(available(), &e);
    write_part(folder_path(&f, "m").text, 0, TENSORS, 0, 1);
    gufo_model *file = gufo_model_open(folder_path(&f, "m").text, NULL, NULL);

    for (unsigned threads = 1; threads <= 4; threads++) {
        seen s = {.expected = &e, .stop_at = 3};
        gufo_digest_options options = {
            .algorithms = available(), .tensor = on_tensor, .context = &s};
        gufo_run run = {.threads = threads};
        gufo_digests all;
        gufo_error error = no_error();

        check_status(gufo_model_digest(file, &options, &run, &all, &error), GUFO_E_STOPPED, &error,
                     "%u threads", threads);
        check_u64(s.tensors, 3, "%u threads", threads);
        check_u64(s.wrong, 0, "%u threads", threads);
    }
    gufo_model_free(file);
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
    write_part(folder_path(&f, "m").text, 0, 2, 0, 2);
    write_part(folder_path(&f, "n").text, 2, TENSORS, 1, 2);
    uint8_t *data = read_file(folder_path(&f, "n").text, &len);
    failing fails = {data, len - 3 * CHUNK};
    gufo_source source = {.context = &fails, .size = len, .read = read_failing};
    path_text first = folder_path(&f, "m");
    gufo_input inputs[2] = {gufo_input_path(first.text), gufo_input_source(&source)};

    inputs[1].name = "the second";
    gufo_model *set = gufo_model_open_shards(inputs, 2, NULL, NULL);

    assert_non_null(set);
    for (unsigned threads = 1; threads <= 4; threads++) {
        gufo_digest_options options = {.algorithms = available()};
        gufo_run run = {.threads = threads};
        gufo_digests all;
        gufo_error error = no_error();

        check_status(gufo_model_digest(set, &options, &run, &all, &error), GUFO_E_IO, &error,
                     "%u threads", threads);
        check_u64(error.role, GUFO_FILE_INPUT, "%u threads", threads);
        check_u64(error.file_index, 1, "%u threads", threads);
        check(strcmp(error.file, "the second") == 0, "%u threads: %s", threads, error.file);
    }
    gufo_model_free(set);
    free(data);
    folder_remove(&f);
}

/* Options that are NULL mean {0}; what has to be given is named. */
static void what_is_missing_is_named(void **state)
{
    static const gufo_digest_options zeros = {0};
    static const gufo_manifest_check nothing = {0};
    gufo_digest_options options = {.algorithms = available()};
    gufo_manifest_summary summary;
    folder f = folder_new();
    path_text path = folder_path(&f, "m");
    gufo_error error = no_error();
    gufo_model *model;

    (void)state;
    write_part(path.text, 0, TENSORS, 0, 1);
    model = gufo_model_open(path.text, NULL, &error);
    assert_non_null(model);
    for (int i = 0; i < 2; i++) {
        check_status(gufo_model_digest(model, i == 0 ? NULL : &zeros, NULL, NULL, &error),
                     GUFO_E_ARGUMENT, &error, "options");
        check(strstr(error.message, "gufo_digest_options.algorithms") != NULL, "%s", error.message);
        check_status(gufo_model_verify(model, i == 0 ? NULL : &nothing, NULL, &summary, &error),
                     GUFO_E_ARGUMENT, &error, "manifest");
        check(strstr(error.message, "gufo_manifest_check.manifest") != NULL, "%s", error.message);
    }
    check_status(gufo_model_digest(NULL, &options, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "model");
    check_ok(gufo_model_digest(model, &options, NULL, NULL, &error), &error, "no result");
    gufo_model_free(model);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_with_any_threads),    cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(stops_when_asked),         cmocka_unit_test(errors_come_through),
        cmocka_unit_test(what_is_missing_is_named),
    };

    return available() != 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
