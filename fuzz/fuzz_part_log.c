/* Fuzz target: anything as the log of a part, as it is and with the checks that its records need.  What it says fits in
 * it: results are there, and states are known. */
#include "place.h"
#include "walk.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "produce/parts/plan.h"

#include <stdlib.h>
#include <string.h>

enum { RESULT_SIZE = 8, HEAD = 40, CHECK = 8 };

/* ---- checks --------------------------------------------------------------------------------- */

/* Gives all records that are whole the checks of their bytes. */
static void seal(uint8_t *data, size_t size)
{
    uint64_t number = 0;

    for (size_t at = 0; size - at >= HEAD; number++) {
        const uint64_t content = load_little_u64(data + at + 24);

        store_little_u64(data + at + 32, hash_check(data + at, 32, number));
        at += HEAD;
        if (content == 0)
            continue;
        if (size - at < CHECK || content > size - at - CHECK)
            return;
        store_little_u64(data + at + content, hash_check(data + at, content, number));
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
    const logs of = {.folder = place_folder(),
                     .plan = 1,
                     .result_size = RESULT_SIZE,
                     .allocator = &default_allocator};

    place_put("0.log", data, size);
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
    read_log(data, size);
    memcpy(sealed, data, size);
    seal(sealed, size);
    read_log(sealed, size);
    free(sealed);
    return 0;
}
