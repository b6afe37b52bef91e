/* What is beside an output that is made in parts may be anything: links, pipes, folders, other plans, plans and logs whose
 * checks are right and whose numbers are absurd.  Nothing waits, nothing is written elsewhere, and errors say what is wrong. */
#include "../support/shared_work.h"

#include "base/hash.h"
#include "produce/parts/plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 40}},
    {"output.weight", GUFO_TYPE_F32, 2, {256, 40}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static const char *const types[] = {"Q8_0", "COPY"};

static shared_work work_new(void)
{
    const test_model model = {.encoding = {3, false},
                              .metadata = add_metadata,
                              .entries = 1,
                              .tensors = tensors,
                              .tensor_count = COUNT_OF(tensors)};
    shared_work p = shared_work_new(&model, types, COUNT_OF(types));

    shared_alone(&p);
    return p;
}

/* ---- other things than files ---------------------------------------------------------------- */

typedef enum thing { SYMLINK, DANGLING, HARD_LINK, PIPE, FOLDER, THINGS } thing;

static const char *const thing_names[] = {"a link", "a link to nothing", "a hard link", "a pipe",
                                          "a folder"};

/* Puts a thing in the place of a file, whose bytes are in `victim` then. */
static void put_thing(const shared_work *p, const char *path, thing what, path_text *victim)
{
    *victim = folder_path(&p->f, "victim");
    (void)unlink(victim->text);
    if (!file_exists(path))
        write_file(victim->text, "victim", 6);
    else
        check(rename(path, victim->text) == 0, "rename");
    if (what == SYMLINK)
        check(symlink(victim->text, path) == 0, "symlink");
    else if (what == DANGLING)
        check(symlink("/nowhere/at/all", path) == 0, "symlink");
    else if (what == HARD_LINK)
        check(link(victim->text, path) == 0, "link");
    else if (what == PIPE)
        check(mkfifo(path, 0600) == 0, "mkfifo");
    else
        check(mkdir(path, 0700) == 0, "mkdir");
}

/* A worker and a commit, after one of two workers. */
static void try_thing(const char *name, thing what, bool of_parts)
{
    const gufo_part second = {.worker = 1, .workers = 2};
    shared_work p = work_new();
    path_text path, victim;
    gufo_error error = no_error();
    gufo_status worked, committed = GUFO_OK;
    uint64_t missing = 0;
    size_t before, after;
    uint8_t *was, *is;
    char label[96];

    snprintf(label, sizeof label, "%s as %s", name, thing_names[what]);
    shared_run_well(&p, 0, 2, label);
    path = path_join(of_parts ? p.parts.text : p.f.path, name);
    put_thing(&p, path.text, what, &victim);
    was = read_file(victim.text, &before);
    worked = shared_run(&p, &second, NULL, NULL, &error);
    if (worked != GUFO_OK)
        check_error_shape(&error, worked, label);
    committed = shared_commit(&p, &missing, &error);
    if (committed != GUFO_OK)
        check_error_shape(&error, committed, label);
    check(worked != GUFO_OK || committed != GUFO_OK || missing > 0 || shared_is_done(&p),
          "%s: other bytes", label);
    is = read_file(victim.text, &after);
    check(is != NULL && before == after && memcmp(was, is, before) == 0,
          "%s: something was written elsewhere", label);
    free(was);
    free(is);
    shared_work_end(&p);
}

static void test_things(void **state)
{
    static const char *const of_parts[] = {"plan", "0.log", "1.log", "commit"};
    static const char *const beside[] = {"0.gguf.part", "1.gguf.part"};

    (void)state;
    for (thing what = SYMLINK; what < THINGS; what++) {
        for (size_t i = 0; i < COUNT_OF(of_parts); i++)
            if (what != HARD_LINK) /* in a folder of ours nobody else makes one */
                try_thing(of_parts[i], what, true);
        for (size_t i = 0; i < COUNT_OF(beside); i++)
            try_thing(beside[i], what, false);
    }
}

/* Whatever has the name of the maker is waited for, as long as for a maker, and then removed; a folder cannot be. */
static void test_maker_things(void **state)
{
    const gufo_part all = {.workers = 1};

    (void)state;
    for (thing what = SYMLINK; what < THINGS; what++) {
        shared_work p = work_new();
        path_text maker = path_join(p.parts.text, "maker"), victim;
        gufo_error error = no_error();
        gufo_status status;

        check(mkdir(p.parts.text, 0755) == 0, "mkdir");
        put_thing(&p, maker.text, what, &victim);
        shared_age(maker.text);
        status = shared_run(&p, &all, NULL, NULL, &error);
        check_status(status, what == FOLDER ? GUFO_E_IO : GUFO_OK, &error, "%s", thing_names[what]);
        check(status == GUFO_OK || strstr(error.file, "/.maker-") != NULL, "%s", error.file);
        check_file(victim.text, "victim", 6, thing_names[what]);
        shared_work_end(&p);
    }
}

static bool stop_third(void *context, uint64_t done, uint64_t total)
{
    unsigned *calls = context;

    (void)done, (void)total;
    return ++*calls < 3;
}

/* A maker that works, or was killed just now, is waited for; the wait can be ended. */
static void test_maker_is_silent(void **state)
{
    unsigned calls = 0;
    const gufo_run run = {.progress = stop_third, .progress_context = &calls};
    const gufo_part all = {.workers = 1};
    shared_work p = work_new();
    gufo_error error = no_error();

    (void)state;
    check(mkdir(p.parts.text, 0755) == 0, "mkdir");
    write_file(path_join(p.parts.text, "maker").text, "", 0);
    check_status(shared_run(&p, &all, &run, NULL, &error), GUFO_E_STOPPED, &error, "waiting");
    check_u64(entry_count(p.parts.text), 1, "files in the folder of parts");
    shared_work_end(&p);
}

/* ---- plans ---------------------------------------------------------------------------------- */

static void expect_plan(shared_work *p, gufo_status expected, const char *label)
{
    const gufo_part second = {.worker = 1, .workers = 2};
    gufo_error error = no_error();
    uint64_t missing;

    check_status(shared_run(p, &second, NULL, NULL, &error), expected, &error, "%s", label);
    check(strstr(error.file, "/plan") != NULL, "%s: in %s", label, error.file);
    check_status(shared_commit(p, &missing, &error), expected, &error, "%s: commit", label);
}

static void test_other_files(void **state)
{
    shared_work p = work_new();
    path_text plan = path_join(p.parts.text, "plan");
    int fd;

    (void)state;
    shared_run_well(&p, 0, 2, "first");
    write_file(plan.text, "", 0);
    expect_plan(&p, GUFO_E_MALFORMED, "empty");
    write_file(plan.text, "plan\t1\n", 7);
    expect_plan(&p, GUFO_E_MALFORMED, "no end");
    fd = open(plan.text, O_WRONLY);
    check(fd >= 0 && ftruncate(fd, (off_t)1 << 40) == 0 && close(fd) == 0, "a terabyte");
    expect_plan(&p, GUFO_E_MALFORMED, "a terabyte of zeros");
    shared_work_end(&p);
}

/* A line that begins with `begin` becomes another one, and the hash is right. */
static void change_plan(const char *path, const char *begin, const char *line)
{
    size_t len, head;
    char *text = (char *)read_file(path, &len), *at, *out = malloc(len + 200);
    char *end;

    text[len - 1] = '\0';
    at = strstr(text, begin);
    check(at != NULL, "no line %s", begin);
    end = strchr(at + 1, '\n');
    head = (size_t)(at - text) + 1;
    snprintf(out, len + 200, "%.*s%s%s", (int)head, text, line, end);
    at = strstr(out, "\nend\t");
    check(at != NULL, "no end");
    snprintf(at + 1, 64, "end\t%016" PRIx64 "\n",
             xxh64_of((gufo_str){out, (size_t)(at - out) + 1}));
    write_file(path, out, strlen(out));
    free(text);
    free(out);
}

/* Each of these is refused, or changes nothing that matters. */
static void test_absurd_plans(void **state)
{
    static const struct {
        const char *begin, *line;
    } changes[] = {
        {"\nresults\t", "results\t1048576"},
        {"\nresults\t", "results\t1"},
        {"\nresults\t", "results\t18446744073709551615"},
        {"\nunits\t", "units\t1152921504606846976"},
        {"\nalign\t", "align\t0"},
        {"\nalign\t", "align\t18446744073709551615"},
        {"\npart\t0\t", "part\t0\t1\t2\t0"},
        {"\npart\t0\t", "part\t0\t0\t0\t0"},
        {"\npart\t0\t", "part\t1\t0\t1\t0"},
        {"\noutput\t", "output\t\t18446744073709551615"},
        {"\nfolder\t", "folder\t\\xff\\x0a"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        shared_work p = work_new();
        gufo_error error = no_error();
        const char *line = changes[i].line;
        uint64_t missing = 0;
        gufo_status status = GUFO_OK;

        shared_run_well(&p, 0, 2, line);
        change_plan(path_join(p.parts.text, "plan").text, changes[i].begin, line);
        for (uint64_t k = 0; k < 2 && status == GUFO_OK; k++) {
            const gufo_part part = {.worker = k, .workers = 2};

            status = shared_run(&p, &part, NULL, NULL, &error);
        }
        if (status != GUFO_OK)
            check(status == GUFO_E_ARGUMENT || status == GUFO_E_MALFORMED, "%s: %s", line,
                  error.message);
        status = shared_commit(&p, &missing, &error);
        check(status != GUFO_OK || missing > 0 || shared_is_done(&p), "%s: other bytes", line);
        shared_work_end(&p);
    }
}

/* ---- logs ----------------------------------------------------------------------------------- */

/* A log that has its checks, and units that nobody has. */
static void test_absurd_logs(void **state)
{
    shared_work p = work_new();
    path_text log = path_join(p.parts.text, "0.log");
    gufo_error error = no_error();
    gufo_plan *plan;
    part_log writing;
    logs of;
    bool taken;

    (void)state;
    shared_run_well(&p, 1, 2, "second");
    plan = gufo_plan_open(p.out[0].text, &error);
    check(plan != NULL, "%s", error.message);
    of = plan_logs(plan, p.parts.text);
    of.result_size = 0;
    check_ok(log_create(&writing, &of, 0, 1, 0, &taken, &error), &error, "create");
    check(!taken, "taken");
    check_ok(log_units(&writing, UINT64_MAX - 5, UINT64_MAX, NULL, &error), &error, "units");
    check_ok(log_units(&writing, 0, UINT64_MAX, NULL, &error), &error, "units");
    check_ok(log_end(&writing, (gufo_part_state)77, "a\nb\033\x01", &error), &error, "end");
    log_close(&writing);
    check(file_exists(log.text), "no log");
    for (unsigned i = 0; i < 2; i++) {
        gufo_part_info info;
        gufo_status status = gufo_plan_look(plan, p.out[0].text, &error);

        if (status == GUFO_OK) {
            check(gufo_plan_part_at(plan, 0, &info), "part 0");
            check(info.state == GUFO_PART_RUNNING || info.state == GUFO_PART_WAITING, "state %d",
                  (int)info.state);
            check(info.units_done <= info.unit_count && info.bytes_done <= info.bytes, "units");
        } else {
            check_status(status, GUFO_E_MALFORMED, &error, "look");
        }
        shared_age(log.text);
    }
    gufo_plan_free(plan);
    shared_work_end(&p);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_strange_names(void **state)
{
    static const char name[] = "a\tb\nc\\x41\xff .gguf";
    shared_work p = work_new();
    gufo_error error = no_error();
    gufo_plan_output first;
    gufo_plan *plan;

    (void)state;
    p.out[0] = folder_path(&p.f, name);
    p.parts = p.out[0];
    strcat(p.parts.text, ".parts");
    shared_run_well(&p, 0, 1, "strange");
    plan = gufo_plan_open(p.out[0].text, &error);
    check(plan != NULL && gufo_plan_output_at(plan, 0, &first), "%s", error.message);
    check(strcmp(first.name, p.out[0].text) == 0, "%s", first.name);
    gufo_plan_free(plan);
    shared_finish(&p, "strange");
    shared_work_end(&p);
}

static void test_without_paths(void **state)
{
    gufo_error error = no_error();
    bool done;

    (void)state;
    check(gufo_plan_open(NULL, &error) == NULL && error.code == GUFO_E_ARGUMENT, "open");
    check(gufo_plan_clean(NULL, &done, &error) == GUFO_E_ARGUMENT && !done, "clean");
    check(gufo_plan_read(NULL, 1, &error) == NULL && error.code == GUFO_E_ARGUMENT, "read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_things),          cmocka_unit_test(test_maker_things),
        cmocka_unit_test(test_maker_is_silent), cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_absurd_plans),    cmocka_unit_test(test_absurd_logs),
        cmocka_unit_test(test_strange_names),   cmocka_unit_test(test_without_paths),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
