/* Where a quantized file goes, and that nothing is lost or left when it does not get there. */
#include "../support/process.h"
#include "../support/quantize.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const test_tensor tensors[] = {
    {"a.weight", GUFO_TYPE_F32, 2, {65536, 5}},
    {"b.weight", GUFO_TYPE_F16, 3, {64, 4, 3}},
};

static const test_model model = {
    .encoding = {3, false}, .tensors = tensors, .tensor_count = COUNT_OF(tensors)};

typedef struct place {
    folder f;
    path_text in, out;
    gufo_quantize_options options;
    quantize_how how;
} place;

static place place_new(const char *type)
{
    place p = {.f = folder_new(), .options = quantize_to(type)};

    p.in = folder_path(&p.f, "in.gguf");
    p.out = folder_path(&p.f, "out.gguf");
    write_model(p.in.text, &model);
    return p;
}

/* ---- the output is the input ---------------------------------------------------------------- */

static void test_output_is_input(void **state)
{
    static const char *const names[] = {"in.gguf", "hard.gguf", "soft.gguf", "./in.gguf"};
    place p = place_new("Q8_0");
    gufo_error error = no_error();
    size_t len;
    uint8_t *before = read_file(p.in.text, &len);

    (void)state;
    check(link(p.in.text, folder_path(&p.f, "hard.gguf").text) == 0, "link");
    check(symlink("in.gguf", folder_path(&p.f, "soft.gguf").text) == 0, "symlink");
    p.how.flags = GUFO_JOB_REPLACE;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        check_status(
            quantize_file(p.in.text, folder_path(&p.f, names[i]).text, &p.options, &p.how, &error),
            GUFO_E_ARGUMENT, &error, "%s", names[i]);
        check_file(p.in.text, before, len, names[i]);
        check_u64(entry_count(p.f.path), 3, "%s", names[i]);
    }
    free(before);
    folder_remove(&p.f);
}

/* The input has the name of what would be written beside the output. */
static void test_part_is_input(void **state)
{
    static const char *const names[] = {"out.gguf.part", "out.gguf.part.journal"};
    place p = place_new("Q8_0");
    gufo_error error = no_error();
    size_t len;
    uint8_t *before = read_file(p.in.text, &len);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (uint32_t flags = 0; flags < 4; flags++) {
            path_text in = folder_path(&p.f, names[i]);

            check(rename(p.in.text, in.text) == 0, "name");
            p.how.flags = flags;
            check_status(quantize_file(in.text, p.out.text, &p.options, &p.how, &error),
                         GUFO_E_ARGUMENT, &error, "%s", names[i]);
            check_file(in.text, before, len, names[i]);
            check_u64(entry_count(p.f.path), 1, "%s", names[i]);
            check(rename(in.text, p.in.text) == 0, "name");
        }
    free(before);
    folder_remove(&p.f);
}

/* ---- the output exists ---------------------------------------------------------------------- */

static void test_exists(void **state)
{
    place p = place_new("Q8_0");
    gufo_error error = no_error();
    struct stat info;

    (void)state;
    write_file(p.out.text, "old", 3);
    chmod(p.out.text, 0640);
    check_status(quantize_file(p.in.text, p.out.text, &p.options, &p.how, &error), GUFO_E_EXISTS,
                 &error, "exists");
    check_file(p.out.text, "old", 3, "exists");
    check_u64(entry_count(p.f.path), 2, "exists");
    p.how.flags = GUFO_JOB_REPLACE;
    quantize_well(p.in.text, p.out.text, &p.options, "replaced");
    check(stat(p.out.text, &info) == 0 && (info.st_mode & 0777) == 0640, "mode");
    gufo_model_free(open_path(p.out.text));
    check_u64(entry_count(p.f.path), 2, "replaced");
    folder_remove(&p.f);
}

static void test_symlink_is_followed(void **state)
{
    place p = place_new("Q8_0");
    path_text soft = folder_path(&p.f, "soft.gguf");
    struct stat info;

    (void)state;
    write_file(p.out.text, "old", 3);
    check(symlink("out.gguf", soft.text) == 0, "symlink");
    p.how.flags = GUFO_JOB_REPLACE;
    quantize_well(p.in.text, soft.text, &p.options, "symlink");
    check(lstat(soft.text, &info) == 0 && S_ISLNK(info.st_mode), "the link is gone");
    gufo_model_free(open_path(p.out.text));
    folder_remove(&p.f);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void test_missing_folder(void **state)
{
    place p = place_new("Q8_0");
    gufo_error error = no_error();

    (void)state;
    check_status(quantize_file(p.in.text, folder_path(&p.f, "none/out.gguf").text, &p.options,
                               &p.how, &error),
                 GUFO_E_IO, &error, "folder");
    check_u64(entry_count(p.f.path), 1, "files");
    folder_remove(&p.f);
}

/* In a child: the limit is that of the whole process. */
static int quantize_beyond_limit(void *context)
{
    const place *p = context;
    struct rlimit limit = {100000, 100000};
    gufo_error error;

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return CHILD_SKIP;
    if (quantize_file(p->in.text, p->out.text, &p->options, &p->how, &error) != GUFO_E_IO)
        return 1;
    return entry_count(p->f.path) == 1 ? 0 : 2;
}

/* No space shows before any work is done, and nothing is left; --resume has nothing to keep yet. */
static void test_no_space(void **state)
{
    place p = place_new("F32");

    (void)state;
    for (uint32_t flags = 0; flags <= GUFO_JOB_RESUME; flags += GUFO_JOB_RESUME) {
        p.how.flags = flags;
        int answer = run_in_child(quantize_beyond_limit, &p);

        check(answer == 0 || answer == CHILD_SKIP, "step %d", answer);
    }
    folder_remove(&p.f);
}

/* A value in the middle of the model, put in place of the one that is there. */
static void poke_value(const char *path, const char *name, uint64_t element, float value)
{
    gufo_model *file = open_path(path);
    gufo_tensor tensor;
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    uint32_t bits;

    check(gufo_model_tensor_find(file, name, &tensor), "%s", name);
    gufo_model_free(file);
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++)
        bytes[tensor.offset + 4 * element + (unsigned)i] = (uint8_t)(bits >> (8 * i));
    write_file(path, bytes, len);
    free(bytes);
}

static void test_nonfinite(void **state)
{
    static const struct {
        float value;
        const char *type, *words[4];
    } cases[] = {
        {NAN, "Q8_0", {"a.weight", "row 3", "column 17", "NaN"}},
        {INFINITY, "F16", {"a.weight", "row 3", "column 17", "infinity"}},
        {-INFINITY, "Q4_0", {"a.weight", "row 3", "column 17", "negative infinity"}},
        {70000, "F16", {"a.weight", "row 3", "column 17", "70000"}},
        {3e38f, "Q8_0", {"a.weight", "row 3", "column", "Q8_0"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        place p = place_new(cases[i].type);
        gufo_error error = no_error();

        poke_value(p.in.text, "a.weight", 3 * 65536 + 17, cases[i].value);
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            p.how.run.threads = threads;
            p.options.flags = 0;
            check_status(quantize_file(p.in.text, p.out.text, &p.options, &p.how, &error),
                         GUFO_E_RANGE, &error, "case %zu", i);
            for (size_t w = 0; w < COUNT_OF(cases[i].words); w++)
                check(strstr(error.message, cases[i].words[w]) != NULL, "%zu: no '%s' in '%s'", i,
                      cases[i].words[w], error.message);
            check_u64(entry_count(p.f.path), 1, "case %zu: files", i);
            p.options.flags = GUFO_QUANTIZE_KEEP_NONFINITE;
            quantize_well(p.in.text, p.out.text, &p.options, "kept");
            check(unlink(p.out.text) == 0, "case %zu", i);
        }
        folder_remove(&p.f);
    }
}

/* The matrix of a stack is also reported. */
static void test_nonfinite_in_stack(void **state)
{
    static const test_tensor stack[] = {{"s.weight", GUFO_TYPE_F32, 3, {64, 4, 3}}};
    test_model stacked = {.encoding = {3, false}, .tensors = stack, .tensor_count = 1};
    place p = place_new("Q8_0");
    gufo_error error = no_error();

    (void)state;
    write_model(p.in.text, &stacked);
    poke_value(p.in.text, "s.weight", 2 * 256 + 64 + 5, NAN);
    check_status(quantize_file(p.in.text, p.out.text, &p.options, &p.how, &error), GUFO_E_RANGE,
                 &error, "stack");
    check(strstr(error.message, "matrix 2, row 1, column 5") != NULL, "%s", error.message);
    folder_remove(&p.f);
}

/* With RESUME an error leaves what is done. */
static void test_error_with_resume(void **state)
{
    place p = place_new("Q8_0");
    gufo_error error = no_error();

    (void)state;
    poke_value(p.in.text, "a.weight", 4 * 65536 + 17, NAN);
    p.how.flags = GUFO_JOB_RESUME;
    check_status(quantize_file(p.in.text, p.out.text, &p.options, &p.how, &error), GUFO_E_RANGE,
                 &error, "error");
    check_u64(entry_count(p.f.path), 3, "files");
    check_status(quantize_file(p.in.text, p.out.text, &p.options, &p.how, &error), GUFO_E_RANGE,
                 &error, "error again");
    check_u64(entry_count(p.f.path), 3, "files");
    folder_remove(&p.f);
}

static void test_memory_limit(void **state)
{
    place p = place_new("Q8_0");
    gufo_error error = no_error();

    (void)state;
    p.how.run.memory = 1000000;
    check_status(quantize_file(p.in.text, p.out.text, &p.options, &p.how, &error), GUFO_E_LIMIT,
                 &error, "memory");
    check(strstr(error.message, "a.weight") != NULL, "%s", error.message);
    check_u64(entry_count(p.f.path), 1, "files");
    folder_remove(&p.f);
}

/* Runs with a progress function that changes the input. */
static gufo_status run_with(gufo_quantizer *q, place *p, gufo_progress_fn *progress,
                            gufo_error *error)
{
    p->how.run.progress = progress;
    p->how.run.progress_context = p;
    return quantize_run(q, p->out.text, &p->how, error);
}

/* The input shrinks while it is read. */
static bool cut_input(void *context, uint64_t done, uint64_t total)
{
    const place *p = context;

    (void)done, (void)total;
    return truncate(p->in.text, 1000) == 0;
}

static void test_truncated_meanwhile(void **state)
{
    place p = place_new("Q8_0");
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p.in.text, NULL, &error);
    gufo_quantizer *q;

    (void)state;
    p.how.run.threads = 1;
    q = gufo_quantizer_new(input, &p.options, &error);
    check(q != NULL, "%s", error.message);
    check_status(run_with(q, &p, cut_input, &error), GUFO_E_TRUNCATED, &error, "truncated");
    check(error.role == GUFO_FILE_INPUT && strcmp(error.file, p.in.text) == 0, "%s", error.file);
    check_u64(entry_count(p.f.path), 1, "files");
    gufo_quantizer_free(q);
    gufo_model_free(input);
    folder_remove(&p.f);
}

/* The input is written to while it is read: what was made of it may be half old and half new. */
static bool touch_input(void *context, uint64_t done, uint64_t total)
{
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    const place *p = context;

    (void)done, (void)total;
    return utimensat(AT_FDCWD, p->in.text, times, 0) == 0;
}

static void test_changed_meanwhile(void **state)
{
    place p = place_new("Q8_0");
    gufo_error error = no_error();

    (void)state;
    for (uint32_t flags = 0; flags <= GUFO_JOB_RESUME; flags += GUFO_JOB_RESUME) {
        gufo_model *input;
        gufo_quantizer *q;

        write_model(p.in.text, &model);
        input = gufo_model_open(p.in.text, NULL, &error);
        p.how.flags = flags;
        q = gufo_quantizer_new(input, &p.options, &error);
        check(q != NULL, "%s", error.message);
        check_status(run_with(q, &p, touch_input, &error), GUFO_E_CHANGED, &error, "changed");
        check(error.role == GUFO_FILE_INPUT && strcmp(error.file, p.in.text) == 0, "%s",
              error.file);
        check_u64(entry_count(p.f.path), flags != 0 ? 3 : 1, "files");
        check(!file_exists(p.out.text), "output");
        gufo_quantizer_free(q);
        gufo_model_free(input);
    }
    folder_remove(&p.f);
}

/* A copy that ends early, through the buffer as well as by the system. */
static void test_truncated_copy(void **state)
{
    place p = place_new("COPY");
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p.in.text, NULL, &error);
    gufo_quantizer *q = gufo_quantizer_new(input, &p.options, &error);

    (void)state;
    check(q != NULL, "%s", error.message);
    check(truncate(p.in.text, 1000000) == 0, "cut");
    check_status(quantize_run(q, p.out.text, &p.how, &error), GUFO_E_TRUNCATED, &error,
                 "truncated");
    check_u64(entry_count(p.f.path), 1, "files");
    gufo_quantizer_free(q);
    gufo_model_free(input);
    folder_remove(&p.f);
}

/* ---- shards --------------------------------------------------------------------------------- */

static const test_tensor shard_tensors[] = {
    {"blk.0.a.weight", GUFO_TYPE_F32, 2, {64, 10}},
    {"blk.1.a.weight", GUFO_TYPE_F32, 2, {64, 20}},
    {"blk.2.a.weight", GUFO_TYPE_F32, 2, {64, 30}},
};

static uint16_t shard_number;

static void add_split(builder *b)
{
    builder_kv_u16(b, "split.no", shard_number);
    builder_kv_u16(b, "split.count", 3);
    builder_kv_i32(b, "split.tensors.count", 3);
    if (shard_number == 0)
        builder_kv_str(b, "general.name", "set");
}

static void write_shards(const folder *f)
{
    for (shard_number = 0; shard_number < 3; shard_number++) {
        char name[64];
        test_model shard = {.encoding = {3, false},
                            .metadata = add_split,
                            .entries = shard_number == 0 ? 4 : 3,
                            .tensors = &shard_tensors[shard_number],
                            .tensor_count = 1};

        snprintf(name, sizeof name, "set-%05d-of-00003.gguf", shard_number + 1);
        write_model(folder_path(f, name).text, &shard);
    }
}

static void test_set_to_one_file(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "set-00001-of-00003.gguf"), out = folder_path(&f, "one.gguf");
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_entry entry;

    (void)state;
    write_shards(&f);
    quantize_well(in.text, out.text, &options, "one");
    gufo_model *file = open_path(out.text);

    check_u64(gufo_model_tensor_count(file), 3, "tensors");
    check(!gufo_model_find(file, "split.count", &entry), "split.count");
    check(!gufo_model_find(file, "split.no", &entry), "split.no");
    check(!gufo_model_find(file, "split.tensors.count", &entry), "split.tensors.count");
    check(gufo_model_find(file, "general.name", &entry), "general.name");
    gufo_model_free(file);
    check_u64(entry_count(f.path), 4, "files");
    folder_remove(&f);
}

/* The set that `path` begins has three shards with a tensor each. */
static void check_set(const char *path, const char *label)
{
    gufo_error error = no_error();
    gufo_model *set = gufo_model_open(path, NULL, &error);
    gufo_tensor tensor;

    check(set != NULL, "%s: %s", label, error.message);
    check_u64(gufo_model_shard_count(set), 3, "%s", label);
    for (uint64_t i = 0; i < 3; i++) {
        check(gufo_model_tensor_at(set, i, &tensor), "%s", label);
        check_u64(tensor.shard, i, "%s", label);
        check_str(tensor.name, shard_tensors[i].name, "%s", label);
        check_u64(tensor.type, GUFO_TYPE_Q8_0, "%s", label);
    }
    gufo_model_free(set);
}

static void test_keep_split(void **state)
{
    static const struct {
        const char *out, *first;
    } names[] = {{"out.gguf", "out-00001-of-00003.gguf"},
                 {"out", "out-00001-of-00003.gguf"},
                 {"new-00001-of-00003.gguf", "new-00001-of-00003.gguf"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        folder f = folder_new();
        path_text in = folder_path(&f, "set-00001-of-00003.gguf");
        gufo_quantize_options options = quantize_to("Q8_0");
        gufo_error error = no_error();

        write_shards(&f);
        options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
        quantize_well(in.text, folder_path(&f, names[i].out).text, &options, names[i].out);
        check_set(folder_path(&f, names[i].first).text, names[i].out);
        check_u64(entry_count(f.path), 6, "files");
        check_status(
            quantize_file(in.text, folder_path(&f, names[i].out).text, &options, NULL, &error),
            GUFO_E_EXISTS, &error, "again");
        check_status(quantize_file(in.text, in.text, &options, NULL, &error), GUFO_E_ARGUMENT,
                     &error, "itself");
        check_u64(entry_count(f.path), 6, "files");
        folder_remove(&f);
    }
}

static void test_resumed_set(void **state)
{
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_error error = no_error();

    (void)state;
    for (uint64_t units = 1; units <= 3; units++) {
        folder f = folder_new();
        path_text in = folder_path(&f, "set-00001-of-00003.gguf");
        path_text out = folder_path(&f, "out.gguf");
        quantize_how how;

        write_shards(&f);
        options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
        how = (quantize_how){.stop_at = units};
        check_status(quantize_file(in.text, out.text, &options, &how, &error), GUFO_E_STOPPED,
                     &error, "stop");
        check_u64(entry_count(f.path), 3 + 3 + 1, "three .part files and a journal");
        how = (quantize_how){.flags = GUFO_JOB_RESUME};
        check_ok(quantize_file(in.text, out.text, &options, &how, &error), &error, "resumed");
        check_set(folder_path(&f, "out-00001-of-00003.gguf").text, "resumed");
        check_u64(entry_count(f.path), 6, "files");
        folder_remove(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_is_input),
        cmocka_unit_test(test_part_is_input),
        cmocka_unit_test(test_exists),
        cmocka_unit_test(test_symlink_is_followed),
        cmocka_unit_test(test_missing_folder),
        cmocka_unit_test(test_no_space),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_nonfinite_in_stack),
        cmocka_unit_test(test_error_with_resume),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_truncated_meanwhile),
        cmocka_unit_test(test_changed_meanwhile),
        cmocka_unit_test(test_truncated_copy),
        cmocka_unit_test(test_set_to_one_file),
        cmocka_unit_test(test_keep_split),
        cmocka_unit_test(test_resumed_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
