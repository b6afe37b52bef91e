/* Copies to where nothing can be written, of streams that end, and of sources that change. */
#include "workshop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/files/pending.h"

static gufo_model *open_set(const char *path)
{
    gufo_error error = no_error();
    gufo_model *set = gufo_model_open(path, NULL, &error);

    check(set != NULL, "%s: %s", path, error.message);
    return set;
}

static gufo_job *plan_well(plan_fn *plan, const gufo_model *set, const char *label)
{
    gufo_error error = no_error();
    gufo_job *c = plan(set, NULL, &error);

    check(c != NULL, "%s: %s", label, error.message);
    return c;
}

/* ---- targets -------------------------------------------------------------------------------- */

/* Something that has the name of an output. */
typedef struct target {
    const char *label;
    void (*make)(const char *path);
    bool replace;
    int disk_failure; /* of every call that opens a file to write; 0: none */
    gufo_status status;
    const char *message;
} target;

static void make_fifo(const char *path)
{
    check(mkfifo(path, 0600) == 0, "mkfifo");
}

static void make_device(const char *path)
{
    check(symlink("/dev/null", path) == 0, "symlink");
}

static void make_folder(const char *path)
{
    check(mkdir(path, 0700) == 0, "mkdir");
}

static void make_file(const char *path)
{
    write_file(path, "old", 3);
}

static void make_read_only(const char *path)
{
    make_file(path);
    check(chmod(path, 0400) == 0, "chmod");
}

static path_text journal_beside(const char *path)
{
    path_text journal;
    int length = snprintf(journal.text, sizeof journal.text, "%s.gufo-journal", path);

    check((size_t)length < sizeof journal.text, "the path is too long");
    return journal;
}

/* The head of a journal is enough. */
static void make_half_edited(const char *path)
{
    const pending_head head = {.file_size = 4, .old_size = 4, .new_size = 4};
    uint8_t journal[PENDING_HEAD_SIZE + 8] = {0};

    make_file(path);
    pending_encode(&head, journal);
    write_file(journal_beside(path).text, journal, sizeof journal);
    check(chmod(journal_beside(path).text, 0600) == 0, "chmod");
}

/* What cannot be a journal is not in the way. */
static void make_strange_journal(const char *path)
{
    make_file(path);
    check(mkdir(journal_beside(path).text, 0700) == 0, "mkdir");
}

static void make_nothing(const char *path)
{
    (void)path;
}

static const target targets[] = {
    {"FIFO", make_fifo, true, 0, GUFO_E_EXISTS, "target exists and is not a regular file"},
    {"device", make_device, true, 0, GUFO_E_EXISTS, "target exists and is not a regular file"},
    {"folder", make_folder, true, 0, GUFO_E_EXISTS, "target exists and is not a regular file"},
    {"file", make_file, false, 0, GUFO_E_EXISTS, "target exists already"},
    {"file to be replaced", make_file, true, 0, GUFO_OK, ""},
    {"read-only file", make_read_only, true, 0, GUFO_OK, ""},
    {"half edited file", make_half_edited, true, 0, GUFO_E_ARGUMENT,
     "an edit of the output was interrupted; recover it first"},
    {"file beside a strange journal", make_strange_journal, true, 0, GUFO_OK, ""},
    {"read-only folder", make_nothing, false, EACCES, GUFO_E_IO,
     "cannot create a file in the folder of the target"},
    {"read-only file system", make_nothing, false, EROFS, GUFO_E_IO,
     "cannot create a file in the folder of the target"},
    {"full disk", make_nothing, false, ENOSPC, GUFO_E_IO,
     "cannot create a file in the folder of the target"},
};

/* Writes a copy whose last output has the name of the target. */
static void write_to(const workshop *b, size_t number, const target *t)
{
    gufo_model *set = open_set(copies[number].from_set ? b->first.text : b->in.text);
    gufo_job *c = plan_well(copies[number].plan, set, copies[number].label);
    path_text out = folder_path(&b->f, copies[number].out);
    const gufo_run run = {.threads = 2};
    gufo_error error = no_error();
    size_t last = gufo_job_output_count(c) - 1, entries;
    char path[600], label[96];
    struct stat before, after;
    gufo_status status;

    snprintf(label, sizeof label, "%s to a %s", copies[number].label, t->label);
    (void)gufo_job_output_path(c, out.text, last, path, sizeof path);
    t->make(path);
    memset(&before, 0, sizeof before);
    (void)lstat(path, &before);
    entries = entry_count(b->f.path);
    if (t->disk_failure != 0)
        disk_fail_from(0, t->disk_failure);
    status = run_job(c, out.text, t->replace, &run, &error);
    disk_fail_never();
    check_status(status, t->status, &error, "%s", label);
    if (status == GUFO_OK) {
        gufo_job_output made;

        check(gufo_job_output_at(c, last, &made), "%s", label);
        check(lstat(path, &after) == 0 && S_ISREG(after.st_mode), "%s: a file", label);
        check_u64(after.st_size, made.size, "%s", label);
        check_u64(after.st_mode & 0777, before.st_mode & 0777, "%s: its rights are kept", label);
    } else {
        check(strncmp(error.message, t->message, strlen(t->message)) == 0, "%s: %s", label,
              error.message);
        check_u64(entry_count(b->f.path), entries, "%s: nothing is left", label);
        check(error.role == GUFO_FILE_OUTPUT && strstr(error.file, "/out") != NULL,
              "%s: whose failure it is", label);
        memset(&after, 0, sizeof after);
        (void)lstat(path, &after);
        check(before.st_ino == after.st_ino && before.st_mode == after.st_mode, "%s: untouched",
              label);
    }
    gufo_job_free(c);
    gufo_model_free(set);
    (void)remove(path);
    (void)remove(journal_beside(path).text);
    restore(b);
}

static void test_targets(void **state)
{
    workshop b = workshop_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(copies); i++)
        for (size_t k = 0; k < COUNT_OF(targets) && copies[i].out != NULL; k++)
            write_to(&b, i, &targets[k]);
    workshop_end(&b);
}

/* A set is named as its first shard, and by no other name. */
static void test_names_of_sets(void **state)
{
    static const char *const names[] = {"out.gguf", "out-00002-of-00003.gguf",
                                        "out-00001-of-00004.gguf"};
    workshop b = workshop_new();
    gufo_model *set = open_set(b.first.text);
    uint64_t before = folder_state(&b);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        gufo_job *c = plan_well(as_big, set, names[i]);
        gufo_error error = no_error();

        check_status(run_job(c, folder_path(&b.f, names[i]).text, false, NULL, &error),
                     GUFO_E_ARGUMENT, &error, "%s", names[i]);
        check(strstr(error.message, "NAME-00001-of-00003.gguf") != NULL, "%s", error.message);
        gufo_job_free(c);
    }
    check_u64(folder_state(&b), before, "nothing is written");
    gufo_model_free(set);
    workshop_end(&b);
}

/* ---- leftovers ------------------------------------------------------------------------------ */

/* Shards without a first one are replaced unasked only if a commit that was interrupted says so. */
static void test_leftovers(void **state)
{
    enum { NEITHER, FIRST, SECOND, BOTH, CASES };
    gufo_split_options twos = {.max_tensors = 2};
    workshop b = workshop_new();
    path_text out = folder_path(&b.f, "out"), first = shard_of(out.text, 1, SHARDS),
              second = shard_of(out.text, 2, SHARDS);

    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        gufo_error error = no_error();
        gufo_status expected = i == BOTH ? GUFO_OK : GUFO_E_EXISTS;

        write_file(second.text, "old", 3);
        if (i & FIRST)
            write_file(aside_of(first.text).text, "", 0);
        if (i & SECOND)
            write_file(aside_of(second.text).text, "", 0);
        check_status(make_copy(b.in.text, out.text, plan_split, &twos, false, NULL, &error),
                     expected, &error, "%zu", i);
        check(file_exists(first.text) == (expected == GUFO_OK), "%zu", i);
        if (expected != GUFO_OK)
            check_file(second.text, "old", 3, "kept");
        (void)unlink(aside_of(first.text).text);
        (void)unlink(aside_of(second.text).text);
        restore(&b);
    }
    workshop_end(&b);
}

/* ---- what callers ask ----------------------------------------------------------------------- */

static void test_questions(void **state)
{
    workshop b = workshop_new();
    gufo_model *set = open_set(b.in.text);
    gufo_job *c = plan_well(by_tensors, set, "split");
    gufo_job_output out;
    gufo_error error = no_error();
    char path[8];

    (void)state;
    for (uint32_t kind = 1; kind <= GUFO_NORMALISED_METADATA; kind *= 2)
        check(strlen(gufo_normalised_text((gufo_normalised)kind)) > 10, "kind %" PRIu32, kind);
    assert_null(gufo_normalised_text((gufo_normalised)0));
    assert_null(gufo_normalised_text((gufo_normalised)(2 * GUFO_NORMALISED_METADATA)));
    check(gufo_job_output_at(c, SHARDS - 1, &out), "the last one");
    check_u64(out.tensor_count, 2, "the last one");
    check(!gufo_job_output_at(c, SHARDS, &out), "past the end");
    check_status(gufo_job_stream(c, 1, NULL, &error), GUFO_E_ARGUMENT, &error, "several files");
    check_str(gufo_str_of(error.message), "3 files cannot be written to one stream", "message");
    gufo_job_free(c);
    c = plan_well(as_big, set, "endian");
    check_u64(gufo_job_output_path(c, "a/long/path", 0, path, sizeof path), 11, "length");
    check_str(gufo_str_of(path), "a/long/", "what fits");
    check_ok(run_job(c, b.out.text, false, NULL, &error), &error, "once");
    check_status(run_job(c, b.out.text, false, NULL, &error), GUFO_E_ARGUMENT, &error, "twice");
    check_status(gufo_job_stream(c, 1, NULL, &error), GUFO_E_ARGUMENT, &error, "and streamed");
    check_str(gufo_str_of(error.message), "the job has run already", "message");
    gufo_job_free(c);
    gufo_model_free(set);
    workshop_end(&b);
}

/* ---- streams that end ----------------------------------------------------------------------- */

/* Streams to a file that must not grow beyond `limit`. */
static gufo_status stream_up_to(const workshop *b, const gufo_model *set, plan_fn *plan,
                                uint64_t limit, gufo_error *error)
{
    struct rlimit old, new;
    gufo_job *c = plan_well(plan, set, "stream");
    int fd = open(b->out.text, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    gufo_status status;
    struct stat info;

    check(getrlimit(RLIMIT_FSIZE, &old) == 0, "getrlimit");
    new = (struct rlimit){limit, old.rlim_max};
    check(setrlimit(RLIMIT_FSIZE, &new) == 0, "setrlimit");
    status = gufo_job_stream(c, fd, NULL, error);
    check(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit");
    check(fstat(fd, &info) == 0, "fstat");
    if (status != GUFO_OK) {
        check_u64(info.st_size, limit, "everything up to there was sent");
        check(error->role != GUFO_FILE_INPUT, "the failure is not about the source");
    }
    (void)close(fd);
    gufo_job_free(c);
    return status;
}

/* Wherever the receiver stops, in the header, in data or in padding, that is the failure. */
static void test_streams_end(void **state)
{
    static plan_fn *const plans[] = {merged, as_big, as_safetensors};
    workshop b = workshop_new();

    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        gufo_model *set = open_set(i == 0 ? b.first.text : b.in.text);
        gufo_status status = GUFO_E_IO;
        size_t failed = 0;

        for (uint64_t limit = 0; status != GUFO_OK; limit += 61, failed++) {
            gufo_error error = no_error();

            status = stream_up_to(&b, set, plans[i], limit, &error);
            if (status == GUFO_OK)
                break;
            check_error_shape(&error, GUFO_E_IO, "stream");
            check_u64(error.system, EFBIG, "%s", error.message);
        }
        check(failed > 50, "plan %zu: %zu failures", i, failed);
        gufo_model_free(set);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    workshop_end(&b);
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* A tensor without bytes has a place, too, which is noted where it will be another. */
static void test_empty_tensors(void **state)
{
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.empty");
    const uint64_t none[1] = {0}, some[1] = {32};

    (void)state;
    for (uint64_t offset = 0; offset <= 64; offset += 32) {
        builder file = builder_new((encoding){3, false});
        gufo_model *set;
        gufo_job *c;
        gufo_error error = no_error();

        builder_header(&file, 2, 0);
        builder_tensor(&file, "some", GUFO_TYPE_I8, 1, some, 0);
        builder_tensor(&file, "none", GUFO_TYPE_I8, 1, none, offset);
        builder_pad(&file, 32);
        builder_pattern(&file, 1, 64);
        write_file(path.text, file.data, file.len);
        set = open_set(path.text);
        c = plan_well(by_tensors, set, "empty");
        check((gufo_job_normalised(c) & GUFO_NORMALISED_ORDER) == 0 ? offset == 32 : offset != 32,
              "at %" PRIu64 ": %#" PRIx32, offset, gufo_job_normalised(c));
        check_ok(run_job(c, b.out.text, false, NULL, &error), &error, "at %" PRIu64, offset);
        gufo_job_free(c);
        gufo_model_free(set);
        builder_free(&file);
        restore(&b);
    }
    workshop_end(&b);
}

/* ---- a source that changes ------------------------------------------------------------------ */

/* An array of two strings, of which the first can be cut short so that the rest is another second
 * one: all lengths stay inside. */
static builder shifty_file(uint8_t first_length)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {4};

    builder_header(&b, 1, 1);
    builder_kv_array(&b, "texts", GUFO_VALUE_STRING, 2);
    builder_u64(&b, first_length);
    builder_fill(&b, 'x', 4);
    builder_zeros(&b, 96);
    builder_u64(&b, 0);
    builder_tensor(&b, "t", GUFO_TYPE_F32, 1, dims, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 16);
    builder_pad(&b, 32);
    return b;
}

/* Metadata that changes after it was planned does not fit any more, and is not written. */
static void test_metadata_changes(void **state)
{
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.shifty");
    static plan_fn *const plans[] = {as_big, by_tensors};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        builder before = shifty_file(100), after = shifty_file(4);
        gufo_error error = no_error();
        gufo_model *set;
        gufo_job *c;
        size_t entries;

        write_file(path.text, before.data, before.len);
        set = open_set(path.text);
        c = plan_well(plans[i], set, "shifty");
        write_file(path.text, after.data, after.len);
        entries = entry_count(b.f.path);
        check_status(run_job(c, b.out.text, false, NULL, &error), GUFO_E_CHANGED, &error,
                     "plan %zu", i);
        check_u64(entry_count(b.f.path), entries, "nothing is left");
        gufo_job_free(c);
        gufo_model_free(set);
        builder_free(&before);
        builder_free(&after);
    }
    workshop_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),          cmocka_unit_test(test_names_of_sets),
        cmocka_unit_test(test_leftovers),        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_streams_end),      cmocka_unit_test(test_empty_tensors),
        cmocka_unit_test(test_metadata_changes),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
