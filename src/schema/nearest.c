/* The nearest name in a table: edit distance over letters and digits (Damerau's steps, in the form
 * that looks at each pair of letters once). */
#include "schema/nearest.h"

#include "schema/form_parts.h"

#include <string.h>

/* Longer names are not compared: nobody mistypes them, and the work stays small. */
enum { LONGEST = 64, MOST_STEPS = 4, LETTERS_PER_STEP = 4 };

typedef struct letters {
    char text[LONGEST];
    size_t len;
} letters;

/* Letters and digits in lower case; false if there are none, or more than `most`. */
static bool keep_letters(gufo_str text, size_t most, letters *out)
{
    out->len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_letter(text.data[i]) && !is_digit(text.data[i]))
            continue;
        if (out->len == most)
            return false;
        out->text[out->len++] = to_lower(text.data[i]);
    }
    return out->len > 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One row of the usual table of distances: from the first `i` letters of `a` to each beginning of
 * `b`.  `before` and `last` are the rows of i - 2 and i - 1. */
static void fill_row(const letters *a, const letters *b, size_t i, const size_t *before,
                     const size_t *last, size_t *row)
{
    row[0] = i;
    for (size_t j = 1; j <= b->len; j++) {
        bool same = a->text[i - 1] == b->text[j - 1];

        row[j] = smaller(last[j - 1] + !same, smaller(last[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && a->text[i - 1] == b->text[j - 2] && a->text[i - 2] == b->text[j - 1])
            row[j] = smaller(row[j], before[j - 2] + 1);
    }
}

static size_t distance(const letters *a, const letters *b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b->len; j++)
        before[j] = last[j] = j; /* `before` is not looked at in the first turn */
    for (size_t i = 1; i <= a->len; i++) {
        size_t *oldest = before;

        fill_row(a, b, i, before, last, row);
        before = last;
        last = row;
        row = oldest;
    }
    return last[b->len];
}

bool gufo_nearest(gufo_str text, gufo_nearest_name *name, const void *table, size_t count,
                  size_t *index)
{
    letters wanted, row;
    size_t limit;
    bool found = false;

    if (text.len > 2 * LONGEST || !keep_letters(text, LONGEST, &wanted))
        return false;
    limit = smaller(wanted.len / LETTERS_PER_STEP, MOST_STEPS) + 1; /* must be below */
    for (size_t i = 0; i < count && limit > 0; i++) {
        gufo_str other = name(table, i);
        size_t steps;

        /* Each letter more, or less, is a step. */
        if (other.len + limit <= wanted.len ||
            !keep_letters(other, smaller(wanted.len + limit - 1, LONGEST), &row) ||
            row.len + limit <= wanted.len)
            continue;
        steps = distance(&wanted, &row);
        if (steps < limit) {
            limit = steps;
            *index = i;
            found = true;
        }
    }
    return found;
}
