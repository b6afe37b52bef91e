/* Moving bytes between files, and a disk that fails. */
#include "base/files/move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/output.h"
#include "base/memory.h"
#include "support/disk.h"
#include "support/folder.h"

enum { SIZE = 5 * MOVE_SHARED_BLOCK + 77, BUFFER = 1000 };

/* A file of SIZE bytes that differ from block to block, and one of zeros to move to. */
typedef struct files {
    folder where;
    path_text from_path, to_path;
    source from;
    int to;
    uint8_t bytes[SIZE];
} files;

static int files_open(void **state)
{
    files *f = calloc(1, sizeof *f);
    gufo_error error;

    assert_non_null(f);
    *state = f;
    f->where = folder_new();
    f->from_path = folder_path(&f->where, "from");
    f->to_path = folder_path(&f->where, "to");
    for (size_t i = 0; i < SIZE; i++)
        f->bytes[i] = (uint8_t)(i * 31 + i / 251);
    write_file(f->from_path.text, f->bytes, SIZE);
    assert_int_equal(source_open_fd(&f->from, open(f->from_path.text, O_RDONLY), false, 0,
                                    &default_allocator, &error),
                     GUFO_OK);
    f->to = open(f->to_path.text, O_RDWR | O_CREAT, 0666);
    assert_true(f->to >= 0);
    disk_fail_never();
    disk_without_help(false);
    return 0;
}

static int files_close(void **state)
{
    files *f = *state;

    source_close(&f->from);
    (void)close(f->to);
    folder_remove(&f->where);
    free(f);
    return 0;
}

static gufo_status move(files *f, uint64_t from, uint64_t size, uint64_t to, bool *read_failed,
                        gufo_error *error)
{
    uint8_t buffer[BUFFER];

    return move_bytes(&f->from, from, size, f->to, to, buffer, sizeof buffer, read_failed, error);
}

/* Places that fit whole blocks, and such that do not; with and without the kernel's help. */
static void test_all_places(void **state)
{
    static const uint64_t places[][3] = {
        /* from, to, size */
        {0, 0, SIZE},
        {0, MOVE_SHARED_BLOCK, SIZE},
        {100, MOVE_SHARED_BLOCK + 100, SIZE - 100},
        {100, MOVE_SHARED_BLOCK + 100, 50},
        {MOVE_SHARED_BLOCK, 0, MOVE_SHARED_BLOCK},
        {1, 0, SIZE - 1},
        {SIZE, 7, 0},
    };
    files *f = *state;

    for (size_t i = 0; i < 2 * (sizeof places / sizeof *places); i++) {
        const uint64_t *place = places[i / 2];
        uint8_t got[SIZE];
        bool read_failed;

        disk_without_help(i % 2 == 1);
        assert_int_equal(ftruncate(f->to, 0), 0);
        assert_int_equal(move(f, place[0], place[2], place[1], &read_failed, NULL), GUFO_OK);
        assert_int_equal(pread(f->to, got, SIZE, (off_t)place[1]), (ssize_t)place[2]);
        assert_memory_equal(got, f->bytes + place[0], (size_t)place[2]);
    }
}

static void test_tells_which_side_failed(void **state)
{
    files *f = *state;
    gufo_error error;
    bool read_failed;

    assert_int_equal(truncate(f->from_path.text, 100), 0);
    assert_int_equal(move(f, 0, SIZE, 0, &read_failed, &error), GUFO_E_TRUNCATED);
    assert_true(read_failed);
    disk_fail_from(0, ENOSPC);
    assert_int_equal(move(f, 0, 100, 0, &read_failed, &error), GUFO_E_IO);
    assert_int_equal(error.system, ENOSPC);
    assert_false(read_failed);
}

static void test_changed_source(void **state)
{
    files *f = *state;
    gufo_error error;

    assert_int_equal(source_unchanged(&f->from, &error), GUFO_OK);
    assert_int_equal(truncate(f->from_path.text, SIZE - 1), 0);
    assert_int_equal(source_unchanged(&f->from, &error), GUFO_E_CHANGED);
}

/* An output leaves the old file or the new one, whichever call fails. */
static void test_output_on_failing_disk(void **state)
{
    static const int failures[] = {ENOSPC, EIO};
    files *f = *state;
    bool finished = false;

    for (unsigned call = 0; !finished; call++) {
        for (size_t i = 0; i < 2; i++) {
            gufo_status status;
            gufo_error error;
            output out;

            write_file(f->to_path.text, "old", 3);
            disk_fail_once(call, failures[i]);
            status = output_open(&out, f->to_path.text, true, 3, NULL, &default_allocator, &error);
            if (status == GUFO_OK)
                status = output_write(&out, 0, "new", 3, &error);
            if (status == GUFO_OK)
                status = output_commit(&out, &error);
            else
                output_discard(&out);
            finished = disk_call_count() <= call;
            disk_fail_never();
            if (status == GUFO_OK)
                check_file(f->to_path.text, "new", 3, "written");
            else
                check_file(f->to_path.text, "old", 3, "left alone");
            assert_true(status == GUFO_OK || error.system == failures[i]);
            assert_int_equal(entry_count(f->where.path), 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_places, files_open, files_close),
        cmocka_unit_test_setup_teardown(test_tells_which_side_failed, files_open, files_close),
        cmocka_unit_test_setup_teardown(test_changed_source, files_open, files_close),
        cmocka_unit_test_setup_teardown(test_output_on_failing_disk, files_open, files_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
