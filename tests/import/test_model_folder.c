/* Names in a model's folder: which of them lead to a file, and which out of the folder. */
#include "../support/folder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gufo/import.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "import/model_folder.h"

/* The folder of the model is "m" in a place of the test's own, beside which is "secret". */
typedef struct scene {
    folder place;
    char model[300];
} scene;

static path_text in_place(const scene *s, const char *name)
{
    return folder_path(&s->place, name);
}

static void put(const scene *s, const char *name, const char *text)
{
    write_file(in_place(s, name).text, text, strlen(text));
}

static void make(const scene *s, const char *name)
{
    assert_int_equal(mkdir(in_place(s, name).text, 0755), 0);
}

static void link_to(const scene *s, const char *text, const char *name)
{
    assert_int_equal(symlink(text, in_place(s, name).text), 0);
}

static scene scene_new(const char *model)
{
    scene s = {.place = folder_new()};

    snprintf(s.model, sizeof s.model, "%s/%s", s.place.path, model);
    put(&s, "secret", "secret");
    return s;
}

/* What is read there; "" after a failure. */
static void read_at(const scene *s, const char *name, bool follow, char out[16], gufo_error *error)
{
    const source_folder model = model_folder(gufo_str_of(s->model), follow);
    size_t got = 0;
    source in;

    *error = no_error();
    if (source_folder_open(&model, name, &default_allocator, &in, error) == GUFO_OK) {
        got = in.size < 15 ? (size_t)in.size : 15;
        check_ok(source_read(&in, 0, out, got, error), error, "%s", name);
    }
    source_close(&in);
    out[got] = '\0';
}

static void check_reads(const scene *s, const char *name, bool follow, const char *expected)
{
    gufo_error error;
    char text[16];

    read_at(s, name, follow, text, &error);
    check(strcmp(text, expected) == 0, "%s: '%s', %s", name, text, error.message);
}

static void check_leads_out(const scene *s, const char *name)
{
    gufo_error error;
    char text[16];

    read_at(s, name, false, text, &error);
    check(*text == '\0' && error.code == GUFO_E_MALFORMED && error.advice == GUFO_ADVICE_FOLLOW &&
              strcmp(error.message, "a symlink leads out of the model's folder") == 0,
          "%s: '%s', %s", name, text, error.message);
}

static void check_fails(const scene *s, const char *name, int system)
{
    gufo_error error;
    char text[16];

    read_at(s, name, false, text, &error);
    check(*text == '\0' && error.code == GUFO_E_IO && error.system == system, "%s: '%s', %d %s",
          name, text, error.system, error.message);
}

/* ---- names and links ------------------------------------------------------------------------ */

static void test_inside(void **state)
{
    scene s = scene_new("m");

    (void)state;
    make(&s, "m");
    make(&s, "m/sub");
    make(&s, "m/sub/deep");
    put(&s, "m/a", "a");
    put(&s, "m/sub/b", "b");
    link_to(&s, "a", "m/to-a");
    link_to(&s, "./sub//b", "m/to-b");
    link_to(&s, "../a", "m/sub/to-a");
    link_to(&s, "to-a", "m/chain");
    link_to(&s, "sub/", "m/folder");
    link_to(&s, "../sub/./deep/../../a", "m/sub/winding");
    link_to(&s, "deep/..", "m/sub/here");
    check_reads(&s, "a", false, "a");
    check_reads(&s, "to-a", false, "a");
    check_reads(&s, "chain", false, "a");
    check_reads(&s, "to-b", false, "b");
    check_reads(&s, "sub/b", false, "b");
    check_reads(&s, "sub/to-a", false, "a");
    check_reads(&s, "folder/b", false, "b");
    check_reads(&s, "folder/to-a", false, "a");
    check_reads(&s, "sub/winding", false, "a");
    check_reads(&s, "sub/here/b", false, "b");
    check_reads(&s, "chain", true, "a");
    check_fails(&s, "none", ENOENT);
    check_fails(&s, "a/b", ENOTDIR);
    check_fails(&s, "", ENOENT);
    folder_remove(&s.place);
}

static void test_out(void **state)
{
    static const char *const texts[] = {"../secret",       "../m/../secret", "sub/../../secret",
                                        "out/../secret",   "./.././secret",  "up/secret",
                                        "sub/up/../secret"};
    scene s = scene_new("m");

    (void)state;
    make(&s, "m");
    make(&s, "m/sub");
    make(&s, "m/out");
    link_to(&s, "..", "m/up");
    link_to(&s, "..", "m/sub/up");
    link_to(&s, in_place(&s, "secret").text, "m/absolute");
    link_to(&s, s.place.path, "m/absolute-folder");
    link_to(&s, "/", "m/root");
    check_leads_out(&s, "absolute");
    check_leads_out(&s, "absolute-folder/secret");
    check_leads_out(&s, "root");
    check_leads_out(&s, "up/secret");
    check_leads_out(&s, "../secret");
    check_leads_out(&s, "/etc/passwd");
    check_reads(&s, "absolute", true, "secret");
    check_reads(&s, "absolute-folder/secret", true, "secret");
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        link_to(&s, texts[i], "m/link");
        if (strcmp(texts[i], "out/../secret") == 0)
            check_fails(&s, "link", ENOENT);
        else
            check_leads_out(&s, "link");
        assert_int_equal(unlink(in_place(&s, "m/link").text), 0);
    }
    folder_remove(&s.place);
}

/* What is no file, and what has no end. */
static void test_odd(void **state)
{
    scene s = scene_new("m");
    char deep[2 * 40 + 1], path[sizeof deep + 2], text[16], *longest = malloc(5001);
    gufo_error error;

    (void)state;
    make(&s, "m");
    assert_int_equal(mkfifo(in_place(&s, "m/pipe").text, 0600), 0);
    link_to(&s, "pipe", "m/to-pipe");
    link_to(&s, "loop", "m/loop");
    link_to(&s, "nowhere", "m/dangling");
    link_to(&s, "grow/grow", "m/grow");
    put(&s, "m/end", "end");
    for (unsigned i = 0; i < 45; i++) {
        char from[32], to[32];

        snprintf(from, sizeof from, "m/l%u", i);
        snprintf(to, sizeof to, i == 0 ? "end" : "l%u", i - 1);
        link_to(&s, to, from);
    }
    read_at(&s, "pipe", false, text, &error);
    check(error.code == GUFO_E_IO && strcmp(error.message, "is not a regular file") == 0, "%s",
          error.message);
    read_at(&s, "to-pipe", false, text, &error);
    check(strcmp(error.message, "is not a regular file") == 0, "%s", error.message);
    check_fails(&s, "loop", ELOOP);
    check_fails(&s, "grow", ELOOP);
    check_fails(&s, "dangling", ENOENT);
    check_reads(&s, "l39", false, "end");
    check_fails(&s, "l40", ELOOP);
    for (size_t len = 0; len < 2 * 40; len += 2) {
        memcpy(deep + len, "d/", 3);
        snprintf(path, sizeof path, "m/%s", deep);
        make(&s, path);
    }
    check_fails(&s, deep, ELOOP);
    memset(longest, 'x', 5000);
    longest[5000] = '\0';
    check_fails(&s, longest, ENAMETOOLONG);
    longest[300] = '\0';
    check_fails(&s, longest, ENAMETOOLONG);
    free(longest);
    folder_remove(&s.place);
}

static gufo_status count_name(void *context, gufo_str name, gufo_error *error)
{
    unsigned *count = context;

    (void)error;
    check(gufo_str_equal(name, gufo_str_of("entry")), "%.*s", (int)name.len, name.data);
    return ++*count < 2 ? GUFO_OK : GUFO_E_MEMORY;
}

/* How many entries a folder in the model's has; all are called "entry". */
static void check_list(const scene *s, const char *name, bool follow, gufo_status expected,
                       unsigned count)
{
    const source_folder model = model_folder(gufo_str_of(s->model), follow);
    gufo_error error = no_error();
    unsigned got = 0;

    check_status(source_folder_list(&model, name, count_name, &got, &error), expected, &error, "%s",
                 name);
    assert_int_equal(got, count);
}

static void test_list(void **state)
{
    scene s = scene_new("m");

    (void)state;
    make(&s, "m");
    make(&s, "m/sub");
    make(&s, "m/sub/entry");
    make(&s, "other");
    put(&s, "other/entry", "");
    put(&s, "m/file", "");
    link_to(&s, "../other", "m/out");
    check_list(&s, "sub", false, GUFO_OK, 1);
    check_list(&s, "sub/entry", false, GUFO_OK, 0);
    check_list(&s, "none", false, GUFO_OK, 0);
    check_list(&s, "file", false, GUFO_E_IO, 0);
    check_list(&s, "out", false, GUFO_E_MALFORMED, 0);
    check_list(&s, "out", true, GUFO_OK, 1);
    folder_remove(&s.place);
}

/* Files in memory are those of a folder on disk. */
static void test_memory(void **state)
{
    static const memory_file list[] = {{"file", {"abc", 3}},
                                       {"sub/entry", {"", 0}},
                                       {"sub/entry/deep", {"", 0}},
                                       {"subs/x", {"", 0}}};
    static const memory_files files = {list, COUNT_OF(list)};
    const source_folder made = source_folder_memory(&files);
    gufo_error error = no_error();
    unsigned count = 0;
    source in;

    (void)state;
    check_ok(source_folder_list(&made, "sub", count_name, &count, &error), &error, "sub");
    assert_int_equal(count, 1);
    check_ok(source_folder_list(&made, "none", count_name, &count, &error), &error, "none");
    assert_int_equal(count, 1);
    assert_true(source_folder_has(&made, "file") && !source_folder_has(&made, "fil"));
    check_status(source_folder_open(&made, "fil", NULL, &in, &error), GUFO_E_IO, &error, "fil");
    source_close(&in);
    check_ok(source_folder_open(&made, "file", NULL, &in, &error), &error, "file");
    assert_int_equal(in.size, 3);
    source_close(&in);
}

/* ---- the cache of Hugging Face's tools ------------------------------------------------------ */

#define REVISION "models--org--name/snapshots/8f3a"

static scene cache_new(void)
{
    scene s = scene_new(REVISION);

    make(&s, "models--org--name");
    make(&s, "models--org--name/blobs");
    make(&s, "models--org--name/refs");
    make(&s, "models--org--name/snapshots");
    make(&s, REVISION);
    make(&s, REVISION "/1_Pooling");
    put(&s, "models--org--name/blobs/abc", "blob");
    put(&s, "models--org--name/refs/main", "ref");
    return s;
}

static void test_cache(void **state)
{
    scene s = cache_new();

    (void)state;
    link_to(&s, "../../blobs/abc", REVISION "/config.json");
    link_to(&s, "../../../blobs/abc", REVISION "/1_Pooling/config.json");
    check_reads(&s, "config.json", false, "blob");
    check_reads(&s, "1_Pooling/config.json", false, "blob");
    /* However the folder is called. */
    link_to(&s, REVISION, "mine");
    snprintf(s.model, sizeof s.model, "%s/mine", s.place.path);
    check_reads(&s, "config.json", false, "blob");
    snprintf(s.model, sizeof s.model, "%s/" REVISION "/", s.place.path);
    check_reads(&s, "config.json", false, "blob");
    folder_remove(&s.place);
}

static void test_not_the_cache(void **state)
{
    static const char *const texts[] = {
        "../../refs/main",    "../../blobs/../refs/main",
        "../../blobs/..",     "../../blobs",
        "../../blobs/out",    "../../blobs/none",
        "../../blobs/folder", "../../../blobs/abc",
        "../../../secret",    "../../../models--org--name/blobs/abc",
        "../blobs/abc"};
    scene s = cache_new();
    path_text blob = in_place(&s, "models--org--name/blobs/abc");

    (void)state;
    link_to(&s, "../../secret", "models--org--name/blobs/out");
    make(&s, "models--org--name/blobs/folder");
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        link_to(&s, texts[i], REVISION "/link");
        check_leads_out(&s, "link");
        assert_int_equal(unlink(in_place(&s, REVISION "/link").text), 0);
    }
    link_to(&s, "../../blobs/abc", REVISION "/link");
    if (chown(blob.text, 12345, (gid_t)-1) == 0) {
        check_leads_out(&s, "link");
        assert_int_equal(chown(blob.text, geteuid(), (gid_t)-1), 0);
    } else {
        print_message("only root can make files of another user\n");
    }
    check_reads(&s, "link", false, "blob");
    /* Other names of the folders around it. */
    assert_int_equal(rename(in_place(&s, "models--org--name").text, in_place(&s, "models").text),
                     0);
    snprintf(s.model, sizeof s.model, "%s/models/snapshots/8f3a", s.place.path);
    check_leads_out(&s, "link");
    assert_int_equal(rename(in_place(&s, "models").text, in_place(&s, "models--a").text), 0);
    assert_int_equal(
        rename(in_place(&s, "models--a/snapshots").text, in_place(&s, "models--a/others").text), 0);
    snprintf(s.model, sizeof s.model, "%s/models--a/others/8f3a", s.place.path);
    check_leads_out(&s, "link");
    /* A folder of blobs that is elsewhere. */
    assert_int_equal(
        rename(in_place(&s, "models--a/others").text, in_place(&s, "models--a/snapshots").text), 0);
    assert_int_equal(rename(in_place(&s, "models--a/blobs").text, in_place(&s, "blobs").text), 0);
    link_to(&s, "../blobs", "models--a/blobs");
    snprintf(s.model, sizeof s.model, "%s/models--a/snapshots/8f3a", s.place.path);
    check_leads_out(&s, "link");
    folder_remove(&s.place);
}

/* ---- races ---------------------------------------------------------------------------------- */

typedef struct swapper {
    const scene *s;
    volatile bool stop;
} swapper;

/* Exchanges what two names in the folder are, as fast as it can: a file or a symlink that leads out, a
 * folder or a symlink to one outside. */
static void *swap(void *argument)
{
    swapper *w = argument;
    path_text names[4] = {in_place(w->s, "m/file"), in_place(w->s, "m/spare"),
                          in_place(w->s, "m/folder"), in_place(w->s, "m/spare-folder")},
              other = in_place(w->s, "m/other");

    while (!w->stop)
        for (size_t i = 0; i < 4; i += 2) {
            (void)rename(names[i].text, other.text);
            (void)rename(names[i + 1].text, names[i].text);
            (void)rename(other.text, names[i + 1].text);
        }
    return NULL;
}

static void test_exchanged_meanwhile(void **state)
{
    scene s = scene_new("m");
    swapper w = {.s = &s};
    pthread_t thread;

    (void)state;
    make(&s, "m");
    make(&s, "m/folder");
    make(&s, "elsewhere");
    put(&s, "m/file", "mine");
    put(&s, "m/folder/file", "mine");
    put(&s, "elsewhere/file", "secret");
    link_to(&s, "../secret", "m/spare");
    link_to(&s, "../elsewhere", "m/spare-folder");
    assert_int_equal(pthread_create(&thread, NULL, swap, &w), 0);
    for (unsigned i = 0; i < 4000; i++) {
        gufo_error error;
        char text[16];

        read_at(&s, i % 2 == 0 ? "file" : "folder/file", false, text, &error);
        check(*text == '\0' || strcmp(text, "mine") == 0, "try %u: %s", i, text);
    }
    w.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    folder_remove(&s.place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),        cmocka_unit_test(test_out),
        cmocka_unit_test(test_odd),           cmocka_unit_test(test_list),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_not_the_cache), cmocka_unit_test(test_exchanged_meanwhile),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
