/* The parts of gufo template. */
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

/* Finds the template in FILE.  Returns the exit code. */
int template_find(templating *t);
void template_close(templating *t);

/* Sets the variables: those of --context, or the ones that transformers sets; then what other
 * options give. */
int template_set_variables(templating *t);

/* Sets a variable, or with NULL one for each member of an object, to JSON that came `from` somewhere. */
int template_set(templating *t, const char *name, gufo_str json, const char *from);
/* Reads a file of JSON; the caller frees it with small_file_free. */
int template_read_json(const char *path, gufo_str *json);

/* Sets the messages, and what else is in their file. */
int template_set_messages(templating *t);
/* Where the messages are: in a file, or standard input, which may be implied; NULL: none are given. */
const char *template_messages_path(const templating *t);

/* Prints the ids of the prompt. */
int template_write_ids(templating *t);

/* Prints what is wrong with the template: CODE_NO if anything is. */
int template_lint(templating *t);

#endif
