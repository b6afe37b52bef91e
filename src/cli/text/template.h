/* The parts of gufo template. */
#ifndef CLI_TEXT_TEMPLATE_H
#define CLI_TEXT_TEMPLATE_H

#include "cli/core/input.h"

#include "gufo/template.h"

typedef struct template_options {
    command_input base;
    const char *context, *messages, *tools, *name, *now;
    option_texts variables; /* VAR=JSON */
    uint64_t seed;
    bool no_prompt, lint;
} template_options;

typedef struct templating {
    const template_options *options;
    const char *path;
    gufo_model *model; /* NULL: FILE is the template */
    gufo_str file;     /* the bytes of FILE then */
    gufo_str source;
    int64_t now;
    gufo_template *parsed;
    gufo_template_values *values;
    gufo_text out;
} templating;

/* Finds the template in FILE.  Returns the exit code. */
int template_find(templating *t);
void template_close(templating *t);

/* Sets the variables: those of --context, or the ones that transformers sets; then what other
 * options give. */
int template_set_variables(templating *t);

/* Prints what is wrong with the template: CODE_NO if anything is. */
int template_lint(templating *t);

#endif
