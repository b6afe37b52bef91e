/* How alike two names are. */
#include "base/text.h"

#define MAX_COMPARED 128

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Levenshtein's distance with the exchange of two neighbours as one edit.
 * Only the last three rows of its table are kept. */
size_t text_distance(gufo_str a, gufo_str b, size_t limit)
{
    size_t rows[3][MAX_COMPARED + 1];
    size_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;

    if (gap > limit || a.len > MAX_COMPARED || b.len > MAX_COMPARED)
        return limit + 1;
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            row[j] = least(above[j - 1] + (a.data[i - 1] != b.data[j - 1]),
                           least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}
