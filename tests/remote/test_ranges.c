/* A file of a server as a source: the bytes, and what it costs to read them. */
#include "remote_cases.h"

#include <unistd.h>

#include "../support/shared.h"
#include "remote/ranges/chunks.h"
#include "remote/ranges/ranges.h"

enum { FILE_SIZE = 3000000 };

static http_server server;
static folder files;
static uint8_t *content;

static void start(void)
{
    files = folder_new();
    content = malloc(FILE_SIZE);
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = byte_at(i);
    write_file(folder_path(&files, "data.bin").text, content, FILE_SIZE);
    write_file(folder_path(&files, "empty").text, "", 0);
    write_file(folder_path(&files, "small").text, "{}", 2);
}

static int setup(void **state)
{
    (void)state;
    start();
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

static path_text address(const char *path)
{
    path_text out;

    (void)snprintf(out.text, sizeof out.text, "%s/%s", server.url, path);
    return out;
}

typedef struct opened {
    gufo_remote *remote;
    gufo_source source;
    gufo_status status;
    gufo_error error;
} opened;

static opened open_at(const char *path)
{
    opened o = {.remote = hurried_client(NULL)};

    http_server_reset(&server);
    o.status = ranges_open(o.remote, address(path).text, &o.source, NULL, &o.error);
    return o;
}

static void close_all(opened *o)
{
    if (o->status == GUFO_OK)
        o->source.close(o->source.context);
    gufo_remote_free(o->remote);
}

static void check_read(opened *o, uint64_t offset, size_t size, const char *label)
{
    uint8_t *got = malloc(size);

    check_ok(o->source.read(o->source.context, offset, got, size, &o->error), &o->error, "%s",
             label);
    check(memcmp(got, content + offset, size) == 0, "%s: bytes from %" PRIu64, label, offset);
    free(got);
}

/* ---- what is read is what is there ----------------------------------------------------------- */

static void test_bytes(void **state)
{
    static const struct {
        const char *path;
        bool has_parts;
    } rows[] = {
        {"ok/data.bin", true},
        {"no-etag/data.bin", true},
        {"no-validators/data.bin", true},
        {"weak-etag/data.bin", true},
        {"total-unknown/data.bin", true},
        {"503x2/data.bin", true},
        {"redirects-5/data.bin", true},
        {"short-100000/data.bin", true},
        {"norange/data.bin", false},
        {"redirect-other-host/data.bin", true},
        {"reset-70000/data.bin", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        opened o = open_at(rows[i].path);

        check_ok(o.status, &o.error, "%s", rows[i].path);
        check_u64(o.source.size, FILE_SIZE, "%s", rows[i].path);
        check_read(&o, 0, 10, rows[i].path);
        check_read(&o, 200000, 100000, rows[i].path);
        if (rows[i].has_parts) {
            check_read(&o, FILE_SIZE - 22, 22, rows[i].path);
            check_read(&o, 1000000, 1500000, rows[i].path);
            check_read(&o, 0, FILE_SIZE, rows[i].path);
            check_ok(o.source.unchanged(o.source.context, &o.error), &o.error, "%s", rows[i].path);
        }
        close_all(&o);
    }
}

static void test_small_files(void **state)
{
    uint8_t got[2];
    opened o = open_at("ok/empty");

    (void)state;
    check_ok(o.status, &o.error, "empty");
    check_u64(o.source.size, 0, "empty");
    close_all(&o);
    o = open_at("chunked/small");
    check_ok(o.status, &o.error, "chunked");
    check_u64(o.source.size, 2, "chunked");
    check_ok(o.source.read(o.source.context, 0, got, 2, &o.error), &o.error, "chunked");
    check(memcmp(got, "{}", 2) == 0, "chunked");
    check_u64(http_server_counts(&server).requests, 1, "chunked");
    close_all(&o);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* An announced range is fetched as such, and nothing beside it. */
static void test_expected(void **state)
{
    opened o = open_at("ok/data.bin");

    (void)state;
    check_ok(o.status, &o.error, "open");
    o.source.expect(o.source.context, 1000000, 100000);
    o.source.expect(o.source.context, 1200000, 300000); /* near: one with the first */
    for (uint64_t at = 1000000; at < 1100000; at += 10000)
        check_read(&o, at, 10000, "first");
    for (uint64_t at = 1200000; at < 1500000; at += 10000)
        check_read(&o, at, 10000, "second");
    check_u64(http_server_counts(&server).requests, 2, "requests");
    check(http_server_counts(&server).bytes < 262144 + 500000 + 65536, "bytes: %" PRIu64,
          http_server_counts(&server).bytes);
    close_all(&o);
}

/* A vocabulary has no tensors: zeros stand for them. */
static void copy_with_data(const char *from, const char *to)
{
    size_t len;
    uint8_t *bytes = read_file(from, &len);

    check(bytes != NULL, "%s", from);
    write_file(to, bytes, len);
    check(truncate(to, (off_t)len + (16 << 20)) == 0, "%s", to);
    free(bytes);
}

static uint64_t header_end(const gufo_model *model)
{
    return gufo_model_facts(model).data_offset;
}

/* A header costs at most 6 requests and half of its bytes in vain. */
static void test_vocabularies(void **state)
{
    static const char *const names[] = {"llama-bpe", "llama-spm", "gpt-2",  "command-r",
                                        "qwen2",     "gemma-4",   "falcon", "deepseek-llm",
                                        "phi-3",     "bert-bge"};
    path_text shared = need_shared("data/vocab");
    gufo_error error = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char name[100];
        opened o;
        path_text from;
        gufo_model *model;
        http_counts counts;
        uint64_t header;

        (void)snprintf(name, sizeof name, "ggml-vocab-%s.gguf", names[i]);
        from = path_join(shared.text, name);
        if (!file_exists(from.text))
            continue;
        copy_with_data(from.text, folder_path(&files, name).text);
        o = open_at(name);
        check_ok(o.status, &o.error, "%s", name);
        model = gufo_model_open_source(&o.source, NULL, &error);
        check(model != NULL, "%s: %s", name, error.message);
        counts = http_server_counts(&server);
        header = header_end(model);
        print_message("%s: %" PRIu64 " bytes, %" PRIu64 " requests, %.2f\n", name, header,
                      counts.requests, (double)counts.bytes / (double)header);
        check(counts.requests <= 6, "%s: %" PRIu64 " requests", name, counts.requests);
        check(header < 400000 || counts.bytes * 2 <= header * 3, "%s: %" PRIu64 " of %" PRIu64,
              name, counts.bytes, header);
        gufo_model_free(model);
        gufo_remote_free(o.remote);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_small_files),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_vocabularies),
    };

    return http_server_lacks("python3") ? 77 : cmocka_run_group_tests(tests, setup, teardown);
}
