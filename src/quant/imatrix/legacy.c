/* The old format of importance matrices ("imatrix.dat").  All numbers are little-endian:
 *
 *     int32 entries
 *     entry:  int32 length, NAME | int32 calls | int32 values | float32 value ...
 *     ...
 *     int32 chunks | int32 length, DATASET           (may be missing, the second part also alone)
 *
 * There is no magic number, so the first fault shows that the file has another format.  A value is
 * the mean of the squares, multiplied with `calls`, which says how many chunks of text were used;
 * the size of a chunk is not recorded.  Experts that no token reached have ones. */
#include "quant/imatrix/imatrix.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"

/* The shortest entry: a name of one letter and one value. */
enum { SHORTEST_ENTRY = 4 + 1 + 4 + 4 + 4 };

typedef struct cursor {
    gufo_imatrix *imatrix;
    uint64_t position;
    gufo_error *error;
} cursor;

static uint64_t bytes_left(const cursor *c)
{
    return c->imatrix->source.size - c->position;
}

static gufo_status fail_end(const cursor *c, const char *inside)
{
    return fail_with(c->error, GUFO_E_TRUNCATED, c->position, "the file ends inside %s", inside);
}

/* The next number, which must be from `lowest` to 2^31 - 1. */
static gufo_status read_number(cursor *c, int32_t lowest, const char *what, uint32_t *out)
{
    uint8_t bytes[4];
    gufo_status status;

    if (bytes_left(c) < sizeof bytes)
        return fail_end(c, what);
    status = source_read(&c->imatrix->source, c->position, bytes, sizeof bytes, c->error);
    if (status != GUFO_OK)
        return status;
    *out = load_u32(bytes, bytes_swapped(false));
    if (*out > INT32_MAX || *out < (uint32_t)lowest)
        return fail_with(c->error, GUFO_E_MALFORMED, c->position, "%s is %" PRId32, what,
                         (int32_t)*out);
    c->position += sizeof bytes;
    return GUFO_OK;
}

/* A length and so many bytes. */
static gufo_status read_text(cursor *c, int32_t shortest, const char *what, gufo_str *out)
{
    uint32_t len;
    gufo_status status = read_number(c, shortest, what, &len);
    char *text;

    if (status != GUFO_OK)
        return status;
    if (len > bytes_left(c))
        return fail_end(c, what);
    if (len > GUFO_MAX_KEY)
        return fail_with(c->error, GUFO_E_LIMIT, c->position, "%s is %s, more than %s", what,
                         GROUPED(len), GROUPED(GUFO_MAX_KEY));
    text = imatrix_text(c->imatrix, len);
    if (text == NULL)
        return fail_memory(c->error);
    status = source_read(&c->imatrix->source, c->position, text, len, c->error);
    c->position += len;
    *out = (gufo_str){text, len};
    return status;
}

static gufo_status read_entry(cursor *c)
{
    uint64_t at = c->position;
    uint32_t calls, values;
    imatrix_entry *entry;
    gufo_str name;
    gufo_status status = read_text(c, 1, "the length of a name", &name);

    if (status == GUFO_OK)
        status = read_number(c, 0, "the number of calls", &calls);
    if (status == GUFO_OK)
        status = read_number(c, 1, "the number of values", &values);
    if (status == GUFO_OK && bytes_left(c) / sizeof(float) < values)
        status = fail_end(c, "the values of an entry");
    if (status == GUFO_OK)
        status = imatrix_add(c->imatrix, name, at, &entry, c->error);
    if (status != GUFO_OK)
        return status;
    entry->values = values;
    entry->matrices = 1;
    entry->calls = calls != 0 ? calls : 1; /* values without a number of calls are means already */
    entry->sums_at = c->position;
    c->position += (uint64_t)values * sizeof(float);
    return GUFO_OK;
}

/* Chunks and dataset were added to the format one after the other. */
static gufo_status read_trailer(cursor *c)
{
    gufo_status status;
    uint32_t chunks;
    gufo_str dataset;

    if (bytes_left(c) == 0)
        return GUFO_OK;
    status = read_number(c, 0, "the number of chunks", &chunks);
    if (status != GUFO_OK)
        return status;
    c->imatrix->chunk_count = chunks;
    if (bytes_left(c) == 0)
        return GUFO_OK;
    status = read_text(c, 0, "the length of a dataset's name", &dataset);
    if (status == GUFO_OK && dataset.len > 0)
        status = imatrix_add_dataset(c->imatrix, dataset, c->error);
    if (status == GUFO_OK && bytes_left(c) > 0)
        status = fail_with(c->error, GUFO_E_MALFORMED, c->position, "%s bytes follow the end",
                           GROUPED(bytes_left(c)));
    return status;
}

/* The number of entries, which alone can show that the file is something else. */
static gufo_status read_head(cursor *c, uint32_t *entries)
{
    enum { SEEN = 4096 };
    uint64_t size = c->imatrix->source.size;
    uint8_t start[SEEN];
    size_t seen = size < SEEN ? (size_t)size : SEEN;
    const char *other;
    gufo_status status = source_read(&c->imatrix->source, 0, start, seen, c->error);

    if (status != GUFO_OK)
        return status;
    other = gufo_recognise(start, seen);
    if (seen >= 4) {
        *entries = load_u32(start, bytes_swapped(false));
        c->position = 4;
        if (*entries > 0 && *entries <= INT32_MAX && *entries <= bytes_left(c) / SHORTEST_ENTRY)
            return GUFO_OK;
    }
    return fail_with(c->error, GUFO_E_MALFORMED, 0, "not an importance matrix%s%s",
                     other != NULL ? ", but " : "", other != NULL ? other : "");
}

gufo_status imatrix_read_legacy(gufo_imatrix *m, gufo_error *error)
{
    cursor c = {.imatrix = m, .error = error};
    uint32_t entries = 0;
    gufo_status status = read_head(&c, &entries);

    for (uint32_t i = 0; i < entries && status == GUFO_OK; i++)
        status = read_entry(&c);
    return status == GUFO_OK ? read_trailer(&c) : status;
}
