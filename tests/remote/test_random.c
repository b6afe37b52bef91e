/* Reading through faults that chance chooses: the right bytes or an error, never other bytes. */
#include "remote_cases.h"

#include "../support/pace.h"
#include "remote/ranges/ranges.h"

enum { FILE_SIZE = 400000 };

static http_server server;
static folder files;

static int setup(void **state)
{
    uint8_t *content = malloc(FILE_SIZE);

    (void)state;
    files = folder_new();
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = byte_at(i);
    write_file(folder_path(&files, "f").text, content, FILE_SIZE);
    free(content);
    return http_server_start(&server, files.path, NULL, NULL) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    http_server_stop(&server);
    folder_remove(&files);
    return 0;
}

/* How many reads gave bytes. */
static unsigned read_some_places(gufo_source *source, unsigned seed)
{
    static uint8_t got[FILE_SIZE];
    unsigned good = 0;
    gufo_error error;

    for (unsigned i = 0; i < 3; i++) {
        const uint64_t offset = (seed * 7919u + i * 104729u) % FILE_SIZE;
        const size_t size = 1 + (seed * 31u + i * 60000u) % (FILE_SIZE - offset);

        if (source->read(source->context, offset, got, size, &error) != GUFO_OK)
            continue;
        for (size_t k = 0; k < size; k++)
            check(got[k] == byte_at(offset + k), "seed %u: byte %" PRIu64 " is another", seed,
                  offset + k);
        good++;
    }
    return good;
}

static void test_seeds(void **state)
{
    const char *more = getenv("GUFO_SEEDS"); /* 10000: half a minute */
    const unsigned count =
        more != NULL ? (unsigned)strtoul(more, NULL, 10) : all_some_or_few(1500, 300, 20);
    gufo_remote *remote = hurried_client(NULL);
    unsigned opened = 0, good = 0;

    (void)state;
    for (unsigned seed = 0; seed < count; seed++) {
        char url[512];
        gufo_error error;
        gufo_source source;

        (void)snprintf(url, sizeof url, "%s/random-%u/f", server.url, seed);
        if (ranges_open(remote, url, &source, NULL, &error) != GUFO_OK)
            continue;
        opened++;
        /* A page of a portal is a file, too. */
        if (source.size == FILE_SIZE)
            good += read_some_places(&source, seed);
        source.close(source.context);
    }
    check(opened > count / 2 && good > count, "%u opened, %u good", opened, good);
    gufo_remote_free(remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),
    };

    return http_server_lacks("python3") ? 77 : cmocka_run_group_tests(tests, setup, teardown);
}
