/* The nearest name in a table: edit distance over letters and digits. */
#include "schema/nearest.h"

#include "base/distance.h"
#include "schema/form_parts.h"

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

bool nearest_find(gufo_str text, nearest_name *name, const void *table, size_t count, size_t *index)
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
        steps = text_distance((gufo_str){wanted.text, wanted.len}, (gufo_str){row.text, row.len},
                              limit);
        if (steps < limit) {
            limit = steps;
            *index = i;
            found = true;
        }
    }
    return found;
}
