/* What an interrupted download has left: sets of ranges, and the record of them. */
#include "../support/check.h"
#include "../support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "remote/fetch/record.h"

static folder place;

static int setup(void **state)
{
    (void)state;
    place = folder_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

/* ---- sets of ranges -------------------------------------------------------------------------- */

static void check_set(const range_set *set, const char *wanted)
{
    char text[256] = "";
    size_t len = 0;

    for (uint64_t i = 0; i < set->count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "[%d,%d)", (int)set->ranges[i].first,
                                (int)set->ranges[i].end);
    check(strcmp(text, wanted) == 0, "%s, and %s is right", text, wanted);
}

static void test_ranges_merge(void **state)
{
    range_set set = {0};

    (void)state;
    check(range_set_add(&set, (byte_range){8, 12}), "memory");
    check(range_set_add(&set, (byte_range){0, 4}), "memory");
    check(range_set_add(&set, (byte_range){5, 5}), "memory");
    check_set(&set, "[0,4)[8,12)");
    check(range_set_add(&set, (byte_range){4, 6}), "memory");
    check_set(&set, "[0,6)[8,12)");
    check(range_set_add(&set, (byte_range){20, 30}), "memory");
    check(range_set_add(&set, (byte_range){5, 21}), "memory");
    check_set(&set, "[0,30)");
    check(range_set_bytes(&set) == 30, "30 bytes");
    range_set_clear(&set);
}

static void test_gaps(void **state)
{
    range_set set = {0};
    byte_range gap;

    (void)state;
    check(range_set_gap(&set, 0, 10, &gap) && gap.first == 0 && gap.end == 10, "all");
    check(!range_set_gap(&set, 10, 10, &gap), "nothing is missing of nothing");
    check(range_set_add(&set, (byte_range){2, 4}), "memory");
    check(range_set_gap(&set, 0, 10, &gap) && gap.first == 0 && gap.end == 2, "before");
    check(range_set_gap(&set, 2, 10, &gap) && gap.first == 4 && gap.end == 10, "behind");
    check(range_set_gap(&set, 3, 10, &gap) && gap.first == 4, "from the middle");
    check(!range_set_gap(&set, 2, 4, &gap), "it is there");
    range_set_clear(&set);
}

/* Against a map of bytes. */
static void test_ranges_at_random(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 200; seed++) {
        bool map[64] = {false};
        range_set set = {0};
        uint64_t dice = seed * 0x9e3779b97f4a7c15u;

        for (int step = 0; step < 12; step++) {
            uint64_t first, end;

            dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
            first = dice % 64;
            end = first + (dice >> 32) % (65 - first);
            check(range_set_add(&set, (byte_range){first, end}), "memory");
            for (uint64_t i = first; i < end; i++)
                map[i] = true;
        }
        for (uint64_t from = 0; from < 64; from++) {
            byte_range gap = {64, 64};
            uint64_t first = from, end;

            while (first < 64 && map[first])
                first++;
            for (end = first; end < 64 && !map[end]; end++)
                ;
            check(range_set_gap(&set, from, 64, &gap) == (first < 64), "seed %u", seed);
            check(gap.first == first && gap.end == end, "seed %u", seed);
        }
        range_set_clear(&set);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static record_subject subject(const char *address, const char *version)
{
    return (record_subject){gufo_str_of(address), gufo_str_of(version), 1000};
}

static record_found open_as(const char *address, const char *version, const char *wanted)
{
    path_text path = folder_path(&place, "out.part.fetch");
    record_subject what = subject(address, version);
    record_found found;
    gufo_error error = {0};
    record r;

    check(record_open(&r, path.text, &what, &found, NULL, &error) == GUFO_OK, "%s", error.message);
    if (wanted != NULL)
        check_set(&r.finished, wanted);
    record_close(&r, true);
    return found;
}

static void make(bool synced)
{
    path_text path = folder_path(&place, "out.part.fetch");
    record_subject what = subject("a", "1");
    gufo_error error = {0};
    gufo_status status;
    record r;

    status = record_create(&r, path.text, &what, NULL, &error);
    if (status == GUFO_OK)
        status = record_range(&r, (byte_range){0, 10}, &error);
    if (status == GUFO_OK)
        status = record_fence(&r, &error);
    if (status == GUFO_OK)
        status = record_range(&r, (byte_range){20, 30}, &error);
    if (status == GUFO_OK && synced)
        status = record_synced(&r, &error);
    check(status == GUFO_OK, "%s", error.message);
    record_close(&r, true);
}

static void test_record_is_found_again(void **state)
{
    (void)state;
    check(open_as("a", "1", "") == RECORD_NONE, "nothing is there");
    make(false);
    check(open_as("a", "2", NULL) == RECORD_CHANGED, "another version");
    check(open_as("b", "1", NULL) == RECORD_OTHER, "another address");
    check(open_as("a", "1", "[0,10)[20,30)") == RECORD_SAME, "the same");
    check(open_as("a", "1", "[0,10)[20,30)") == RECORD_SAME, "once more");
}

/* Gives the first mark the start of another run of the machine; its check is made anew. */
static void start_machine_again(void)
{
    enum { HEADER = 64, START = HEADER + 16 + 24, MARK = 16 + 32 };
    path_text path = folder_path(&place, "out.part.fetch");
    uint8_t mark[MARK + 8];
    uint64_t sum;
    int fd = open(path.text, O_RDWR);

    check(fd >= 0 && pread(fd, mark, sizeof mark, HEADER) == (ssize_t)sizeof mark, "read");
    mark[START - HEADER] ^= 1;
    sum = hash_check(mark, MARK, 0);
    for (int i = 0; i < 8; i++)
        mark[MARK + i] = (uint8_t)(sum >> 8 * i);
    check(pwrite(fd, mark, sizeof mark, HEADER) == (ssize_t)sizeof mark, "write");
    (void)close(fd);
}

static void test_loss_of_power(void **state)
{
    (void)state;
    make(false);
    start_machine_again();
    check(open_as("a", "1", "") == RECORD_SAME, "nothing was synced");
    make(true);
    start_machine_again();
    check(open_as("a", "1", "[0,10)") == RECORD_SAME, "what was written before the fence");
}

/* A crash cuts the record anywhere, or leaves zeros. */
static void test_torn_record(void **state)
{
    path_text path = folder_path(&place, "out.part.fetch");
    off_t whole;
    int fd;

    (void)state;
    make(true);
    fd = open(path.text, O_RDONLY);
    whole = lseek(fd, 0, SEEK_END);
    (void)close(fd);
    for (off_t size = 0; size < whole; size++) {
        record_found found;

        make(true);
        check(truncate(path.text, size) == 0, "cut");
        found = open_as("a", "1", NULL);
        check(found == RECORD_NONE || found == RECORD_CHANGED || found == RECORD_SAME, "%d",
              (int)size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_merge),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_ranges_at_random),
        cmocka_unit_test_setup_teardown(test_record_is_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loss_of_power, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_record, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
