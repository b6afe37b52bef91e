/* The judge of chat templates, and the reader of tokenizer.json. */
#include "cli/core/options/judge.h"

#ifdef GUFO_HAS_TEXT

#include "gufo/template.h"
#include "gufo/vocab.h"

gufo_template_judge *const template_judge = gufo_template_lint;
gufo_tokenizer_json_reader *const tokenizer_json_reader = gufo_tokenizer_json_tokens;

#else

gufo_template_judge *const template_judge = NULL;
gufo_tokenizer_json_reader *const tokenizer_json_reader = NULL;

#endif
