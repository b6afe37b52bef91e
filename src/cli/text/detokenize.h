/* gufo detokenize, in several files. */
#ifndef CLI_TEXT_DETOKENIZE_H
#define CLI_TEXT_DETOKENIZE_H

#include "cli/core/options/options.h"
#include "cli/text/tokenize_write.h"

typedef struct detokenize_options {
    command_input base;
    const char *file;   /* of the ids; NULL: standard input */
    unsigned tokenizer; /* a gufo_tokenizer_kind */
    uint32_t flags;     /* of gufo_detokenize_flags */
    bool pieces, batch;
} detokenize_options;

typedef struct detokenization {
    const detokenize_options *options;
    const char *path; /* of the model */
    gufo_vocab *vocab;
    uint32_t size; /* of the vocabulary */
    gufo_detokenizer *detokenizer;
    gufo_text text; /* JSON: all of it; else what is not written yet */
    token_writer writer;
} detokenization;

/* Answers each line, a JSON array of ids, with its text (detokenize_batch.c).  Returns the exit
 * code. */
int detokenize_batch(detokenization *d);

#endif
