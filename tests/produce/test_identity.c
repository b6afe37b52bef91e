/* The identity of an input: the same of a file with holes and of a copy without, and holes are not read. */
#include "../support/folder.h"

#include "base/memory.h"
#include "produce/run/run.h"

#include <fcntl.h>
#include <unistd.h>

enum { SIZE = 300 * 1000, FIRST = 9, LAST = 250 * 1000 };

typedef struct identity {
    uint64_t head, samples;
} identity;

static identity read_identity(const char *path, uint64_t head)
{
    source from;
    gufo_error error = no_error();
    job_input input = {.name = path, .source = &from, .head = head};
    identity id;

    check_ok(source_open_fd(&from, open(path, O_RDONLY | O_CLOEXEC), false, 0, &default_allocator,
                            &error),
             &error, "open");
    check_ok(identity_of_input(&input, &id.head, &id.samples, &error), &error, "identity");
    source_close(&from);
    return id;
}

/* Bytes at two places, and a hole between and behind them. */
static void write_holes(const char *path, uint64_t size, uint64_t first, uint64_t last)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    check(fd >= 0 && ftruncate(fd, (off_t)size) == 0 && pwrite(fd, "a", 1, (off_t)first) == 1 &&
              pwrite(fd, "b", 1, (off_t)last) == 1 && close(fd) == 0,
          "%s", path);
}

static identity identity_of_bytes(const folder *f, size_t first, size_t last)
{
    static uint8_t bytes[SIZE];
    path_text path = folder_path(f, "bytes");

    memset(bytes, 0, sizeof bytes);
    bytes[first] = 'a';
    bytes[last] = 'b';
    write_file(path.text, bytes, sizeof bytes);
    return read_identity(path.text, SIZE);
}

static void test_holes(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "holes");
    identity with, without;

    (void)state;
    write_holes(path.text, SIZE, FIRST, LAST);
    with = read_identity(path.text, SIZE);
    without = identity_of_bytes(&f, FIRST, LAST);
    check_u64(with.head, without.head, "head");
    check_u64(with.samples, without.samples, "samples");
    folder_remove(&f);
}

/* One block of zeros more in front of a byte, and one less behind it, is another file. */
static void test_places(void **state)
{
    folder f = folder_new();
    identity a = identity_of_bytes(&f, FIRST, LAST), b = identity_of_bytes(&f, FIRST, LAST + 4096),
             c = identity_of_bytes(&f, FIRST + 4096, LAST);

    (void)state;
    check(a.head != b.head && a.head != c.head && b.head != c.head, "heads");
    folder_remove(&f);
}

/* Whether the system says where a file has holes. */
static bool holes_are_told(const char *path, uint64_t size)
{
    source from;
    gufo_error error = no_error();
    bool told;

    check_ok(source_open_fd(&from, open(path, O_RDONLY | O_CLOEXEC), false, 0, &default_allocator,
                            &error),
             &error, "open");
    told = source_hole(&from, 0, size) == size;
    source_close(&from);
    return told;
}

/* Nobody could wait until they are read. */
static void test_endless(void **state)
{
    uint64_t size = UINT64_C(1) << 42;
    folder f = folder_new();
    path_text path = folder_path(&f, "endless");
    int fd = open(path.text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool possible = fd >= 0 && ftruncate(fd, (off_t)size) == 0;

    (void)state;
    if (fd >= 0)
        close(fd);
    possible = possible && holes_are_told(path.text, size);
    if (possible) {
        write_holes(path.text, size, FIRST, size / 2);
        (void)read_identity(path.text, size);
    }
    folder_remove(&f);
    if (!possible)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_endless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
