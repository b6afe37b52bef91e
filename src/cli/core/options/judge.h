/* What checks take from the library of chat templates and vocabularies, where it is built in. */
#ifndef CLI_CORE_OPTIONS_JUDGE_H
#define CLI_CORE_OPTIONS_JUDGE_H

#include "gufo/check.h"

/* NULL without it. */
extern gufo_template_judge *const template_judge;
extern gufo_tokenizer_json_reader *const tokenizer_json_reader;

#endif
