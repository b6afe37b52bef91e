/* JSON of a fixed shape, read from front to back: the header of safetensors may describe a million
 * tensors, and a tree of its values would take ten times its bytes.
 *
 * The reader asks for what has to come next.  The first failure stays in `status`; afterwards
 * everything fails. */
#ifndef IMPORT_CONTAINERS_PULL_H
#define IMPORT_CONTAINERS_PULL_H

#include "gufo/base.h"

typedef struct pull {
    char *text; /* strings with escapes are decoded where they are */
    size_t len, at;
    uint64_t base; /* offset of the text in its file, for errors */
    gufo_status status;
    gufo_error *error;
} pull;

/* Fails at a place of the text, unless something failed before; the result is false. */
__attribute__((format(printf, 4, 5))) bool pull_fail(pull *p, gufo_status code, size_t at,
                                                     const char *format, ...);

/* Each takes what comes next, behind white space; false: something else is there, a failure. */
bool pull_mark(pull *p, char mark);
/* A view of the decoded text, which lives as long as `text`. */
bool pull_string(pull *p, gufo_str *out);
/* A whole number that is not negative. */
bool pull_u64(pull *p, uint64_t *out);
/* The name of a member, with the colon. */
bool pull_name(pull *p, gufo_str *out);

/* Steps through the members of an object or the elements of an array, whose first mark was taken:
 *     for (bool first = true; pull_next(p, '}', &first);)
 * False at the end, which is taken, and after a failure. */
bool pull_next(pull *p, char end, bool *first);

/* Whether only white space is left. */
bool pull_end(pull *p);

#endif
