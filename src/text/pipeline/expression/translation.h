/* An expression of Oniguruma, written in the syntax of PCRE2. */
#ifndef TEXT_PIPELINE_TRANSLATION_H
#define TEXT_PIPELINE_TRANSLATION_H

#include "base/buffer.h"
#include "text/pipeline/unicode/code_ranges.h"

enum { SET_MARK = 0xFF, MOST_SETS = 255 };

/* Characters are sets, too, unless they are ASCII (then \xHH): set n is the bytes SET_MARK, n. */
typedef struct translation {
    const gufo_allocator *allocator;
    buffer text; /* not terminated */
    code_ranges sets[MOST_SETS];
    unsigned set_count;
} translation;

void translation_free(translation *t);

/* *t is {.allocator}, and is to be freed whatever is returned.  GUFO_E_TYPE for what it does not know, by
 * name, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status translate_expression(translation *t, gufo_str expression, gufo_error *error);

#endif
