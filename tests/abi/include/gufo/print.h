/* Values as text and back, for programs that show them: shortest decimals, grouped digits,
 * UTF-8 one character at a time, names that are alike.  Independent of the locale; any thread.
 *
 *     char text[GUFO_NUMBER_SIZE];
 *     gufo_number_f32(text, 0.1f);
 *     puts(text); */
#ifndef GUFO_PRINT_H
#define GUFO_PRINT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers --------------------------------------------------------------------------------- */

/* Enough for every number below and its terminator. */
#define GUFO_NUMBER_SIZE 32

/* Write `value` into `out` (GUFO_NUMBER_SIZE bytes) and return the length without the terminator.
 *
 * Floats: the fewest digits that read back to the same value in their own width, and of those the
 * closest one; "nan", "inf" and "-inf" have no digits.  Decimal exponents from -5 to 15
 * are written out (0.00001, 1000000000000000), all others as 1.5e-7.  Whole numbers have no ".0",
 * but negative zero is "-0.0", so that its sign survives readers that see an integer. */
GUFO_API size_t gufo_number_f32(char *out, float value);
GUFO_API size_t gufo_number_f64(char *out, double value);
GUFO_API size_t gufo_number_u64(char *out, uint64_t value);
GUFO_API size_t gufo_number_i64(char *out, int64_t value);

/* Reads the digits at *text and moves past them.  False without digits, or with too many. */
GUFO_API bool gufo_number_read(const char **text, uint64_t *out);

enum { GUFO_GROUPED_SIZE = 27 };
/* Writes a number whose digits are in groups of three, for people, into `out` and returns it:
 * 1,235,814,400. */
GUFO_API const char *gufo_number_grouped(char out[GUFO_GROUPED_SIZE], uint64_t value);

/* Writes a number with so many decimals, at most nine, rounded as printf does, with a point in every
 * locale: 4.68. */
GUFO_API size_t gufo_number_fixed(char *out, double value, unsigned decimals);
/* Numbers for people, with a unit.  All are written into `out` (GUFO_NUMBER_SIZE bytes) and returned.
 *   count      three digits of thousands, millions and so on; below 1000 the number: 8.03 B
 *   size       three digits in powers of 1000, as the sizes of files are shown: 808 MB
 *   memory     one decimal in powers of 1024: 770.3 MiB */
GUFO_API const char *gufo_number_count(char out[GUFO_NUMBER_SIZE], uint64_t value);
GUFO_API const char *gufo_number_size(char out[GUFO_NUMBER_SIZE], uint64_t bytes);
GUFO_API const char *gufo_number_memory(char out[GUFO_NUMBER_SIZE], uint64_t bytes);

/* ---- UTF-8 (RFC 3629) ------------------------------------------------------------------------ */

/* Decodes the code point at the start of `text` (not empty): its length in bytes, or 0 if the bytes
 * are not valid UTF-8. */
GUFO_API size_t gufo_utf8_decode(gufo_str text, uint32_t *code_point);
/* Encodes a code point up to 10FFFF, surrogates, too; returns its length in bytes. */
GUFO_API size_t gufo_utf8_encode(uint32_t code_point, char out[4]);
/* Whether a terminal would act on this code point instead of showing it: C0, DEL, C1, bidirectional
 * controls, line and paragraph separators. */
GUFO_API bool gufo_utf8_is_control(uint32_t code_point);
/* Whether people would not see the character at the start of `text` (not empty): a control, a byte that is not UTF-8,
 * or one that takes no place, such as a byte order mark, a zero-width space, a soft hyphen or a tag, by which two
 * names look the same.  What scripts and emoji need is not hidden: a joiner (U+200C, U+200D) before a character that
 * is not ASCII, and a variation selector that no other one follows.  This is for what people read; texts that programs
 * read, such as JSON and lists of hashes, escape controls alone. */
GUFO_API bool gufo_utf8_is_hidden(gufo_str text);
enum { GUFO_SHOWN_SIZE = 16 };
/* Writes what people are shown of the character at the start of `text` (not empty) into `out`, without a
 * terminator: \n, \r, \t, \u{1b} or \u{feff} for one that is hidden, \xff for a byte that is not
 * UTF-8, else the character.  Returns the length; *taken is that in `text`. */
GUFO_API size_t gufo_utf8_show(gufo_str text, char out[GUFO_SHOWN_SIZE], size_t *taken);

/* ---- names ------------------------------------------------------------------------------------ */

/* How alike two names are, for "did you mean": the number of edits between two texts (a byte more,
 * less or other, two neighbours exchanged), or more than `limit` if it is more than that.  Texts
 * longer than 128 bytes are never near. */
GUFO_API size_t gufo_text_distance(gufo_str a, gufo_str b, size_t limit);

/* The name of row `index` of a table; a row with an empty name is never found. */
typedef gufo_str gufo_text_row_fn(const void *table, size_t index);

/* Stores the row of a table whose name is nearest to `text`, the first of several, and returns true;
 * false if none is near enough to be what was meant.  Only letters and digits count, without case, so that
 * "apache2" is one step from "Apache-2.0".  A step is a letter that is missing, superfluous,
 * another one, or changed places with its neighbour; one is allowed for each four of `text`, at
 * most four.  Whatever the length of `text`, the work is bounded by the table. */
GUFO_API bool gufo_text_nearest(gufo_str text, gufo_text_row_fn *name, const void *table,
                                size_t count, size_t *index);

#ifdef __cplusplus
}
#endif

#endif
