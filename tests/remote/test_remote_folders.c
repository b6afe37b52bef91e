/* Conversions of folders on a server: the bytes that the same folder on disk becomes, and each range fetched once. */
#include "remote_cases.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../import/fixture_model.h"
#include "../support/shared.h"
#include "gufo/quant.h"

enum { STRIDE = 12, LISTED = 30 + 5 + 3 }; /* names that are asked for where nobody lists files */

static folder files;

/* ---- converting ----------------------------------------------------------------------------- */

static void convert(const char *path, const gufo_folder *from, const char *type, uint32_t flags,
                    const char *out, const char *label)
{
    gufo_error error = {0};
    const gufo_checkpoint_options options = {
        .flags = flags | GUFO_CHECKPOINT_NO_CHECK, .called = "model", .folder = from};
    gufo_import *import = gufo_import_checkpoint(path, &options, &error);
    gufo_quantizer *q;

    check(import != NULL, "%s: %s", label, error.message);
    q = gufo_import_quantize(import, type, NULL, &error);
    check(q != NULL, "%s: %s", label, error.message);
    check_ok(gufo_job_run(gufo_quantizer_job(q),
                          &(gufo_job_options){.path = out, .flags = GUFO_JOB_REPLACE}, NULL,
                          &error),
             &error, "%s", label);
    gufo_quantizer_free(q);
    gufo_import_free(import);
}

static uint64_t bytes_in(const char *path)
{
    struct dirent **list;
    int count = scandir(path, &list, NULL, alphasort);
    uint64_t sum = 0;

    for (int i = 0; i < count; i++) {
        struct stat info;

        if (stat(path_join(path, list[i]->d_name).text, &info) == 0 && S_ISREG(info.st_mode))
            sum += (uint64_t)info.st_size;
        free(list[i]);
    }
    free(list);
    return sum;
}

static bool same_files(const char *a, const char *b)
{
    FILE *first = fopen(a, "rb"), *second = fopen(b, "rb");
    int one, other;

    check(first != NULL && second != NULL, "%s, %s", a, b);
    do {
        one = getc(first);
        other = getc(second);
    } while (one == other && one != EOF);
    fclose(first);
    fclose(second);
    return one == other;
}

/* The same file from disk and from the server; `address` is that of the folder. */
static void compare(const http_server *server, const char *address, const char *path,
                    const char *type, uint32_t flags, const gufo_remote_options *options)
{
    gufo_remote *remote = hurried_client(options);
    path_text local = folder_path(&files, "local.gguf"),
              fetched = folder_path(&files, "remote.gguf");
    gufo_error error = {0};
    gufo_folder from;
    http_counts counts;

    convert(path, NULL, type, flags, local.text, address);
    http_server_reset(server);
    check_ok(gufo_remote_folder(remote, address, &from, &error), &error, "%s", address);
    convert(address, &from, type, flags, fetched.text, address);
    counts = http_server_counts(server);
    from.close(from.context);
    gufo_remote_free(remote);
    check(same_files(local.text, fetched.text), "%s as %s: the files differ", address, type);
    /* Bodies of 404 are bytes, too. */
    check(counts.bytes <= bytes_in(path) + 200 * LISTED,
          "%s as %s: %" PRIu64 " bytes were fetched, there are %" PRIu64, address, type,
          counts.bytes, bytes_in(path));
    if (getenv("GUFO_TELL") != NULL)
        printf("%s as %s: %" PRIu64 " requests, %" PRIu64 " bytes of %" PRIu64 "\n", address, type,
               counts.requests, counts.bytes, bytes_in(path));
}

/* ---- models of tests/import/architectures ---------------------------------------------------- */

static http_server server;

static void try_served(subject *s)
{
    char address[256];

    write_fixture(s);
    (void)snprintf(address, sizeof address, "%s/ok/%s", server.url, s->name);
    compare(&server, address, s->path.text, "F16", GUFO_CHECKPOINT_NO_VOCABULARY, NULL);
    (void)snprintf(address, sizeof address, "%s/ok/%s/", server.url, s->name);
    compare(&server, address, s->path.text, "Q8_0", GUFO_CHECKPOINT_NO_VOCABULARY, NULL);
}

static void folders_of_a_web_server(void **state)
{
    (void)state;
    files = folder_new();
    if (!http_server_start(&server, files.path, NULL, NULL))
        skip();
    check_u64(each_fixture(&files, STRIDE, try_served), 0, "differences");
    http_server_stop(&server);
    folder_remove(&files);
}

/* ---- delivered models, as repositories -------------------------------------------------------- */

static void repositories(void **state)
{
    path_text all = need_shared("data/convert/hf");
    gufo_remote_options options = {0};
    char endpoint[128], address[512];
    struct dirent **list;
    int count;

    (void)state;
    files = folder_new();
    check(symlink(all.text, folder_path(&files, "org").text) == 0, "link");
    if (!http_server_start(&server, files.path, NULL, NULL))
        skip();
    (void)snprintf(endpoint, sizeof endpoint, "%s/hf", server.url);
    options.hf_endpoint = endpoint;
    count = scandir(all.text, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (list[i]->d_name[0] != '.' && i % 3 == 0) {
            (void)snprintf(address, sizeof address, "hf://org/%s", list[i]->d_name);
            compare(&server, address, path_join(all.text, list[i]->d_name).text, "Q8_0", 0,
                    &options);
        }
        free(list[i]);
    }
    free(list);
    http_server_stop(&server);
    folder_remove(&files);
}

/* ---- what is refused -------------------------------------------------------------------------- */

static void other_addresses(void **state)
{
    static const struct {
        const char *path;
        gufo_status status;
    } rows[] = {{"ok/none", GUFO_E_NOT_FOUND}, {"ok/none?token=secret", GUFO_E_ARGUMENT}};
    gufo_remote *remote;

    (void)state;
    files = folder_new();
    if (!http_server_start(&server, files.path, NULL, NULL))
        skip();
    remote = hurried_client(NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = {0};
        gufo_folder from;
        char address[256];

        (void)snprintf(address, sizeof address, "%s/%s", server.url, rows[i].path);
        check_status(gufo_remote_folder(remote, address, &from, &error), rows[i].status, &error,
                     "%s", address);
        check(strstr(error.message, "secret") == NULL && strstr(error.file, "secret") == NULL, "%s",
              error.message);
    }
    gufo_remote_free(remote);
    http_server_stop(&server);
    folder_remove(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_a_web_server),
        cmocka_unit_test(repositories),
        cmocka_unit_test(other_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
