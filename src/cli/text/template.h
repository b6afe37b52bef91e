/* gufo template: what its files share. */
#ifndef CLI_TEXT_TEMPLATE_H
#define CLI_TEXT_TEMPLATE_H

#include "cli/core/files/input.h"

#include "gufo/template.h"
#include "gufo/vocab.h"

typedef struct template_options {
    command_input base;
    const char *context, *messages, *tools, *name, *now;
    option_texts variables; /* VAR=JSON */
    uint64_t seed;
    bool no_prompt, lint, ids;
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
    gufo_vocab *vocab; /* of the model; NULL: not needed, or it cannot be opened */
} templating;

/* Sets the variables: those of --context, or the ones that transformers sets; then the messages, and what
 * other options give.  Returns the exit code (template_variables.c). */
int template_set_variables(templating *t);
/* Where the messages are: in a file, or standard input, which may be implied; NULL: none are given. */
const char *template_messages_path(const templating *t);

#endif
