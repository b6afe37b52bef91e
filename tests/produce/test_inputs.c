/* Whatever a document or a plan was made from is an input of the job: no output replaces it. */
#include "support/document.h"
#include "support/folder.h"

#include <sys/stat.h>
#include <unistd.h>

/* A set of two shards, "s-00001-of-00002.gguf" and "s-00002-of-00002.gguf", and one file,
 * "whole.gguf". */
typedef struct models {
    folder f;
    path_text shards[2], whole;
    gufo_model *set, *file;
} models;

static void write_model(const char *path, unsigned shard, unsigned shards)
{
    builder b = builder_new((encoding){3, false});

    builder_header(&b, 1, shards > 1 ? 4 : 1);
    builder_kv_str(&b, "general.architecture", "llama");
    if (shards > 1) {
        builder_kv_u16(&b, "split.no", (uint16_t)shard);
        builder_kv_u16(&b, "split.count", (uint16_t)shards);
        builder_kv_i32(&b, "split.tensors.count", (int32_t)shards);
    }
    builder_tensor(&b, shard == 0 ? "a" : "b", GUFO_TYPE_F32, 1, (uint64_t[]){8}, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, shard, 32);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

static models models_new(void)
{
    models m = {.f = folder_new()};
    gufo_error error = no_error();

    for (unsigned i = 0; i < 2; i++) {
        m.shards[i] = folder_path(&m.f, i == 0 ? "s-00001-of-00002.gguf" : "s-00002-of-00002.gguf");
        write_model(m.shards[i].text, i, 2);
    }
    m.whole = folder_path(&m.f, "whole.gguf");
    write_model(m.whole.text, 0, 1);
    m.set = gufo_model_open(m.shards[0].text, NULL, &error);
    m.file = gufo_model_open(m.whole.text, NULL, &error);
    check(m.set != NULL && m.file != NULL, "%s", error.message);
    return m;
}

static void models_end(models *m)
{
    gufo_model_free(m->set);
    gufo_model_free(m->file);
    folder_remove(&m->f);
}

/* Fails unless the job refuses to replace `target`, and leaves it as it was. */
static void check_refused(gufo_job *job, const char *target, const char *label)
{
    const gufo_job_options options = {.path = target, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    struct stat before, after;

    assert_int_equal(stat(target, &before), 0);
    check_status(gufo_job_run(job, &options, NULL, &error), GUFO_E_ARGUMENT, &error, "%s", label);
    check(strstr(error.message, "the input") != NULL, "%s: %s", label, error.message);
    check_u64(error.role, GUFO_FILE_OUTPUT, "%s", label);
    check_u64(error.file_index, 0, "%s", label);
    assert_string_equal(error.file, target);
    assert_int_equal(stat(target, &after), 0);
    check_u64(after.st_ino, before.st_ino, "%s", label);
}

/* ---- ways in which a document reads a model -------------------------------------------------- */

static bool is_architecture(void *unused, gufo_str key)
{
    (void)unused;
    return gufo_str_equal(key, gufo_str_of("general.architecture"));
}

static void copy_file_entry(gufo_document *d, const models *m)
{
    gufo_error error = no_error();

    check_ok(gufo_document_copy_entries(d, m->file, is_architecture, NULL, NULL, &error), &error,
             "entries");
}

static void copy_set_entry(gufo_document *d, const models *m)
{
    gufo_error error = no_error();

    check_ok(gufo_document_copy_entries(d, m->set, is_architecture, NULL, NULL, &error), &error,
             "entries");
}

static void copy_first_tensor(gufo_document *d, const models *m)
{
    gufo_error error = no_error();

    check_ok(gufo_document_copy_tensor(d, m->set, 0, &error), &error, "tensor");
}

static void test_read_by_documents(void **state)
{
    static const struct {
        const char *label;
        void (*copy)(gufo_document *, const models *);
        int replaced; /* a shard, or -1: the file */
    } rows[] = {
        {"an entry", copy_file_entry, -1},
        {"an entry of a set", copy_set_entry, 0},
        {"an entry of a set, another shard", copy_set_entry, 1},
        {"a tensor, its shard", copy_first_tensor, 0},
        {"a tensor, another shard", copy_first_tensor, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        models m = models_new();
        gufo_document *d = document_for((encoding){3, false}, 0);
        gufo_error error = no_error();
        gufo_job *job;

        rows[i].copy(d, &m);
        job = gufo_job_of_documents(&d, 1, NULL, &error);
        check(job != NULL, "%s: %s", rows[i].label, error.message);
        check_refused(job, rows[i].replaced < 0 ? m.whole.text : m.shards[rows[i].replaced].text,
                      rows[i].label);
        gufo_job_free(job);
        gufo_document_free(d);
        check_u64(entry_count(m.f.path), 3, "%s", rows[i].label);
        models_end(&m);
    }
}

/* Entries of the model that another document of the same job has; and data that the caller
 * gives. */
static void test_read_by_another_document(void **state)
{
    models m = models_new();
    gufo_document *d[2] = {document_of(m.set, 0, "set"), document_for((encoding){3, false}, 0)};
    path_text target = folder_path(&m.f, "whole.gguf");
    path_text out = folder_path(&m.f, "o-00001-of-00002.gguf");
    const gufo_job_options options = {.path = out.text, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_job *job;

    (void)state;
    gufo_document_remove_prefix(d[0], "split.", NULL);
    copy_file_entry(d[1], &m);
    check(symlink(target.text, folder_path(&m.f, "o-00002-of-00002.gguf").text) == 0, "link");
    job = gufo_job_of_documents(d, 2, NULL, &error);
    check(job != NULL, "%s", error.message);
    check_status(gufo_job_open(job, &options, &error), GUFO_E_ARGUMENT, &error, "second output");
    check_u64(error.file_index, 1, "second output");
    check_u64(entry_count(m.f.path), 4, "nothing is made");
    gufo_job_free(job);
    gufo_document_free(d[0]);
    gufo_document_free(d[1]);
    models_end(&m);
}

/* What was read has changed meanwhile. */
static void test_changed(void **state)
{
    models m = models_new();
    gufo_document *d = document_for((encoding){3, false}, 0);
    path_text out = folder_path(&m.f, "out.gguf");
    const gufo_job_options options = {.path = out.text};
    gufo_error error = no_error();
    gufo_job *job;

    (void)state;
    copy_file_entry(d, &m);
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    check(truncate(m.whole.text, 4096) == 0, "truncate");
    check_status(gufo_job_run(job, &options, NULL, &error), GUFO_E_CHANGED, &error, "changed");
    check_u64(error.role, GUFO_FILE_INPUT, "changed");
    assert_string_equal(error.file, m.whole.text);
    check(!file_exists(out.text), "changed");
    gufo_job_free(job);
    gufo_document_free(d);
    models_end(&m);
}

static bool is_nothing(void *unused, gufo_str name)
{
    (void)unused;
    (void)name;
    return false;
}

/* A model of which nothing was copied may be closed before the document, and replaced. */
static void test_nothing_copied(void **state)
{
    models m = models_new();
    gufo_document *d = document_for((encoding){3, false}, 0);
    const gufo_job_options options = {.path = m.whole.text, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_job *job;

    (void)state;
    check_ok(gufo_document_copy_entries(d, m.file, is_nothing, NULL, NULL, &error), &error, "none");
    check_ok(gufo_document_copy_tensors(d, m.file, is_nothing, NULL, NULL, &error), &error, "none");
    check_status(gufo_document_copy_tensor(d, m.file, 7, &error), GUFO_E_RANGE, &error, "past");
    check_ok(gufo_document_copy_tensor(d, m.set, 0, &error), &error, "a");
    check_status(gufo_document_copy_tensor(d, m.file, 0, &error), GUFO_E_MALFORMED, &error,
                 "a again");
    gufo_model_free(m.file);
    m.file = NULL;
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &options, NULL, &error), &error, "replaced");
    gufo_job_free(job);
    gufo_document_free(d);
    models_end(&m);
}

/* ---- files that the caller has read ---------------------------------------------------------- */

static void test_also_read(void **state)
{
    static const char *const outputs[] = {"list", "soft", "hard", "out"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        models m = models_new();
        path_text list = folder_path(&m.f, "list"), out = folder_path(&m.f, outputs[i]);
        const char *const read[] = {m.f.path, "/nowhere", list.text};
        gufo_job_options options = {
            .path = out.text, .flags = GUFO_JOB_REPLACE, .also_read = read, .also_read_count = 3};
        gufo_document *d = document_of(m.file, 0, "file");
        gufo_error error = no_error();
        gufo_job *job = gufo_job_of_documents(&d, 1, NULL, &error);

        write_file(list.text, "x", 1);
        check(symlink("list", folder_path(&m.f, "soft").text) == 0, "symlink");
        check(link(list.text, folder_path(&m.f, "hard").text) == 0, "link");
        /* The last one would replace it by a file beside the output. */
        if (i == 3) {
            check(link(list.text, folder_path(&m.f, "out.part").text) == 0, "link");
            options.flags |= GUFO_JOB_RESUMABLE;
        }
        check_status(gufo_job_run(job, &options, NULL, &error), GUFO_E_ARGUMENT, &error, "%s",
                     outputs[i]);
        check(strstr(error.message, "the input") != NULL, "%s", error.message);
        check_file(list.text, "x", 1, outputs[i]);
        options.also_read = NULL;
        check_status(gufo_job_run(job, &options, NULL, &error), GUFO_E_ARGUMENT, &error, "no list");
        check(strstr(error.message, "also_read") != NULL, "%s", error.message);
        gufo_job_free(job);
        gufo_document_free(d);
        models_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_by_documents), cmocka_unit_test(test_read_by_another_document),
        cmocka_unit_test(test_changed),           cmocka_unit_test(test_nothing_copied),
        cmocka_unit_test(test_also_read),
    };

    return cmocka_run_group_tests_name("inputs of a job", tests, NULL, NULL);
}
