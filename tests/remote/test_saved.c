/* Headers on disk: what they save, and what other users can do with them. */
#include "remote_cases.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/builder.h"
#include "remote/ranges/ranges.h"

static http_server server;
static folder files, caches;
static const size_t head_size = 700000; /* far more than the first part has */

/* A model with a long value, and zeros as its data. */
static void write_model(unsigned salt)
{
    gufo_document *document = gufo_document_new(NULL, NULL);
    char *text = malloc(head_size);
    const void *bytes;
    size_t size;
    path_text path = folder_path(&files, "m.gguf");

    memset(text, (int)('a' + salt), head_size);
    assert_int_equal(
        gufo_document_set(document, "long",
                          &(gufo_value){.type = GUFO_VALUE_STRING, .as.str = {text, head_size}},
                          NULL),
        GUFO_OK);
    assert_int_equal(gufo_document_layout(document, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_document_header(document, &bytes, &size, NULL), GUFO_OK);
    (void)unlink(path.text);
    write_file(path.text, bytes, size);
    check(truncate(path.text, (off_t)size + 4000000) == 0, "zeros");
    gufo_document_free(document);
    free(text);
}

static int setup(void **state)
{
    (void)state;
    files = folder_new();
    write_model(0);
    return http_server_start(&server, files.path, NULL, NULL) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    http_server_stop(&server);
    folder_remove(&files);
    return 0;
}

static int cache_setup(void **state)
{
    (void)state;
    caches = folder_new();
    return 0;
}

static int cache_teardown(void **state)
{
    (void)state;
    folder_remove(&caches);
    return 0;
}

/* Opens the model, looks at its value, and gives what that cost. */
static http_counts open_once(const char *path, char letter, uint32_t flags)
{
    const path_text cache = folder_path(&caches, "a/b");
    gufo_remote *remote =
        hurried_client(&(gufo_remote_options){.cache = cache.text, .flags = flags});
    char url[512];
    gufo_source source;
    gufo_error error = {0};
    gufo_model *model;
    gufo_entry entry;
    gufo_str text;

    http_server_reset(&server);
    (void)snprintf(url, sizeof url, "%s/%s?secret", server.url, path);
    check_ok(ranges_open(remote, url, &source, NULL, &error), &error, "%s", path);
    model = gufo_model_open_source(&source, NULL, &error);
    check(model != NULL, "%s: %s", path, error.message);
    assert_true(gufo_model_find(model, "long", &entry));
    text = entry.value.as.str;
    check(text.len == head_size && text.data[0] == letter && text.data[head_size - 1] == letter,
          "%s: another text", path);
    gufo_model_free(model);
    gufo_remote_free(remote);
    return http_server_counts(&server);
}

/* The only file of the cache. */
static path_text only_file(void)
{
    const path_text in = folder_path(&caches, "a/b");
    path_text found = {""};
    DIR *listing = opendir(in.text);

    check(listing != NULL, "%s", in.text);
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            found = path_join(in.text, entry->d_name);
    (void)closedir(listing);
    check(found.text[0] != '\0', "the cache is empty");
    return found;
}

static void test_second_time(void **state)
{
    struct stat info;
    uint8_t *bytes;
    size_t len;
    http_counts counts;

    (void)state;
    counts = open_once("ok/m.gguf", 'a', 0);
    check(counts.bytes > head_size, "first");
    check(stat(only_file().text, &info) == 0 && (info.st_mode & 0777) == 0600, "mode %o",
          info.st_mode);
    check(stat(folder_path(&caches, "a").text, &info) == 0 && (info.st_mode & 0777) == 0700,
          "mode %o", info.st_mode);
    bytes = read_file(only_file().text, &len);
    check(memmem(bytes, len, "secret", 6) == NULL, "the cache has the query");
    free(bytes);
    counts = open_once("ok/m.gguf", 'a', 0);
    check_u64(counts.requests, 1, "second");
    check_u64(counts.bytes, 0, "second");
    counts = open_once("ok/m.gguf", 'a', GUFO_REMOTE_NO_CACHE);
    check(counts.bytes > head_size, "without");
}

static void test_replaced(void **state)
{
    (void)state;
    (void)open_once("ok/m.gguf", 'a', 0);
    write_model(1);
    check(open_once("ok/m.gguf", 'b', 0).bytes > head_size, "replaced");
    check_u64(open_once("ok/m.gguf", 'b', 0).bytes, 0, "again");
    write_model(0);
}

/* Without a strong ETag nothing says that parts fit together. */
static void test_weak(void **state)
{
    (void)state;
    (void)open_once("weak-etag/m.gguf", 'a', 0);
    check(!file_exists(folder_path(&caches, "a/b").text) ||
              entry_count(folder_path(&caches, "a/b").text) == 0,
          "kept");
}

/* Whatever is done to a file of the cache, the model is right. */
static void test_damaged(void **state)
{
    enum { CUT, CHANGED, WRITABLE, LINK, HARD_LINK, FOLDER, EMPTY, COUNT };

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        path_text path, aside;
        uint8_t *bytes;
        size_t len;

        (void)open_once("ok/m.gguf", 'a', 0);
        path = only_file();
        aside = folder_path(&caches, "aside");
        bytes = read_file(path.text, &len);
        bytes[len / 2] ^= i == CHANGED;
        (void)unlink(path.text);
        (void)unlink(aside.text);
        write_file(i == LINK || i == HARD_LINK ? aside.text : path.text, bytes,
                   i == EMPTY ? 0
                   : i == CUT ? len / 2
                              : len);
        check(chmod(i == LINK || i == HARD_LINK ? aside.text : path.text,
                    i == WRITABLE ? 0666 : 0600) == 0,
              "mode");
        if (i == LINK)
            check(symlink(aside.text, path.text) == 0, "link");
        if (i == HARD_LINK)
            check(link(aside.text, path.text) == 0, "link");
        if (i == FOLDER)
            check(unlink(path.text) == 0 && mkdir(path.text, 0700) == 0, "folder");
        check(open_once("ok/m.gguf", 'a', 0).bytes > head_size, "%u: it counts", i);
        if (i == LINK) /* what the link leads to is not ours to change */
            check_file(aside.text, bytes, len, "aside");
        free(bytes);
        if (i == FOLDER)
            (void)rmdir(path.text);
        (void)unlink(path.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_second_time, cache_setup, cache_teardown),
        cmocka_unit_test_setup_teardown(test_replaced, cache_setup, cache_teardown),
        cmocka_unit_test_setup_teardown(test_weak, cache_setup, cache_teardown),
        cmocka_unit_test_setup_teardown(test_damaged, cache_setup, cache_teardown),
    };

    return http_server_lacks("python3") ? 77 : cmocka_run_group_tests(tests, setup, teardown);
}
