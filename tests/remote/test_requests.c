/* Requests: what servers may do, and what comes of it. */
#include "remote_cases.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/http/http.h"
#include "remote/http/transfer.h"

enum { FILE_SIZE = 300000 };

static http_server server;
static folder files;
static uint8_t *content;

static int setup(void **state)
{
    (void)state;
    files = folder_new();
    content = malloc(FILE_SIZE);
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = byte_at(i);
    write_file(folder_path(&files, "f").text, content, FILE_SIZE);
    write_file(folder_path(&files, "f.new").text, content, FILE_SIZE);
    return http_server_start(&server, files.path, NULL, NULL) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    http_server_stop(&server);
    free(content);
    folder_remove(&files);
    return 0;
}

/* ---- one request ----------------------------------------------------------------------------- */

typedef struct asked {
    uint8_t bytes[FILE_SIZE + 100];
    size_t len;
    bool restarted;
    gufo_status status;
    http_answer answer;
    gufo_error error;
} asked;

static asked last;

static bool take(void *context, const void *bytes, size_t size)
{
    asked *a = context;

    if (size > sizeof a->bytes - a->len)
        return false;
    memcpy(a->bytes + a->len, bytes, size);
    a->len += size;
    return true;
}

static void restart(void *context)
{
    asked *a = context;

    a->len = 0;
    a->restarted = true;
}

static asked *ask_url(gufo_remote *remote, const char *url, uint64_t first, uint64_t count,
                      const http_version *version)
{
    const http_request request = {.url = url,
                                  .first = first,
                                  .count = count,
                                  .version = version,
                                  .take = take,
                                  .restart = restart,
                                  .context = &last};

    memset(&last, 0, sizeof last);
    last.status = http_get(remote, &request, &last.answer, &last.error);
    return &last;
}

static asked *ask(gufo_remote *remote, const char *path, uint64_t first, uint64_t count)
{
    char url[512];

    (void)snprintf(url, sizeof url, "%s/%s", server.url, path);
    http_server_reset(&server);
    return ask_url(remote, url, first, count, NULL);
}

/* Whatever the server does: these bytes, or an error with that code and these words. */
static void test_faults(void **state)
{
    static const struct {
        const char *path;
        uint64_t first, count;
        gufo_status status;
        const char *words;
        unsigned requests; /* 0: any number */
    } rows[] = {
        {"ok/f", 0, 0, GUFO_OK, "", 1},
        {"ok/f", 1000, 5000, GUFO_OK, "", 1},
        {"ok/f", FILE_SIZE - 10, 100, GUFO_OK, "", 1}, /* cut to the end */
        {"ok/f", FILE_SIZE, 1, GUFO_E_RANGE, "ends before byte 300000", 1},
        {"norange/f", 0, 100, GUFO_OK, "", 1},
        {"norange/f", 5, 100, GUFO_E_IO, "sends whole files only", 1},
        {"short-20000/f", 0, 0, GUFO_OK, "", 15},
        {"short-20000/f", 100, 100000, GUFO_OK, "", 5},
        {"short-20000/no-validators/f", 0, 0, GUFO_E_IO, "connection ended", 0},
        {"short-0/f", 0, 100, GUFO_E_IO, "connection ended", 5},
        {"reset-30000/f", 0, 100000, GUFO_OK, "", 0},
        {"stall-30000/f", 0, 100000, GUFO_E_IO, "less than 1 KiB a second", 1},
        {"stall-0/f", 0, 10, GUFO_E_IO, "less than 1 KiB a second", 1},
        {"slow-100/f", 0, 1000, GUFO_E_IO, "less than 1 KiB a second", 1},
        {"chunked/f", 0, 0, GUFO_OK, "", 1},
        {"chunked/f", 10, 20, GUFO_OK, "", 1},
        {"503x2/f", 0, 10, GUFO_OK, "", 3},
        {"503x9/f", 0, 10, GUFO_E_IO, "answers 503 Service Unavailable: \"status 503", 5},
        {"429x1/f", 0, 10, GUFO_OK, "", 2},
        {"429-3600/f", 0, 10, GUFO_E_IO, "asks to wait 3,600 seconds", 1},
        {"400/f", 0, 10, GUFO_E_IO, "answers 400 Bad Request", 1},
        {"404/f", 0, 10, GUFO_E_IO, "answers 404 Not Found", 1},
        {"403/f", 0, 10, GUFO_E_IO, "answers 403 Forbidden", 1},
        {"longer/f", 0, 10, GUFO_E_IO, "announces a part of one size", 1},
        {"chunked/longer/f", 0, 10, GUFO_E_IO, "more than was asked", 1},
        {"wrong-range/f", 0, 10, GUFO_E_IO, "another part", 1},
        {"multipart/f", 0, 10, GUFO_E_IO, "does not say which", 1},
        {"gzip/f", 0, 10, GUFO_E_IO, "compressed", 1},
        {"416/f", 0, 10, GUFO_E_RANGE, "ends before byte 0", 1},
        {"many-headers/f", 0, 10, GUFO_E_IO, "100 KB of headers", 1},
        {"long-header/f", 0, 10, GUFO_E_IO, "headers that are too long", 1},
        {"dribble-100/f", 0, 10, GUFO_E_IO, "less than 1 KiB a second", 1},
        {"hush-300/f", 0, 10, GUFO_E_IO, "less than 1 KiB a second", 0}, /* not once an attempt */
        {"redirects-5/f", 0, 10, GUFO_OK, "", 6},
        {"redirects-6/f", 0, 10, GUFO_E_IO, "more than 5 times", 6},
        {"redirect-loop/f", 0, 10, GUFO_E_IO, "more than 5 times", 6},
        {"redirect-relative/f", 0, 10, GUFO_OK, "", 2},
        {"redirect-other-host/f", 0, 10, GUFO_OK, "", 2},
        {"redirect-scheme/f", 0, 10, GUFO_E_IO,
         "127.0.0.1 redirects to something that is not an address", 1},
        {"redirect-plain/f", 0, 10, GUFO_E_IO, "leads to \"nowhere.invalid\" by http without", 1},
        {"redirect-path/f", 0, 10, GUFO_E_IO, "404", 2},
        {"redirect-none/f", 0, 10, GUFO_E_IO, "answers 302", 1},
        {"total-unknown/f", 0, 10, GUFO_OK, "", 1},
        {"total-changes-1/short-20000/f", 0, 100000, GUFO_E_CHANGED, "was changed", 2},
        {"etag-changes-after-1/short-20000/f", 0, 100000, GUFO_E_CHANGED, "was changed", 2},
        {"replaced-after-1/short-20000/f", 0, 100000, GUFO_E_CHANGED, "was changed", 2},
        {"replaced-after-1/short-20000/f", 0, 0, GUFO_E_CHANGED, "was changed", 2},
    };
    gufo_remote *remote = hurried_client(NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        asked *a = ask(remote, rows[i].path, rows[i].first, rows[i].count);
        const uint64_t rest = FILE_SIZE - rows[i].first;
        const uint64_t size = rows[i].count == 0 || rows[i].count > rest ? rest : rows[i].count;

        check_status(a->status, rows[i].status, &a->error, "%s", rows[i].path);
        check(strstr(a->error.message, rows[i].words) != NULL, "%s: %s", rows[i].path,
              a->error.message);
        if (rows[i].requests > 0)
            check_u64(http_server_counts(&server).requests, rows[i].requests, "%s", rows[i].path);
        if (a->status == GUFO_OK)
            check_u64(a->len, size, "%s", rows[i].path);
        else
            check(strncmp(a->error.file, server.url, strlen(server.url)) == 0, "%s: %s",
                  rows[i].path, a->error.file);
        check(memcmp(a->bytes, content + rows[i].first, a->len) == 0, "%s: other bytes",
              rows[i].path);
    }
    gufo_remote_free(remote);
}

/* What a connection has left behind does no harm to the next request of the same client. */
static void test_after_failures(void **state)
{
    gufo_remote *remote = hurried_client(NULL);

    (void)state;
    (void)ask(remote, "longer/f", 0, 10);
    (void)ask(remote, "stall-5/f", 0, 10);
    (void)ask(remote, "redirects-2/f", 0, 10);
    for (uint64_t at = 0; at < 10; at++) {
        asked *a = ask(remote, "ok/f", at * 100, 10);

        check_ok(a->status, &a->error, "after failures");
        check(memcmp(a->bytes, content + at * 100, 10) == 0, "after failures");
    }
    gufo_remote_free(remote);
}

static void test_version(void **state)
{
    gufo_remote *remote = hurried_client(NULL);
    char url[512];
    http_version version, other;

    (void)state;
    (void)snprintf(url, sizeof url, "%s/ok/f", server.url);
    version = ask(remote, "ok/f", 0, 10)->answer.version;
    assert_true(version.is_strong);
    check_u64(version.size, FILE_SIZE, "size");
    check_ok(ask_url(remote, url, 10, 10, &version)->status, &last.error, "same");
    other = version;
    other.etag[1] ^= 1;
    check_status(ask_url(remote, url, 10, 10, &other)->status, GUFO_E_CHANGED, &last.error, "ETag");
    other = version;
    other.size++;
    check_status(ask_url(remote, url, 10, 10, &other)->status, GUFO_E_CHANGED, &last.error, "size");
    other = (http_version){.size = GUFO_NO_OFFSET, .modified = "Sun, 06 Nov 1994 08:49:37 GMT"};
    check_status(ask_url(remote, url, 10, 10, &other)->status, GUFO_E_CHANGED, &last.error, "time");
    gufo_remote_free(remote);
}

/* A file that is replaced by one of the same size and time, and no strong ETag: bytes of one of the two, or an
 * error. */
static void test_never_mixed(void **state)
{
    static const struct {
        const char *path;
        bool may_restart;
    } rows[] = {
        {"replaced-after-1/weak-etag/short-20000/old", true},
        {"replaced-after-1/weak-etag/short-20000/old", false},
        {"replaced-after-1/weak-etag/norange/short-20000/old", true},
        {"replaced-after-1/weak-etag/norange/short-20000/old", false},
        {"replaced-after-1/no-etag/short-20000/old", true},
        {"replaced-after-1/no-validators/short-20000/old", true},
        {"replaced-after-1/no-validators/norange/short-20000/old", true},
    };
    static const char *const names[] = {"old", "old.new"};
    static const struct timespec time[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    gufo_remote *remote = hurried_client(NULL);
    char url[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const path_text path = folder_path(&files, names[i]);
        uint8_t bytes[100000];

        memset(bytes, 'a' + (int)i, sizeof bytes);
        write_file(path.text, bytes, sizeof bytes);
        assert_int_equal(utimensat(AT_FDCWD, path.text, time, 0), 0);
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        http_request request = {.url = url,
                                .count = 100000,
                                .take = take,
                                .restart = rows[i].may_restart ? restart : NULL,
                                .context = &last};

        (void)snprintf(url, sizeof url, "%s/%s", server.url, rows[i].path);
        memset(&last, 0, sizeof last);
        http_server_reset(&server);
        last.status = http_get(remote, &request, &last.answer, &last.error);
        for (size_t at = 1; last.status == GUFO_OK && at < last.len; at++)
            check(last.bytes[at] == last.bytes[0], "%s: mixed at %zu", rows[i].path, at);
    }
    gufo_remote_free(remote);
}

/* ---- several at once ------------------------------------------------------------------------- */

static void test_all(void **state)
{
    enum { COUNT = 23 };
    gufo_remote *remote = hurried_client(NULL);
    static asked each[COUNT];
    static http_answer answers[COUNT];
    http_request requests[COUNT];
    gufo_error error = {0};
    char url[512];

    (void)state;
    (void)snprintf(url, sizeof url, "%s/503x3/f", server.url);
    http_server_reset(&server);
    for (size_t i = 0; i < COUNT; i++)
        requests[i] = (http_request){
            .url = url, .first = 1000 * i, .count = 1000, .take = take, .context = &each[i]};
    check_ok(http_get_all(remote, requests, COUNT, answers, &error), &error, "all");
    for (size_t i = 0; i < COUNT; i++) {
        check_u64(each[i].len, 1000, "part");
        check(memcmp(each[i].bytes, content + 1000 * i, 1000) == 0, "part %zu", i);
    }
    requests[7].first = FILE_SIZE + 1;
    check_status(http_get_all(remote, requests, COUNT, answers, &error), GUFO_E_RANGE, &error,
                 "one fails");
    gufo_remote_free(remote);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static bool stop_soon(void *context, uint64_t done, uint64_t total)
{
    unsigned *calls = context;

    (void)done, (void)total;
    return ++*calls < 5;
}

/* A server that says nothing for ever, one that asks to wait, and nobody who listens. */
static void test_stop(void **state)
{
    static const char *const paths[] = {"stall-10/f", "503-60/f", "slow-2000/f"};
    unsigned calls = 0;
    const gufo_remote_options options = {.progress = stop_soon, .progress_context = &calls};
    gufo_remote *remote = hurried_client(&options);

    (void)state;
    remote->pace = retry_usual_pace;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        const uint64_t begin = transfer_now();

        calls = 0;
        check_status(ask(remote, paths[i], 0, 0)->status, GUFO_E_STOPPED, &last.error, "%s",
                     paths[i]);
        check(transfer_now() - begin < 5000, "%s: stopped late", paths[i]);
        check_u64(calls, 5, "%s", paths[i]);
    }
    gufo_remote_free(remote);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    static const struct {
        const char *url;
        uint32_t flags;
        gufo_status status;
        const char *words;
    } rows[] = {
        {"http://example.com/f", 0, GUFO_E_ARGUMENT, "without encryption"},
        {"http://10.0.0.1/f", GUFO_REMOTE_FORBID_PRIVATE | GUFO_REMOTE_PLAIN_HTTP, GUFO_E_ARGUMENT,
         "private network"},
        {"https://localhost/f", GUFO_REMOTE_FORBID_PRIVATE, GUFO_E_ARGUMENT, "private network"},
        {"https://[::ffff:127.0.0.1]/f", GUFO_REMOTE_FORBID_PRIVATE, GUFO_E_ARGUMENT,
         "private network"},
        {"https://user:secret@example.com/f", 0, GUFO_E_ARGUMENT, "a user or a password"},
        {"file:///etc/passwd", 0, GUFO_E_ARGUMENT, "does not begin with https"},
        {"http://127.0.0.1:1/f?secret", GUFO_REMOTE_OFFLINE, GUFO_E_IO, "offline"},
        {"http://127.0.0.1:1/f?secret", 0, GUFO_E_IO, "cannot be reached"},
        {"https://nowhere.invalid/f", 0, GUFO_E_IO, "cannot be reached"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_remote *remote = hurried_client(&(gufo_remote_options){.flags = rows[i].flags});

        check_status(ask_url(remote, rows[i].url, 0, 10, NULL)->status, rows[i].status, &last.error,
                     "%s", rows[i].url);
        check(strstr(last.error.message, rows[i].words) != NULL, "%s: %s", rows[i].url,
              last.error.message);
        check(strstr(last.error.file, "secret") == NULL &&
                  strstr(last.error.message, "secret") == NULL,
              "%s", rows[i].url);
        gufo_remote_free(remote);
    }
}

static void test_options(void **state)
{
    static const struct {
        gufo_remote_options options;
        const char *words;
    } rows[] = {
        {{.hf_token = "a\r\nX: y"}, "hf_token"},
        {{.user_agent = "a\nb"}, "user_agent"},
        {{.hf_endpoint = "huggingface.co"}, "hf_endpoint"},
        {{.hf_endpoint = "https://a/?b"}, "hf_endpoint"},
        {{.ms_endpoint = "https://u:p@h"}, "ms_endpoint"},
        {{.flags = 1u << 20}, "flags"},
        {{.reserved = {0, 0, 0, 0, 0, 0, 0, 1}}, "reserved"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = {0};

        check(gufo_remote_new(&rows[i].options, &error) == NULL, "%s", rows[i].words);
        check_status(error.code, GUFO_E_ARGUMENT, &error, "%s", rows[i].words);
        check(strstr(error.message, rows[i].words) != NULL, "%s", error.message);
    }
    gufo_remote_free(NULL);
}

/* Texts of servers are shown, but not obeyed. */
static void test_escaped(void **state)
{
    gufo_remote *remote = hurried_client(NULL);

    (void)state;
    check_status(ask(remote, "404/f%1b[31m", 0, 0)->status, GUFO_E_IO, &last.error, "escapes");
    for (const char *c = last.error.message; *c != '\0'; c++)
        check((unsigned char)*c >= ' ', "%s", last.error.message);
    gufo_remote_free(remote);
}

/* ---- many threads ---------------------------------------------------------------------------- */

typedef struct one_thread {
    gufo_remote *remote;
    uint64_t number;
    bool is_right;
} one_thread;

static bool compare(void *context, const void *bytes, size_t size)
{
    const uint8_t **next = context;
    const bool same = memcmp(*next, bytes, size) == 0;

    *next += size;
    return same;
}

static void *ask_often(void *context)
{
    one_thread *t = context;
    char url[512];

    t->is_right = true;
    (void)snprintf(url, sizeof url, "%s/ok/f", server.url);
    for (uint64_t i = 0; i < 20 && t->is_right; i++) {
        const uint8_t *next = content + 1000 * t->number + i;
        const uint8_t *end = next + 5000;
        const http_request request = {.url = url,
                                      .first = 1000 * t->number + i,
                                      .count = 5000,
                                      .take = compare,
                                      .context = (void *)&next};

        t->is_right = http_get(t->remote, &request, NULL, NULL) == GUFO_OK && next == end;
    }
    return NULL;
}

static void test_threads(void **state)
{
    enum { COUNT = 6 };
    gufo_remote *remote = hurried_client(NULL);
    one_thread threads[COUNT];
    pthread_t ids[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        threads[i] = (one_thread){.remote = remote, .number = i};
        assert_int_equal(pthread_create(&ids[i], NULL, ask_often, &threads[i]), 0);
    }
    for (size_t i = 0; i < COUNT; i++) {
        (void)pthread_join(ids[i], NULL);
        check(threads[i].is_right, "thread %zu", i);
    }
    gufo_remote_free(remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_after_failures),
        cmocka_unit_test(test_version), cmocka_unit_test(test_all),
        cmocka_unit_test(test_stop),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_options), cmocka_unit_test(test_escaped),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_never_mixed),
    };

    return http_server_lacks("python3") ? 77 : cmocka_run_group_tests(tests, setup, teardown);
}
