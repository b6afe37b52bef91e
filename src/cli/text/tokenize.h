/* gufo tokenize, in several files. */
#ifndef CLI_TEXT_TOKENIZE_H
#define CLI_TEXT_TOKENIZE_H

#include "cli/core/options/options.h"
#include "cli/text/tokenize_write.h"

typedef struct tokenize_options {
    command_input base;
    const char *file; /* of the text; NULL: standard input */
    const char *pre;
    unsigned tokenizer; /* a gufo_tokenizer_kind */
    bool no_bos, no_special, llama, original;
    bool ids, pieces, count, explain, batch;
} tokenize_options;

typedef struct tokenization {
    const tokenize_options *options;
    const char *path; /* of the model */
    token_form form;
    gufo_vocab *vocab;
    gufo_run run;
    gufo_tokenizer *tokenizer;
    bool adds_special; /* BOS, EOS and SEP, as the vocabulary's flags say */
    gufo_ids ids;
    token_writer writer;
} tokenization;

/* Answers each line of JSON with a line of ids (tokenize_batch.c).  Returns the exit code. */
int tokenize_batch(tokenization *t);

#endif
