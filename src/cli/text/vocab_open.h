/* Opening the vocabulary of a model for a command. */
#ifndef CLI_TEXT_VOCAB_OPEN_H
#define CLI_TEXT_VOCAB_OPEN_H

#include "gufo/vocab.h"

/* Reads the vocabulary of the model at `path`, and reports what is assumed about it.  Returns the exit
 * code. */
int vocab_open(const char *path, const gufo_vocab_options *options, gufo_vocab **vocab);

#endif
