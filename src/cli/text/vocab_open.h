/* Opening the vocabulary of a model for a command. */
#ifndef CLI_TEXT_VOCAB_OPEN_H
#define CLI_TEXT_VOCAB_OPEN_H

#include "gufo/vocab.h"

/* Reads the vocabulary of the model at `path`, and reports what is assumed about it.  NULL after a
 * report. */
gufo_vocab *vocab_open(const char *path, const gufo_vocab_options *options);

#endif
