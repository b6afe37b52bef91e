/* The journal by itself: what is noted is read again, and what the system refuses is an error. */
#include "../support/folder.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "produce/run/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MANY = 200, /* more marks than are read or written in one go */
    RESULT = 32,
    HEADER = 64,
};

typedef struct place {
    folder f;
    path_text path;
} place;

static const journal_identity identity = {17, 18};

static place place_new(void)
{
    place p = {.f = folder_new()};

    p.path = folder_path(&p.f, "journal");
    return p;
}

static journal_mark mark_of(uint64_t i)
{
    static uint8_t results[MANY][RESULT];
    uint8_t *result = results[i % MANY];

    for (uint64_t at = 0; at < RESULT; at++)
        result[at] = (uint8_t)(i * i + at);
    return (journal_mark){i, 3 * i, result};
}

static void check_mark(void *context, const journal_mark *mark)
{
    uint64_t *seen = context;
    journal_mark expected = mark_of(*seen);

    check_u64(mark->piece, expected.piece, "mark");
    check_u64(mark->units_done, expected.units_done, "mark %" PRIu64, *seen);
    check(memcmp(mark->result, expected.result, RESULT) == 0, "mark %" PRIu64, *seen);
    ++*seen;
}

static void test_marks(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    journal_mark marks[MANY];
    uint64_t seen = 0;
    bool found;
    journal j;

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        marks[i] = mark_of(i);
    check_ok(journal_create(&j, p.path.text, RESULT, &identity, false, &error), &error, "create");
    check_ok(journal_append(&j, marks, 1, &error), &error, "one");
    check_ok(journal_append(&j, marks + 1, 0, &error), &error, "none");
    check_ok(journal_append(&j, marks + 1, MANY - 2, &error), &error, "many");
    journal_close(&j, true);
    check_ok(journal_open(&j, p.path.text, RESULT, &identity, check_mark, &seen, &found, &error),
             &error, "open");
    check(found, "found");
    check_u64(seen, MANY - 1, "marks");
    check_ok(journal_append(&j, marks + MANY - 1, 1, &error), &error, "one more");
    journal_close(&j, true);
    seen = 0;
    check_ok(journal_open(&j, p.path.text, RESULT, &identity, check_mark, &seen, &found, &error),
             &error, "open again");
    check_u64(seen, MANY, "marks");
    journal_close(&j, false);
    check(!file_exists(p.path.text), "removed");
    journal_close(&j, false);
    folder_remove(&p.f);
}

static void ignore_mark(void *context, const journal_mark *mark)
{
    (void)context, (void)mark;
}

static void test_none(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    bool found;
    journal j;

    (void)state;
    check_ok(journal_open(&j, p.path.text, RESULT, &identity, ignore_mark, NULL, &found, &error),
             &error, "none");
    check(!found, "found");
    write_file(p.path.text, "GUFO", 4);
    check_ok(journal_open(&j, p.path.text, RESULT, &identity, ignore_mark, NULL, &found, &error),
             &error, "a header that was cut short");
    check(!found && !file_exists(p.path.text), "found");
    folder_remove(&p.f);
}

static void test_exists(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    struct stat info;
    journal j;

    (void)state;
    write_file(p.path.text, "something", 9);
    check_status(journal_create(&j, p.path.text, RESULT, &identity, false, &error), GUFO_E_EXISTS,
                 &error, "exists");
    check_file(p.path.text, "something", 9, "exists");
    check_ok(journal_create(&j, p.path.text, RESULT, &identity, true, &error), &error, "replaced");
    check(stat(p.path.text, &info) == 0 && info.st_size == HEADER, "header");
    journal_close(&j, true);
    folder_remove(&p.f);
}

/* Names that are something else. */
static void test_refused_names(void **state)
{
    place p = place_new();
    path_text names[] = {folder_path(&p.f, "folder"), folder_path(&p.f, "link"),
                         folder_path(&p.f, "none/journal")};
    gufo_error error = no_error();
    bool found;
    journal j;

    (void)state;
    check(mkdir(names[0].text, 0700) == 0, "folder");
    check(symlink("elsewhere", names[1].text) == 0, "link");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        gufo_status status = journal_create(&j, names[i].text, RESULT, &identity, true, &error);

        check_status(status, i < 2 ? GUFO_E_ARGUMENT : GUFO_E_IO, &error, "create %s",
                     names[i].text);
        if (i == 2)
            continue;
        status =
            journal_open(&j, names[i].text, RESULT, &identity, ignore_mark, NULL, &found, &error);
        check_status(status, GUFO_E_IO, &error, "open %s", names[i].text);
    }
    check_u64(entry_count(p.f.path), 2, "files");
    folder_remove(&p.f);
}

/* Other inputs, plans and results. */
static void test_other_jobs(void **state)
{
    static const struct {
        journal_identity identity;
        size_t result_size;
        const char *sentence;
    } cases[] = {{{1, 18}, RESULT, "another input"},
                 {{17, 1}, RESULT, "other options"},
                 {{17, 18}, RESULT + 8, "other options"}};
    place p = place_new();
    gufo_error error = no_error();
    bool found;
    journal j;

    (void)state;
    check_ok(journal_create(&j, p.path.text, RESULT, &identity, false, &error), &error, "create");
    journal_close(&j, true);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_status(journal_open(&j, p.path.text, cases[i].result_size, &cases[i].identity,
                                  ignore_mark, NULL, &found, &error),
                     GUFO_E_ARGUMENT, &error, "case %zu", i);
        check(strstr(error.message, cases[i].sentence) != NULL, "case %zu: %s", i, error.message);
    }
    check_ok(journal_open(&j, p.path.text, RESULT, &identity, ignore_mark, NULL, &found, &error),
             &error, "the same");
    check(found, "found");
    journal_close(&j, true);
    folder_remove(&p.f);
}

/* What another version has left, of the format or of gufo, is refused and stays. */
static void test_other_versions(void **state)
{
    enum { AT_FORM = 8, AT_VERSION = 16, AT_CHECK = 56 };
    static const size_t places[] = {AT_FORM, AT_VERSION};
    place p = place_new();
    gufo_error error = no_error();
    uint8_t *bytes;
    size_t size;
    bool found;
    journal j;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        check_ok(journal_create(&j, p.path.text, RESULT, &identity, true, &error), &error, "new");
        journal_close(&j, true);
        bytes = read_file(p.path.text, &size);
        bytes[places[i]]++;
        store_u64(bytes + AT_CHECK,
                  hash_text((hash_key){0, 0}, (gufo_str){(const char *)bytes, AT_CHECK}),
                  bytes_swapped(false));
        write_file(p.path.text, bytes, size);
        check_status(
            journal_open(&j, p.path.text, RESULT, &identity, ignore_mark, NULL, &found, &error),
            GUFO_E_ARGUMENT, &error, "case %zu", i);
        check(strstr(error.message, "it was begun by version") != NULL, "%s", error.message);
        check_file(p.path.text, bytes, size, "it stays");
        free(bytes);
    }
    folder_remove(&p.f);
}

static void test_full_disk(void **state)
{
    journal j = {
        .fd = open("/dev/full", O_RDWR | O_CLOEXEC), .path = "/dev/full", .result_size = RESULT};
    journal_mark mark = mark_of(1);
    gufo_error error = no_error();

    (void)state;
    if (j.fd < 0)
        skip();
    check_status(journal_append(&j, &mark, 1, &error), GUFO_E_IO, &error, "full");
    journal_close(&j, true);
}

/* A descriptor that takes bytes but cannot be synced. */
static void test_unsyncable(void **state)
{
    journal j = {
        .fd = open("/dev/null", O_RDWR | O_CLOEXEC), .path = "/dev/null", .result_size = RESULT};
    journal_mark mark = mark_of(1);
    gufo_error error = no_error();

    (void)state;
    check_status(journal_append(&j, &mark, 1, &error), GUFO_E_IO, &error, "sync");
    journal_close(&j, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks),      cmocka_unit_test(test_none),
        cmocka_unit_test(test_exists),     cmocka_unit_test(test_refused_names),
        cmocka_unit_test(test_other_jobs), cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_full_disk),  cmocka_unit_test(test_unsyncable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
