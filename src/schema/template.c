/* Names of files in tables of templates: see template.h. */
#include "schema/template.h"

#include "base/checked.h"

#include <string.h>

/* The name of row `index`: the pointer that it begins with. */
static const char *row_name(const void *rows, size_t index, size_t size)
{
    const char *name;

    memcpy(&name, (const char *)rows + index * size, sizeof name);
    return name;
}

/* Like strcmp(row, name). */
static int compare(const char *row, const template_name *name)
{
    for (size_t i = 0; i < name->count; i++)
        for (size_t j = 0; j < name->parts[i].len; j++, row++) {
            int difference = (unsigned char)*row - (unsigned char)name->parts[i].data[j];

            /* The name may have NUL bytes, on which a row has nothing to compare. */
            if (difference != 0 || *row == '\0')
                return difference != 0 ? difference : -1;
        }
    return *row != '\0';
}

/* The first row that is not before `name`, or `count`. */
static size_t lower_bound(const void *rows, size_t count, size_t size, const template_name *name)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (compare(row_name(rows, middle, size), name) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

const void *template_find(const void *rows, size_t count, size_t size, const template_name *name)
{
    size_t index = lower_bound(rows, count, size, name);

    if (index == count || compare(row_name(rows, index, size), name) != 0)
        return NULL;
    return (const char *)rows + index * size;
}

const void *template_find_text(const void *rows, size_t count, size_t size, gufo_str name)
{
    template_name whole = {.parts = {name}, .count = 1};

    return template_find(rows, count, size, &whole);
}

const void *template_find_all(const void *rows, size_t count, size_t size, const char *name,
                              size_t *found)
{
    template_name whole = {.parts = {gufo_str_of(name)}, .count = 1};
    size_t first = lower_bound(rows, count, size, &whole), end = first;

    while (end < count && compare(row_name(rows, end, size), &whole) == 0)
        end++;
    *found = end - first;
    return *found > 0 ? (const char *)rows + first * size : NULL;
}

size_t template_segments(gufo_str name, size_t ends[TEMPLATE_MAX_SEGMENTS])
{
    size_t count = 0, at = 0;

    while (count < TEMPLATE_MAX_SEGMENTS && at <= name.len) {
        const char *dot = at < name.len ? memchr(name.data + at, '.', name.len - at) : NULL;

        ends[count] = dot != NULL ? (size_t)(dot - name.data) : name.len;
        at = ends[count++] + 1;
    }
    return count;
}

void template_append(template_name *name, gufo_str part)
{
    if (name->count < TEMPLATE_MAX_PARTS)
        name->parts[name->count++] = part;
}

/* Whether a segment is a number as programs print it. */
static bool is_number(gufo_str segment, uint64_t *out)
{
    uint64_t value = 0;

    if (segment.len == 0 || (segment.len > 1 && segment.data[0] == '0'))
        return false;
    for (size_t i = 0; i < segment.len; i++) {
        if (segment.data[i] < '0' || segment.data[i] > '9' || !checked_mul(value, 10, &value) ||
            !checked_add(value, (uint64_t)(segment.data[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

template_name template_numbers(gufo_str name, const char *const placeholders[2],
                               template_number *number)
{
    template_name out = {.count = 0};
    size_t ends[TEMPLATE_MAX_SEGMENTS], count = template_segments(name, ends);
    size_t text = 0, start = 0, replaced = 0;

    number->found = false;
    for (size_t i = 0; i < count && replaced < 2 && placeholders[replaced] != NULL; i++) {
        uint64_t value;

        if (is_number((gufo_str){name.data + start, ends[i] - start}, &value)) {
            if (!number->found)
                *number = (template_number){true, value};
            template_append(&out, (gufo_str){name.data + text, start - text});
            template_append(&out, gufo_str_of(placeholders[replaced++]));
            text = ends[i];
        }
        start = ends[i] + 1;
    }
    template_append(&out, (gufo_str){name.data + text, name.len - text});
    return out;
}
