/* Certificates are checked, and tokens stay with their host: certificates of an authority of our own, made by openssl. */
#include "remote_cases.h"

#include <sys/stat.h>
#include <unistd.h>

#include "remote/http/http.h"
#include "remote/ranges/ranges.h"

enum { FILE_SIZE = 700000 };

static folder files, keys;
static http_server server, wrong_name, plain;
static char ca[600];

/* A certificate for a name, of the authority. */
static bool make_certificate(const char *name)
{
    char command[4000];

    (void)snprintf(command, sizeof command,
                   "cd '%s' && openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
                   "-subj /CN=%s -keyout %s.key -out %s.csr 2>/dev/null && "
                   "printf 'subjectAltName=DNS:%s' >%s.ext && openssl x509 -req -in %s.csr -CA "
                   "ca.pem -CAkey ca.key "
                   "-CAcreateserial -days 2 -extfile %s.ext -out %s.pem 2>/dev/null",
                   keys.path, name, name, name, name, name, name, name, name);
    return system(command) == 0;
}

static bool make_authority(void)
{
    char command[2000];

    (void)snprintf(command, sizeof command,
                   "cd '%s' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                   "-nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem 2>/dev/null",
                   keys.path);
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", keys.path);
    return system(command) == 0;
}

static bool start(http_server *s, const char *name)
{
    char certificate[600], key[600];

    (void)snprintf(certificate, sizeof certificate, "%s/%s.pem", keys.path, name);
    (void)snprintf(key, sizeof key, "%s/%s.key", keys.path, name);
    return make_certificate(name) && http_server_start(s, files.path, certificate, key);
}

static int setup(void **state)
{
    uint8_t *content = malloc(FILE_SIZE);

    (void)state;
    files = folder_new();
    keys = folder_new();
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = byte_at(i);
    check(mkdir(folder_path(&files, "org").text, 0700) == 0 &&
              mkdir(folder_path(&files, "org/m").text, 0700) == 0,
          "folders");
    write_file(folder_path(&files, "org/m/m.gguf").text, content, FILE_SIZE);
    write_file(folder_path(&files, "m").text, content, FILE_SIZE);
    free(content);
    return make_authority() && start(&server, "localhost") && start(&wrong_name, "other.example") &&
                   http_server_start(&plain, files.path, NULL, NULL)
               ? 0
               : -1;
}

static int teardown(void **state)
{
    (void)state;
    http_server_stop(&server);
    http_server_stop(&wrong_name);
    http_server_stop(&plain);
    folder_remove(&files);
    folder_remove(&keys);
    return 0;
}

static bool count_bytes(void *context, const void *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)context += size;
    return true;
}

static gufo_status get(gufo_remote *remote, const char *base, const char *path, uint64_t *got,
                       gufo_error *error)
{
    char url[512];
    const http_request request = {.url = url, .take = count_bytes, .context = got};

    (void)snprintf(url, sizeof url, "%s/%s", base, path);
    *got = 0;
    return http_get(remote, &request, NULL, error);
}

static void test_certificates(void **state)
{
    const struct {
        const http_server *server;
        const char *ca;
        gufo_status status;
    } rows[] = {
        {&server, ca, GUFO_OK},
        {&server, NULL, GUFO_E_IO},
        {&wrong_name, ca, GUFO_E_IO},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_remote *remote = hurried_client(&(gufo_remote_options){.ca_file = rows[i].ca});
        gufo_error error = {0};
        uint64_t got;

        check_status(get(remote, rows[i].server->url, "m", &got, &error), rows[i].status, &error,
                     "row %zu", i);
        check_u64(got, rows[i].status == GUFO_OK ? FILE_SIZE : 0, "row %zu", i);
        gufo_remote_free(remote);
    }
}

/* https does not lead to http, even on this machine. */
static void test_downgrade(void **state)
{
    gufo_remote *remote =
        hurried_client(&(gufo_remote_options){.ca_file = ca, .flags = GUFO_REMOTE_PLAIN_HTTP});
    gufo_error error = {0};
    uint64_t got;

    (void)state;
    check_status(get(remote, server.url, "redirect-http/m", &got, &error), GUFO_E_IO, &error,
                 "redirect");
    check(strstr(error.message, "from https to http") != NULL, "%s", error.message);
    gufo_remote_free(remote);
}

static unsigned count_lines(const char *log, const char *with, const char *and)
{
    unsigned count = 0;
    char *copy = strdup(log), *at = copy;

    for (char *line = strsep(&at, "\n"); line != NULL; line = strsep(&at, "\n"))
        count += strstr(line, with) != NULL && strstr(line, and) != NULL;
    free(copy);
    return count;
}

/* Of the log of both hosts: the token is where it belongs, and nowhere else. */
static void test_token(void **state)
{
    static const char *const paths[] = {
        "hf/org/m/resolve/main/m.gguf", /* the service redirects to its CDN */
        "redirect-other-host/m",        "redirect-http/m", "redirects-2/m", "503x1/m",
    };
    char port[40], other_port[40];
    char endpoint[200];
    const gufo_remote_options options = {
        .hf_endpoint = endpoint, .hf_token = "good-token", .ms_token = "other-token"};
    gufo_remote *remote;

    (void)state;
    (void)snprintf(endpoint, sizeof endpoint, "%s/hf/", plain.url);
    (void)snprintf(port, sizeof port, "\"port\": %u", plain.port);
    (void)snprintf(other_port, sizeof other_port, "\"port\": %u", plain.other_port);
    remote = hurried_client(&options);
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        gufo_error error = {0};
        uint64_t got;
        char *log;

        http_server_reset(&plain);
        check_ok(get(remote, plain.url, paths[i], &got, &error), &error, "%s", paths[i]);
        check_u64(got, FILE_SIZE, "%s", paths[i]);
        log = http_server_log(&plain);
        check(count_lines(log, port, "Bearer good-token") == count_lines(log, port, ""), "%s: %s",
              paths[i], log);
        check(count_lines(log, other_port, "good-token") == 0, "%s: %s", paths[i], log);
        check(strstr(log, "other-token") == NULL, "%s", log);
        free(log);
    }
    gufo_remote_free(remote);
}

/* The second host first: a redirect to the host of the token brings it there no more than elsewhere. */
static void test_token_of_another(void **state)
{
    char url[200];
    const gufo_remote_options options = {.hf_endpoint = "http://localhost:1",
                                         .hf_token = "good-token"};
    gufo_remote *remote = hurried_client(&options);
    gufo_error error = {0};
    uint64_t got;
    char *log;

    (void)state;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", plain.port);
    http_server_reset(&plain);
    check_ok(get(remote, url, "m", &got, &error), &error, "no token");
    log = http_server_log(&plain);
    check(strstr(log, "good-token") == NULL, "%s", log);
    free(log);
    gufo_remote_free(remote);
}

/* Addresses of a CDN expire: the first address leads to a new one, and the bytes are the same. */
static void test_expired(void **state)
{
    char endpoint[200], url[400];
    gufo_remote *remote;
    gufo_source source;
    gufo_error error = {0};
    uint8_t got[1000];

    (void)state;
    check(mkdir(folder_path(&files, "expiring").text, 0700) == 0, "folder");
    check(symlink("../org/m", folder_path(&files, "expiring/m").text) == 0, "link");
    (void)snprintf(endpoint, sizeof endpoint, "%s/hf", plain.url);
    (void)snprintf(url, sizeof url, "%s/expiring/m/resolve/main/m.gguf", endpoint);
    remote = hurried_client(NULL);
    check_ok(ranges_open(remote, url, &source, NULL, &error), &error, "open");
    for (uint64_t at = 300000; at < 600000; at += 100000) {
        check_ok(source.read(source.context, at, got, sizeof got, &error), &error, "read");
        for (size_t i = 0; i < sizeof got; i++)
            check(got[i] == byte_at(at + i), "byte %zu", i);
    }
    source.close(source.context);
    gufo_remote_free(remote);
}

/* A refusal that is meant is not asked for over and over. */
static void test_refused_by_cdn(void **state)
{
    gufo_remote *remote = hurried_client(NULL);
    gufo_error error = {0};
    uint64_t got;

    (void)state;
    http_server_reset(&plain);
    check_status(get(remote, plain.url, "hf/gated/m/resolve/main/m.gguf", &got, &error), GUFO_E_IO,
                 &error, "missing");
    check_u64(http_server_counts(&plain).requests, 1, "requests");
    gufo_remote_free(remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certificates), cmocka_unit_test(test_downgrade),
        cmocka_unit_test(test_token),        cmocka_unit_test(test_token_of_another),
        cmocka_unit_test(test_expired),      cmocka_unit_test(test_refused_by_cdn),
    };

    return (http_server_lacks("python3") || http_server_lacks("openssl"))
               ? 77
               : cmocka_run_group_tests(tests, setup, teardown);
}
