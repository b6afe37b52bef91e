/* JSON (RFC 8259): what all readers and writers of it share, and a reader of a known shape.
 *
 * That one goes from front to back: the header of safetensors may describe a
 * million tensors, a tokenizer.json has half a million merges, and a tree of their values would take ten
 * times their bytes.
 *
 * The reader asks for what has to come next.  The first failure stays in `status`; afterwards
 * everything fails. */
#ifndef GUFO_BASE_PULL_H
#define GUFO_BASE_PULL_H

#include "gufo/base.h"

/* ---- parts of a text ------------------------------------------------------------------------ */

typedef enum json_escape_form {
    JSON_ESCAPE,
    JSON_ESCAPE_UNKNOWN, /* a letter that JSON does not have; the text may end instead */
    JSON_ESCAPE_DIGITS,  /* \u without four digits */
    JSON_ESCAPE_HALF     /* half of a surrogate pair */
} json_escape_form;

/* Reads the escape whose backslash is at *at and moves behind it; of two surrogates the character that they mean, which
 * in UTF-8 is never longer.  After a failure *at is where another byte is needed. */
json_escape_form json_escape_read(gufo_str text, size_t *at, uint32_t *code_point);

enum { JSON_ESCAPE_SIZE = 12 };
/* Writes a character as an escape: a letter where there is one, else \uXXXX, or a pair of them.  Returns its length. */
size_t json_escape_put(uint32_t code_point, char out[JSON_ESCAPE_SIZE]);

typedef enum json_number_form {
    JSON_NUMBER_WHOLE,
    JSON_NUMBER_REAL,        /* with a fraction or an exponent */
    JSON_NUMBER_NONE,        /* no digit is there */
    JSON_NUMBER_NO_FRACTION, /* no digit follows the point */
    JSON_NUMBER_NO_EXPONENT
} json_number_form;

/* Moves *at behind the number that is there, or to where a digit is needed.  0 is a number of its own, whatever
 * follows. */
json_number_form json_number_skip(gufo_str text, size_t *at);

/* ---- a reader from front to back ------------------------------------------------------------ */

/* Objects and arrays inside one another. */
enum { PULL_MAX_DEPTH = 128 };

typedef struct pull {
    const char *text;
    size_t len, at;
    /* Where strings with escapes are decoded: room for as many bytes as the text, or the text itself, whose strings are
     * then decoded where they are. */
    char *decoded;
    size_t decoded_len;
    uint64_t base; /* offset of the text in its file, for errors */
    gufo_status status;
    gufo_error *error;
} pull;

/* Fails at a place of the text, unless something failed before; the result is false. */
__attribute__((format(printf, 4, 5))) bool pull_fail(pull *p, gufo_status code, size_t at,
                                                     const char *format, ...);
/* Fails: out of memory. */
bool pull_fail_memory(pull *p);

/* What comes next, behind white space, which is taken: the first byte of a value or a mark, '0' for
 * that of any number; '\0' at the end and after a failure. */
char pull_peek(pull *p);

/* Each takes what comes next, behind white space; false: something else is there, a failure. */
bool pull_mark(pull *p, char mark);
/* A view of the text or, of a string with escapes, of `decoded`.  It may hold any character, U+0000 as well;
 * halves of surrogate pairs are failures. */
bool pull_string(pull *p, gufo_str *out);
/* A whole number that is not negative. */
bool pull_u64(pull *p, uint64_t *out);
/* A number, rounded once, to the nearest; too large: GUFO_E_RANGE. */
bool pull_real(pull *p, double *out);
/* The number as it is written. */
bool pull_number(pull *p, gufo_str *out);
bool pull_bool(pull *p, bool *out);
bool pull_null(pull *p);
/* The name of a member, with the colon. */
bool pull_name(pull *p, gufo_str *out);
/* A value of any kind, which is checked and left as it is; `out`, which may be NULL, is a view. */
bool pull_skip(pull *p, gufo_str *out);

/* Steps through the members of an object or the elements of an array, whose first mark was taken:
 *     for (bool first = true; pull_next(p, '}', &first);)
 * False at the end, which is taken, and after a failure. */
bool pull_next(pull *p, char end, bool *first);

/* Whether only white space is left. */
bool pull_end(pull *p);

#endif
