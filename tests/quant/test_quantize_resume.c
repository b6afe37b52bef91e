/* Interrupted runs: stopped anywhere, resumed anyhow, the result is that of a run without a pause;
 * and what cannot be resumed is refused. */
#include "../support/process.h"
#include "../support/quantize.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "produce/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static const test_tensor tensors[] = {
    {"a.weight", GUFO_TYPE_F32, 2, {65536, 13}}, /* 4 units */
    {"b.norm", GUFO_TYPE_F32, 1, {100}},
    {"c.weight", GUFO_TYPE_F16, 3, {128, 5, 3}},
    {"d.weight", GUFO_TYPE_F32, 2, {65536, 9}}, /* 3 */
};

enum {
    UNITS = 4 + 1 + 1 + 3,
    /* produce/run/journal.c */
    JOURNAL_HEADER = 64,
    RESULT = sizeof(gufo_quantize_loss) + 2 * sizeof(double), /* with the weighted sums */
    JOURNAL_MARK = 16 + RESULT + 8,
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.name", "model");
}

static const test_model model = {.encoding = {3, false},
                                 .metadata = add_metadata,
                                 .entries = 1,
                                 .tensors = tensors,
                                 .tensor_count = COUNT_OF(tensors)};

/* A folder with a model and what it becomes without a pause. */
typedef struct place {
    folder f;
    path_text in, out, part, journal, expected;
    gufo_quantize_options options;
    uint32_t flags; /* of gufo_job_flags */
} place;

/* A file that is made only once, because encoding takes its time, and then written again. */
typedef struct made_once {
    uint8_t *bytes;
    size_t len;
} made_once;

static void write_again(made_once *once, const path_text *path)
{
    if (once->bytes == NULL)
        once->bytes = read_file(path->text, &once->len);
    else
        write_file(path->text, once->bytes, once->len);
}

static place place_new(void)
{
    static made_once in, expected;
    place p = {.f = folder_new(), .options = quantize_to("Q8_0")};

    p.in = folder_path(&p.f, "in.gguf");
    p.out = folder_path(&p.f, "out.gguf");
    p.part = folder_path(&p.f, "out.gguf.part");
    p.journal = folder_path(&p.f, "out.gguf.part.journal");
    p.expected = folder_path(&p.f, "expected.gguf");
    if (in.bytes == NULL) {
        write_model(p.in.text, &model);
        quantize_well(p.in.text, p.expected.text, &p.options, "without a pause");
    }
    write_again(&in, &p.in);
    write_again(&expected, &p.expected);
    check_u64(entry_count(p.f.path), 2, "files");
    return p;
}

static void stop_after(const place *p, uint64_t units, unsigned threads)
{
    const quantize_how how = {.flags = p->flags, .stop_at = units, .run = {.threads = threads}};
    gufo_error error = no_error();

    check_status(quantize_file(p->in.text, p->out.text, &p->options, &how, &error), GUFO_E_STOPPED,
                 &error, "stop after %" PRIu64, units);
    check(!file_exists(p->out.text), "an output after %" PRIu64, units);
    check(file_exists(p->part.text) && file_exists(p->journal.text), "nothing is left");
}

static gufo_status resume(const place *p, unsigned threads, uint64_t stop_at, gufo_error *error)
{
    const quantize_how how = {
        .flags = p->flags | GUFO_JOB_RESUME, .stop_at = stop_at, .run = {.threads = threads}};

    return quantize_file(p->in.text, p->out.text, &p->options, &how, error);
}

static void check_result(place *p, const char *label)
{
    check_same_file(p->out.text, p->expected.text, label);
    check(!file_exists(p->part.text) && !file_exists(p->journal.text), "%s: files are left", label);
    check(unlink(p->out.text) == 0, "%s", label);
}

static void test_stopped_anywhere(void **state)
{
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    for (uint64_t units = 1; units <= UNITS; units++) {
        stop_after(&p, units, units % 2 == 0 ? 1 : 3);
        check_ok(resume(&p, units % 3 == 0 ? 1 : 4, 0, &error), &error, "after %" PRIu64, units);
        check_result(&p, "resumed");
    }
    folder_remove(&p.f);
}

/* One unit at a time, in another process each. */
static void test_stopped_often(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    unsigned runs = 1;

    (void)state;
    stop_after(&p, 1, 1);
    while (resume(&p, 1, 1, &error) == GUFO_E_STOPPED)
        runs++;
    check_u64(runs, UNITS, "runs");
    check_result(&p, "resumed often");
    folder_remove(&p.f);
}

/* Nothing to resume is not an error: the run just begins. */
static void test_nothing_to_resume(void **state)
{
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    check_ok(resume(&p, 2, 0, &error), &error, "nothing to resume");
    check_result(&p, "nothing to resume");
    folder_remove(&p.f);
}

/* The loss of what was done before the pause counts, too. */
static void test_loss_is_kept(void **state)
{
    const quantize_how replacing = {.flags = GUFO_JOB_REPLACE};
    const quantize_how resuming = {.flags = GUFO_JOB_RESUME};
    place p = place_new();
    gufo_quantizer_tensor expected, got;
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p.in.text, NULL, &error);
    gufo_quantizer *whole, *second;

    (void)state;
    whole = gufo_quantizer_new(input, &p.options, &error);
    check_ok(quantize_run(whole, p.expected.text, &replacing, &error), &error, "whole");
    stop_after(&p, 6, 2);
    second = gufo_quantizer_new(input, &p.options, &error);
    check_ok(quantize_run(second, p.out.text, &resuming, &error), &error, "second part");
    for (uint64_t i = 0; gufo_quantizer_tensor_at(whole, i, &expected); i++) {
        check(gufo_quantizer_tensor_at(second, i, &got), "tensor");
        check(same_loss(&got.loss, &expected.loss), "%s", tensors[i].name);
    }
    gufo_quantizer_free(whole);
    gufo_quantizer_free(second);
    gufo_model_free(input);
    folder_remove(&p.f);
}

/* ---- what a crash leaves -------------------------------------------------------------------- */

/* The journal cut anywhere, as if the machine had stopped while it was written: what it still
 * says is true. */
static void test_torn_journal(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    size_t journal_len, part_len;

    (void)state;
    stop_after(&p, 6, 1);
    uint8_t *noted = read_file(p.journal.text, &journal_len);
    uint8_t *part = read_file(p.part.text, &part_len);

    for (size_t len = 0; len < journal_len; len += 23) {
        write_file(p.part.text, part, part_len);
        write_file(p.journal.text, noted, len);
        if (len <
            JOURNAL_HEADER) /* no header: nothing was begun, and there is no .part file either */
            check(unlink(p.part.text) == 0, "part");
        check_ok(resume(&p, 1, 0, &error), &error, "journal of %zu bytes", len);
        check_result(&p, "torn journal");
    }
    free(noted);
    free(part);
    folder_remove(&p.f);
}

/* Any damaged byte of a mark ends what is believed. */
static void test_damaged_marks(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    size_t journal_len, part_len;

    (void)state;
    stop_after(&p, 6, 1);
    uint8_t *noted = read_file(p.journal.text, &journal_len);
    uint8_t *part = read_file(p.part.text, &part_len);

    for (size_t at = JOURNAL_HEADER; at < journal_len; at += 17) {
        noted[at] ^= 0x40;
        write_file(p.part.text, part, part_len);
        write_file(p.journal.text, noted, journal_len);
        noted[at] ^= 0x40;
        check_ok(resume(&p, 1, 0, &error), &error, "byte %zu", at);
        check_result(&p, "damaged journal");
    }
    free(noted);
    free(part);
    folder_remove(&p.f);
}

/* A process that is killed leaves what its last save says. */
static bool kill_myself(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)total;
    if (done > 1000000)
        (void)raise(SIGKILL);
    return true;
}

static int run_until_killed(void *context)
{
    const place *p = context;
    gufo_model *input = gufo_model_open(p->in.text, NULL, NULL);
    gufo_quantizer *q = gufo_quantizer_new(input, &p->options, NULL);
    const quantize_how how = {.run = {.progress = kill_myself}};

    return (int)quantize_run(q, p->out.text, &how, NULL) + 1;
}

static void test_killed(void **state)
{
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    check_u64((uint64_t)run_in_child(run_until_killed, &p), 128 + SIGKILL, "child");
    check(file_exists(p.part.text) && file_exists(p.journal.text), "nothing is left");
    check_ok(resume(&p, 2, 0, &error), &error, "after a kill");
    check_result(&p, "after a kill");
    folder_remove(&p.f);
}

/* Leaves what a run leaves that was stopped when all data was there. */
static void stop_at_the_end(const place *p)
{
    journal_mark mark = {.piece = MARK_COMPLETE};
    gufo_error error = no_error();
    struct stat info;

    stop_after(p, UNITS, 1);
    check(stat(p->journal.text, &info) == 0, "journal");
    journal j = {.fd = open(p->journal.text, O_RDWR),
                 .path = p->journal.text,
                 .result_size = RESULT,
                 .marks = ((uint64_t)info.st_size - JOURNAL_HEADER) / JOURNAL_MARK};

    check_ok(journal_append(&j, &mark, 1, &error), &error, "mark");
    journal_close(&j, true);
}

static int name_nothing(const char *part, const char *out)
{
    (void)part, (void)out;
    return 0;
}

/* The run was stopped before the file got its name, while it had both, and after. */
static void test_stopped_at_the_end(void **state)
{
    static int (*const naming[])(const char *part, const char *out) = {name_nothing, link, rename};
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(naming); i++) {
        stop_at_the_end(&p);
        check(naming[i](p.part.text, p.out.text) == 0, "name %zu", i);
        check_ok(resume(&p, 1, 0, &error), &error, "naming %zu", i);
        check_result(&p, "stopped at the end");
    }
    folder_remove(&p.f);
}

/* A journal that says that all is there, beside another file of that name. */
static void test_complete_but_another(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    size_t len;
    uint8_t *bytes = read_file(p.expected.text, &len);

    (void)state;
    stop_at_the_end(&p);
    check(unlink(p.part.text) == 0, "part");
    p.flags = GUFO_JOB_REPLACE;
    bytes[40] ^= 1; /* in the header */
    for (int cut = 0; cut < 2; cut++) {
        write_file(p.out.text, bytes, cut ? 50 : len);
        check_status(resume(&p, 1, 0, &error), GUFO_E_ARGUMENT, &error, "cut: %d", cut);
        check(strstr(error.message, "cannot resume") != NULL, "%s", error.message);
        check_file(p.out.text, bytes, cut ? 50 : len, "left as it was");
    }
    free(bytes);
    folder_remove(&p.f);
}

/* A target that was there before the journal was complete is not what was made, however much it
 * looks like it. */
static void test_complete_but_old(void **state)
{
    const struct timespec later[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    place p = place_new();
    gufo_error error = no_error();
    size_t len;
    uint8_t *bytes = read_file(p.expected.text, &len);

    (void)state;
    stop_at_the_end(&p);
    check(unlink(p.part.text) == 0, "part");
    p.flags = GUFO_JOB_REPLACE;
    bytes[len - 1] ^= 1; /* behind the header */
    write_file(p.out.text, bytes, len);
    check(usleep(20000) == 0 && utimensat(AT_FDCWD, p.journal.text, later, 0) == 0, "journal");
    for (int again = 0; again < 2;
         again++) { /* looking does not make the journal younger or older */
        check_status(resume(&p, 1, 0, &error), GUFO_E_ARGUMENT, &error, "old target");
        check_file(p.out.text, bytes, len, "left as it was");
        check(file_exists(p.journal.text), "the journal stays");
    }
    free(bytes);
    folder_remove(&p.f);
}

/* Opening the journal of a run whose data is complete does not make it younger than the target. */
static void test_complete_twice(void **state)
{
    place p = place_new();
    path_text elsewhere = folder_path(&p.f, "elsewhere");
    gufo_error error = no_error();
    struct stat before, after;

    (void)state;
    stop_at_the_end(&p);
    check(stat(p.journal.text, &before) == 0 && rename(p.part.text, p.out.text) == 0, "name");
    check(rename(p.out.text, elsewhere.text) == 0 && usleep(20000) == 0, "elsewhere");
    check_status(resume(&p, 1, 0, &error), GUFO_E_ARGUMENT, &error, "neither name");
    check(rename(elsewhere.text, p.out.text) == 0, "back");
    check(stat(p.journal.text, &after) == 0, "journal");
    check(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
              before.st_mtim.tv_nsec == after.st_mtim.tv_nsec,
          "the journal was written");
    check_ok(resume(&p, 1, 0, &error), &error, "resume");
    check_result(&p, "twice");
    folder_remove(&p.f);
}

/* A .part file that is longer than it was left, by a run that had done nothing yet. */
static void test_longer_part(void **state)
{
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    stop_after(&p, 1, 1);
    check(truncate(p.journal.text, JOURNAL_HEADER) == 0 && truncate(p.part.text, 10000000) == 0,
          "truncate");
    check_ok(resume(&p, 1, 0, &error), &error, "longer");
    check_result(&p, "longer");
    folder_remove(&p.f);
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* A journal that says that all is there beside a file that is not whole. */
static void test_complete_but_cut(void **state)
{
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    stop_at_the_end(&p);
    check(truncate(p.part.text, 100) == 0, "truncate");
    check_status(resume(&p, 1, 0, &error), GUFO_E_ARGUMENT, &error, "cut");
    check(!file_exists(p.out.text), "output");
    check(unlink(p.part.text) == 0, "part");
    check_status(resume(&p, 1, 0, &error), GUFO_E_ARGUMENT, &error, "missing");
    check(!file_exists(p.out.text), "output");
    folder_remove(&p.f);
}

typedef void change_fn(place *p);

static void other_type(place *p)
{
    p->options.recipe.target = quantize_to("Q4_0").recipe.target;
}

static void other_effort(place *p)
{
    p->options.effort = GUFO_EFFORT_HIGH;
}

static void nonfinite(place *p)
{
    p->options.flags |= GUFO_QUANTIZE_KEEP_NONFINITE;
}

static const gufo_quantize_override one_override = {
    .key = "general.name", .value = {.type = GUFO_VALUE_UINT32, .as.u = 1}};

static void other_metadata(place *p)
{
    p->options.overrides = &one_override;
    p->options.override_count = 1;
}

static void touched_input(place *p)
{
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

    check(utimensat(AT_FDCWD, p->in.text, times, 0) == 0, "touch");
}

static void longer_input(place *p)
{
    int fd = open(p->in.text, O_WRONLY | O_APPEND);

    check(write(fd, "x", 1) == 1 && close(fd) == 0, "append");
}

/* In a header that is sound. */
static void change_version(place *p)
{
    size_t len;
    uint8_t *bytes = read_file(p->journal.text, &len);
    uint64_t check;

    memcpy(bytes + 16, "9.9.9", 5);
    check = hash_text((hash_key){0}, (gufo_str){(char *)bytes, JOURNAL_HEADER - 8});
    store_u64(bytes + JOURNAL_HEADER - 8, check, bytes_swapped(false));
    write_file(p->journal.text, bytes, len);
    free(bytes);
}

static void garbage(place *p)
{
    write_file(p->journal.text, "This is a text of another program, and much longer than a header",
               65);
}

static void missing_part(place *p)
{
    check(unlink(p->part.text) == 0, "part");
}

static void shorter_part(place *p)
{
    check(truncate(p->part.text, 1000) == 0, "part");
}

static void linked_part(place *p)
{
    check(link(p->part.text, folder_path(&p->f, "second").text) == 0, "link");
}

static void linked_journal(place *p)
{
    check(link(p->journal.text, folder_path(&p->f, "second").text) == 0, "link");
}

/* Only root can give a file away: otherwise the test uses a link. */
static void strange_part(place *p)
{
    if (chown(p->part.text, 65534, 65534) != 0)
        linked_part(p);
}

static void strange_journal(place *p)
{
    if (chown(p->journal.text, 65534, 65534) != 0)
        linked_journal(p);
}

static void test_refused(void **state)
{
    const struct {
        const char *label;
        change_fn *change;
        const char *sentence;
    } cases[] = {
        {"type", other_type, "other options"},
        {"effort", other_effort, "other options"},
        {"nonfinite", nonfinite, "other options"},
        {"metadata", other_metadata, "other options"},
        {"time", touched_input, "another input"},
        {"length", longer_input, "another input"},
        {"version", change_version, "version \"9.9.9\""},
        {"garbage", garbage, "not a journal"},
        {"missing part", missing_part, ".part file"},
        {"shorter part", shorter_part, ".part file"},
        {"part of two names", linked_part, "with its .part file: it has other hard links"},
        {"journal of two names", linked_journal, "with this journal: it has other hard links"},
        {"another user's part", strange_part,
         geteuid() == 0 ? "with its .part file: it belongs to another user" : "hard links"},
        {"another user's journal", strange_journal,
         geteuid() == 0 ? "with this journal: it belongs to another user" : "hard links"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        place p = place_new();
        gufo_error error = no_error();

        stop_after(&p, 3, 1);
        cases[i].change(&p);
        size_t before = entry_count(p.f.path);

        check_status(resume(&p, 1, 0, &error), GUFO_E_ARGUMENT, &error, "%s", cases[i].label);
        check(strstr(error.message, "cannot resume") != NULL &&
                  strstr(error.message, cases[i].sentence) != NULL,
              "%s: %s", cases[i].label, error.message);
        check_u64(entry_count(p.f.path), before, "%s: files", cases[i].label);
        check(!file_exists(p.out.text), "%s: output", cases[i].label);
        folder_remove(&p.f);
    }
}

/* One entry, all of whose means are `mean`. */
static void write_constant_importance(const char *path, float mean)
{
    float means[128 * 3];
    importance_entry entry = {"c.weight", means, COUNT_OF(means)};

    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = mean;
    write_importance(path, &entry, 1, NULL);
}

static gufo_status resume_with_importance(place *p, const char *path, uint64_t stop_at,
                                          gufo_error *error)
{
    gufo_imatrix *imatrix = gufo_imatrix_open(path, NULL, error);
    gufo_status status;

    check(imatrix != NULL, "%s", error->message);
    p->options.importance = imatrix;
    status = resume(p, 1, stop_at, error);
    gufo_imatrix_free(imatrix);
    return status;
}

static void test_importance_is_the_same(void **state)
{
    place p = place_new();
    path_text first = folder_path(&p.f, "first.dat"), other = folder_path(&p.f, "other.dat");
    gufo_error error = no_error();

    (void)state;
    write_constant_importance(first.text, 1.5f);
    write_constant_importance(other.text, 2.5f);
    check_status(resume_with_importance(&p, first.text, 2, &error), GUFO_E_STOPPED, &error, "stop");
    check_status(resume_with_importance(&p, other.text, 0, &error), GUFO_E_ARGUMENT, &error,
                 "another importance matrix");
    check_ok(resume_with_importance(&p, first.text, 0, &error), &error, "the same one");
    check(file_exists(p.out.text), "output");
    folder_remove(&p.f);
}

/* What an interrupted run has left is not overwritten, unless that is asked for. */
static void test_left_files_are_safe(void **state)
{
    const quantize_how replacing = {.flags = GUFO_JOB_REPLACE};
    place p = place_new();
    gufo_error error = no_error();

    (void)state;
    stop_after(&p, 3, 1);
    check_status(quantize_file(p.in.text, p.out.text, &p.options, NULL, &error), GUFO_E_EXISTS,
                 &error, "with a journal");
    check(file_exists(p.part.text) && file_exists(p.journal.text), "files");
    check(unlink(p.journal.text) == 0, "journal");
    check_status(quantize_file(p.in.text, p.out.text, &p.options, NULL, &error), GUFO_E_EXISTS,
                 &error, "without a journal");
    check(file_exists(p.part.text) && !file_exists(p.journal.text), "files");
    check_status(resume(&p, 1, 0, &error), GUFO_E_EXISTS, &error, "resumed without a journal");
    check_ok(quantize_file(p.in.text, p.out.text, &p.options, &replacing, &error), &error,
             "replaced");
    check_result(&p, "replaced");
    folder_remove(&p.f);
}

/* Two processes at once: the second one sees that. */
static int resume_in_child(void *context)
{
    const place *p = context;
    gufo_error error;

    return resume(p, 1, 0, &error) == GUFO_E_IO && error.system == EBUSY ? 0 : 1;
}

static bool try_a_second_one(void *context, uint64_t done, uint64_t total)
{
    place *p = context;

    (void)done, (void)total;
    check_u64((uint64_t)run_in_child(resume_in_child, p), 0, "the second one");
    return false;
}

static void test_two_at_once(void **state)
{
    place p = place_new();
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p.in.text, NULL, &error);
    gufo_quantizer *q = gufo_quantizer_new(input, &p.options, &error);
    const quantize_how how = {
        .run = {.threads = 1, .progress = try_a_second_one, .progress_context = &p}};

    (void)state;
    check_status(quantize_run(q, p.out.text, &how, &error), GUFO_E_STOPPED, &error, "first");
    gufo_quantizer_free(q);
    gufo_model_free(input);
    check_ok(resume(&p, 1, 0, &error), &error, "afterwards");
    check_result(&p, "afterwards");
    folder_remove(&p.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped_anywhere),
        cmocka_unit_test(test_stopped_often),
        cmocka_unit_test(test_nothing_to_resume),
        cmocka_unit_test(test_loss_is_kept),
        cmocka_unit_test(test_torn_journal),
        cmocka_unit_test(test_damaged_marks),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_stopped_at_the_end),
        cmocka_unit_test(test_complete_but_another),
        cmocka_unit_test(test_complete_but_old),
        cmocka_unit_test(test_complete_twice),
        cmocka_unit_test(test_longer_part),
        cmocka_unit_test(test_complete_but_cut),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_importance_is_the_same),
        cmocka_unit_test(test_left_files_are_safe),
        cmocka_unit_test(test_two_at_once),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
