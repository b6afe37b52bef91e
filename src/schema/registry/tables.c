/* Names that people write, and the rows that they mean. */
#include "gufo/schema.h"
#include "schema/registry/tables.h"

#include "base/checked.h"
#include "base/text.h"

/* The nearest name in a table: edit distance over letters and digits.
 *
 * Most rows are far from what is looked for, and that shows without comparing them letter by
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

bool nearest_find(gufo_str text, nearest_name *name, const void *table, size_t count, size_t *index)
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

/* ---- the prefixes of the format's own names ----------------------------------------------------- */

static const struct {
    const char *prefix;
    own_name_kind kind;
} prefixes[] = {
    {"GGML_TYPE_", OWN_ELEMENT_TYPE},
    {"LLAMA_FTYPE_MOSTLY_", OWN_FILE_TYPE},
    {"LLAMA_FTYPE_ALL_", OWN_FILE_TYPE},
    {"GGML_FTYPE_MOSTLY_", OWN_FILE_TYPE},
    {"GGML_FTYPE_ALL_", OWN_FILE_TYPE},
    {"MOSTLY_", OWN_FILE_TYPE},
    {"ALL_", OWN_FILE_TYPE},
    {"GGUF_METADATA_VALUE_TYPE_", OWN_VALUE_TYPE},
    {"GGUF_TYPE_", OWN_VALUE_TYPE},
};

gufo_str own_name_bare(own_name_kind kind, gufo_str name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (prefixes[i].kind == kind && str_begins_folded(name, prefixes[i].prefix))
            return str_from(name, strlen(prefixes[i].prefix));
    return name;
}

/* The next letter or digit, in upper case, and past the marks before it; '\0' at the end. */
static char next_letter(gufo_str *text)
{
    while (text->len > 0 && (*text->data == '_' || *text->data == '-'))
        *text = str_from(*text, 1);
    if (text->len == 0)
        return '\0';
    *text = str_from(*text, 1);
    return to_upper(text->data[-1]);
}

bool own_name_is(own_name_kind kind, gufo_str given, const char *name)
{
    gufo_str a = own_name_bare(kind, given), b = gufo_str_of(name);
    char letter;

    do {
        letter = next_letter(&a);
        if (letter != next_letter(&b))
            return false;
    } while (letter != '\0');
    return true;
}

const gufo_element_type *gufo_element_type_meant(gufo_str name)
{
    const gufo_element_type *type;

    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++)
        if (own_name_is(OWN_ELEMENT_TYPE, name, type->name))
            break;
    return type;
}
