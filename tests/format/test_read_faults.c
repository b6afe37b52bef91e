/* Reading while the system fails or is slow: errors, interruptions and short reads of each call
 * that opening and checking make, at every place of the metadata where a read can be due.
 *
 * A program of its own: the calls are replaced in it; the real ones are reached through dlsym. */
#include "../support/findings.h"
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- faults --------------------------------------------------------------------------------- */

/* What happens to reads of descriptors: each is interrupted once and gives at most `most` bytes,
 * and from number `fail_at` on (from 1; 0: never) all fail. */
static struct {
    bool on;
    size_t most;
    size_t fail_at, reads;
    bool interrupted;
    bool no_mmap, no_fstat, no_entropy;
} fault;

static void find_real(const char *name, void *real)
{
    void *found = dlsym(RTLD_NEXT, name);

    assert_non_null(found);
    memcpy(real, &found, sizeof found);
}

/* Whether a read may continue, with how many bytes. */
static bool admit(size_t *size)
{
    if (!fault.on)
        return true;
    fault.interrupted = !fault.interrupted;
    if (fault.interrupted) {
        errno = EINTR;
        return false;
    }
    if (fault.fail_at != 0 && ++fault.reads >= fault.fail_at) {
        errno = EIO;
        return false;
    }
    if (*size > fault.most)
        *size = fault.most;
    return true;
}

ssize_t read(int fd, void *bytes, size_t size)
{
    ssize_t (*real)(int, void *, size_t);

    find_real("read", &real);
    return admit(&size) ? real(fd, bytes, size) : -1;
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t);

    find_real("pread64", &real);
    return admit(&size) ? real(fd, bytes, size, offset) : -1;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);

    find_real("mmap64", &real);
    if (fault.no_mmap && fd >= 0) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return real(address, size, protection, flags, fd, offset);
}

int fstat(int fd, struct stat *info)
{
    int (*real)(int, struct stat *);

    find_real("fstat64", &real);
    if (fault.no_fstat) {
        errno = EOVERFLOW;
        return -1;
    }
    return real(fd, info);
}

int getentropy(void *buffer, size_t length)
{
    int (*real)(void *, size_t);

    find_real("getentropy", &real);
    if (fault.no_entropy) {
        errno = ENOSYS;
        return -1;
    }
    return real(buffer, length);
}

static void no_faults(void)
{
    memset(&fault, 0, sizeof fault);
}

/* ---- a file that is larger than the first read ---------------------------------------------- */

enum { FIRST_READ = 64 * 1024, ENTRIES = 6, DATA_SIZE = 200000 };

/* A string of `length` bytes, then keys, values of each kind and a tensor info: the rest. */
static builder build_file(size_t length)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[2] = {100, DATA_SIZE / 100};

    builder_header(&b, 1, ENTRIES);
    builder_key(&b, "long", GUFO_VALUE_STRING);
    builder_length(&b, length);
    builder_fill(&b, 'x', length);
    builder_kv_str(&b, "text", "some text");
    builder_kv_u8(&b, "byte", 7);
    builder_kv_bool(&b, "bool", true);
    builder_kv_array(&b, "texts", GUFO_VALUE_STRING, 2);
    builder_str(&b, "one");
    builder_str(&b, "two");
    builder_kv_array(&b, "arrays", GUFO_VALUE_ARRAY, 1);
    builder_array(&b, GUFO_VALUE_UINT16, 2);
    builder_u16(&b, 1);
    builder_u16(&b, 2);
    builder_tensor(&b, "blk.0.weight", GUFO_TYPE_I8, 2, dims, 0);
    b.mark = b.len;
    builder_pad(&b, 32);
    builder_pattern(&b, 5, DATA_SIZE);
    return b;
}

/* Bytes of metadata after the long string, whatever its length. */
static size_t rest_size(void)
{
    builder b = build_file(0);
    size_t header_and_key = 24 + 8 + 4 + 4 + 8, rest = b.mark - header_and_key;

    builder_free(&b);
    return rest;
}

/* The file in which the first read ends `into` bytes after the long string. */
static builder build_cut_at(size_t into)
{
    return build_file(FIRST_READ - 48 - into);
}

static void check_content(const gufo_model *file, const builder *b, bool has_data,
                          const char *label)
{
    gufo_tensor tensor;
    gufo_error error = no_error();
    uint8_t last = 0;

    check_u64(gufo_model_entry_count(file), ENTRIES, "%s", label);
    check(gufo_model_tensor_find(file, "blk.0.weight", &tensor), "%s", label);
    check_u64(tensor.size, DATA_SIZE, "%s", label);
    check_u64(tensor.available, DATA_SIZE, "%s", label);
    check_u64(gufo_model_facts(file).size, b->len, "%s", label);
    if (!has_data)
        return;
    check_ok(gufo_tensor_read_raw(file, &tensor, DATA_SIZE - 1, &last, 1, &error), &error, "%s",
             label);
    check_u64(last, pattern_byte(5, DATA_SIZE - 1), "%s", label);
}

/* ---- interrupted and short reads ------------------------------------------------------------ */

static void test_interrupted(void **state)
{
    static const way ways[] = {WAY_PATH, WAY_PATH_NO_MAP, WAY_FD_NO_MAP, WAY_PIPE};
    static const size_t most[] = {100, 4096, SIZE_MAX};

    (void)state;
    for (size_t m = 0; m < COUNT_OF(most); m++) {
        builder b = build_cut_at(20);

        for (size_t i = 0; i < COUNT_OF(ways); i++) {
            opened o;

            no_faults();
            fault.on = true;
            fault.most = most[m];
            open_way(&o, ways[i], b.data, b.len, NULL);
            check(o.file != NULL, "%s: %s", way_name(ways[i]), o.error.message);
            check_content(o.file, &b, way_has_data(ways[i]), way_name(ways[i]));
            close_way(&o);
            no_faults();
        }
        builder_free(&b);
    }
}

/* ---- errors --------------------------------------------------------------------------------- */

static void check_io_error(const opened *o, int system, const char *label)
{
    check(o->file == NULL, "%s", label);
    check_error_shape(&o->error, GUFO_E_IO, label);
    check_u64((unsigned)o->error.system, (unsigned)system, "%s", label);
}

/* The second read, which is due after `into` bytes of the rest, fails. */
static void check_failing_read(size_t into, way w, uint32_t flags)
{
    builder b = build_cut_at(into);
    gufo_open_options options = {.flags = flags};
    opened o;
    char label[64];

    snprintf(label, sizeof label, "%s, %zu bytes in", way_name(w), into);
    no_faults();
    fault.on = true;
    fault.most = SIZE_MAX;
    fault.fail_at = 2;
    open_way(&o, w, b.data, b.len, &options);
    check_io_error(&o, EIO, label);
    close_way(&o);
    no_faults();
    builder_free(&b);
}

static void test_failing_read(void **state)
{
    size_t rest = rest_size();

    (void)state;
    for (size_t into = 0; into < rest; into++) {
        check_failing_read(into, WAY_FD_NO_MAP, 0);
        check_failing_read(into, WAY_FD_NO_MAP, GUFO_OPEN_LENIENT);
    }
}

/* Every read of a pipe fails in turn: those of metadata, and those that only count the rest.  How
 * many there are is up to the system. */
static void test_failing_drain(void **state)
{
    builder b = build_file(10);
    bool done = false;
    size_t n = 0;

    (void)state;
    while (!done) {
        opened o;

        check(++n < 100000, "no end");
        no_faults();
        fault.on = true;
        fault.most = 32 * 1024;
        fault.fail_at = n;
        open_way(&o, WAY_PIPE, b.data, b.len, NULL);
        done = o.file != NULL;
        if (!done)
            check_io_error(&o, EIO, "pipe");
        close_way(&o);
    }
    check(n > DATA_SIZE / fault.most, "%zu reads", n);
    no_faults();
    builder_free(&b);
}

/* A pipe that ends early is detected by its length. */
static void test_short_pipe(void **state)
{
    builder b = build_file(10);
    opened o;

    (void)state;
    open_way(&o, WAY_PIPE, b.data, b.len, NULL);
    check(o.file != NULL, "%s", o.error.message);
    check_content(o.file, &b, false, "pipe");
    close_way(&o);
    open_way(&o, WAY_PIPE, b.data, b.len - 1, NULL);
    check(o.file == NULL, "short pipe");
    check_error_shape(&o.error, GUFO_E_TRUNCATED, "short pipe");
    check_u64(o.error.offset, b.len - 1, "short pipe");
    close_way(&o);
    builder_free(&b);
}

static void test_no_mmap(void **state)
{
    builder b = build_cut_at(50);
    gufo_tensor tensor;
    opened o;

    (void)state;
    fault.no_mmap = true;
    open_way(&o, WAY_PATH, b.data, b.len, NULL);
    check(o.file != NULL, "%s", o.error.message);
    check_content(o.file, &b, true, "no mmap");
    check(gufo_model_tensor_find(o.file, "blk.0.weight", &tensor), "no mmap");
    check(gufo_tensor_raw(o.file, &tensor) == NULL, "what is not mapped has no address");
    close_way(&o);
    no_faults();
    builder_free(&b);
}

static void test_no_fstat(void **state)
{
    builder b = build_file(10);
    opened o;

    (void)state;
    fault.no_fstat = true;
    open_way(&o, WAY_PATH, b.data, b.len, NULL);
    check_io_error(&o, EOVERFLOW, "fstat");
    close_way(&o);
    no_faults();
    builder_free(&b);
}

/* Without random bytes from the system names are found all the same. */
static void test_no_entropy(void **state)
{
    builder b = good_build_named("many", (encoding){3, false});
    opened o;

    (void)state;
    fault.no_entropy = true;
    open_way(&o, WAY_MEMORY, b.data, b.len, NULL);
    check(o.file != NULL, "%s", o.error.message);
    walk_file(o.file, o.copy, b.len, "no entropy");
    close_way(&o);
    no_faults();
    builder_free(&b);
}

/* ---- checking ------------------------------------------------------------------------------- */

/* Padding before, between and behind the data of two tensors, and a tensor without elements. */
static builder build_padded(void)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {4};

    builder_header(&b, 2, 1);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_tensor(&b, "a", GUFO_TYPE_I8, 1, dims, 0);
    builder_tensor(&b, "b", GUFO_TYPE_I8, 1, dims, 32);
    builder_pad(&b, 32);
    for (unsigned i = 0; i < 2; i++) {
        builder_pattern(&b, i, 4);
        builder_pad(&b, 32);
    }
    return b;
}

/* Each of the three reads of padding fails in turn: checking must say so, and what it found before
 * stays reported. */
static void test_failing_check(void **state)
{
    builder b = build_padded();
    folder f = folder_new();
    path_text path = folder_path(&f, "padded.gguf");

    (void)state;
    write_file(path.text, b.data, b.len);
    for (size_t n = 1; n <= 4; n++) {
        gufo_error error = no_error();
        gufo_status status;
        findings found;

        findings_init(&found);
        no_faults();
        fault.on = true;
        fault.most = SIZE_MAX;
        fault.fail_at = n;
        status = validate_file(path.text, NULL, findings_add, &found, &error);
        no_faults();
        check_status(status, n < 4 ? GUFO_E_IO : GUFO_OK, &error, "read %zu", n);
        if (n < 4)
            check_error_shape(&error, GUFO_E_IO, "padding");
        check_u64(found.count, 0, "read %zu", n);
        findings_free(&found);
    }
    folder_remove(&f);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted),   cmocka_unit_test(test_failing_read),
        cmocka_unit_test(test_failing_drain), cmocka_unit_test(test_short_pipe),
        cmocka_unit_test(test_no_mmap),       cmocka_unit_test(test_no_fstat),
        cmocka_unit_test(test_no_entropy),    cmocka_unit_test(test_failing_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
