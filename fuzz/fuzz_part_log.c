/* Fuzz target: anything as the log of a part, as it is and with the checks that its records need.  What it says fits in
 * it: results are there, and states are known. */
#include "walk.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "produce/parts/plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESULT_SIZE = 8, HEAD = 40, CHECK = 8 };

static char folder[64], path[80];

static pid_t owner; /* of the folder: a sweep forks */

static void clean(void)
{
    if (owner != getpid())
        return;
    (void)unlink(path);
    (void)rmdir(folder);
}

static void prepare(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    if (owner == getpid())
        return;
    owner = getpid();
    (void)snprintf(folder, sizeof folder, "%s/gufo-fuzz-XXXXXX", base);
    must(mkdtemp(folder) != NULL, "there is a place for files");
    (void)snprintf(path, sizeof path, "%s/0.log", folder);
    (void)atexit(clean);
}

/* ---- checks --------------------------------------------------------------------------------- */

static void put_check(uint8_t *at, const uint8_t *bytes, uint64_t size, uint64_t number)
{
    store_u64(at, hash_text((hash_key){number, 0}, (gufo_str){(const char *)bytes, (size_t)size}),
              bytes_swapped(false));
}

/* Gives all records that are whole the checks of their bytes. */
static void seal(uint8_t *data, size_t size)
{
    uint64_t number = 0;

    for (size_t at = 0; size - at >= HEAD; number++) {
        const uint64_t content = load_u64(data + at + 24, bytes_swapped(false));

        put_check(data + at + 32, data + at, 32, number);
        at += HEAD;
        if (content == 0)
            continue;
        if (size - at < CHECK || content > size - at - CHECK)
            return;
        put_check(data + at + content, data + at, content, number);
        at += (size_t)content + CHECK;
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct seen {
    uint64_t bytes; /* of results */
    unsigned sum;
} seen;

static void visit(void *context, uint64_t first, uint64_t count, const uint8_t *results)
{
    seen *s = context;

    (void)first;
    if (results == NULL)
        return;
    s->bytes += count * RESULT_SIZE;
    for (uint64_t i = 0; i < count * RESULT_SIZE; i++)
        s->sum += results[i];
}

static void read_log(const uint8_t *data, size_t size)
{
    const logs of = {
        .folder = folder, .plan = 1, .result_size = RESULT_SIZE, .allocator = &default_allocator};
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0,
         "there is room for files");
    for (unsigned with_results = 0; with_results < 2; with_results++) {
        seen s = {0};
        part_logs found;
        gufo_error error;
        gufo_status status = logs_read(&of, 0, with_results != 0, visit, &s, &found, &error);

        must(s.bytes <= size, "results are in the log");
        must(status != GUFO_OK || found.attempts == 1, "there is one log");
        must(found.state == GUFO_PART_WAITING || found.state == GUFO_PART_RUNNING ||
                 found.state == GUFO_PART_FAILED || found.state == GUFO_PART_COMPLETE,
             "a part has a state");
        must(found.state == GUFO_PART_FAILED || found.reason[0] == '\0', "failures have reasons");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *sealed = malloc(size + 1);

    must(sealed != NULL, "there is memory");
    prepare();
    read_log(data, size);
    memcpy(sealed, data, size);
    seal(sealed, size);
    read_log(sealed, size);
    free(sealed);
    return 0;
}
