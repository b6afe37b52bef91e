/* Models in folders and caches, hostile ones too. */
#include "copies.h"

#include "../support/allocator.h"
#include "gufo/find.h"

#include <sys/stat.h>
#include <unistd.h>

#define BLOB "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What is around a list: a home folder, and faults of folders. */
typedef struct place {
    folder f;
    const char *home;
    size_t faults;
    char fault[2100];
} place;

static const char *variable(void *context, const char *name)
{
    const place *p = context;

    return strcmp(name, "HOME") == 0 ? p->home : NULL;
}

static void on_fault(void *context, const gufo_error *error)
{
    place *p = context;

    p->faults++;
    (void)snprintf(p->fault, sizeof p->fault, "%s: %s", error->file, error->message);
}

static gufo_find *find_new(place *p, const gufo_allocator *allocator)
{
    const gufo_find_options options = {
        .variable = variable, .fault = on_fault, .context = p, .allocator = allocator};
    gufo_error error;
    gufo_find *find = gufo_find_new(&options, &error);

    check(find != NULL || allocator != NULL, "%s", error.message);
    return find;
}

static void make_folder(const place *p, const char *name)
{
    char path[512];
    path_text whole = folder_path(&p->f, name);

    for (size_t i = strlen(p->f.path) + 1; i <= strlen(whole.text); i++)
        if (whole.text[i] == '/' || whole.text[i] == '\0') {
            (void)snprintf(path, sizeof path, "%.*s", (int)i, whole.text);
            (void)mkdir(path, 0700);
        }
}

static void make_model(const place *p, const char *name)
{
    write_small_model(folder_path(&p->f, name).text);
}

static void make_text(const place *p, const char *name, const char *text)
{
    write_file(folder_path(&p->f, name).text, text, strlen(text));
}

/* The paths in a list, without the folder, and "!" behind one with a fault. */
static void check_models(const place *p, gufo_find *find, const char *expected)
{
    char text[4096] = "";
    size_t len = 0, before = strlen(p->f.path) + 1;
    gufo_found model;
    gufo_error error;

    check_ok(gufo_find_read(find, NULL, &error), &error, "%s", expected);
    for (uint64_t i = 0; gufo_find_at(find, i, &model); i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s%s%s", len > 0 ? " " : "",
                                model.name != NULL ? model.name : "", model.name != NULL ? "=" : "",
                                model.path + before, model.fault != NULL ? "!" : "");
    check_str(gufo_str_of(text), expected, "models");
    gufo_find_free(find);
}

/* Folders with all that a stranger can put into one. */
static void make_strangers(place *p)
{
    char name[256];

    make_folder(p, "in/sub");
    make_model(p, "in/a.gguf");
    make_model(p, "in/sub/b.GGUF");
    make_text(p, "in/broken.gguf", "GGUF and no more");
    make_text(p, "in/other.bin", "not a model");
    make_text(p, "in/sha256-" BLOB, "nor is this");
    make_text(p, "in/sha256-..", "nor this");
    (void)symlink("..", folder_path(&p->f, "in/sub/loop").text);
    (void)symlink("loop.gguf", folder_path(&p->f, "in/loop.gguf").text);
    (void)symlink("a.gguf", folder_path(&p->f, "in/link.gguf").text);
    (void)mkfifo(folder_path(&p->f, "in/pipe.gguf").text, 0600);
    memset(name, 'n', 250);
    (void)snprintf(name + 250, sizeof name - 250, ".gguf");
    write_small_model(path_join(folder_path(&p->f, "in").text, name).text);
}

static void test_folders(void **state)
{
    place p = {.f = folder_new()};
    path_text in = folder_path(&p.f, "in");
    char expected[1024], name[251] = "";
    gufo_find *find = find_new(&p, NULL);
    gufo_error error;

    (void)state;
    make_strangers(&p);
    memset(name, 'n', 250);
    check_ok(gufo_find_add(find, in.text, 0, &error), &error, "a folder");
    (void)snprintf(expected, sizeof expected, "in/a.gguf in/broken.gguf! in/loop.gguf! in/%s.gguf",
                   name);
    check_models(&p, find, expected);
    find = find_new(&p, NULL);
    check_ok(gufo_find_add(find, in.text, GUFO_FIND_RECURSIVE, &error), &error, "all of it");
    (void)snprintf(expected, sizeof expected,
                   "in/a.gguf in/broken.gguf! in/loop.gguf! in/%s.gguf in/sub/b.GGUF", name);
    check_models(&p, find, expected);
    check_u64(p.faults, 0, "%s", p.fault);
    folder_remove(&p.f);
}

/* The walk keeps a descriptor for each level, and ends. */
static void test_depth(void **state)
{
    place p = {.f = folder_new()};
    gufo_find *find = find_new(&p, NULL);
    char name[3 * 70 + 1] = "";
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < 70; i++)
        (void)snprintf(name + 2 * i, sizeof name - 2 * i, "d/");
    make_folder(&p, name);
    make_model(&p, "top.gguf");
    check_ok(gufo_find_add(find, p.f.path, GUFO_FIND_RECURSIVE, &error), &error, "deep");
    check_u64(p.faults, 1, "%s", p.fault);
    check(strstr(p.fault, "nested too deep") != NULL, "%s", p.fault);
    check_models(&p, find, "top.gguf");
    folder_remove(&p.f);
}

/* Shards are one model, named by the first; one that was named alone is one. */
static void test_sets(void **state)
{
    place p = {.f = folder_new()};
    gufo_find *find = find_new(&p, NULL);
    gufo_found model;
    gufo_error error;

    (void)state;
    make_model(&p, "m-00002-of-00003.gguf");
    make_model(&p, "m-00003-of-00003.gguf");
    make_model(&p, "n.gguf");
    check_ok(gufo_find_add(find, p.f.path, 0, &error), &error, "a set");
    check_ok(gufo_find_read(find, NULL, &error), &error, "a set");
    check(gufo_find_at(find, 0, &model) && model.shards == 3, "the set");
    check(model.fault != NULL && strstr(model.fault->file, "m-00001-of-00003.gguf") != NULL,
          "its first shard is missing");
    check(gufo_find_at(find, 1, &model) && model.shards == 1 && model.fault == NULL, "the other");
    check(model.size > 0 && model.date > 0 && model.architecture != NULL, "its facts");
    check(!gufo_find_at(find, 2, &model), "no more");
    gufo_find_free(find);
    folder_remove(&p.f);
}

/* ---- caches --------------------------------------------------------------------------------- */

#define LAYER(digest)                                                                             \
    "{\"layers\": [{\"mediaType\": \"application/vnd.ollama.image.model\", \"digest\": \"" digest \
    "\"}]}"
#define MANIFESTS "home/.ollama/models/manifests/"

static void make_caches(place *p)
{
    static char home[512];

    (void)snprintf(home, sizeof home, "%s", folder_path(&p->f, "home").text);
    p->home = home;
    make_folder(p, "home/.ollama/models/blobs");
    make_folder(p, MANIFESTS "registry.ollama.ai/library/small");
    make_folder(p, "home/.cache/huggingface/hub/models--o--n/snapshots/1");
    make_folder(p, "home/.cache/llama.cpp");
    make_model(p, "home/.ollama/models/blobs/sha256-" BLOB);
    make_model(p, "home/.cache/llama.cpp/x.gguf");
    make_text(p, MANIFESTS "registry.ollama.ai/library/small/1b", LAYER("sha256:" BLOB));
    make_text(p, MANIFESTS "registry.ollama.ai/library/small/up", LAYER("sha256:../../../x.gguf"));
    make_text(p, MANIFESTS "registry.ollama.ai/library/small/long", LAYER("sha256:" BLOB BLOB));
    make_text(p, MANIFESTS "registry.ollama.ai/library/small/none", LAYER(""));
    make_text(p, MANIFESTS "registry.ollama.ai/library/small/cut", "{\"mediaType\": \"a");
    (void)symlink("1b", folder_path(&p->f, MANIFESTS "registry.ollama.ai/library/small/link").text);
    (void)symlink(
        "../../../../../../.ollama/models/blobs/sha256-" BLOB,
        folder_path(&p->f, "home/.cache/huggingface/hub/models--o--n/snapshots/1/q.gguf").text);
    make_text(p, "home/.lmstudio-home-pointer", "../elsewhere\n");
}

static void test_caches(void **state)
{
    place p = {.f = folder_new()};
    gufo_find *find = find_new(&p, NULL);
    gufo_error error;

    (void)state;
    make_caches(&p);
    check_ok(gufo_find_add_caches(find, &error), &error, "caches");
    /* A link to what another cache has is that model, whose name comes first. */
    check_models(&p, find,
                 "home/.cache/llama.cpp/x.gguf "
                 "small:1b=home/.ollama/models/blobs/sha256-" BLOB);
    check_u64(p.faults, 0, "%s", p.fault);
    folder_remove(&p.f);
}

/* ---- misuse, and little memory -------------------------------------------------------------- */

static void test_refused(void **state)
{
    const gufo_find_options later = {.reserved = {0, 0, 0, 0, 0, 0, 0, 1}};
    gufo_find *find;
    gufo_error error;

    (void)state;
    check(gufo_find_new(&later, &error) == NULL, "a later version");
    check_error_shape(&error, GUFO_E_ARGUMENT, "a later version");
    find = gufo_find_new(NULL, &error);
    check(find != NULL, "%s", error.message);
    check_status(gufo_find_add_caches(find, &error), GUFO_E_ARGUMENT, &error, "no variables");
    check_status(gufo_find_add(find, ".", 2, &error), GUFO_E_ARGUMENT, &error, "flags");
    check_status(gufo_find_add(find, NULL, 0, &error), GUFO_E_ARGUMENT, &error, "no path");
    check_status(gufo_find_add(find, "missing", 0, &error), GUFO_E_IO, &error, "missing");
    check_str(gufo_str_of(error.file), "missing", "its name");
    check(!gufo_find_at(find, 0, &(gufo_found){0}), "not read");
    check_ok(gufo_find_read(find, NULL, &error), &error, "none");
    check_status(gufo_find_read(find, NULL, &error), GUFO_E_ARGUMENT, &error, "twice");
    check_status(gufo_find_add(find, ".", 0, &error), GUFO_E_ARGUMENT, &error, "too late");
    gufo_find_free(find);
    gufo_find_free(NULL);
}

/* A file that is named is listed, whether a folder has it, too, or not. */
static void test_named(void **state)
{
    place p = {.f = folder_new()};
    path_text file = folder_path(&p.f, "x.bin");
    gufo_error error;

    (void)state;
    make_text(&p, "x.bin", "xx");
    for (int i = 0; i < 2; i++) {
        gufo_find *find = find_new(&p, NULL);

        check_ok(gufo_find_add(find, i == 0 ? file.text : p.f.path, 0, &error), &error, "%d", i);
        check_ok(gufo_find_add(find, i == 0 ? p.f.path : file.text, 0, &error), &error, "%d", i);
        check_models(&p, find, "x.bin!");
    }
    folder_remove(&p.f);
}

static gufo_find_kind is_checkpoint(void *context, const char *path)
{
    (void)context, (void)path;
    return GUFO_FIND_CHECKPOINT;
}

static gufo_model *open_without_memory(void *context, const char *path, gufo_error *error)
{
    (void)context, (void)path;
    *error = (gufo_error){.code = GUFO_E_MEMORY, .offset = GUFO_NO_OFFSET};
    return NULL;
}

/* Models of other formats: nobody opens them, or memory is missing. */
static void test_checkpoints(void **state)
{
    gufo_find_options options = {.kind = is_checkpoint};
    place p = {.f = folder_new()};
    gufo_found model;
    gufo_error error;

    (void)state;
    make_text(&p, "x", "not GGUF");
    for (int i = 0; i < 2; i++) {
        gufo_find *find;

        options.open = i > 0 ? open_without_memory : NULL;
        find = gufo_find_new(&options, &error);
        check(find != NULL, "%s", error.message);
        check_ok(gufo_find_add(find, folder_path(&p.f, "x").text, 0, &error), &error, "a file");
        check_status(gufo_find_read(find, NULL, &error), i > 0 ? GUFO_E_MEMORY : GUFO_OK, &error,
                     "%d", i);
        check(gufo_find_at(find, 0, &model) == (i == 0), "%d", i);
        if (i == 0)
            check_error_shape(model.fault, GUFO_E_ARGUMENT, "nobody opens it");
        gufo_find_free(find);
    }
    folder_remove(&p.f);
}

static gufo_status find_all(place *p, const gufo_allocator *allocator)
{
    const gufo_run run = {.threads = 1, .allocator = allocator};
    gufo_find *find = find_new(p, allocator);
    gufo_status status = find != NULL ? gufo_find_add_caches(find, NULL) : GUFO_E_MEMORY;

    if (status == GUFO_OK)
        status = gufo_find_read(find, &run, NULL);
    gufo_find_free(find);
    return status;
}

static void test_memory(void **state)
{
    place p = {.f = folder_new()};
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    make_caches(&p);
    for (size_t fail_at = 1; status != GUFO_OK; fail_at++) {
        gufo_allocator allocator;
        counter c;

        counter_init(&c);
        c.fail_at = fail_at;
        allocator = counter_allocator(&c);
        status = find_all(&p, &allocator);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "request %zu: %s", fail_at,
              gufo_status_name(status));
        check_u64(c.in_use, 0, "request %zu", fail_at);
        status = c.denied > 0 ? GUFO_E_MEMORY : status;
    }
    folder_remove(&p.f);
}

static bool stop(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return false;
}

static void test_stop(void **state)
{
    const gufo_run run = {.progress = stop};
    place p = {.f = folder_new()};
    gufo_find *find = find_new(&p, NULL);
    gufo_found model;
    gufo_error error;

    (void)state;
    make_model(&p, "a.gguf");
    check_ok(gufo_find_add(find, p.f.path, 0, &error), &error, "a folder");
    check_status(gufo_find_read(find, &run, &error), GUFO_E_STOPPED, &error, "stopped");
    check(!gufo_find_at(find, 0, &model), "nothing is left");
    gufo_find_free(find);
    folder_remove(&p.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),     cmocka_unit_test(test_depth),
        cmocka_unit_test(test_sets),        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_stop),        cmocka_unit_test(test_named),
        cmocka_unit_test(test_checkpoints),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
