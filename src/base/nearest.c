/* How alike two names are, and the name in a table that is nearest to another one. */
#include "gufo/print.h"

#include "base/checked.h"

/* ---- two names ------------------------------------------------------------------------------ */

#define MOST_COMPARED 128

static size_t fewest(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Levenshtein's distance with the exchange of two neighbours as one edit.
 * Only the last three rows of its table are kept. */
size_t gufo_text_distance(gufo_str a, gufo_str b, size_t limit)
{
    size_t table[3][MOST_COMPARED + 1];
    size_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;

    if (gap > limit || a.len > MOST_COMPARED || b.len > MOST_COMPARED)
        return limit < SIZE_MAX ? limit + 1 : SIZE_MAX;
    for (size_t j = 0; j <= b.len; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = table[i % 3], *above = table[(i + 2) % 3], *before = table[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            row[j] = fewest(above[j - 1] + (a.data[i - 1] != b.data[j - 1]),
                            fewest(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                row[j] = fewest(row[j], before[j - 2] + 1);
        }
    }
    return table[a.len % 3][b.len];
}

/* ---- the nearest name in a table: edit distance over letters and digits ----------------------------- */

/* Most rows are far from what is looked for, and that shows without comparing them letter by
 * letter. One bit for each letter that a name has, and one for each that it has more than once: a
 * step takes away one of these bits at most, and adds one at most.
 *
 *     context    c e n o t x    twice: t
 *     vocab      a b c o v              e n t x and the second t are missing: five steps at least */

/* Longer names are not compared: typing errors in them are unlikely, and the work stays small. */
enum { LONGEST = 64, LONGEST_TEXT = 2 * LONGEST, MOST_STEPS = 4, LETTERS_PER_STEP = 4 };

typedef struct letters {
    char text[LONGEST_TEXT];
    size_t len;
    uint64_t once, twice; /* bits of the letters that occur once, and twice */
} letters;

/* The place of a letter or digit among 36, from 1, whatever its case; 0 for other bytes.  A table,
 * as each byte of each row is looked up. */
static const uint8_t places[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['G'] = 17, ['H'] = 18, ['I'] = 19, ['J'] = 20, ['K'] = 21, ['L'] = 22, ['M'] = 23, ['N'] = 24,
    ['O'] = 25, ['P'] = 26, ['Q'] = 27, ['R'] = 28, ['S'] = 29, ['T'] = 30, ['U'] = 31, ['V'] = 32,
    ['W'] = 33, ['X'] = 34, ['Y'] = 35, ['Z'] = 36, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14,
    ['e'] = 15, ['f'] = 16, ['g'] = 17, ['h'] = 18, ['i'] = 19, ['j'] = 20, ['k'] = 21, ['l'] = 22,
    ['m'] = 23, ['n'] = 24, ['o'] = 25, ['p'] = 26, ['q'] = 27, ['r'] = 28, ['s'] = 29, ['t'] = 30,
    ['u'] = 31, ['v'] = 32, ['w'] = 33, ['x'] = 34, ['y'] = 35, ['z'] = 36,
};

/* Letters and digits without case; false if none exist, or more than `most`.  Other bytes are
 * written too, and overwritten: this is done for each byte of each row, and goes without
 * branches. */
static bool keep_letters(gufo_str text, size_t most, letters *out)
{
    uint64_t once = 0, twice = 0;
    size_t len = 0;

    if (text.len > LONGEST_TEXT)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t place = places[(unsigned char)text.data[i]];
        uint64_t bit = UINT64_C(1) << place;

        out->text[len] = (char)place;
        len += (place + 63u) / 64;
        twice |= once & bit;
        once |= bit;
    }
    out->len = len;
    out->once = once & ~UINT64_C(1);
    out->twice = twice & ~UINT64_C(1);
    return len > 0 && len <= most;
}

/* Whether `a` has so many letters that `b` lacks that it takes `limit` steps or more. */
static bool lacks(const letters *a, const letters *b, size_t limit)
{
    return (size_t)__builtin_popcountll(a->once & ~b->once) +
               (size_t)__builtin_popcountll(a->twice & ~b->twice) >=
           limit;
}

bool gufo_text_nearest(gufo_str text, gufo_text_row_fn *name, const void *table, size_t count,
                       size_t *index)
{
    letters wanted, row;
    size_t limit;
    bool found = false;

    if (!keep_letters(text, LONGEST, &wanted))
        return false;
    limit = (size_t)smaller(wanted.len / LETTERS_PER_STEP, MOST_STEPS) + 1; /* must be below */
    for (size_t i = 0; i < count && limit > 0; i++) {
        gufo_str other = name(table, i);
        size_t steps;

        /* Each letter more, or less, is a step. */
        if (other.len + limit <= wanted.len ||
            !keep_letters(other, (size_t)smaller(wanted.len + limit - 1, LONGEST), &row) ||
            row.len + limit <= wanted.len || lacks(&wanted, &row, limit) ||
            lacks(&row, &wanted, limit))
            continue;
        steps = gufo_text_distance((gufo_str){wanted.text, wanted.len},
                                   (gufo_str){row.text, row.len}, limit);
        if (steps < limit) {
            limit = steps;
            *index = i;
            found = true;
        }
    }
    return found;
}
