/* Regular expressions of tokenizer.json: those of Oniguruma, translated for PCRE2. */
#ifndef TEXT_PIPELINE_EXPRESSION_H
#define TEXT_PIPELINE_EXPRESSION_H

#include "gufo/base.h"

typedef struct expression expression;

/* `literal`: the pattern is a text.  NULL on failure: GUFO_E_TYPE for what PCRE2 cannot do as Oniguruma
 * does, by name, GUFO_E_MALFORMED, GUFO_E_MEMORY.  It does not change: any thread may use it. */
expression *expression_new(gufo_str pattern, bool literal, const gufo_allocator *allocator,
                           gufo_error *error);
void expression_free(expression *e); /* NULL is allowed */

/* What one thread needs to match any expression. */
typedef struct expression_scratch expression_scratch;
expression_scratch *expression_scratch_new(const gufo_allocator *allocator, gufo_error *error);
void expression_scratch_free(expression_scratch *s); /* NULL is allowed */

typedef struct expression_match {
    bool found;
    size_t begin, end;
} expression_match;

/* The next match in a text, valid UTF-8, from `at` on.  `m` holds the one before, or {0}: an empty match
 * directly behind it does not count.  GUFO_E_LIMIT: too much backtracking. */
gufo_status expression_next(const expression *e, expression_scratch *s, gufo_str text, size_t at,
                            expression_match *m, gufo_error *error);

#endif
