/* Sets of code points as lists of ranges, and the properties of Unicode by name.
 *
 * Two tables: rows of ranges for what is not made of others (Lu, Han, "punctuation" of Unicode 8), and
 * formulas for the rest:
 *
 *     alphabetic    l Nl Other_Alphabetic        all of them together
 *     assigned      Any -cn                      those of "cn" taken away */
#include "text/pipeline/unicode/code_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const struct {
    char set[24];
    uint32_t first, last;
} rows[] = {
#define ROW(set, first, last) {set, first, last},
#include "registry/character_ranges.inc"
#undef ROW
};

static const struct {
    const char *name, *sets;
} properties[] = {
#define ROW(name, sets) {name, sets},
#include "registry/character_properties.inc"
#undef ROW
};

#define ROW_COUNT (sizeof rows / sizeof *rows)
#define PROPERTY_COUNT (sizeof properties / sizeof *properties)

enum { LONGEST_NAME = 48 };

void code_ranges_free(code_ranges *r)
{
    mem_free(r->allocator, r->list);
    r->list = NULL;
    r->count = r->room = 0;
}

bool code_ranges_add(code_ranges *r, uint32_t first, uint32_t last)
{
    code_range *list = mem_grow(r->allocator, r->list, r->count, &r->room, sizeof *list);

    if (list == NULL)
        return false;
    r->list = list;
    list[r->count++] = (code_range){first, last};
    return true;
}

bool code_ranges_join(code_ranges *r, const code_ranges *other)
{
    for (uint64_t i = 0; i < other->count; i++)
        if (!code_ranges_add(r, other->list[i].first, other->list[i].last))
            return false;
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const code_range *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

void code_ranges_sort(code_ranges *r)
{
    uint64_t kept = 0;

    if (r->count == 0)
        return;
    qsort(r->list, (size_t)r->count, sizeof *r->list, compare_ranges);
    for (uint64_t i = 1; i < r->count; i++) {
        code_range *last = &r->list[kept];

        if (r->list[i].first > last->last + 1)
            r->list[++kept] = r->list[i];
        else if (r->list[i].last > last->last)
            last->last = r->list[i].last;
    }
    r->count = kept + 1;
}

bool code_ranges_invert(code_ranges *r)
{
    code_ranges others = {.allocator = r->allocator};
    uint32_t next = 0;
    bool done = true;

    for (uint64_t i = 0; i < r->count && done; i++) {
        if (r->list[i].first > next)
            done = code_ranges_add(&others, next, r->list[i].first - 1);
        next = r->list[i].last + 1;
    }
    if (done && next <= LAST_CODE_POINT)
        done = code_ranges_add(&others, next, LAST_CODE_POINT);
    if (!done) {
        code_ranges_free(&others);
        return false;
    }
    code_ranges_free(r);
    *r = others;
    return true;
}

bool code_ranges_intersect(code_ranges *r, const code_ranges *other)
{
    code_ranges both = {.allocator = r->allocator};
    bool done = true;

    for (uint64_t i = 0, j = 0; i < r->count && j < other->count && done;) {
        code_range a = r->list[i], b = other->list[j];
        uint32_t first = a.first > b.first ? a.first : b.first;
        uint32_t last = a.last < b.last ? a.last : b.last;

        if (first <= last)
            done = code_ranges_add(&both, first, last);
        if (a.last < b.last)
            i++;
        else
            j++;
    }
    if (!done) {
        code_ranges_free(&both);
        return false;
    }
    code_ranges_free(r);
    *r = both;
    return true;
}

bool code_ranges_has(const code_ranges *r, uint32_t code_point)
{
    uint64_t low = 0, high = r->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (r->list[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->list[low].first <= code_point;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* The number of a property; PROPERTY_COUNT: none. */
static size_t find_property(gufo_str name, property_match how)
{
    char spelt[LONGEST_NAME + 1];
    size_t len = 0, i = 0;

    for (size_t at = 0; at < name.len; at++) {
        if (how == PROPERTY_OF_FILE && memchr(" _-", name.data[at], 3) != NULL)
            continue;
        if (len == LONGEST_NAME || name.data[at] == '\0')
            return PROPERTY_COUNT;
        spelt[len++] = how == PROPERTY_OF_FILE ? to_lower(name.data[at]) : name.data[at];
    }
    spelt[len] = '\0';
    while (i < PROPERTY_COUNT && strcmp(properties[i].name, spelt) != 0)
        i++;
    return i;
}

bool code_ranges_knows(gufo_str name, property_match how)
{
    return find_property(name, how) < PROPERTY_COUNT;
}

/* The first row of a set, ROW_COUNT: none.  Rows are in the order of bytes. */
static size_t find_rows(gufo_str set)
{
    size_t low = 0, high = ROW_COUNT;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strncmp(rows[middle].set, set.data, set.len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ROW_COUNT && gufo_str_equal(gufo_str_of(rows[low].set), set) ? low : ROW_COUNT;
}

static bool add_part(code_ranges *r, gufo_str part)
{
    size_t row = find_rows(part);
    const char *set = row < ROW_COUNT ? rows[row].set : "";

    if (row == ROW_COUNT)
        return code_ranges_add_property(r, part, PROPERTY_EXACT);
    for (; row < ROW_COUNT && strcmp(rows[row].set, set) == 0; row++)
        if (!code_ranges_add(r, rows[row].first, rows[row].last))
            return false;
    return true;
}

static bool take_away(code_ranges *r, gufo_str part)
{
    code_ranges others = {.allocator = r->allocator};
    bool done = add_part(&others, part);

    if (done) {
        code_ranges_sort(&others);
        code_ranges_sort(r);
        done = code_ranges_invert(&others) && code_ranges_intersect(r, &others);
    }
    code_ranges_free(&others);
    return done;
}

/* Formulas are our own: none names itself. */
bool code_ranges_add_property(code_ranges *r, gufo_str name, property_match how)
{
    size_t number = find_property(name, how);
    code_ranges made = {.allocator = r->allocator};
    const char *at = number < PROPERTY_COUNT ? properties[number].sets : NULL;
    bool done;

    if (at == NULL)
        return how == PROPERTY_EXACT && find_rows(name) < ROW_COUNT && add_part(r, name);
    for (done = true; *at != '\0' && done;) {
        gufo_str part = str_piece(&at, ' ');

        done = part.len > 1 && *part.data == '-' ? take_away(&made, str_from(part, 1))
                                                 : add_part(&made, part);
    }
    done = done && code_ranges_join(r, &made);
    code_ranges_sort(r);
    code_ranges_free(&made);
    return done;
}
