/* Writing while the system fails: each call that an output makes is made to fail in turn, with the
 * errors that disks and folders give.  Every time the error must name the reason, the old target
 * must be as it was, and no temporary file may be left.
 *
 * A program of its own: the calls are replaced in it; the real ones are reached through dlsym. */
#include "support/check.h"
#include "support/folder.h"
#include "support/sink.h"

#include "base/files/output.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- faults --------------------------------------------------------------------------------- */

/* The call that fails, which time it fails (from 0), and how. */
static struct {
    const char *call; /* NULL: none */
    int nth;
    int failure;
    bool hit;
} fault;

static bool fails(const char *call)
{
    if (fault.call == NULL || strcmp(fault.call, call) != 0 || fault.nth-- != 0)
        return false;
    fault.hit = true;
    errno = fault.failure;
    return true;
}

/* Stores the function that `name` means without this program into the function pointer at `real`.
 * (Object and function pointers are of one size wherever there is dlsym.) */
static void find_real(const char *name, void *real)
{
    void *found = dlsym(RTLD_NEXT, name);

    assert_non_null(found);
    memcpy(real, &found, sizeof found);
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...);
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = (mode_t)va_arg(args, int);
    va_end(args);
    find_real("open64", &real);
    return (flags & O_CREAT) && fails("open") ? -1 : real(path, flags, mode);
}

int fallocate(int fd, int mode, off_t offset, off_t len)
{
    int (*real)(int, int, off_t, off_t);

    find_real("fallocate64", &real);
    return fails("fallocate") ? -1 : real(fd, mode, offset, len);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t);

    find_real("pwrite64", &real);
    return fails("pwrite") ? -1 : real(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t (*real)(int, const void *, size_t);

    find_real("write", &real);
    return fails("write") ? -1 : real(fd, bytes, size);
}

int fsync(int fd)
{
    int (*real)(int);

    find_real("fsync", &real);
    return fails("fsync") ? -1 : real(fd);
}

int close(int fd)
{
    int (*real)(int);

    find_real("close", &real);
    (void)real(fd);
    return fails("close") ? -1 : 0;
}

int link(const char *from, const char *to)
{
    int (*real)(const char *, const char *);

    find_real("link", &real);
    return fails("link") ? -1 : real(from, to);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);

    find_real("rename", &real);
    return fails("rename") ? -1 : real(from, to);
}

/* ---- the file that is written --------------------------------------------------------------- */

static const uint64_t dims[] = {32};
static const uint8_t data[128] = {1, 2, 3};
static const char old_text[] = "what was there before";

static sink plan(void)
{
    gufo_document *d = gufo_document_new(NULL, NULL);

    assert_non_null(d);
    assert_int_equal(gufo_document_set_text(d, "general.architecture", "test", NULL), GUFO_OK);
    assert_int_equal(
        gufo_document_add_tensor(d, "a", gufo_element_type_by_id(GUFO_TYPE_F32), 1, dims, NULL),
        GUFO_OK);
    assert_int_equal(
        gufo_document_add_tensor(d, "b", gufo_element_type_by_id(GUFO_TYPE_F32), 1, dims, NULL),
        GUFO_OK);
    return (sink){.document = d};
}

static gufo_status write_data(sink *out, gufo_error *error)
{
    gufo_status status = sink_write(out, 0, 0, data, sizeof data, error);

    if (status == GUFO_OK)
        status = sink_write(out, 1, 0, data, sizeof data, error);
    return status == GUFO_OK ? sink_finish(out, error) : status;
}

static gufo_status write_path(const char *path, bool replace, gufo_error *error)
{
    sink out = plan();
    gufo_status status = sink_open(&out, path, replace, error);

    if (status == GUFO_OK)
        status = write_data(&out, error);
    sink_free(&out);
    return status;
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* Which calls of each kind an output makes, up to the one after which the file is in place.  (The
 * file is closed once before anything is written to it: that call may fail.) */
static const struct {
    const char *call;
    int first, end;
    bool replacing, creating; /* with or without an old target */
} calls[] = {
    {"open", 0, 1, true, true},  {"fallocate", 0, 1, true, true}, {"pwrite", 0, 3, true, true},
    {"fsync", 0, 1, true, true}, {"close", 1, 2, true, true},     {"rename", 0, 1, true, false},
    {"link", 0, 1, false, true},
};

static const int failures[] = {ENOSPC, EIO, EACCES, EDQUOT, EROFS};

static void check_fault(const char *call, int nth, int failure, bool replace)
{
    folder f = folder_new();
    path_text target = folder_path(&f, "model.gguf");
    gufo_error error = no_error();
    gufo_status status;

    if (replace)
        write_file(target.text, old_text, sizeof old_text);
    fault.hit = false;
    fault.nth = nth;
    fault.failure = failure;
    fault.call = call;
    status = write_path(target.text, replace, &error);
    fault.call = NULL;
    check(fault.hit, "%s %d", call, nth);
    check_status(status, GUFO_E_IO, &error, "%s %d, %s", call, nth, strerror(failure));
    check(error.system == failure, "%s %d: errno %d", call, nth, error.system);
    check(strstr(error.message, strerror(failure)) != NULL, "%s: %s", call, error.message);
    check_u64(entry_count(f.path), replace, "%s %d: files in the folder", call, nth);
    if (replace)
        check_file(target.text, old_text, sizeof old_text, call);
    folder_remove(&f);
}

static void test_every_call_fails(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT_OF(calls); c++)
        for (int nth = calls[c].first; nth < calls[c].end; nth++)
            for (size_t e = 0; e < COUNT_OF(failures); e++) {
                if (calls[c].replacing)
                    check_fault(calls[c].call, nth, failures[e], true);
                if (calls[c].creating)
                    check_fault(calls[c].call, nth, failures[e], false);
            }
}

/* A file system without hard links or without a way to sync a folder still takes the file. */
static void test_missing_features(void **state)
{
    static const struct {
        const char *call;
        int nth, failure;
        bool replace;
    } rows[] = {
        {"link", 0, EPERM, false},      {"link", 0, EOPNOTSUPP, false},
        {"fallocate", 0, EINVAL, true}, {"fallocate", 0, EOPNOTSUPP, true},
        {"fallocate", 0, ENOSYS, true}, {"fsync", 1, EINVAL, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        folder f = folder_new();
        path_text target = folder_path(&f, "model.gguf");
        gufo_error error = no_error();
        gufo_model *file;

        fault.hit = false;
        fault.nth = rows[i].nth;
        fault.failure = rows[i].failure;
        fault.call = rows[i].call;
        check_ok(write_path(target.text, rows[i].replace, &error), &error, "%s", rows[i].call);
        fault.call = NULL;
        check(fault.hit, "%s", rows[i].call);
        check_u64(entry_count(f.path), 1, "%s: files in the folder", rows[i].call);
        file = gufo_model_open(target.text, NULL, &error);
        check(file != NULL, "%s: %s", rows[i].call, error.message);
        gufo_model_free(file);
        folder_remove(&f);
    }
}

/* Where nothing can be reserved, no block is written to get room: a file of a terabyte has 250 million. */
static void test_nothing_is_reserved(void **state)
{
    static const int unsupported[] = {EOPNOTSUPP, ENOSYS, EINVAL};
    const uint64_t size = 64 << 20;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
        folder f = folder_new();
        path_text target = folder_path(&f, "model.gguf");
        gufo_error error = no_error();
        struct stat info;
        output out;

        fault.nth = 0;
        fault.failure = unsupported[i];
        fault.call = "fallocate";
        check_ok(output_open(&out, target.text, false, size, NULL, &default_allocator, &error),
                 &error, "open");
        fault.call = NULL;
        check(fstat(out.fd, &info) == 0, "%s", strerror(errno));
        check_u64((uint64_t)info.st_size, size, "%s: size", strerror(unsupported[i]));
        check(info.st_blocks < 64, "%s: %lld blocks", strerror(unsupported[i]),
              (long long)info.st_blocks);
        output_discard(&out);
        folder_remove(&f);
    }
}

/* Without hard links, a target that appeared meanwhile is still not replaced. */
static void test_appeared_meanwhile(void **state)
{
    static const int link_failures[] = {0, EPERM};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(link_failures); i++) {
        folder f = folder_new();
        path_text target = folder_path(&f, "model.gguf");
        gufo_error error = no_error();
        sink out = plan();

        check_ok(sink_open(&out, target.text, false, &error), &error, "open");
        write_file(target.text, old_text, sizeof old_text);
        fault.nth = 0;
        fault.failure = link_failures[i];
        fault.call = link_failures[i] == 0 ? NULL : "link";
        check_status(write_data(&out, &error), GUFO_E_EXISTS, &error, "appeared");
        fault.call = NULL;
        sink_free(&out);
        check_u64(entry_count(f.path), 1, "files in the folder");
        check_file(target.text, old_text, sizeof old_text, "appeared");
        folder_remove(&f);
    }
}

static void test_stream_fails(void **state)
{
    (void)state;
    for (int nth = 0; nth < 3; nth++) {
        gufo_error error = no_error();
        sink out = plan();
        int null = open("/dev/null", O_WRONLY);
        gufo_status status;

        assert_true(null >= 0);
        fault.hit = false;
        fault.nth = nth;
        fault.failure = EIO;
        fault.call = "write";
        status = sink_open_fd(&out, null, &error);
        if (status == GUFO_OK)
            status = write_data(&out, &error);
        fault.call = NULL;
        check(fault.hit, "write %d", nth);
        check_status(status, GUFO_E_IO, &error, "write %d", nth);
        /* Part of the data may have arrived: sending it again would not repair the stream. */
        check_status(sink_write(&out, 0, 0, data, sizeof data, &error), GUFO_E_ARGUMENT, &error,
                     "again after write %d", nth);
        check_status(sink_finish(&out, &error), GUFO_E_ARGUMENT, &error, "write %d", nth);
        sink_free(&out);
        (void)close(null);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_fails),    cmocka_unit_test(test_missing_features),
        cmocka_unit_test(test_nothing_is_reserved), cmocka_unit_test(test_appeared_meanwhile),
        cmocka_unit_test(test_stream_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
