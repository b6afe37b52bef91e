/* The ranges of a file that its reader has announced (gufo_source.expect): what is near another one is fetched with it. */
#ifndef REMOTE_RANGES_EXPECTED_H
#define REMOTE_RANGES_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

/* Ranges with no more than EXPECTED_GAP bytes between them are one: to fetch these takes less than another request. */
enum { EXPECTED_MOST = 128, EXPECTED_GAP = 256 * 1024 };

typedef struct expected_ranges {
    struct {
        uint64_t begin, end;
    } list[EXPECTED_MOST]; /* ascending, apart */
    size_t count;
} expected_ranges;

/* Adds a range.  Where there are too many, one that is announced long before it is read is forgotten. */
void expected_add(expected_ranges *ranges, uint64_t begin, uint64_t end);
/* The end of the range that has this byte; the byte itself, if none has. */
uint64_t expected_end(const expected_ranges *ranges, uint64_t at);

#endif
