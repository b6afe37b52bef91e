/* JSON of a known shape (RFC 8259), read from front to back: the header of safetensors may describe a
 * million tensors, a tokenizer.json has half a million merges, and a tree of their values would take ten
 * times their bytes.
 *
 * The reader asks for what has to come next.  The first failure stays in `status`; afterwards
 * everything fails. */
#ifndef GUFO_BASE_PULL_H
#define GUFO_BASE_PULL_H

#include "gufo/base.h"

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
