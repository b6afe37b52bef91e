/* Names of files in tables of patterns: see pattern.h. */
#include "schema/registry/pattern.h"

#include "base/text.h"

#include <string.h>

/* The name of row `index`: the pointer that it begins with. */
static const char *row_name(const void *rows, size_t index, size_t size)
{
    const char *name;

    memcpy(&name, (const char *)rows + index * size, sizeof name);
    return name;
}

/* Like strcmp(row, name).  *same: how many bytes are known to be equal; afterwards, how many
 * are. */
static int compare(const char *row, const name_parts *name, size_t *same)
{
    size_t start = 0;

    for (size_t i = 0; i < name->count; i++) {
        gufo_str part = name->parts[i];

        for (size_t j = *same > start ? *same - start : 0; j < part.len; j++) {
            char byte = row[start + j];
            int difference = (unsigned char)byte - (unsigned char)part.data[j];

            /* The name may have NUL bytes, on which a row has nothing to compare. */
            if (difference != 0 || byte == '\0') {
                *same = start + j;
                return difference != 0 ? difference : -1;
            }
        }
        start += part.len;
    }
    *same = start;
    return row[start] != '\0';
}

/* The first row that is not before `name`, or `count`.  *found: it is called `name`.
 *
 * Rows between two that begin alike begin like them, so that what both ends of the search share
 * with the name is not compared again. */
static size_t lower_bound(const void *rows, size_t count, size_t size, const name_parts *name,
                          bool *found)
{
    size_t low = 0, same_low = 0, same_high = 0;

    *found = false;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        size_t same = same_low < same_high ? same_low : same_high;
        int order = compare(row_name(rows, middle, size), name, &same);

        if (order < 0) {
            low = middle + 1;
            same_low = same;
        } else {
            count = middle;
            same_high = same;
            *found |= order == 0;
        }
    }
    return low;
}

const void *row_find_parts(const void *rows, size_t count, size_t size, const name_parts *name)
{
    bool found;
    size_t index = lower_bound(rows, count, size, name, &found);

    return found ? (const char *)rows + index * size : NULL;
}

const void *row_find(const void *rows, size_t count, size_t size, gufo_str name)
{
    name_parts whole = {.parts = {name}, .count = 1};

    return row_find_parts(rows, count, size, &whole);
}

const void *row_find_all_parts(const void *rows, size_t count, size_t size, const name_parts *name,
                               size_t *found)
{
    bool any;
    size_t first = lower_bound(rows, count, size, name, &any), end = first;

    for (size_t same = 0; any && end < count; end++, same = 0)
        if (compare(row_name(rows, end, size), name, &same) != 0)
            break;
    *found = end - first;
    return any ? (const char *)rows + first * size : NULL;
}

const void *row_find_all(const void *rows, size_t count, size_t size, const char *name,
                         size_t *found)
{
    name_parts whole = {.parts = {gufo_str_of(name)}, .count = 1};

    return row_find_all_parts(rows, count, size, &whole, found);
}

size_t pattern_segments(gufo_str name, size_t ends[PATTERN_MAX_SEGMENTS])
{
    size_t count = 0, at = 0;

    while (count < PATTERN_MAX_SEGMENTS && at <= name.len) {
        const char *dot = at < name.len ? memchr(name.data + at, '.', name.len - at) : NULL;

        ends[count] = dot != NULL ? (size_t)(dot - name.data) : name.len;
        at = ends[count++] + 1;
    }
    return count;
}

void name_parts_add(name_parts *name, gufo_str part)
{
    if (name->count < PATTERN_MAX_PARTS)
        name->parts[name->count++] = part;
}

/* Whether a segment is a number as programs print it. */
static bool is_number(gufo_str segment, uint64_t *out)
{
    return str_number(segment, out) && (segment.len == 1 || segment.data[0] != '0');
}

name_parts name_parts_read(gufo_str name, const char *const placeholders[2], number_segment *number)
{
    name_parts out = {.count = 0};
    size_t ends[PATTERN_MAX_SEGMENTS], count = pattern_segments(name, ends);
    size_t text = 0, start = 0, replaced = 0;

    number->found = false;
    for (size_t i = 0; i < count && replaced < 2 && placeholders[replaced] != NULL; i++) {
        uint64_t value;

        if (is_number((gufo_str){name.data + start, ends[i] - start}, &value)) {
            if (!number->found)
                *number = (number_segment){true, value};
            name_parts_add(&out, (gufo_str){name.data + text, start - text});
            name_parts_add(&out, gufo_str_of(placeholders[replaced++]));
            text = ends[i];
        }
        start = ends[i] + 1;
    }
    name_parts_add(&out, (gufo_str){name.data + text, name.len - text});
    return out;
}
