/* What an expression is once it is compiled. */
#ifndef TEXT_COMPILED_H
#define TEXT_COMPILED_H

#include "text/expressions/pcre2_memory.h"
#include "text/expressions/expression.h"
#include "text/characters/unicode.h"

struct expression {
    gufo_allocator allocator;
    bool literal;
    char *text; /* as the file has it */
    size_t len;
    pcre2_general_context *memory;
    pcre2_code *code;
    bool jit;
    bool repeats[256]; /* bytes behind which no match begins if none began at them */
    code_map classes;
};

#endif
