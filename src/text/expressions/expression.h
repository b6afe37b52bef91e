/* Regular expressions of tokenizer.json: those of Oniguruma, translated for PCRE2. */
#ifndef TEXT_EXPRESSION_H
#define TEXT_EXPRESSION_H

#include "gufo/base.h"

typedef struct expression expression;

/* `literal`: the pattern is a text.  NULL on failure: GUFO_E_TYPE for what is not known to work as in
 * Oniguruma, by name, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY.  It does not change: any thread may
 * use it. */
expression *expression_new(gufo_str pattern, bool literal, const gufo_allocator *allocator,
                           gufo_error *error);
void expression_free(expression *e); /* NULL is allowed */

/* What one thread needs to match any expression, one after another. */
typedef struct expression_scratch expression_scratch;
expression_scratch *expression_scratch_new(const gufo_allocator *allocator, gufo_error *error);
void expression_scratch_free(expression_scratch *s); /* NULL is allowed */

/* How many steps all parts of a text of so many bytes may take together, and that a text begins which may
 * take so many.  They are bytes that are looked at, about a second's worth for 2 * 10^9 of them; words of
 * ordinary size take none. */
uint64_t expression_steps(size_t len);
void expression_allow(expression_scratch *s, uint64_t steps);

typedef struct expression_match {
    bool found;
    size_t begin, end; /* bytes of the text */
} expression_match;

/* All matches of a text, from left to right:
 *
 *     status = expression_begin(e, s, text, error);
 *     while (status == GUFO_OK && (status = expression_next(e, s, &m, error)) == GUFO_OK && m.found)
 *
 * The text is valid UTF-8, and stays as it is meanwhile.  Matches do not overlap; an empty one directly
 * behind another does not count.  GUFO_E_LIMIT: too many steps; GUFO_E_MEMORY. */
gufo_status expression_begin(const expression *e, expression_scratch *s, gufo_str text,
                             gufo_error *error);
gufo_status expression_next(const expression *e, expression_scratch *s, expression_match *m,
                            gufo_error *error);

#endif
