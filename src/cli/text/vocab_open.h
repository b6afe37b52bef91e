/* Opening the vocabulary of a model for a command. */
#ifndef CLI_TEXT_VOCAB_OPEN_H
#define CLI_TEXT_VOCAB_OPEN_H

#include "cli/core/files/input.h"
#include "gufo/vocab.h"

/* The words of --tokenizer, from GUFO_TOKENIZER_GGML on; the last is NULL. */
extern const char *const vocab_tokenizers[];

/* The row of --tokenizer: the options of the command have an unsigned `tokenizer`. */
#define OPTION_TOKENIZER(type)                                                                  \
    {                                                                                           \
        "tokenizer", "KIND",                                                                    \
            "Take the tokenizer of this kind: ggml, as engines read the file; huggingface, as " \
            "its "                                                                              \
            "tokenizer.json says; or rwkv",                                                     \
            OPTION_CHOICE(type, tokenizer, vocab_tokenizers, GUFO_TOKENIZER_GGML)               \
    }

/* Reads the vocabulary of the model at `path`, and reports what is assumed about it.  Returns the exit
 * code. */
int vocab_open(const char *path, const gufo_vocab_options *options, gufo_vocab **vocab);
void vocab_report_warnings(const char *path, const gufo_vocab *vocab);

/* A vocabulary, and what it was opened from. */
typedef struct vocab_input {
    input in;       /* without a model: */
    gufo_text json; /* a tokenizer.json */
    gufo_vocab *vocab;
    gufo_vocab_source source; /* of these */
} vocab_input;

/* Reads the vocabulary of the model at `path`.  Returns the exit code; `in` is to be closed in any case. */
int vocab_open_input(vocab_input *in, const char *path, const gufo_vocab_options *options);
void vocab_close_input(vocab_input *in);

#endif
