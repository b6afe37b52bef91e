/* Where data that is given goes: atomically to a path, in order to a stream, and nowhere on
 * failure. */
#include "support/folder.h"
#include "support/process.h"
#include "support/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TENSORS = 3, TENSOR_SIZE = 100 };

/* A plan of three tensors of 100 bytes. */
static sink *planned_sink(void)
{
    static sink out;
    gufo_document *d = gufo_document_new(NULL, NULL);
    const uint64_t dims[1] = {TENSOR_SIZE};
    static const char *const names[TENSORS] = {"a", "b", "c"};

    for (int i = 0; d != NULL && i < TENSORS; i++)
        if (gufo_document_add_tensor(d, names[i], gufo_element_type_by_id(GUFO_TYPE_I8), 1, dims,
                                     NULL) != GUFO_OK)
            return NULL;
    out = (sink){.document = d};
    return &out;
}

/* The file of that plan. */
static builder expected_file(void)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {TENSOR_SIZE};

    builder_header(&b, TENSORS, 0);
    builder_tensor(&b, "a", GUFO_TYPE_I8, 1, dims, 0);
    builder_tensor(&b, "b", GUFO_TYPE_I8, 1, dims, 128);
    builder_tensor(&b, "c", GUFO_TYPE_I8, 1, dims, 256);
    for (unsigned i = 0; i < TENSORS; i++) {
        builder_pad(&b, 32);
        builder_pattern(&b, i, TENSOR_SIZE);
    }
    builder_pad(&b, 32);
    return b;
}

static gufo_status write_tensor(sink *out, unsigned index, gufo_error *error)
{
    uint8_t data[TENSOR_SIZE];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = pattern_byte(index, i);
    return sink_write(out, index, 0, data, sizeof data, error);
}

static gufo_status write_all(sink *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (unsigned i = 0; i < TENSORS && status == GUFO_OK; i++)
        status = write_tensor(out, i, error);
    return status;
}

static void check_written_file(const char *path, const char *label)
{
    builder b = expected_file();

    check_file(path, b.data, b.len, label);
    builder_free(&b);
}

/* ---- to a path ------------------------------------------------------------------------------ */

static void test_new_file(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    sink *out = planned_sink();
    gufo_error error = no_error();
    struct stat facts;
    gufo_layout layout;
    mode_t mask = umask(027);

    (void)state;
    check(sink_temporary(out) == NULL, "temporary before opening");
    check_ok(sink_open(out, path.text, false, &error), &error, "open");
    check(sink_temporary(out) != NULL, "no temporary file");
    check(!file_exists(path.text), "the target exists before it is finished");
    check(stat(sink_temporary(out), &facts) == 0, "temporary");
    check_ok(gufo_document_layout(out->document, NULL, &layout, &error), &error, "layout");
    check_u64((uint64_t)facts.st_size, layout.file_size, "space is reserved");
    check_u64(entry_count(f.path), 1, "the temporary file is beside the target");
    check_ok(write_all(out, &error), &error, "write");
    check(!file_exists(path.text), "the target exists before it is finished");
    check_ok(sink_finish(out, &error), &error, "finish");
    check_u64(entry_count(f.path), 1, "only the target is left");
    sink_free(out);
    umask(mask);
    check(stat(path.text, &facts) == 0, "target");
    check_u64(facts.st_mode & 07777, 0640, "mode of a new file follows the umask");
    check_written_file(path.text, "new file");
    folder_remove(&f);
}

static void test_replace(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    sink *out = planned_sink();
    gufo_error error = no_error();
    struct stat facts;

    (void)state;
    write_file(path.text, "old", 3);
    chmod(path.text, 0604);
    check_ok(sink_open(out, path.text, true, &error), &error, "open");
    check_ok(write_all(out, &error), &error, "write");
    check_file(path.text, "old", 3, "before finishing");
    check_ok(sink_finish(out, &error), &error, "finish");
    sink_free(out);
    check_written_file(path.text, "replaced");
    check(stat(path.text, &facts) == 0, "target");
    check_u64(facts.st_mode & 07777, 0604, "the mode is kept");
    check_u64(entry_count(f.path), 1, "only the target is left");
    folder_remove(&f);
}

static void test_exists(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf"), pipe_path = folder_path(&f, "pipe");
    const char *const targets[] = {path.text, f.path, pipe_path.text};

    (void)state;
    write_file(path.text, "old", 3);
    check(mkfifo(pipe_path.text, 0600) == 0, "pipe");
    for (size_t i = 0; i < COUNT_OF(targets); i++)
        for (int replace = 0; replace < (i == 0 ? 1 : 2); replace++) {
            sink *out = planned_sink();
            gufo_error error = no_error();

            check_status(sink_open(out, targets[i], replace == 1, &error), GUFO_E_EXISTS, &error,
                         "target %zu", i);
            check_error_shape(&error, GUFO_E_EXISTS, targets[i]);
            sink_free(out);
            check_u64(entry_count(f.path), 2, "target %zu: nothing new", i);
        }
    check_file(path.text, "old", 3, "not replaced");
    folder_remove(&f);
}

/* More files than may be open at a time, written in turns and by several threads. */
enum { MANY_FILES = 300, MANY_THREADS = 4, MANY_BYTES = 64 };

typedef struct many_writer {
    gufo_job *job;
    unsigned number;
    gufo_status status;
} many_writer;

static void *write_many(void *context)
{
    many_writer *w = context;
    uint8_t bytes[MANY_BYTES / 2];

    /* First halves upwards, second halves downwards: each file is needed twice. */
    for (size_t i = w->number; i < MANY_FILES && w->status == GUFO_OK; i += MANY_THREADS) {
        memset(bytes, (int)(i % 251) + 1, sizeof bytes);
        w->status = gufo_job_write(w->job, i, 0, 0, bytes, sizeof bytes, NULL);
    }
    for (size_t i = MANY_FILES; i-- > 0 && w->status == GUFO_OK;) {
        if (i % MANY_THREADS != w->number)
            continue;
        memset(bytes, (int)(i % 251) + 2, sizeof bytes);
        w->status = gufo_job_write(w->job, i, 0, MANY_BYTES / 2, bytes, sizeof bytes, NULL);
    }
    return NULL;
}

static void check_many(const folder *f)
{
    path_text first = folder_path(f, "many-00001-of-00300.gguf");
    gufo_error error = no_error();
    gufo_model *set = gufo_model_open(first.text, NULL, &error);
    uint8_t bytes[MANY_BYTES];
    gufo_tensor tensor;

    check(set != NULL, "%s", error.message);
    check_u64(gufo_model_tensor_count(set), MANY_FILES, "tensors");
    for (uint64_t i = 0; gufo_model_tensor_at(set, i, &tensor); i++) {
        check_ok(gufo_tensor_read_raw(set, &tensor, 0, bytes, sizeof bytes, &error), &error,
                 "data");
        for (size_t k = 0; k < sizeof bytes; k++)
            check_u64(bytes[k], i % 251 + 1 + (k >= sizeof bytes / 2), "byte %zu", k);
    }
    gufo_model_free(set);
}

static void test_many_files(void **state)
{
    folder f = folder_new();
    path_text first = folder_path(&f, "many-00001-of-00300.gguf");
    const gufo_job_options options = {.path = first.text};
    gufo_document *documents[MANY_FILES];
    many_writer writers[MANY_THREADS];
    pthread_t threads[MANY_THREADS];
    gufo_error error = no_error();
    struct rlimit old, few;
    gufo_job *job;

    (void)state;
    for (uint32_t i = 0; i < MANY_FILES; i++) {
        char name[16];

        snprintf(name, sizeof name, "t%" PRIu32, i);
        documents[i] = gufo_document_new(NULL, &error);
        check_ok(gufo_document_set_shard(documents[i], i, MANY_FILES, MANY_FILES, 7, &error),
                 &error, "shard");
        check_ok(gufo_document_add_tensor(documents[i], name, gufo_element_type_by_id(GUFO_TYPE_I8),
                                          1, (uint64_t[]){MANY_BYTES}, &error),
                 &error, "tensor");
    }
    job = gufo_job_of_documents(documents, MANY_FILES, NULL, &error);
    check(job != NULL, "%s", error.message);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    check_ok(gufo_job_open(job, &options, &error), &error, "open");
    for (unsigned i = 0; i < MANY_THREADS; i++) {
        writers[i] = (many_writer){job, i, GUFO_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (unsigned i = 0; i < MANY_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        check_u64(writers[i].status, GUFO_OK, "thread %u", i);
    }
    check_ok(gufo_job_finish(job, NULL, &error), &error, "finish");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    gufo_job_free(job);
    for (uint32_t i = 0; i < MANY_FILES; i++)
        gufo_document_free(documents[i]);
    check_many(&f);
    check_u64(entry_count(f.path), MANY_FILES, "nothing else is left");
    folder_remove(&f);
}

/* A target that another process makes meanwhile is not replaced without permission. */
static void test_exists_meanwhile(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    sink *out = planned_sink();
    gufo_error error = no_error();

    (void)state;
    check_ok(sink_open(out, path.text, false, &error), &error, "open");
    check_ok(write_all(out, &error), &error, "write");
    write_file(path.text, "other", 5);
    check_status(sink_finish(out, &error), GUFO_E_EXISTS, &error, "finish");
    sink_free(out);
    check_file(path.text, "other", 5, "meanwhile");
    check_u64(entry_count(f.path), 1, "no temporary file");
    folder_remove(&f);
}

/* Links lead to the file that is replaced; they themselves stay. */
static void test_symlinks(void **state)
{
    folder f = folder_new();
    path_text inner = folder_path(&f, "inner"), target = folder_path(&f, "inner/file.gguf");
    path_text link = folder_path(&f, "link"), chain = folder_path(&f, "chain");
    path_text absolute = folder_path(&f, "absolute");
    const char *const names[] = {link.text, chain.text, absolute.text};
    struct stat facts;

    (void)state;
    check(mkdir(inner.text, 0755) == 0 && symlink("inner/file.gguf", link.text) == 0 &&
              symlink("link", chain.text) == 0 && symlink(target.text, absolute.text) == 0,
          "test files");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        sink *out = planned_sink();
        gufo_error error = no_error();

        write_file(target.text, "old", 3);
        check_status(sink_open(out, names[i], false, &error), GUFO_E_EXISTS, &error, "%s",
                     names[i]);
        sink_free(out);
        out = planned_sink();
        check_ok(sink_open(out, names[i], true, &error), &error, "%s", names[i]);
        check_ok(write_all(out, &error), &error, "%s", names[i]);
        check_u64(entry_count(f.path), 4, "the temporary file is beside the file");
        check_ok(sink_finish(out, &error), &error, "%s", names[i]);
        sink_free(out);
        check(lstat(names[i], &facts) == 0 && S_ISLNK(facts.st_mode), "%s: no link", names[i]);
        check(lstat(target.text, &facts) == 0 && S_ISREG(facts.st_mode), "%s", names[i]);
        check_written_file(target.text, names[i]);
        check_u64(entry_count(f.path), 4, "%s", names[i]);
        check_u64(entry_count(inner.text), 1, "%s", names[i]);
    }
    folder_remove(&f);
}

static void test_link_loop(void **state)
{
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");
    sink *out = planned_sink();
    gufo_error error = no_error();

    (void)state;
    check(symlink("b", a.text) == 0 && symlink("a", b.text) == 0, "test files");
    check_status(sink_open(out, a.text, true, &error), GUFO_E_IO, &error, "loop");
    check_error_shape(&error, GUFO_E_IO, "loop");
    sink_free(out);
    check_u64(entry_count(f.path), 2, "loop");
    folder_remove(&f);
}

static void test_missing_folder(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "no/such/out.gguf");
    sink *out = planned_sink();
    gufo_error error = no_error();

    (void)state;
    check_status(sink_open(out, path.text, true, &error), GUFO_E_IO, &error, "missing");
    check_error_shape(&error, GUFO_E_IO, "missing");
    check_u64((unsigned)error.system, ENOENT, "missing");
    sink_free(out);
    check_u64(entry_count(f.path), 0, "missing");
    folder_remove(&f);
}

/* A name as long as a name can be leaves no room for a longer temporary one. */
static void test_longest_name(void **state)
{
    folder f = folder_new();
    char name[256];
    path_text path;
    sink *out = planned_sink();
    gufo_error error = no_error();

    (void)state;
    memset(name, 'n', 255);
    name[255] = '\0';
    path = folder_path(&f, name);
    check_ok(sink_open(out, path.text, false, &error), &error, "255 bytes");
    check_ok(write_all(out, &error), &error, "255 bytes");
    check_ok(sink_finish(out, &error), &error, "255 bytes");
    sink_free(out);
    check_written_file(path.text, "255 bytes");
    folder_remove(&f);
}

static void test_relative_path(void **state)
{
    folder f = folder_new();
    sink *out = planned_sink();
    gufo_error error = no_error();
    int here = open(".", O_RDONLY);

    (void)state;
    check(here >= 0 && chdir(f.path) == 0, "test folder");
    check_ok(sink_open(out, "out.gguf", false, &error), &error, "relative");
    check_ok(write_all(out, &error), &error, "relative");
    check_ok(sink_finish(out, &error), &error, "relative");
    sink_free(out);
    check_written_file("out.gguf", "relative");
    check_u64(entry_count("."), 1, "relative");
    check(fchdir(here) == 0, "back");
    close(here);
    folder_remove(&f);
}

/* ---- unfinished ----------------------------------------------------------------------------- */

static void test_abandoned(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");

    (void)state;
    write_file(path.text, "old", 3);
    for (unsigned written = 0; written <= TENSORS; written++) {
        sink *out = planned_sink();
        gufo_error error = no_error();

        check_ok(sink_open(out, path.text, true, &error), &error, "open");
        for (unsigned i = 0; i < written; i++)
            check_ok(write_tensor(out, i, &error), &error, "write");
        sink_free(out);
        check_file(path.text, "old", 3, "abandoned");
        check_u64(entry_count(f.path), 1, "abandoned");
    }
    folder_remove(&f);
}

/* Pieces of tensor b (100 bytes) that leave something out. */
typedef struct piece {
    uint64_t offset;
    size_t size;
} piece;

static const piece incomplete[][3] = {
    {{0, 0}, {0, 0}, {0, 0}},     /* nothing */
    {{0, 99}, {0, 0}, {0, 0}},    /* all but the last byte */
    {{1, 99}, {0, 0}, {0, 0}},    /* all but the first */
    {{0, 40}, {60, 40}, {0, 0}},  /* a hole */
    {{0, 50}, {0, 50}, {0, 0}},   /* as many bytes as there are, but the same ones twice */
    {{0, 60}, {20, 40}, {50, 10}} /* overlapping pieces */
};

static void test_incomplete_data(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    uint8_t data[TENSOR_SIZE] = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(incomplete); i++) {
        sink *out = planned_sink();
        gufo_error error = no_error();

        write_file(path.text, "old", 3);
        check_ok(sink_open(out, path.text, true, &error), &error, "row %zu", i);
        check_ok(write_tensor(out, 0, &error), &error, "row %zu", i);
        check_ok(write_tensor(out, 2, &error), &error, "row %zu", i);
        for (size_t p = 0; p < 3; p++)
            check_ok(
                sink_write(out, 1, incomplete[i][p].offset, data, incomplete[i][p].size, &error),
                &error, "row %zu", i);
        check_status(sink_finish(out, &error), GUFO_E_ARGUMENT, &error, "row %zu", i);
        check_error_shape(&error, GUFO_E_ARGUMENT, "incomplete");
        check(strstr(error.message, "\"b\"") != NULL, "row %zu names the tensor: %s", i,
              error.message);
        sink_free(out);
        check_file(path.text, "old", 3, "incomplete");
        check_u64(entry_count(f.path), 1, "row %zu: temporary file", i);
    }
    folder_remove(&f);
}

/* Bytes may be written again, as in a retry: the last ones count. */
static void test_rewritten_data(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    sink *out = planned_sink();
    gufo_error error = no_error();
    uint8_t data[TENSOR_SIZE] = {0};

    (void)state;
    check_ok(sink_open(out, path.text, true, &error), &error, "open");
    check_ok(sink_write(out, 0, 0, data, 60, &error), &error, "a piece");
    check_ok(sink_write(out, 0, 40, data, 60, &error), &error, "an overlapping one");
    check_ok(sink_write(out, 1, 0, data, TENSOR_SIZE, &error), &error, "all of b");
    check_ok(write_all(out, &error), &error, "everything again");
    check_ok(sink_finish(out, &error), &error, "finish");
    sink_free(out);
    check_written_file(path.text, "rewritten");
    folder_remove(&f);
}

static void test_write_ranges(void **state)
{
    static const struct {
        uint64_t index, offset;
        size_t size;
        bool good;
    } rows[] = {
        {0, 0, 100, true},       {0, 100, 0, true},      {0, 100, 1, false},
        {0, 0, 101, false},      {0, 101, 0, false},     {0, UINT64_MAX, 2, false},
        {0, 1, SIZE_MAX, false}, {TENSORS, 0, 1, false}, {UINT64_MAX, 0, 1, false},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    sink *out = planned_sink();
    gufo_error error = no_error();
    uint8_t data[128] = {0};

    (void)state;
    check_status(sink_write(out, 0, 0, data, 1, &error), GUFO_E_ARGUMENT, &error, "no output");
    check_status(sink_finish(out, &error), GUFO_E_ARGUMENT, &error, "no output");
    check_ok(sink_open(out, path.text, true, &error), &error, "open");
    check_status(sink_open(out, path.text, true, &error), GUFO_E_ARGUMENT, &error,
                 "a second output");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_status(sink_write(out, rows[i].index, rows[i].offset, data, rows[i].size, &error),
                     rows[i].good ? GUFO_OK : GUFO_E_RANGE, &error, "row %zu", i);
    sink_free(out);
    check_u64(entry_count(f.path), 0, "ranges");
    folder_remove(&f);
}

/* ---- to a stream ---------------------------------------------------------------------------- */

typedef struct drain {
    int fd;
    uint8_t data[4096];
    size_t len;
} drain;

static void *drain_pipe(void *context)
{
    drain *d = context;
    ssize_t got;

    while (d->len < sizeof d->data &&
           (got = read(d->fd, d->data + d->len, sizeof d->data - d->len)) > 0)
        d->len += (size_t)got;
    return NULL;
}

static void test_stream(void **state)
{
    sink *out = planned_sink();
    builder b = expected_file();
    gufo_error error = no_error();
    static drain d;
    pthread_t thread;
    int ends[2];

    (void)state;
    check(pipe(ends) == 0, "pipe");
    d = (drain){.fd = ends[0]};
    assert_int_equal(pthread_create(&thread, NULL, drain_pipe, &d), 0);
    check_ok(sink_open_fd(out, ends[1], &error), &error, "open");
    check(sink_temporary(out) == NULL, "a stream has no temporary file");
    for (unsigned t = 0; t < TENSORS; t++)
        for (uint64_t at = 0; at < TENSOR_SIZE; at += 20) {
            uint8_t data[20];

            for (size_t i = 0; i < sizeof data; i++)
                data[i] = pattern_byte(t, (size_t)at + i);
            check_ok(sink_write(out, t, at, data, sizeof data, &error), &error, "write");
        }
    check_ok(sink_finish(out, &error), &error, "finish");
    sink_free(out);
    check(write(ends[1], "!", 1) == 1, "the descriptor stays the caller's");
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    check_u64(d.len, b.len + 1, "bytes in the pipe");
    assert_memory_equal(d.data, b.data, b.len);
    builder_free(&b);
}

/* Every write but the next one is refused, and does not disturb the stream. */
static void test_stream_order(void **state)
{
    static const struct {
        uint64_t index, offset;
        size_t size;
    } wrong[] = {{1, 0, 100}, {2, 0, 1}, {0, 50, 50}, {0, 1, 1}};
    folder f = folder_new();
    path_text path = folder_path(&f, "stream");
    sink *out = planned_sink();
    gufo_error error = no_error();
    uint8_t data[TENSOR_SIZE] = {0};
    int fd = open(path.text, O_WRONLY | O_CREAT, 0600);

    (void)state;
    check_ok(sink_open_fd(out, fd, &error), &error, "open");
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        check_status(sink_write(out, wrong[i].index, wrong[i].offset, data, wrong[i].size, &error),
                     GUFO_E_ARGUMENT, &error, "row %zu", i);
        check_error_shape(&error, GUFO_E_ARGUMENT, "order");
    }
    check_ok(write_tensor(out, 0, &error), &error, "first");
    check_status(write_tensor(out, 0, &error), GUFO_E_ARGUMENT, &error, "first again");
    check_status(write_tensor(out, 2, &error), GUFO_E_ARGUMENT, &error, "third too early");
    check_ok(write_tensor(out, 1, &error), &error, "second");
    check_ok(write_tensor(out, 2, &error), &error, "third");
    check_ok(sink_finish(out, &error), &error, "finish");
    sink_free(out);
    close(fd);
    check_written_file(path.text, "stream");
    folder_remove(&f);
}

static void test_stream_incomplete(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "stream");
    sink *out = planned_sink();
    gufo_error error = no_error();
    int fd = open(path.text, O_WRONLY | O_CREAT, 0600);

    (void)state;
    check_ok(sink_open_fd(out, fd, &error), &error, "open");
    check_ok(write_tensor(out, 0, &error), &error, "first");
    check_status(sink_finish(out, &error), GUFO_E_ARGUMENT, &error, "finish");
    sink_free(out);
    close(fd);
    folder_remove(&f);
}

static void test_closed_pipe(void **state)
{
    sink *out = planned_sink();
    gufo_error error = no_error();
    gufo_status status;
    int ends[2];
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);

    (void)state;
    check(pipe(ends) == 0, "pipe");
    close(ends[0]);
    status = sink_open_fd(out, ends[1], &error);
    if (status == GUFO_OK)
        status = write_all(out, &error);
    if (status == GUFO_OK)
        status = sink_finish(out, &error);
    check_status(status, GUFO_E_IO, &error, "closed pipe");
    check_error_shape(&error, GUFO_E_IO, "closed pipe");
    check_u64((unsigned)error.system, EPIPE, "closed pipe");
    sink_free(out);
    close(ends[1]);
    signal(SIGPIPE, before);
}

static void test_full_device(void **state)
{
    sink *out = planned_sink();
    gufo_error error = no_error();
    gufo_status status;
    int fd = open("/dev/full", O_WRONLY);

    (void)state;
    if (fd < 0) {
        sink_free(out);
        print_message("skipped: no /dev/full here\n");
        skip();
    }
    status = sink_open_fd(out, fd, &error);
    if (status == GUFO_OK)
        status = write_all(out, &error);
    if (status == GUFO_OK)
        status = sink_finish(out, &error);
    check_status(status, GUFO_E_IO, &error, "full device");
    check_u64((unsigned)error.system, ENOSPC, "full device");
    sink_free(out);
    close(fd);
}

/* ---- a system that refuses ------------------------------------------------------------------ */

/* In a child: opening or writing fails with `system`, nothing new is left in the folder.  The
 * number of the step that went wrong, 0 for none. */
static int fails_cleanly(const char *directory, const char *path, int system)
{
    size_t before = entry_count(directory);
    sink *out = planned_sink();
    gufo_error error = no_error();
    gufo_status status = sink_open(out, path, true, &error);

    if (status == GUFO_OK)
        status = write_all(out, &error);
    if (status == GUFO_OK)
        status = sink_finish(out, &error);
    sink_free(out);
    if (status != GUFO_E_IO)
        return 10;
    if (error.system != system)
        return 11;
    if (entry_count(directory) != before)
        return 12;
    return 0;
}

typedef struct place {
    folder f;
    path_text path;
} place;

static int write_as_nobody(void *context)
{
    const place *p = context;

    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
        return CHILD_SKIP;
    return fails_cleanly(p->f.path, p->path.text, EACCES);
}

static place place_with_old_file(void)
{
    place p;

    p.f = folder_new();
    p.path = folder_path(&p.f, "out.gguf");
    write_file(p.path.text, "old", 3);
    return p;
}

static void check_child(place *p, int result, const char *why_skipped)
{
    if (result == CHILD_SKIP) {
        folder_remove(&p->f);
        print_message("skipped: %s\n", why_skipped);
        skip();
    }
    check_file(p->path.text, "old", 3, "old target");
    folder_remove(&p->f);
    assert_int_equal(result, 0);
}

static void test_read_only_folder(void **state)
{
    place p = place_with_old_file();

    (void)state;
    chmod(p.f.path, 0555);
    check_child(&p, run_in_child(write_as_nobody, &p), "cannot become another user here");
}

/* A file that may not grow is the nearest thing to a full disk that needs no rights. */
static int write_with_limit(void *context)
{
    const place *p = context;
    struct rlimit limit = {300, 300}; /* less than the file takes, more than its header */

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return CHILD_SKIP;
    return fails_cleanly(p->f.path, p->path.text, EFBIG);
}

static void test_file_size_limit(void **state)
{
    place p = place_with_old_file();

    (void)state;
    check_child(&p, run_in_child(write_with_limit, &p), "no limit of file sizes here");
}

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>

enum { FULL_TENSOR = 1 << 20 };

/* A plan that does not fit into the 64 KiB of the file system. */
static int write_to_small_disk(void *context)
{
    const place *p = context;
    path_text path = path_join(p->f.path, "small.gguf");
    sink small = {.document = gufo_document_new(NULL, NULL)}, *out = &small;
    const uint64_t dims[1] = {FULL_TENSOR};
    gufo_error error = no_error();
    gufo_status status;

    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", p->f.path, "tmpfs", 0, "size=64k") != 0)
        return CHILD_SKIP;
    write_file(path.text, "old", 3);
    if (gufo_document_add_tensor(out->document, "t", gufo_element_type_by_id(GUFO_TYPE_I8), 1, dims,
                                 NULL) != GUFO_OK)
        return 1;
    status = sink_open(out, path.text, true, &error);
    sink_free(out);
    if (status != GUFO_E_IO || error.system != ENOSPC)
        return 2; /* lack of space has to show at once */
    return entry_count(p->f.path) == 1 ? 0 : 3;
}

static void test_full_disk(void **state)
{
    place p = place_with_old_file();

    (void)state;
    check_child(&p, run_in_child(write_to_small_disk, &p), "cannot mount a small disk here");
}
#else
static void test_full_disk(void **state)
{
    (void)state;
    print_message("skipped: needs Linux\n");
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_many_files),
        cmocka_unit_test(test_exists),
        cmocka_unit_test(test_exists_meanwhile),
        cmocka_unit_test(test_symlinks),
        cmocka_unit_test(test_link_loop),
        cmocka_unit_test(test_missing_folder),
        cmocka_unit_test(test_longest_name),
        cmocka_unit_test(test_relative_path),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_incomplete_data),
        cmocka_unit_test(test_rewritten_data),
        cmocka_unit_test(test_write_ranges),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stream_order),
        cmocka_unit_test(test_stream_incomplete),
        cmocka_unit_test(test_closed_pipe),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
