/* Whatever fails, and whenever: the output is there and whole, or it is not there; and what is left
 * is nothing, or something that can be resumed. */
#include "../support/aside.h"
#include "../support/allocator.h"
#include "../support/disk.h"
#include "../support/quantize.h"

#include "base/memory.h"
#include "produce/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const test_tensor shard_tensors[] = {
    {"blk.0.a.weight", GUFO_TYPE_F32, 2, {64, 10}},
    {"blk.1.b.weight", GUFO_TYPE_F16, 3, {128, 5, 3}},
};

enum { SHARDS = COUNT_OF(shard_tensors) };

static uint16_t shard_number;

static void add_metadata(builder *b)
{
    builder_kv_u16(b, "split.no", shard_number);
    builder_kv_u16(b, "split.count", SHARDS);
    builder_kv_i32(b, "split.tensors.count", SHARDS);
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "llama.block_count", 3);
    builder_kv_array(b, "llama.per_layer", GUFO_VALUE_UINT32, 3);
    for (uint32_t i = 0; i < 3; i++)
        builder_u32(b, i);
}

/* Everything that needs memory or the disk: a set of shards, importance, overrides, a layer that is
 * left out. */
typedef struct place {
    folder f;
    path_text in, out, imatrix_path;
    gufo_imatrix *imatrix;
    gufo_quantize_options options;
    char *expected[SHARDS]; /* the outputs of a run that nothing fails in */
    size_t expected_len[SHARDS];
    size_t files; /* before any run */
} place;

static path_text output_path(const place *p, size_t shard)
{
    char name[64];

    snprintf(name, sizeof name, "out-%05zu-of-%05d.gguf", shard + 1, SHARDS);
    return folder_path(&p->f, name);
}

static gufo_status run(place *p, uint32_t flags, uint64_t stop_at, gufo_error *error)
{
    const quantize_how how = {.flags = flags, .stop_at = stop_at, .run = {.threads = 1}};

    return quantize_file(p->in.text, p->out.text, &p->options, &how, error);
}

/* Removes the outputs, and with `all` what a run leaves that could not remove it. */
static void clean(const place *p, bool all)
{
    for (size_t i = 0; i < SHARDS; i++) {
        path_text path = output_path(p, i);

        (void)unlink(path.text);
        if (all)
            (void)unlink(aside_of(path.text).text);
        strcat(path.text, ".part");
        if (all)
            (void)unlink(path.text);
    }
    if (all)
        (void)unlink(folder_path(&p->f, "out-00001-of-00002.gguf.part.journal").text);
}

static bool outputs_are_whole(const place *p)
{
    for (size_t i = 0; i < SHARDS; i++) {
        size_t len;
        uint8_t *bytes = read_file(output_path(p, i).text, &len);
        bool same =
            bytes != NULL && len == p->expected_len[i] && memcmp(bytes, p->expected[i], len) == 0;

        free(bytes);
        if (!same)
            return false;
    }
    return true;
}

static void write_input(const place *p)
{
    for (shard_number = 0; shard_number < SHARDS; shard_number++) {
        test_model shard = {.encoding = {3, false},
                            .metadata = add_metadata,
                            .entries = 6,
                            .tensors = &shard_tensors[shard_number],
                            .tensor_count = 1};
        char name[64];

        snprintf(name, sizeof name, "in-%05d-of-%05d.gguf", shard_number + 1, SHARDS);
        write_model(folder_path(&p->f, name).text, &shard);
    }
}

static place place_new(void)
{
    static const gufo_quantize_override overrides[] = {
        {.key = "new.key", .value = {.type = GUFO_VALUE_UINT8, .as.u = 9}},
        {.key = "llama.block_count", .value = {.type = GUFO_VALUE_UINT16, .as.u = 3}},
    };
    static float means[128 * 3];
    static const importance_entry entry = {"blk.1.b.weight", means, COUNT_OF(means)};
    place p = {.f = folder_new(), .options = quantize_to("Q4_1")};
    gufo_error error = no_error();

    p.in = folder_path(&p.f, "in-00001-of-00002.gguf");
    p.out = folder_path(&p.f, "out.gguf");
    p.imatrix_path = folder_path(&p.f, "imatrix.dat");
    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = (float)(i % 7 + 1);
    write_importance(p.imatrix_path.text, &entry, 1, "text");
    write_input(&p);
    p.imatrix = gufo_imatrix_open(p.imatrix_path.text, NULL, &error);
    check(p.imatrix != NULL, "%s", error.message);
    p.options.importance = p.imatrix;
    p.options.importance_path = "imatrix.dat";
    p.options.overrides = overrides;
    p.options.override_count = COUNT_OF(overrides);
    p.options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    p.files = entry_count(p.f.path);
    check_ok(run(&p, 0, 0, &error), &error, "without failures");
    for (size_t i = 0; i < SHARDS; i++)
        p.expected[i] = (char *)read_file(output_path(&p, i).text, &p.expected_len[i]);
    clean(&p, false);
    return p;
}

static void place_end(place *p)
{
    gufo_imatrix_free(p->imatrix);
    for (size_t i = 0; i < SHARDS; i++)
        free(p->expected[i]);
    folder_remove(&p->f);
}

/* ---- the disk ------------------------------------------------------------------------------- */

/* Some failures are harmless: that of a way to copy, if there is another. */
static void check_outcome(const place *p, gufo_status status, const gufo_error *error, int failure,
                          unsigned call)
{
    if (status == GUFO_OK) {
        check(outputs_are_whole(p), "call %u: other bytes", call);
        return;
    }
    check_status(status, GUFO_E_IO, error, "call %u", call);
    check(error->system == failure, "call %u: %d", call, error->system);
    check(!file_exists(output_path(p, 0).text), "call %u: the set has a first shard", call);
}

/* One call fails: nothing is left of the run, but shards after the first that have their names. */
static void test_disk_fails_once(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    unsigned failed = 0;
    bool more = true;

    (void)state;
    for (unsigned call = 0; more; call++) {
        gufo_status status;

        disk_fail_once(call, ENOSPC);
        status = run(&p, 0, 0, &error);
        more = disk_call_count() > call;
        disk_fail_never();
        check_outcome(&p, status, &error, ENOSPC, call);
        failed += status != GUFO_OK;
        clean(&p, status == GUFO_OK);
        check_u64(entry_count(p.f.path), p.files, "call %u: files", call);
    }
    check(failed > 15, "only %u failures", failed);
    place_end(&p);
}

/* From some call on all fail, as on a disk that has gone.  With RESUME nothing that was done is
 * lost when it is back. */
static void test_disk_goes_away(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    bool more = true;

    (void)state;
    for (unsigned call = 0; more; call++) {
        gufo_status status;

        check_status(run(&p, 0, 2, &error), GUFO_E_STOPPED, &error, "stop");
        disk_fail_from(call, EIO);
        status = run(&p, GUFO_JOB_RESUME, 0, &error);
        more = disk_call_count() > call;
        disk_fail_never();
        check_outcome(&p, status, &error, EIO, call);
        if (status != GUFO_OK)
            check_ok(run(&p, GUFO_JOB_RESUME | GUFO_JOB_REPLACE, 0, &error), &error,
                     "call %u: again", call);
        check(outputs_are_whole(&p), "call %u: resumed", call);
        clean(&p, status == GUFO_OK);
        check_u64(entry_count(p.f.path), p.files, "call %u: files", call);
    }
    place_end(&p);
}

/* What an interrupted run has left is replaced: the old files may not be removable. */
static void test_disk_fails_when_replacing(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    bool more = true;

    (void)state;
    for (unsigned call = 0; more; call++) {
        gufo_status status;

        check_status(run(&p, GUFO_JOB_REPLACE, 2, &error), GUFO_E_STOPPED, &error, "stop");
        disk_fail_once(call, EROFS);
        status = run(&p, GUFO_JOB_REPLACE, 0, &error);
        more = disk_call_count() > call;
        disk_fail_never();
        check_outcome(&p, status, &error, EROFS, call);
        clean(&p, false);
    }
    place_end(&p);
}

/* Copies pass through a buffer where the system does not copy. */
static void test_copy_through_buffer(void **state)
{
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    p.options.recipe.target = quantize_to("COPY").recipe.target;
    p.options.importance = NULL;
    disk_without_help(true);
    check_ok(run(&p, 0, 0, &error), &error, "copied");
    clean(&p, false);
    disk_fail_from(12, ENOSPC);
    check_status(run(&p, 0, 0, &error), GUFO_E_IO, &error, "disk is full");
    disk_fail_never();
    disk_without_help(false);
    folder_remove(&p.f);
    p.f = folder_new();
    place_end(&p);
}

/* ---- memory --------------------------------------------------------------------------------- */

static gufo_status run_with(place *p, const gufo_model *input, gufo_allocator *allocator,
                            gufo_error *error)
{
    static const uint64_t pruned[] = {0};
    static const quantize_how one_thread = {.run = {.threads = 1}};
    gufo_quantizer *q;
    gufo_status status;

    p->options.allocator = allocator;
    p->options.pruned_layers = pruned;
    p->options.pruned_count = COUNT_OF(pruned);
    q = gufo_quantizer_new(input, &p->options, error);
    status = q == NULL ? error->code : quantize_run(q, p->out.text, &one_thread, error);
    gufo_quantizer_free(q);
    return status;
}

/* Every request for memory fails once: no leak, and no file. */
static void test_without_memory(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p.in.text, NULL, &error);
    size_t fail_at = 0, calls;

    (void)state;
    p.options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    do {
        gufo_allocator allocator;
        gufo_status status;
        counter c;

        counter_init(&c);
        c.fail_at = ++fail_at;
        allocator = counter_allocator(&c);
        status = run_with(&p, input, &allocator, &error);
        calls = c.calls;
        check_u64(c.in_use, 0, "request %zu: leak", fail_at);
        if (c.denied > 0) { /* else a block was to become smaller */
            check_status(status, GUFO_E_MEMORY, &error, "request %zu", fail_at);
            check_u64(entry_count(p.f.path), p.files, "request %zu: files", fail_at);
        } else {
            check_ok(status, &error, "request %zu", fail_at);
            clean(&p, false);
        }
    } while (calls >= fail_at);
    check(fail_at > 50, "only %zu requests", fail_at);
    gufo_model_free(input);
    place_end(&p);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Runs after the file was cut: the error names it. */
static void check_cut(place *p, const char *path, gufo_file_role role)
{
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p->in.text, NULL, &error);
    gufo_quantizer *q = gufo_quantizer_new(input, &p->options, &error);

    check(q != NULL, "%s", error.message);
    check(truncate(path, 20) == 0, "%s", path);
    check_status(quantize_run(q, p->out.text, NULL, &error), GUFO_E_TRUNCATED, &error, "%s", path);
    check(error.role == role && strcmp(error.file, path) == 0, "%s: %s", path, error.file);
    check_u64(entry_count(p->f.path), p->files, "%s: files", path);
    gufo_quantizer_free(q);
    gufo_model_free(input);
}

static void test_cut_before_running(void **state)
{
    place p = place_new();

    (void)state;
    check_cut(&p, p.imatrix_path.text, GUFO_FILE_IMPORTANCE);
    p.options.importance = NULL;
    check_cut(&p, p.in.text, GUFO_FILE_INPUT);
    place_end(&p);
}

/* ---- hostile journals ----------------------------------------------------------------------- */

/* Marks with good checks that make no sense are passed over. */
static void test_senseless_marks(void **state)
{
    static const journal_mark marks[] = {{.piece = 1000, .units_done = 1},
                                         {.piece = 0, .units_done = 1000}};
    place p = place_new();
    path_text path = folder_path(&p.f, "out-00001-of-00002.gguf.part.journal");
    gufo_error error = no_error();
    struct stat info;

    (void)state;
    check_status(run(&p, 0, 1, &error), GUFO_E_STOPPED, &error, "stop");
    check(stat(path.text, &info) == 0, "journal");
    journal j = {.fd = open(path.text, O_RDWR),
                 .path = path.text,
                 .result_size = sizeof(gufo_quantize_loss),
                 .marks = ((uint64_t)info.st_size - 64) / (16 + sizeof(gufo_quantize_loss) + 8)};

    check_ok(journal_append(&j, marks, COUNT_OF(marks), &error), &error, "marks");
    journal_close(&j, true);
    check_ok(run(&p, GUFO_JOB_RESUME, 0, &error), &error, "resumed");
    check(outputs_are_whole(&p), "resumed");
    place_end(&p);
}

/* A header that was cut short, and cannot be removed. */
static void test_torn_header_stays(void **state)
{
    place p = place_new();
    path_text path = folder_path(&p.f, "out-00001-of-00002.gguf.part.journal");
    gufo_error error = no_error();

    (void)state;
    write_file(path.text, "GUFO-", 5);
    disk_fail_once(1, EACCES); /* after opening it */
    check_status(run(&p, GUFO_JOB_RESUME, 0, &error), GUFO_E_IO, &error, "torn");
    disk_fail_never();
    check_file(path.text, "GUFO-", 5, "torn");
    check_u64(entry_count(p.f.path), p.files + 1, "files");
    place_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_fails_once),
        cmocka_unit_test(test_disk_goes_away),
        cmocka_unit_test(test_disk_fails_when_replacing),
        cmocka_unit_test(test_copy_through_buffer),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_cut_before_running),
        cmocka_unit_test(test_senseless_marks),
        cmocka_unit_test(test_torn_header_stays),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
