/* Patterns of names: a star tries the shortest run first, and only the last star is tried again, so
 * that the time is at most the product of both lengths. */
#include "import/architectures/pattern.h"

bool pattern_matches(gufo_str pattern, gufo_str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && pattern.data[p] == text.data[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.data[p] == '*')
        p++;
    return p == pattern.len;
}
