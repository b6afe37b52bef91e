/* What this gufo was built with, for gufo --version. */
#ifndef CLI_CORE_OPTIONS_BUILT_IN_H
#define CLI_CORE_OPTIONS_BUILT_IN_H

#include "gufo/check.h"

#include <stdio.h>

/* "with: xxHash 0.8.1, ...", and "without: ..." if a library is missing: a line each. */
void built_in_print(FILE *out);

/* What checks take from the library of chat templates and vocabularies; NULL without it. */
extern gufo_template_judge_fn *const template_judge;
extern gufo_tokenizer_json_fn *const tokenizer_json_reader;

#endif
